// SPDX-License-Identifier: Apache-2.0
// The control socket: elections, leftovers, descriptors, and what a stranger may send.
#include "runtime/control.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <feedring/error.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/message.hpp"
#include "runtime/process.hpp"

namespace feedring {
namespace {

std::string fresh_name() {
  static int count = 0;
  return "feedring-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
}

class PrivateFolder {
 public:
  PrivateFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "feedring-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~PrivateFolder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string socket() const { return path_ / "pool"; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

ErrorKind kind_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::kInternal;
}

struct Pair {
  UniqueFd one;
  UniqueFd other;
  Pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    one.reset(ends[0]);
    other.reset(ends[1]);
  }
};

TEST(ControlSocket, LetsOneListenerWinAnAbstractName) {
  const std::string name = fresh_name();
  UniqueFd first = listen_at(name);
  ASSERT_TRUE(first);
  EXPECT_FALSE(listen_at(name));
  EXPECT_TRUE(connect_to(name));
  first.reset();
  EXPECT_FALSE(connect_to(name)) << "an abstract name goes with its socket";
  EXPECT_TRUE(listen_at(name));
}

TEST(ControlSocket, ReplacesTheSocketFileOfAKilledPool) {
  const PrivateFolder folder;
  UniqueFd first = listen_at(folder.socket());
  ASSERT_TRUE(first);
  EXPECT_FALSE(listen_at(folder.socket())) << "somebody listens there";
  first.reset();  // as a SIGKILL does: closed, the file stays
  ASSERT_TRUE(std::filesystem::exists(folder.socket()));
  EXPECT_FALSE(connect_to(folder.socket()));
  const UniqueFd second = listen_at(folder.socket());
  EXPECT_TRUE(second);
  EXPECT_TRUE(connect_to(folder.socket()));
  forget_address(folder.socket());
  EXPECT_FALSE(std::filesystem::exists(folder.socket()));
}

TEST(ControlSocket, LeavesAFileAloneThatIsNoSocket) {
  const PrivateFolder folder;
  std::ofstream(folder.socket()) << "a thesis";
  EXPECT_EQ(kind_of([&] { static_cast<void>(listen_at(folder.socket())); }), ErrorKind::kUsage);
  EXPECT_EQ(std::filesystem::file_size(folder.socket()), 8U);
}

// Between bind and listen a socket looks like one that a dead pool left.
TEST(ControlSocket, LetsOneOfManyWinASocketFile) {
  const PrivateFolder folder;
  for (int election = 0; election < 300; ++election) {
    std::atomic<int> winners = 0;
    std::vector<UniqueFd> sockets(4);
    {
      std::vector<std::jthread> voters;
      for (UniqueFd& socket : sockets) {
        voters.emplace_back([&] {
          socket = listen_at(folder.socket());
          if (socket) ++winners;
        });
      }
    }
    ASSERT_EQ(winners, 1) << "election " << election;
  }
}

// Whoever holds a name and never accepts has a full queue soon, and connect() would wait for it for ever.
TEST(ControlSocket, DoesNotWaitForOneWhoNeverAccepts) {
  const PrivateFolder folder;
  const UniqueFd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::strcpy(name.sun_path, folder.socket().c_str());
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  const auto start = std::chrono::steady_clock::now();
  std::vector<UniqueFd> queued;
  do {
    queued.push_back(connect_to(folder.socket()));
  } while (queued.back() && queued.size() < 100);
  EXPECT_LT(queued.size(), 100U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(ControlSocket, RefusesASocketFileWhereOthersMayWrite) {
  const PrivateFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  EXPECT_EQ(kind_of([&] { static_cast<void>(listen_at(folder.socket())); }), ErrorKind::kRefused);
}

TEST(ControlSocket, RefusesAnEmptyAndAnOverlongAddress) {
  EXPECT_EQ(kind_of([] { static_cast<void>(listen_at("")); }), ErrorKind::kUsage);
  EXPECT_EQ(kind_of([] { static_cast<void>(connect_to(std::string(108, 'x'))); }), ErrorKind::kUsage);
  const std::string longest(107, 'x');
  EXPECT_TRUE(listen_at(longest));
}

TEST(ControlMessage, CarriesAnObjectAndDescriptors) {
  const Pair pair;
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  send_message(pair.one.get(), {{"op", "attach"}, {"rank", 3}}, {write_end.get()});
  auto message = receive_message(pair.other.get(), 1000);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->body.at("rank"), 3);
  const UniqueFd copy = message->take(0);
  EXPECT_EQ(::fcntl(copy.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  write_end.reset();
  ASSERT_EQ(::write(copy.get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(read_end.get(), &byte, 1), 1);
  EXPECT_EQ(kind_of([&] { static_cast<void>(message->take(1)); }), ErrorKind::kRefused);
}

TEST(ControlMessage, TellsSilenceFromAnEnd) {
  Pair pair;
  EXPECT_FALSE(receive_message(pair.other.get(), 10));
  pair.one.reset();
  EXPECT_EQ(kind_of([&] { static_cast<void>(receive_message(pair.other.get(), 1000)); }), ErrorKind::kPoolGone);
  EXPECT_EQ(kind_of([&] { send_message(pair.other.get(), {{"op", "x"}}); }), ErrorKind::kPoolGone);
}

TEST(ControlMessage, RefusesWhatIsNoMessageOfOurs) {
  const Pair pair;
  for (const std::string& text :
       {std::string("\xff\xfe garbage"), std::string("[1,2]"), std::string("{\"op\":"), std::string(200'000, ' ')}) {
    if (::send(pair.one.get(), text.data(), text.size(), 0) < 0) continue;  // larger than the socket takes
    EXPECT_EQ(kind_of([&] { static_cast<void>(receive_message(pair.other.get(), 1000)); }), ErrorKind::kRefused)
        << text.substr(0, 20);
  }
}

TEST(ControlMessage, RefusesWhatIsNestedDeeperThanItsReaderCanGo) {
  const Pair pair;
  const auto nested = [](std::size_t levels) {
    return "{\"rank\":" + std::string(levels, '[') + std::string(levels, ']') + "}";
  };
  for (const std::size_t levels : {std::size_t{60}, std::size_t{60'000}}) {
    const std::string text = nested(levels);
    ASSERT_EQ(::send(pair.one.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    EXPECT_EQ(kind_of([&] { static_cast<void>(receive_message(pair.other.get(), 1000)); }), ErrorKind::kRefused);
  }
  const std::string text = nested(20);
  ASSERT_EQ(::send(pair.one.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  EXPECT_TRUE(receive_message(pair.other.get(), 1000));
}

TEST(ControlMessage, CarriesARefusalHoweverLongItsTextIs) {
  const Pair pair;
  const Error refusal(ErrorKind::kUsage, "the pool has no feed '" + std::string(kMaxMessage, 'x') + "'");
  ASSERT_NO_THROW(send_message(pair.one.get(), error_reply(refusal)));
  const auto reply = receive_message(pair.other.get(), 1000);
  ASSERT_TRUE(reply);
  EXPECT_EQ(kind_of([&] { throw_if_error(reply->body); }), ErrorKind::kUsage);
}

TEST(ControlMessage, MakesAnErrorOfAnAnswerWhoseWordsAreOfAnotherType) {
  for (const nlohmann::json& reply : std::initializer_list<nlohmann::json>{{{"ok", "yes"}},
                                                                           {{"ok", 1}},
                                                                           {{"ok", false}, {"kind", "x"}},
                                                                           {{"ok", false}, {"kind", 1e300}},
                                                                           {{"ok", false}, {"kind", -1}},
                                                                           {{"ok", false}, {"error", 7}}}) {
    EXPECT_EQ(kind_of([&] { throw_if_error(reply); }), ErrorKind::kInternal) << reply;
  }
}

TEST(ControlMessage, BringsAnErrorAcrossWithItsKind) {
  const Error sent(ErrorKind::kMemory, "too little");
  try {
    throw_if_error(error_reply(sent));
    FAIL() << "nothing was thrown";
  } catch (const Error& received) {
    EXPECT_EQ(received.kind(), ErrorKind::kMemory);
    EXPECT_STREQ(received.what(), "too little");
  }
  EXPECT_NO_THROW(throw_if_error({{"ok", true}}));
  EXPECT_EQ(kind_of([] { throw_if_error({{"ok", false}, {"kind", 99}}); }), ErrorKind::kInternal);
}

TEST(ControlMessage, GivesOutNoMemoryThatItsSenderCouldShrink) {
  const auto received = [](bool sealed) {
    Message message;
    message.descriptors.push_back(create_memfd("test", 4096));
    if (sealed) seal_size(message.descriptors[0].get());
    return message;
  };
  EXPECT_EQ(kind_of([&] { (void)received(false).take_memory(0); }), ErrorKind::kRefused);
  EXPECT_TRUE(received(true).take_memory(0));
  EXPECT_EQ(kind_of([&] { (void)received(true).take_memory(1); }), ErrorKind::kRefused) << "none there";
}

TEST(Process, ToldDeadOnlyOnceItIs) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  const UniqueFd pidfd = open_pidfd(child);
  ASSERT_TRUE(pidfd);
  EXPECT_FALSE(is_dead(pidfd.get()));
  EXPECT_TRUE(send_signal(pidfd.get(), SIGKILL));
  EXPECT_TRUE(is_dead(pidfd.get(), 5000));
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(send_signal(pidfd.get(), SIGKILL)) << "a pidfd never means a later process";
}

}  // namespace
}  // namespace feedring
