// SPDX-License-Identifier: Apache-2.0
// A pool that nobody asks for anything costs next to nothing.
#include <unistd.h>

#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

class AnIdlePool : public Scene {};

TEST_F(AnIdlePool, UsesNextToNoTime) {
  make_pictures(40);
  const pid_t supervisor = start_pool({"-c", configure(), "--producers", "2", "--ranks", "1"});
  Program rank = trainer({"--batches", "2", "--hold"});
  ASSERT_TRUE(eventually([&] { return events(rank, "batch").size() == 2; })) << rank.err();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the ring fills up again
  const auto ticks = [&] {
    std::uint64_t sum = process_info(supervisor)->ticks + process_info(rank.pid())->ticks;
    for (const pid_t producer : producers_of(supervisor)) sum += process_info(producer)->ticks;
    return sum;
  };
  const std::uint64_t before = ticks();
  const auto since = Clock::now();
  std::this_thread::sleep_for(seconds(5));
  const double used = static_cast<double>(ticks() - before) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  const double share = used / std::chrono::duration<double>(Clock::now() - since).count();
  std::cout << "idle: " << share * 100 << " % of a core\n";
  RecordProperty("percent_of_a_core", std::to_string(share * 100));
  EXPECT_LT(share, 0.05) << "the promise is 2 %";
  rank.kill(SIGTERM);
  EXPECT_EQ(rank.wait(), 0);
  stop_pool();
}

}  // namespace
}  // namespace feedring::test
