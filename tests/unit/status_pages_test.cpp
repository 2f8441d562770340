// SPDX-License-Identifier: Apache-2.0
// A status that is longer than a control message, in pages, over a real socket.
#include "producers/pool/status_pages.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <feedring/error.hpp>
#include <string>

#include "runtime/control.hpp"
#include "runtime/message.hpp"

namespace feedring {
namespace {

using nlohmann::json;

/// What a pool of so many rings and producers says; paths are as long as paths can be.
json status_of(int rings, int producers) {
  json status = {{"ok", true}, {"pool", "p"}, {"memory", {{"ranks", rings}}}};
  status["feeds"] = json::array({{{"name", "train"}}});
  status["memory"]["feeds"] = json::array({{{"name", "train"}, {"slots", 4}}});
  status["rings"] = json::array();
  status["producers"] = json::array();
  for (int i = 0; i < rings; ++i) {
    status["rings"].push_back({{"feed", "train"},
                               {"local_rank", i},
                               {"batches", 1U << 30},
                               {"samples", std::uint64_t{1} << 40},
                               {"wait_s", 12345.678901},
                               {"waiting", false},
                               {"slots", {{"idle", 1}, {"offered", 2}, {"ready", 3}, {"leased", 4}}}});
  }
  for (int i = 0; i < producers; ++i) {
    status["producers"].push_back({{"id", i + 1}, {"in_hand", {{"path", std::string(4000, '\xE9')}}}});
  }
  return status;
}

TEST(StatusPages, BringAnyNumberOfRingsThroughTheControlSocket) {
  const json status = status_of(2048, 256);
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
  const UniqueFd ours(pair[0]);
  const UniqueFd theirs(pair[1]);
  EXPECT_THROW(send_message(theirs.get(), status), Error) << "the test would prove nothing";
  int asked = 0;
  const json whole = join_status([&](std::uint64_t from) {
    ++asked;
    send_message(theirs.get(), status_page(status, from, kMaxMessage));
    return receive_message(ours.get(), 1000)->body;
  });
  EXPECT_GT(asked, 2);
  EXPECT_EQ(whole["rings"], status["rings"]);
  EXPECT_EQ(whole["producers"].size(), 256U);
  EXPECT_EQ(whole["producers"][255]["id"], 256);
  EXPECT_EQ(whole["feeds"], status["feeds"]) << "none twice";
  EXPECT_EQ(whole["memory"], status["memory"]);
  EXPECT_FALSE(whole.contains("more"));
}

TEST(StatusPages, AreOneWhereAllFits) {
  const json status = status_of(8, 0);
  EXPECT_EQ(status_page(status, 0, kMaxMessage), status);
}

TEST(StatusPages, AreCutByTheirLengthAndGoOnAtTheNextEntry) {
  const json status = json::parse(R"({"rings": [{"n": 0}, {"n": 1}, {"n": 2}]})");
  // By hand: {"rings":[]} has 12 bytes, {"more":18446744073709551615} 29, an entry with its comma 8.
  const json first = status_page(status, 0, 12 + 29 + 2 * 8);
  EXPECT_EQ(first, json::parse(R"({"rings": [{"n": 0}, {"n": 1}], "more": 2})"));
  EXPECT_EQ(status_page(status, 2, 1000), json::parse(R"({"rings": [{"n": 2}]})"));
  EXPECT_EQ(status_page(status, 0, 1), json::parse(R"({"rings": [{"n": 0}], "more": 1})")) << "one at least";
  EXPECT_EQ(status_page(status, 9, 1000), json::parse(R"({"rings": []})"));
}

TEST(StatusPages, ThatLeadNowhereAreRefused) {
  EXPECT_THROW((void)join_status([](std::uint64_t) { return json{{"more", 1}}; }), Error);
  EXPECT_THROW((void)join_status([](std::uint64_t) { return json{{"more", 0}}; }), Error);
}

TEST(StatusPages, TakeNothingButANaturalNumberForTheFirstEntry) {
  EXPECT_EQ(first_entry({{"op", "status"}}), 0U);
  EXPECT_EQ(first_entry({{"from", 7U}}), 7U);
  for (const json& wrong : std::initializer_list<json>{-1, 1.5, 1e300, "7", nullptr})
    EXPECT_THROW((void)first_entry({{"from", wrong}}), Error) << wrong;
}

}  // namespace
}  // namespace feedring
