// SPDX-License-Identifier: Apache-2.0
// Memory and cores that this process may use, on made-up roots of both versions of control groups and on the real one.
#include "runtime/memory_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <feedring/error.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/cgroup.hpp"
#include "tests/support/fake_root.hpp"

namespace feedring {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr const char* kNoLimitV1 = "9223372036854771712";

class MemoryHeadroom : public testing::Test {
 protected:
  MemoryHeadroom() {
    root_.write("proc/meminfo", "MemTotal:       2048 kB\nMemFree: 1 kB\nMemAvailable:   1000000 kB\n");
  }

  void version_1(const std::string& group, const std::string& limit, std::uint64_t usage,
                 const std::string& stat = "") {
    const std::string folder = "sys/fs/cgroup/memory" + group + '/';
    root_.write(folder + "memory.limit_in_bytes", limit + '\n');
    root_.write(folder + "memory.usage_in_bytes", std::to_string(usage) + '\n');
    root_.write(folder + "memory.stat", stat);
  }
  void version_2(const std::string& group, const std::string& max, std::uint64_t current,
                 const std::string& stat = "") {
    const std::string folder = "sys/fs/cgroup" + group + '/';
    root_.write(folder + "memory.max", max + '\n');
    root_.write(folder + "memory.current", std::to_string(current) + '\n');
    root_.write(folder + "memory.stat", stat);
  }
  void mount_1(const std::string& group, const std::string& top = "/") {
    root_.write("proc/self/mountinfo",
                "23 1 0:21 / /proc rw - proc proc rw\n"
                "34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
                "35 31 0:32 " +
                    top + " /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n");
    root_.write("proc/self/cgroup", "5:cpu,cpuacct:/elsewhere\n4:memory:" + group + "\n0::/\n");
  }
  void mount_2(const std::string& group, const std::string& top = "/") {
    root_.write("proc/self/mountinfo",
                "35 31 0:32 " + top + " /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n");
    root_.write("proc/self/cgroup", "0::" + group + '\n');
  }
  [[nodiscard]] std::string at(const std::string& path) const { return (root_.path() / path).string(); }

  FakeRoot root_;
};

TEST_F(MemoryHeadroom, IsMemAvailableWithoutControlGroups) {
  const auto headroom = memory_headroom(root_.path());
  EXPECT_EQ(headroom.bytes, 1'024'000'000U);
  EXPECT_EQ(headroom.limit, "MemAvailable of " + at("proc/meminfo"));
}

TEST_F(MemoryHeadroom, NeedsMemAvailable) {
  root_.write("proc/meminfo", "MemFree: 1 kB\n");
  EXPECT_THAT([&] { (void)memory_headroom(root_.path()); }, testing::ThrowsMessage<Error>(HasSubstr("MemAvailable")));
}

TEST_F(MemoryHeadroom, IsLowerUnderALimitOfVersion1) {
  mount_1("/job/step");
  version_1("", kNoLimitV1, 900 * kMiB);
  version_1("/job", kNoLimitV1, 800 * kMiB);
  version_1("/job/step", std::to_string(64 * kMiB), 10 * kMiB);
  const auto headroom = memory_headroom(root_.path());
  EXPECT_EQ(headroom.bytes, 54 * kMiB);
  EXPECT_EQ(headroom.limit,
            "memory.limit_in_bytes of " + at("sys/fs/cgroup/memory/job/step") + " (64.0 MiB, 10.0 MiB of them used)");
}

TEST_F(MemoryHeadroom, FindsTheTightestAncestor) {
  mount_1("/job/step");
  version_1("/job", std::to_string(100 * kMiB), 90 * kMiB);
  version_1("/job/step", std::to_string(64 * kMiB), 10 * kMiB);
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 10 * kMiB);
  EXPECT_THAT(memory_headroom(root_.path()).limit, HasSubstr("/job (100.0 MiB"));
}

TEST_F(MemoryHeadroom, CountsCacheThatCanBeGivenBack) {
  mount_1("/a");
  version_1(
      "/a", std::to_string(64 * kMiB), 60 * kMiB,
      "inactive_file 7\nactive_file 7\ntotal_inactive_file 20971520\ntotal_active_file 10485760\n");  // 20 and 10 MiB
  EXPECT_EQ(memory_headroom(root_.path()).bytes, (4 + 20 + 5) * kMiB);
  version_1("/a", std::to_string(64 * kMiB), 10 * kMiB, "total_inactive_file 20971520\n");
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 64 * kMiB) << "never more than the limit";
}

