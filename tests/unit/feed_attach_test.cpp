// SPDX-License-Identifier: Apache-2.0
// Attaching: what a rank says, what it refuses, and that it never waits without an end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <feedring/feed.hpp>
#include <map>

#include "consumers/attach.hpp"
#include "tests/support/test_pool.hpp"

namespace feedring {
namespace {

using std::chrono::milliseconds;
using test::error_of;
using test::TestPool;
using testing::AllOf;
using testing::HasSubstr;

Environment environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

FeedOptions within(milliseconds deadline) {
  FeedOptions options;
  options.attach_deadline = deadline;
  return options;
}

TEST(Attach, SaysWhoTheRankIs) {
  TestPool pool;
  FeedOptions options = within(milliseconds(5000));
  options.name = "val";
  const Attachment attachment = attach_to_pool(options, environment({{"FEEDRING_POOL", pool.address},
                                                                     {"RANK", "5"},
                                                                     {"WORLD_SIZE", "8"},
                                                                     {"LOCAL_RANK", "1"},
                                                                     {"LOCAL_WORLD_SIZE", "4"},
                                                                     {"TORCHELASTIC_RUN_ID", "x"}}));
  const nlohmann::json expected = {{"op", "attach"}, {"feed", "val"},   {"rank", 5},
                                   {"world", 8},     {"local_rank", 1}, {"local_world", 4}};
  EXPECT_EQ(pool.last_request, expected);
  EXPECT_EQ(attachment.info.what(), "feed 'val', rank 5");
  EXPECT_EQ(attachment.info.samples, 23U);
  EXPECT_EQ(attachment.info.classes, 7U);
}

TEST(Attach, ALoneProcessIsRankZeroOfOneAndArgumentsWin) {
  TestPool pool;
  FeedOptions options = within(milliseconds(5000));
  options.pool = pool.address;
  EXPECT_EQ(attach_to_pool(options, environment({{"FEEDRING_POOL", "nobody/here"}})).info.launch.world, 1U);
  EXPECT_EQ(pool.last_request.at("local_world"), 1);
  options.rank = 1;
  options.world_size = 2;
  options.local_rank = 1;
  EXPECT_EQ(attach_to_pool(options, environment({{"RANK", "0"}, {"WORLD_SIZE", "1"}})).info.launch.rank, 1U);
  EXPECT_FALSE(pool.last_request.contains("local_world")) << "nobody says";
}

TEST(Attach, PassesOnTheRefusalOfThePoolWithItsKind) {
  TestPool pool;
  pool.reply = error_reply(Error(ErrorKind::kRefused, "local rank 0 is owned by process 7"));
  const Error error = error_of([&] { (void)Feed::attach(pool.options()); });
  EXPECT_EQ(error.kind(), ErrorKind::kRefused);
  EXPECT_THAT(error.what(), HasSubstr("process 7"));
}

TEST(Attach, EndsAtTheDeadlineWhereNobodyListens) {
  FeedOptions options = within(milliseconds(100));
  options.pool = "feedring-test/nobody";
  const auto before = std::chrono::steady_clock::now();
  const Error error = error_of([&] { (void)attach_to_pool(options, environment({})); });
  EXPECT_GE(std::chrono::steady_clock::now() - before, milliseconds(100));
  EXPECT_EQ(error.kind(), ErrorKind::kDeadline);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("feedring-test/nobody"), HasSubstr("0.1 s"), HasSubstr("feedring run")));
}

TEST(Attach, EndsAtTheDeadlineWhereThePoolDoesNotAnswer) {
  const UniqueFd silent = listen_at("feedring-test/silent");
  FeedOptions options = within(milliseconds(100));
  options.pool = "feedring-test/silent";
  EXPECT_EQ(error_of([&] { (void)attach_to_pool(options, environment({})); }).kind(), ErrorKind::kDeadline);
}

TEST(Attach, WaitsForAPoolThatIsStillStarting) {
  FeedOptions options = within(milliseconds(20000));
  options.pool = "feedring-test/late";
  UniqueFd late;
  std::jthread starts([&] {
    std::this_thread::sleep_for(milliseconds(80));
    late = listen_at("feedring-test/late");
    const UniqueFd socket(::accept(late.get(), nullptr, nullptr));
    (void)receive_message(socket.get(), 5000);
    send_message(socket.get(), error_reply(Error(ErrorKind::kMemory, "too small")));
  });
  EXPECT_EQ(error_of([&] { (void)attach_to_pool(options, environment({})); }).kind(), ErrorKind::kMemory);
}

