// SPDX-License-Identifier: Apache-2.0
#include "runtime/cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>
#include <thread>

#include "tests/support/fake_root.hpp"

namespace feedring {
namespace {

class Cores : public testing::Test {
 protected:
  void version_1(const std::string& group, const std::string& quota, const std::string& period) {
    root_.write("proc/self/mountinfo", "34 31 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
    root_.write("proc/self/cgroup", "5:cpu,cpuacct:/a/b\n0::/\n");
    root_.write("sys/fs/cgroup/cpu,cpuacct" + group + "/cpu.cfs_quota_us", quota + '\n');
    root_.write("sys/fs/cgroup/cpu,cpuacct" + group + "/cpu.cfs_period_us", period + '\n');
  }
  void version_2(const std::string& group, const std::string& max) {
    root_.write("proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    root_.write("proc/self/cgroup", "0::/a/b\n");
    root_.write("sys/fs/cgroup" + group + "/cpu.max", max + '\n');
  }
  [[nodiscard]] std::uint32_t granted(std::uint32_t affinity) const {
    return granted_cores(affinity, root_.path()).cores;
  }

  FakeRoot root_;
};

TEST_F(Cores, AreTheAffinityMaskWithoutAQuota) {
  EXPECT_EQ(granted(8), 8U);
  EXPECT_EQ(granted_cores(8, root_.path()).limit, "the affinity mask");
  version_1("/a/b", "-1", "100000");
  EXPECT_EQ(granted(8), 8U);
  version_2("/a/b", "max 100000");
  EXPECT_EQ(granted(8), 8U);
}

TEST_F(Cores, AreTheQuotaRoundedUp) {
  version_1("/a/b", "150000", "100000");
  EXPECT_EQ(granted(8), 2U);
  version_1("/a/b", "1000", "100000");
  EXPECT_EQ(granted(8), 1U);
  version_2("/a/b", "200000 100000");
  EXPECT_EQ(granted(8), 2U);
  version_2("/a/b", "200001 100000");
  EXPECT_EQ(granted(8), 3U);
  EXPECT_EQ(granted_cores(8, root_.path()).limit, "cpu.max of " + (root_.path() / "sys/fs/cgroup/a/b").string());
}

TEST_F(Cores, MindEveryAncestor) {
  version_2("/a/b", "400000 100000");
  version_2("/a", "300000 100000");
  EXPECT_EQ(granted(8), 3U);
  EXPECT_EQ(granted(2), 2U);
}

TEST_F(Cores, TakeGarbageForNoQuota) {
  for (const char* text : {"", "200000", "200000 ", "0 100000", "200000 0", "x 100000", "200000x100000"}) {
    version_2("/a/b", text);
    EXPECT_EQ(granted(8), 8U) << text;
  }
}

TEST_F(Cores, AreAtLeastOne) { EXPECT_EQ(granted(0), 1U); }

TEST(AffinityCores, FollowTheThreadsMask) {
  const std::uint32_t all = affinity_cores();
  EXPECT_GE(all, 1U);
  EXPECT_LE(all, std::thread::hardware_concurrency());
  std::uint32_t pinned = 0;
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    if (sched_setaffinity(0, sizeof(set), &set) == 0) pinned = affinity_cores();
  }).join();
  EXPECT_EQ(pinned, 1U);
}

}  // namespace
}  // namespace feedring
