// SPDX-License-Identifier: Apache-2.0
// `feedring bench`: how fast batches arrive. Ranks are processes that drain as fast as they can (feedring-drain).
#include "producers/cli/bench.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <list>
#include <memory>

#include "producers/cli/bench_rank.hpp"
#include "producers/cli/programs.hpp"
#include "producers/cli/signals.hpp"
#include "producers/pool/supervisor.hpp"
#include "runtime/futex.hpp"
#include "runtime/pool_name.hpp"
#include "runtime/process.hpp"

namespace feedring::cli {
namespace {

constexpr std::uint64_t kWarmBatches = 50;  // a rank's; after them nothing may fault a page

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::uint64_t own_cpu_ns() { return cpu_ns_of(::getpid()); }

/// The sum mod 2^128 of what the ranks summed: the digest of an epoch does not depend on who delivered what.
std::string add_hex(const std::string& a, const std::string& b) {
  const auto parse = [](const std::string& hex) {
    unsigned __int128 value = 0;
    for (const char c : hex) value = value << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    return value;
  };
  const unsigned __int128 sum = parse(a) + parse(b);
  return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(sum >> 64), static_cast<std::uint64_t>(sum));
}

/// A rank's own exit code says what kind of error it met.
ErrorKind kind_of(int code) {
  for (const ErrorKind kind :
       {ErrorKind::kUsage, ErrorKind::kData, ErrorKind::kMemory, ErrorKind::kDeadline, ErrorKind::kRefused}) {
    if (exit_code(kind) == code) return kind;
  }
  return ErrorKind::kPoolGone;
}

struct Interrupted {
  int number;
};

class Bench {
 public:
  explicit Bench(const BenchOptions& options)
      : options_(options), io_(1), address_(pool_name_of(::geteuid(), "bench-" + process_identity(), "n0")) {}

  BenchResult run() {
    UniqueFd listener = listen_at(address_);
    if (!listener) throw Error(ErrorKind::kInternal, "the benchmark's own pool address is taken");
    SupervisorOptions supervise;
    supervise.config = options_.config;
    supervise.address = address_;
    supervise.producers = options_.producers;
    supervise.ranks = options_.ranks;
    supervise.producer_command = producer_command(options_.config);
    supervisor_ = std::make_unique<Supervisor>(io_, std::move(supervise), std::move(listener));
    const Signals signals(
        io_, [this](int number, bool) { interrupted(number); }, [this](pid_t pid) { return owns(pid); });
    for (std::uint32_t rank = 0; rank < options_.ranks; ++rank) start_rank(rank);
    boost::asio::steady_timer timer(io_);
    watch_warm_up(timer);
    io_.run();
    if (signal_ != 0) throw Interrupted{signal_};
    if (supervisor_->broken()) throw Error(*supervisor_->broken());
    if (error_) throw Error(*error_);
    return std::move(result_);
  }

 private:
  void start_rank(std::uint32_t rank) {
    std::vector<std::string> arguments = {"--feed", options_.config.feeds[0].name};
    const auto add = [&](const char* name, const std::string& value) {
      arguments.insert(arguments.end(), {name, value});
    };
    add("--pool", address_);
    add("--rank", std::to_string(rank));
    add("--world", std::to_string(options_.ranks));
    add("--warm-batches", std::to_string(kWarmBatches));
    add("--die-with", std::to_string(::getpid()));
    if (options_.epochs) {
      add("--epochs", std::to_string(*options_.epochs));
    } else {
      add("--seconds", fmt::format("{}", options_.seconds));
    }
    ranks_.emplace_back(
        io_, arguments, [this](BenchRank& from, const nlohmann::json& message) { heard(from, message); },
        // It has printed its reason on our standard error.
        [this](int code) { fail(kind_of(code), fmt::format("a benchmark rank ended early with code {}", code)); });
  }

  void heard(BenchRank& rank, const nlohmann::json& message) {
    if (message.value("event", "") == "first") {
      rank.first = true;
      cold_first_ns_ = monotonic_ns() - options_.started_ns;
      if (std::all_of(ranks_.begin(), ranks_.end(), [](const BenchRank& r) { return r.first; })) open_window();
    } else if (message.value("event", "") == "result") {
      rank.result = message;
      if (std::all_of(ranks_.begin(), ranks_.end(), [](const BenchRank& r) { return r.result.has_value(); })) finish();
    }
  }

  void open_window() {
    cpu_at_start_ = supervisor_->producers().cpu_ns() + own_cpu_ns();
    for (BenchRank& rank : ranks_) {
      if (!rank.go()) fail(ErrorKind::kPoolGone, "a rank ended before its window began");
    }
  }

  // Producers' counters at the moment when every rank has its warm batches.
  void watch_warm_up(boost::asio::steady_timer& timer) {
    timer.expires_after(std::chrono::milliseconds(20));
    timer.async_wait([this, &timer](const boost::system::error_code& error) {
      if (error) return;
      std::uint64_t least = UINT64_MAX;
      for (const auto& ring : supervisor_->rings().all())
        least = std::min(least, ring->ring.header().batches.load(std::memory_order_relaxed));
      if (least > kWarmBatches) {
        warm_ = sample();
        return;
      }
      watch_warm_up(timer);
    });
  }

