// SPDX-License-Identifier: Apache-2.0
// What comes over the control socket may be anything, and whoever sent it may be dead: a pool serves the others all the
// same.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <feedring/error.hpp>
#include <optional>

#include "runtime/control.hpp"
#include "runtime/message.hpp"
#include "tests/fault/scene.hpp"
#include "tests/support/child.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;

class Requests : public Scene {
 protected:
  void SetUp() override {
    Scene::SetUp();
    make_pictures(16);
    supervisor_ = start_pool({"-c", configure(), "--producers", "1"});
  }
  void TearDown() override {
    Program rank = trainer({"--batches", "1"});
    EXPECT_EQ(rank.wait(), 0) << "the pool does not serve any more: " << rank.err();
    stop_pool();
    Scene::TearDown();
  }
  [[nodiscard]] pid_t supervisor() const { return supervisor_; }

  [[nodiscard]] json asked(const json& request) const {
    const UniqueFd socket = connect_to(pool());
    send_message(socket.get(), request);
    auto reply = receive_message(socket.get(), 30'000);
    return reply ? reply->body : json();
  }

 private:
  pid_t supervisor_ = 0;
};

TEST_F(Requests, WithImpossibleNumbersAreRefused) {
  const json good = {{"op", "attach"},  {"feed", "train"}, {"rank", 0},
                     {"local_rank", 0}, {"world", 1},      {"local_world", 1}};
  for (const auto& [key, value] : std::vector<std::pair<std::string, json>>{{"rank", -1},
                                                                            {"rank", 1},
                                                                            {"rank", "zero"},
                                                                            {"world", 0},
                                                                            {"world", json()},
                                                                            {"local_rank", -1},
                                                                            {"local_rank", 4294967295U},
                                                                            {"local_rank", 1U << 20},
                                                                            {"local_rank", 1.5e300},
                                                                            {"local_world", 4294967295U},
                                                                            {"feed", "other"},
                                                                            {"feed", 3},
                                                                            {"op", json::array()},
                                                                            {"op", "dance"}}) {
    json request = good;
    request[key] = value;
    EXPECT_EQ(asked(request).value("ok", true), false) << request;
  }
  EXPECT_EQ(asked(json::object()).value("ok", true), false);
}

TEST_F(Requests, ForEpisodesOfAFeedWithoutAreRefused) {
  for (const char* op : {"episode", "data"}) {
    for (const json& feed : {json("train"), json("other"), json(3), json()}) {
      const UniqueFd socket = connect_to(pool());
      send_message(socket.get(), {{"op", op}, {"feed", feed}, {"seed", 0}, {"epoch", 0}, {"ordinal", 0}});
      const std::optional<Message> reply = receive_message(socket.get(), 30'000);
      ASSERT_TRUE(reply);
      EXPECT_EQ(reply->body.value("ok", true), false) << op << feed;
      EXPECT_TRUE(reply->descriptors.empty()) << op << feed;
      if (feed == "other") {
        EXPECT_EQ(reply->body.value("error", ""), "this pool has no feed 'other'");
      }
    }
  }
}

TEST_F(Requests, ThatAreNoneEndTheConversationAlone) {
  const UniqueFd socket = connect_to(pool());
  ASSERT_EQ(::send(socket.get(), "nonsense", 8, MSG_NOSIGNAL), 8);
  EXPECT_THROW(static_cast<void>(receive_message(socket.get(), 30'000)), Error);
}

// Between its request and the answer a rank may die: then there is no process left to watch.
TEST_F(Requests, OfTheDeadAreForgotten) {
  ::kill(supervisor(), SIGSTOP);
  for (int i = 0; i < 3; ++i) {
    Child dead([this] {
      const UniqueFd socket = connect_to(pool());
      send_message(socket.get(), {{"op", "attach"}, {"feed", "train"}, {"rank", 0}, {"local_rank", 0}, {"world", 1}});
      return 0;
    });
    EXPECT_EQ(dead.wait(), 0);
  }
  ::kill(supervisor(), SIGCONT);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ASSERT_TRUE(lives(supervisor()));
  EXPECT_EQ(status()["ranks_attached"], 0);
}

TEST_F(Requests, OfOneWhoNeverReadsTheAnswersDoNotKeepOthersWaiting) {
  const UniqueFd socket = connect_to(pool());
  const std::string ask = json({{"op", "status"}}).dump();
  for (int i = 0; i < 2000; ++i) {
    if (::send(socket.get(), ask.data(), ask.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) break;
  }
  Program rank = trainer({"--batches", "1"});
  EXPECT_EQ(rank.wait(seconds(20)), 0) << rank.err();
}

}  // namespace
}  // namespace feedring::test