TEST_F(MemoryHeadroom, IsNothingAboveTheLimit) {
  mount_1("/a");
  version_1("/a", std::to_string(64 * kMiB), 65 * kMiB);
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 0U);
}

TEST_F(MemoryHeadroom, MindsSwapAccounting) {
  mount_1("/a");
  version_1("/a", std::to_string(64 * kMiB), 10 * kMiB);
  root_.write("sys/fs/cgroup/memory/a/memory.memsw.limit_in_bytes", std::to_string(64 * kMiB));
  root_.write("sys/fs/cgroup/memory/a/memory.memsw.usage_in_bytes", std::to_string(60 * kMiB));
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 4 * kMiB);
}

TEST_F(MemoryHeadroom, StopsWhereAGroupDoesNotCountItsChildren) {
  mount_1("/a/b");
  version_1("/a", std::to_string(2 * kMiB), 1 * kMiB);
  root_.write("sys/fs/cgroup/memory/a/memory.use_hierarchy", "0\n");
  version_1("/a/b", std::to_string(64 * kMiB), 10 * kMiB);
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 54 * kMiB);
}

TEST_F(MemoryHeadroom, IsLowerUnderALimitOfVersion2) {
  mount_2("/user.slice/job");
  root_.write("sys/fs/cgroup/memory.stat", "");  // the top has neither memory.max nor memory.current
  version_2("/user.slice", "max", 500 * kMiB);
  version_2("/user.slice/job", std::to_string(64 * kMiB), 30 * kMiB,
            "file 9\ninactive_file 1048576\nactive_file 2097152\n");
  const auto headroom = memory_headroom(root_.path());
  EXPECT_EQ(headroom.bytes, (64 - 30 + 1 + 1) * kMiB);
  EXPECT_THAT(headroom.limit,
              StartsWith("memory.max of " + at("sys/fs/cgroup/user.slice/job") + " (64.0 MiB, 28.0 MiB"));
}

TEST_F(MemoryHeadroom, MindsMemoryHigh) {
  mount_2("/a");
  version_2("/a", "max", 10 * kMiB);
  root_.write("sys/fs/cgroup/a/memory.high", std::to_string(16 * kMiB));
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 6 * kMiB);
  EXPECT_THAT(memory_headroom(root_.path()).limit, StartsWith("memory.high of "));
}

TEST_F(MemoryHeadroom, SeesItsGroupFromInsideAContainer) {
  // Docker on version 1 without a namespace: named from the host's top, mounted from the container's group.
  mount_1("/docker/c0ffee", "/docker/c0ffee");
  version_1("", std::to_string(64 * kMiB), 10 * kMiB);
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 54 * kMiB);
  mount_1("/docker/c0ffee/inner", "/docker/c0ffee");
  version_1("/inner", std::to_string(8 * kMiB), 1 * kMiB);
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 7 * kMiB);
  mount_1("/docker/c0ffee2", "/docker/c0ffee");  // a neighbour whose name only begins alike
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 54 * kMiB);
}

TEST_F(MemoryHeadroom, SeesItsGroupFromInsideANamespace) {
  mount_2("/");
  version_2("", std::to_string(64 * kMiB), 10 * kMiB);
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 54 * kMiB);
  mount_2("/../other", "/..");  // moved to a group outside of the namespace: the top is all that can be seen
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 54 * kMiB);
}

TEST_F(MemoryHeadroom, ReadsEscapedMountPoints) {
  root_.write("proc/self/mountinfo", "35 31 0:32 / /sys/with\\040blank rw - cgroup2 cgroup2 rw\n");
  root_.write("proc/self/cgroup", "0::/a:b\n");
  root_.write("sys/with blank/a:b/memory.max", "1000\n");
  root_.write("sys/with blank/a:b/memory.current", "400\n");
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 600U);
}