  struct Sample {
    std::uint64_t batches = 0;
    std::uint64_t faults = 0;
    std::uint64_t tasks = 0;
    std::uint64_t futex_calls = 0;
  };
  [[nodiscard]] Sample sample() const {
    Sample now;
    now.faults = supervisor_->producers().minor_faults();
    for (const auto& ring : supervisor_->rings().all())
      now.batches += ring->ring.header().batches.load(std::memory_order_relaxed);
    const auto& pool = supervisor_->producers().pool();
    for (std::uint32_t i = 0; i < options_.producers; ++i) {
      now.tasks += pool.producer[i].counters.tasks.load(std::memory_order_relaxed);
      now.futex_calls += pool.producer[i].counters.futex_calls.load(std::memory_order_relaxed);
    }
    return now;
  }

  void finish() {
    const std::uint64_t cpu = supervisor_->producers().cpu_ns() + own_cpu_ns() - cpu_at_start_;
    double images = 0;
    double episodes = 0;
    double longest = 0;
    double wait = 0;
    double cpu_ranks = 0;
    double first = 0;
    double rank_faults = 0;
    double rank_futex = 0;
    double rank_batches = 0;
    std::uint64_t failed = 0;  // as the ranks met them, the first batch included
    std::vector<std::string> digests;
    for (const BenchRank& rank : ranks_) {
      const nlohmann::json& r = *rank.result;
      images += r.value("images", 0.0);
      episodes += r.value("episodes", 0.0);
      longest = std::max(longest, r.value("seconds", 0.0));
      wait += r.value("wait_s", 0.0);
      cpu_ranks += r.value("cpu_s", 0.0);
      first = std::max(first, r.value("first_batch_ms", 0.0));
      rank_faults += r.value("warm_page_faults", 0.0);
      rank_futex += r.value("warm_futex_calls", 0.0);
      rank_batches += r.value("warm_batches", 0.0);
      failed += r.value("failed", std::uint64_t{0});
      const auto own = r.value("digest", std::vector<std::string>{});
      // Every rank completes the same epochs; in a timed run one may be a little ahead of another.
      if (&rank == &ranks_.front()) digests = own;
      digests.resize(std::min(digests.size(), own.size()));
      if (&rank != &ranks_.front())
        for (std::size_t e = 0; e < digests.size(); ++e) digests[e] = add_hex(digests[e], own[e]);
    }
    nlohmann::ordered_json& json = result_.json;
    json = {{"images", static_cast<std::uint64_t>(images)},
            {"seconds", longest},
            {"images_per_s", longest > 0 ? images / longest : 0.0},
            {"cpu_s_producers", seconds(cpu)},
            {"cpu_s_ranks", cpu_ranks},
            {"cpu_ms_per_image", images > 0 ? (seconds(cpu) + cpu_ranks) * 1e3 / images : 0.0},
            {"first_batch_ms", first},
            {"cold_first_batch_ms", seconds(cold_first_ns_) * 1e3},
            {"wait_share", longest > 0 ? wait / (longest * options_.ranks) : 0.0},
            {"page_faults_per_batch", nullptr},
            {"futex_calls_per_batch", nullptr},
            {"futex_calls_per_task", nullptr},
            {"failed", failed},
            {"digest", digests},
            {"producers", options_.producers},
            {"ranks", options_.ranks},
            {"batch_size", options_.config.feeds[0].batch_size}};
    if (options_.config.feeds[0].episodes) {
      json["episodes"] = static_cast<std::uint64_t>(episodes);
      json["episodes_per_s"] = longest > 0 ? episodes / longest : 0.0;
    }
    if (warm_ && rank_batches > 0) {
      const Sample now = sample();
      const auto batches = static_cast<double>(now.batches - warm_->batches);
      const auto tasks = static_cast<double>(now.tasks - warm_->tasks);
      if (batches > 0 && tasks > 0) {
        json["page_faults_per_batch"] =
            static_cast<double>(now.faults - warm_->faults) / batches + rank_faults / rank_batches;
        json["futex_calls_per_batch"] = rank_futex / rank_batches;
        json["futex_calls_per_task"] = static_cast<double>(now.futex_calls - warm_->futex_calls) / tasks;
      }
    }
    supervisor_->stop();
  }

  void interrupted(int number) {
    signal_ = number;
    if (supervisor_) supervisor_->stop();
    io_.stop();
  }

  void fail(ErrorKind kind, const std::string& why) {
    if (!error_) error_.emplace(kind, why);
    if (supervisor_) supervisor_->stop();
    io_.stop();
  }

  [[nodiscard]] bool owns(pid_t pid) const {
    return (supervisor_ && supervisor_->producers().owns(pid)) ||
           std::any_of(ranks_.begin(), ranks_.end(), [pid](const BenchRank& rank) { return rank.pid() == pid; });
  }

  const BenchOptions& options_;
  boost::asio::io_context io_;
  std::string address_;
  std::unique_ptr<Supervisor> supervisor_;
  std::list<BenchRank> ranks_;
  std::optional<Error> error_;
  int signal_ = 0;
  std::optional<Sample> warm_;
  std::uint64_t cold_first_ns_ = 0;
  std::uint64_t cpu_at_start_ = 0;
  BenchResult result_;
};

}  // namespace

BenchResult bench(const BenchOptions& options) {
  try {
    return Bench(options).run();
  } catch (const Interrupted& interrupted) {
    // All is cleaned up; now as everything else that a signal ends, so that a shell sees it.
    sigset_t blocked;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, interrupted.number);
    ::raise(interrupted.number);
    ::sigprocmask(SIG_UNBLOCK, &blocked, nullptr);  // Signals had it blocked: here it comes
    throw Error(ErrorKind::kInternal, fmt::format("interrupted by signal {}", interrupted.number));
  }
}

}  // namespace feedring::cli
