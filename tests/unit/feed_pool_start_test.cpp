// SPDX-License-Identifier: Apache-2.0
// A rank that starts the pool itself: what the command is given, and what becomes of its ends.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "consumers/pool_start.hpp"
#include "tests/support/test_pool.hpp"

namespace feedring {
namespace {

using test::error_of;
using testing::HasSubstr;

class PoolStart : public testing::Test {
 protected:
  PoolStart() { std::filesystem::create_directories(folder_); }
  ~PoolStart() override { std::filesystem::remove_all(folder_); }

  /// A stand-in for the command.
  std::filesystem::path command(const std::string& body) {
    const auto path = folder_ / "feedring";
    std::ofstream(path) << "#!/bin/sh\n" << body;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  std::string wait_for_file(const char* name) {
    for (;; std::this_thread::yield()) {
      std::ostringstream text;
      text << std::ifstream(folder_ / name).rdbuf();
      if (text.str().find("end\n") != std::string::npos) return text.str();
    }
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("feedring-start-" + std::to_string(::getpid()));
};

TEST_F(PoolStart, RunsTheCommandInASessionOfItsOwnWithoutOurFiles) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);  // inherited by a careless spawn
  // By a file between ls and grep: a pipe between them would be one that the shell has for a moment.
  const auto path = command("{ echo \"$@\"; ps -o sid= -p $$ | tr -d ' '; ls -l /proc/$$/fd >" + folder_.native() +
                            "/open; grep -c pipe: " + folder_.native() + "/open; echo end; } >" + folder_.native() +
                            "/said 2>&1\nexec sleep 100\n");
  const int quiet = ::open("/dev/null", O_WRONLY);
  const int kept = ::dup(STDERR_FILENO);
  ::dup2(quiet, STDERR_FILENO);
  PoolStarter starter("feed.toml", "the/address", ::getpid(), path);
  starter.step();
  ::dup2(kept, STDERR_FILENO);
  std::istringstream said(wait_for_file("said"));
  std::string arguments;
  std::getline(said, arguments);
  EXPECT_EQ(arguments, "start -c feed.toml --address the/address --from-rank --error-fd 3 --job-fd 4");
  pid_t session = 0;
  int pipes = -1;
  said >> session >> pipes;
  EXPECT_NE(session, ::getsid(0));
  EXPECT_EQ(pipes, 0);
  starter.step();  // still running: nothing to do
  ::kill(-session, SIGKILL);
  for (const int fd : {pipe[0], pipe[1], quiet, kept}) ::close(fd);
}

TEST_F(PoolStart, EndsWithTheSentenceThatTheCommandEndedWith) {
  PoolStarter starter("feed.toml", "a", ::getpid(),
                      command("printf 'photos/ holds no image: name another folder' >&3; exit 3\n"));
  const Error error = error_of([&] {
    for (int i = 0; i < 1000; ++i) {
      starter.step();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_STREQ(error.what(), "photos/ holds no image: name another folder");
}

TEST_F(PoolStart, GivesUpWhereAnotherTryWouldEndTheSameWay) {
  for (const ErrorKind kind : {ErrorKind::kUsage, ErrorKind::kData, ErrorKind::kMemory, ErrorKind::kRefused}) {
    PoolStarter starter("feed.toml", "a", ::getpid(), command("exit " + std::to_string(exit_code(kind)) + "\n"));
    const Error error = error_of([&] {
      for (int i = 0; i < 1000; ++i) {
        starter.step();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
    EXPECT_EQ(error.kind(), kind);
    EXPECT_THAT(error.what(), HasSubstr("feed.toml"));
  }
}

TEST_F(PoolStart, StartsAnotherOneAfterOneThatDied) {
  PoolStarter starter("feed.toml", "a", ::getpid(), command("echo end >>" + folder_.native() + "/said\nexit 72\n"));
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::string said;
  while (said.size() < 8 && std::chrono::steady_clock::now() < late) {
    starter.step();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    said = std::filesystem::exists(folder_ / "said") ? wait_for_file("said") : "";
  }
  EXPECT_EQ(said, "end\nend\n");
}

TEST_F(PoolStart, SaysWhichCommandIsMissing) {
  PoolStarter starter("feed.toml", "a", ::getpid(), folder_ / "no-such-command");
  const Error error = error_of([&] { starter.step(); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("no-such-command"));
}

}  // namespace
}  // namespace feedring
