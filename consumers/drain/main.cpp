// SPDX-License-Identifier: Apache-2.0
// feedring-drain: a rank that takes batches as fast as they come; `feedring bench` runs one a rank.
//
//   it prints   {"event":"first", …}    after its first batch
//   it reads    one line                when all ranks have theirs: its window begins
//   it prints   {"event":"result", …}   at the end
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <feedring/feed.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "consumers/drain/stream_digest.hpp"
#include "runtime/futex.hpp"

namespace feedring {
namespace {

struct Options {
  FeedOptions feed;
  double seconds = 10;
  std::optional<std::uint64_t> epochs;
  std::uint64_t warm_batches = 50;
  bool untouched = false;
  std::optional<pid_t> parent;
};

// A benchmark that is killed must not leave its ranks to wait for a pool that will never be.
void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(exit_code(ErrorKind::kPoolGone));  // it died before the line above
}

std::uint64_t cpu_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
}

std::uint64_t page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_minflt + usage.ru_majflt);
}

void say(const nlohmann::ordered_json& message) {
  const std::string line = message.dump() + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

/// What is measured between two moments.
struct Sample {
  std::uint64_t time_ns = monotonic_ns();
  std::uint64_t cpu = cpu_ns();
  std::uint64_t faults = page_faults();
  FeedStats stats;

  explicit Sample(const Feed& feed) : stats(feed.stats()) {}
};

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

class Drain {
 public:
  explicit Drain(const Options& options)
      : options_(options), attached_ns_(monotonic_ns()), feed_(Feed::attach(options.feed)) {
    // Touched before the window: the pages that this list grows into are no page faults of the feed.
    digests_.resize(kTouchedEpochs);
    digests_.clear();
  }

  int run() {
    // Attached: from here on the pool's own pidfd tells, and this rank can say what happened.
    ::prctl(PR_SET_PDEATHSIG, 0);
    take();
    const double first_batch_ms = seconds(monotonic_ns() - attached_ns_) * 1e3;
    say({{"event", "first"}, {"rank", feed_.rank()}, {"first_batch_ms", first_batch_ms}});
    if (std::getchar() == EOF) return exit_code(ErrorKind::kPoolGone);  // whoever started this rank is gone

    const std::uint64_t images_before = images_;
    const Sample start(feed_);
    std::optional<Sample> warm;
    const auto window_ns = static_cast<std::uint64_t>(options_.seconds * 1e9);
    while (options_.epochs ? digests_.size() < *options_.epochs : monotonic_ns() - start.time_ns < window_ns) {
      take();
      if (!warm && feed_.stats().batches >= options_.warm_batches) warm.emplace(feed_);
    }
    report(first_batch_ms, images_before, start, warm, Sample(feed_));
    return 0;
  }

 private:
  static constexpr std::size_t kTouchedEpochs = 16384;

  // One batch, or the end of an epoch.
  void take() {
    if (const auto batch = feed_.next()) {
      if (!options_.untouched) images_ += digest_.add(*batch);
      episodes_ = episodes_ || is_of_episodes(*batch);
    } else {
      digests_.push_back(digest_.take());
    }
  }

  void report(double first_batch_ms, std::uint64_t images_before, const Sample& start,
              const std::optional<Sample>& warm, const Sample& end) const {
    const Sample& steady = warm ? *warm : end;
    std::vector<std::string> digests;
    for (const StreamDigest::Sum sum : digests_) digests.push_back(StreamDigest::text(sum));
    const std::uint64_t rows = end.stats.samples - start.stats.samples;
    nlohmann::ordered_json result = {{"event", "result"},
                                     {"rank", feed_.rank()},
                                     {"episodes", episodes_ ? rows : 0},
                                     {"batches", end.stats.batches - start.stats.batches},
                                     {"seconds", seconds(end.time_ns - start.time_ns)},
                                     {"wait_s", seconds(end.stats.wait_ns - start.stats.wait_ns)},
                                     {"cpu_s", seconds(end.cpu - start.cpu)},
                                     {"first_batch_ms", first_batch_ms},
                                     {"warm_batches", end.stats.batches - steady.stats.batches},
                                     {"warm_page_faults", end.faults - steady.faults},
                                     {"warm_futex_calls", end.stats.futex_calls - steady.stats.futex_calls},
                                     {"failed", end.stats.failed}};
    if (!options_.untouched) {
      result["images"] = episodes_ ? images_ - images_before : rows;
      result["digest"] = digests;
    }
    say(result);
  }

  const Options& options_;
  std::uint64_t attached_ns_;
  Feed feed_;
  StreamDigest digest_;
  std::uint64_t images_ = 0;  // that were digested
  bool episodes_ = false;
  std::vector<StreamDigest::Sum> digests_;  // one a completed epoch
};

Options parse(int argc, char** argv, std::optional<int>& leave) {
  Options options;
  CLI::App app("A rank that takes batches as fast as they come; run by `feedring bench`.", "feedring-drain");
  std::uint32_t rank = 0;
  std::uint32_t world = 1;
  app.add_option("--feed", options.feed.name, "Feed of the pool");
  app.add_option("--pool", options.feed.pool, "Where the pool listens; default: FEEDRING_POOL");
  auto* rank_option = app.add_option("--rank", rank, "Rank, also on this node; default: what the launcher says");
  app.add_option("--world", world, "Ranks in all")->needs(rank_option);
  app.add_option("--seconds", options.seconds, "Length of the window")->check(CLI::PositiveNumber);
  app.add_option("--epochs", options.epochs, "Stop after so many whole epochs instead")->check(CLI::PositiveNumber);
  app.add_option("--warm-batches", options.warm_batches, "Batches before faults and futex calls are counted");
  app.add_flag("--untouched", options.untouched, "Look at no pixel: count batches alone, without images and digest");
  app.add_option("--die-with", options.parent,
                 "Before the pool was reached, end with the process of this id, which started this one");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    leave = app.exit(error) == 0 ? 0 : exit_code(ErrorKind::kUsage);
  }
  if (*rank_option) {
    options.feed.rank = options.feed.local_rank = rank;
    options.feed.world_size = world;
  }
  return options;
}

}  // namespace
}  // namespace feedring

int main(int argc, char** argv) {
  std::optional<int> leave;
  const feedring::Options options = feedring::parse(argc, argv, leave);
  if (leave) return *leave;
  if (options.parent) feedring::die_with(*options.parent);
  try {
    return feedring::Drain(options).run();
  } catch (const feedring::Error& error) {
    std::fprintf(stderr, "feedring-drain: %s\n", error.what());
    return feedring::exit_code(error.kind());
  }
}