TEST_F(MemoryHeadroom, UsesTheAncestorsOfAGroupThatIsGone) {
  mount_2("/a/gone");
  version_2("/a", std::to_string(64 * kMiB), 10 * kMiB);
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 54 * kMiB);
}

TEST_F(MemoryHeadroom, TakesGarbageForNoLimit) {
  mount_2("/a");
  version_2("/a", "12 MiB", 1);
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 1'024'000'000U);
  root_.write("proc/self/mountinfo", "garbage\n - \n1 2 3 - cgroup2\n");
  root_.write("proc/self/cgroup", "garbage\n::\n");
  EXPECT_EQ(memory_headroom(root_.path()).bytes, 1'024'000'000U);
}

TEST_F(MemoryHeadroom, FindsTheTopmostGroupThatIsKilledWhole) {
  mount_2("/a/b/c");
  version_2("/a/b/c", "max", 1);
  EXPECT_EQ(oom_kills_group(root_.path()), std::nullopt);
  root_.write("sys/fs/cgroup/a/b/c/memory.oom.group", "1\n");
  root_.write("sys/fs/cgroup/a/b/memory.oom.group", "0\n");
  root_.write("sys/fs/cgroup/a/memory.oom.group", "1\n");
  EXPECT_EQ(oom_kills_group(root_.path()), root_.path() / "sys/fs/cgroup/a");
}

TEST_F(MemoryHeadroom, SeesARealLimitOfVersion1) {
  const std::filesystem::path group = "/sys/fs/cgroup/memory/feedring-unit-" + std::to_string(getpid());
  std::error_code error;
  if (!std::filesystem::exists("/sys/fs/cgroup/memory/memory.limit_in_bytes") ||
      !std::filesystem::create_directory(group, error)) {
    GTEST_SKIP() << "no writable memory control group of version 1 here";
  }
  std::ofstream(group / "memory.limit_in_bytes") << 64 * kMiB;
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::ofstream(group / "cgroup.procs") << getpid() << std::flush;
    const auto headroom = memory_headroom();
    const std::uint64_t seen = headroom.limit.find(group.string()) != std::string::npos ? headroom.bytes : 0;
    _exit(write(pipe_ends[1], &seen, sizeof(seen)) == sizeof(seen) ? 0 : 1);
  }
  std::uint64_t seen = 0;
  EXPECT_EQ(read(pipe_ends[0], &seen, sizeof(seen)), static_cast<ssize_t>(sizeof(seen)));
  int status = 0;
  waitpid(child, &status, 0);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  std::filesystem::remove(group, error);
  EXPECT_GT(seen, 32 * kMiB);
  EXPECT_LE(seen, 64 * kMiB);
}

TEST(PageOverhead, CountsTablesAndIndexNodes) {
  // 1 GiB is 262,144 pages: 512 last tables, 1 above them, 1 above that, and one more a level for a mapping that
  // straddles: (512+1) + (2+1) + (1+1).
  EXPECT_EQ(page_table_bytes(std::uint64_t{1} << 30), 518U * 4096);
  EXPECT_EQ(page_table_bytes(0), 0U);
  EXPECT_EQ(page_table_bytes(1), 6U * 4096);  // two tables a level
  // 262,144 pages in nodes of 64: 4096 + 64 + 1.
  EXPECT_EQ(page_index_bytes(std::uint64_t{1} << 30), 4161U * 576);
  EXPECT_EQ(page_index_bytes(0), 0U);
  EXPECT_EQ(page_index_bytes(4096), 0U) << "a single page hangs on the inode itself";
}

TEST(HumanBytes, RoundsToOneDecimal) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1.0 KiB");
  EXPECT_EQ(human_bytes(64 * kMiB), "64.0 MiB");
  EXPECT_EQ(human_bytes(1536 * kMiB), "1.5 GiB");
  EXPECT_EQ(human_bytes((std::uint64_t{1} << 30) - 1), "1.0 GiB");
  EXPECT_EQ(human_bytes(~std::uint64_t{0}), "16.0 EiB");
}

}  // namespace
}  // namespace feedring
