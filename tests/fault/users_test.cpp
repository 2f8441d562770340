// SPDX-License-Identifier: Apache-2.0
// Two users of one machine: neither gets into the other's pool, and both are told why.
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <feedring/error.hpp>

#include <grp.h>
#include <sys/socket.h>

#include "runtime/control.hpp"
#include "runtime/message.hpp"
#include "tests/fault/scene.hpp"
#include "tests/support/child.hpp"

namespace feedring::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uid_t kStranger = 65534;

class OtherUsers : public Scene {
 protected:
  void SetUp() override {
    Scene::SetUp();
    if (::geteuid() != 0) GTEST_SKIP() << "another user's programs can be started by root alone";
    make_pictures(8);
    config_ = configure("", "producers = 1\nranks = 1");
    // The build may lie where the stranger cannot look.
    for (const auto& [from, to] :
         {std::pair{FEEDRING_COMMAND, "bin/feedring"},
          std::pair{FEEDRING_LIBEXEC "/feedring-producer", "libexec/feedring/feedring-producer"},
          std::pair{FEEDRING_TRAINER, "bin/trainer"}}) {
      fs::create_directories((folder() / to).parent_path());
      fs::copy_file(from, folder() / to);
    }
    fs::permissions(folder(), fs::perms(0755));
    fs::permissions(folder() / "tmp", fs::perms(0777));
  }
  [[nodiscard]] Program as(uid_t uid, const std::string& program, const std::vector<std::string>& arguments) const {
    Start start;
    start.command = {(folder() / "bin" / program).string()};
    start.command.insert(start.command.end(), arguments.begin(), arguments.end());
    start.environment = {{"FEEDRING_POOL", pool()}, {"TMPDIR", (folder() / "tmp").string()}};
    start.folder = folder().string();
    if (uid != 0) {
      start.before = [uid] { return ::setgroups(0, nullptr) == 0 && ::setresuid(uid, uid, uid) == 0; };
    }
    return Program(start);
  }
  [[nodiscard]] const std::string& config() const { return config_; }

 private:
  std::string config_;
};

TEST_F(OtherUsers, AreRefusedByName) {
  for (const auto& [owner, other] : {std::pair<uid_t, uid_t>{0, kStranger}, {kStranger, 0}}) {
    Program start = as(owner, "feedring", {"start", "-c", config(), "--address", pool()});
    ASSERT_EQ(start.wait(), 0) << start.err();
    Program rank = as(other, "trainer", {"--batches", "1"});
    EXPECT_EQ(rank.wait(), 74) << rank.err();
    EXPECT_THAT(rank.err(), HasSubstr("belongs to uid " + std::to_string(owner) + ", this process to uid " +
                                      std::to_string(other)));
    for (const char* command : {"status", "stop"}) {
      Program program = as(other, "feedring", {command});
      EXPECT_EQ(program.wait(), 74) << command << program.err();
    }
    Program own = as(owner, "trainer", {"--batches", "1"});
    EXPECT_EQ(own.wait(), 0) << own.err();
    EXPECT_EQ(as(owner, "feedring", {"stop"}).wait(), 0);
  }
}

// A client that does not look at the uid itself.
TEST_F(OtherUsers, AreRefusedByThePoolItselfToo) {
  Program start = as(0, "feedring", {"start", "-c", config(), "--address", pool()});
  ASSERT_EQ(start.wait(), 0) << start.err();
  Child stranger([this] {
    if (::setgroups(0, nullptr) != 0 || ::setresuid(kStranger, kStranger, kStranger) != 0) return 100;
    const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::copy(pool().begin(), pool().end(), name.sun_path + 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + pool().size());
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&name), length) != 0) return 101;
    try {
      const auto reply = receive_message(socket, 30'000);
      if (!reply || !reply->descriptors.empty()) return 102;
      throw_if_error(reply->body);
    } catch (const Error& error) {
      return std::string(error.what()).find("serves uid 0") == std::string::npos ? 103 : exit_code(error.kind());
    }
    return 104;
  });
  EXPECT_EQ(stranger.wait(), 74);
  stop_pool();
}

// The name that a job's ranks would look for may be taken by somebody else.
TEST_F(OtherUsers, AreFoundOutWhereTheyTookTheName) {
  Program taken = as(kStranger, "feedring", {"start", "-c", config(), "--address", pool()});
  ASSERT_EQ(taken.wait(), 0) << taken.err();
  Program run =
      as(0, "feedring", {"run", "-c", config(), "--", (folder() / "bin" / "trainer").string(), "--batches", "1"});
  EXPECT_EQ(run.wait(), 74) << run.err();
  Program again = as(0, "feedring", {"start", "-c", config(), "--address", pool()});
  EXPECT_EQ(again.wait(), 74) << "it must not say that a pool of ours runs: " << again.out();
  for (const std::string& said : {run.err(), again.err()}) EXPECT_THAT(said, HasSubstr("belongs to uid 65534"));
  EXPECT_EQ(as(kStranger, "feedring", {"stop"}).wait(), 0);
}

// One that takes the name and does not even listen: connecting is refused as where nobody is.
TEST_F(OtherUsers, AreFoundOutWhereTheyHoldTheNameAndServeNobody) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd told(ends[0]);
  UniqueFd tell(ends[1]);
  Child squatter([&] {
    if (::setgroups(0, nullptr) != 0 || ::setresuid(kStranger, kStranger, kStranger) != 0) return 100;
    const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::copy(pool().begin(), pool().end(), name.sun_path + 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + pool().size());
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&name), length) != 0) return 101;
    if (::write(tell.get(), "x", 1) != 1) return 102;
    for (;;) ::pause();
  });
  tell.reset();
  char byte = 0;
  ASSERT_EQ(::read(told.get(), &byte, 1), 1);
  Program start = as(0, "feedring", {"start", "-c", config(), "--address", pool()});
  EXPECT_EQ(start.wait(), 74) << "it must not say that a pool runs: " << start.out();
  EXPECT_THAT(start.err(), HasSubstr(pool() + " of the pool is held by a process that serves nobody"));
  Program run =
      as(0, "feedring", {"run", "-c", config(), "--", (folder() / "bin" / "trainer").string(), "--batches", "1"});
  EXPECT_EQ(run.wait(), 74) << run.err();
}

}  // namespace
}  // namespace feedring::test