TEST(Attach, WithoutAPoolAndAConfigurationSaysWhatToDo) {
  const Error error = error_of([] { (void)attach_to_pool(within(milliseconds(100)), environment({})); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("feedring run"), HasSubstr("FEEDRING_POOL"), HasSubstr("FEEDRING_CONFIG")));
}

TEST(Attach, RefusesAnAnswerThatItDoesNotUnderstand) {
  for (const char* key : {"samples", "ordinals", "digest", "spec_hash", "feed"}) {
    TestPool pool;
    pool.reply.erase(key);
    const Error error = error_of([&] { (void)Feed::attach(pool.options()); });
    EXPECT_EQ(error.kind(), ErrorKind::kRefused);
    EXPECT_THAT(error.what(), HasSubstr(key));
  }
  TestPool pool;
  pool.reply["feed"]["remainder"] = "most";
  EXPECT_EQ(error_of([&] { (void)Feed::attach(pool.options()); }).kind(), ErrorKind::kRefused);
  pool.reply["feed"]["remainder"] = "pad";
  pool.send_descriptors = false;
  EXPECT_EQ(error_of([&] { (void)Feed::attach(pool.options()); }).kind(), ErrorKind::kRefused);
}

TEST(Attach, RefusesNumbersThatItWouldHaveToBend) {
  const auto refused = [](const char* key, const nlohmann::json& number) {
    TestPool pool;
    pool.reply["feed"][key] = number;
    const Error error = error_of([&] { (void)Feed::attach(pool.options()); });
    return error.kind() == ErrorKind::kRefused && std::string_view(error.what()).find(key) != std::string_view::npos;
  };
  EXPECT_TRUE(refused("batch_size", -4));
  EXPECT_TRUE(refused("batch_size", 4.5));
  EXPECT_TRUE(refused("batch_size", (std::uint64_t{1} << 32) + 4));
  EXPECT_TRUE(refused("slots", 1e300));
  EXPECT_TRUE(refused("seed", true));
  EXPECT_TRUE(refused("error_budget", -0.5));
}

TEST(Attach, RefusesSegmentsThatAreNotWhatTheyShouldBe) {
  {
    TestPool pool;
    pool.pool->stamp.store(1);
    const Error error = error_of([&] { (void)Feed::attach(pool.options()); });
    EXPECT_EQ(error.kind(), ErrorKind::kRefused);
    EXPECT_THAT(error.what(), HasSubstr("one build of feedring"));
  }
  {
    TestPool pool;
    pool.ring.header().stamp.store(1);
    EXPECT_EQ(error_of([&] { (void)Feed::attach(pool.options()); }).kind(), ErrorKind::kRefused);
  }
  {
    TestPool pool;
    pool.ring_fd = create_memfd("open", pool.ring.shape().bytes);
    const Error error = error_of([&] { (void)Feed::attach(pool.options()); });
    EXPECT_EQ(error.kind(), ErrorKind::kRefused);
    EXPECT_THAT(error.what(), HasSubstr("not sealed"));
  }
  {
    TestPool pool;
    pool.reply["feed"]["batch_size"] = 5;
    const Error error = error_of([&] { (void)Feed::attach(pool.options()); });
    EXPECT_EQ(error.kind(), ErrorKind::kRefused);
    EXPECT_THAT(error.what(), HasSubstr("3 slots of 4 rows where the feed has 3 of 5"));
  }
}

TEST(Attach, ReportsAScheduleWithoutASteps) {
  TestPool pool;
  pool.reply["feed"]["remainder"] = "drop";
  pool.reply["ordinals"] = 3;
  EXPECT_EQ(error_of([&] { (void)Feed::attach(pool.options()); }).kind(), ErrorKind::kUsage);
}

TEST(Attach, OffersTheFirstBatchesAtOnceButCountsAsNotIterated) {
  TestPool pool;
  pool.start();
  Feed feed = Feed::attach(pool.options());
  pool.wait_ready(2);
  EXPECT_EQ(pool.ring.header().iterated.load(), 0U);
  (void)feed.next();
  EXPECT_EQ(pool.ring.header().iterated.load(), 1U);
}

TEST(Attach, TellsProducersOfWhatItOffers) {
  TestPool pool;
  Feed feed = Feed::attach(pool.options());
  const std::uint32_t after_attach = pool.pool->work.sequence.load();
  EXPECT_GT(after_attach, 0U) << "or a sleeping producer would find the work by its next slice only";
  feed.seek(3, 0);
  EXPECT_GT(pool.pool->work.sequence.load(), after_attach);
}

}  // namespace
}  // namespace feedring
