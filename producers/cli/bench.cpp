// SPDX-License-Identifier: Apache-2.0
// `feedring bench`: how fast batches arrive. Ranks are processes that drain as fast as they can (feedring-drain).
#include "producers/cli/bench.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>
#include <list>
#include <memory>

#include "producers/cli/launcher.hpp"
#include "producers/cli/output.hpp"
#include "producers/cli/programs.hpp"
#include "producers/cli/run.hpp"
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

// One rank: its process, what it says, and the pipe that starts its window.
struct Drain {
  explicit Drain(boost::asio::io_context& io) : out(io) {}
  pid_t pid = 0;
  UniqueFd in;
  boost::asio::posix::stream_descriptor out;
  std::string buffer;
  bool first = false;
  std::optional<nlohmann::json> result;
};

class Bench {
 public:
  explicit Bench(const BenchOptions& options)
      : options_(options),
        io_(1),
        address_(pool_name_of(::geteuid(), "bench-" + process_identity(), "n0")),
        signals_(
            io_, [this](int number, bool) { interrupted(number); },
            [this](pid_t pid) { return owns(pid); }) {}

  BenchResult run() {
    UniqueFd listener = listen_at(address_);
    if (!listener) throw Error(ErrorKind::kInternal, "the benchmark's own pool address is taken");
    // Ranks start while the data is read; they wait at the socket.
    for (std::uint32_t rank = 0; rank < options_.ranks; ++rank) start_rank(rank);
    SupervisorOptions supervise;
    supervise.config = options_.config;
    supervise.address = address_;
    supervise.producers = options_.producers;
    supervise.ranks = options_.ranks;
    supervise.producer_program = libexec_program("feedring-producer");
    try {
      supervisor_ = std::make_unique<Supervisor>(io_, std::move(supervise), std::move(listener));
    } catch (...) {
      end_ranks();
      throw;
    }
    boost::asio::steady_timer timer(io_);
    watch_warm_up(timer);
    io_.run();
    end_ranks();
    if (supervisor_->broken()) throw Error(*supervisor_->broken());
    if (error_) throw Error(*error_);
    return std::move(result_);
  }

 private:
  void start_rank(std::uint32_t rank) {
    Drain& drain = drains_.emplace_back(io_);
    int in[2];
    int out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
      throw Error(ErrorKind::kInternal, fmt::format("pipe failed: {}", std::strerror(errno)));
    const UniqueFd their_in(in[0]);
    const UniqueFd their_out(out[1]);
    drain.in.reset(in[1]);
    drain.out.assign(out[0]);

    std::vector<std::string> command = {libexec_program("feedring-drain").string(),
                                        "--feed", options_.config.feeds[0].name,
                                        "--pool", address_,
                                        "--rank", std::to_string(rank),
                                        "--world", std::to_string(options_.ranks),
                                        "--warm-batches", std::to_string(kWarmBatches)};
    if (options_.epochs) {
      command.insert(command.end(), {"--epochs", std::to_string(*options_.epochs)});
    } else {
      command.insert(command.end(), {"--seconds", fmt::format("{}", options_.seconds)});
    }
    std::vector<char*> argv;
    for (std::string& text : command) argv.push_back(text.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, their_in.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, their_out.get(), STDOUT_FILENO);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int rc = ::posix_spawn(&drain.pid, argv[0], &actions, &attributes, argv.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (rc != 0) throw Error(ErrorKind::kInternal, fmt::format("{} cannot be started: {}", command[0], std::strerror(rc)));
    listen_to(drain);
  }

  void listen_to(Drain& drain) {
    drain.out.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this, &drain](const boost::system::error_code& error) {
                           if (error) return;
                           char chunk[4096];
                           const ssize_t got = ::read(drain.out.native_handle(), chunk, sizeof chunk);
                           if (got < 0 && errno == EINTR) return listen_to(drain);
                           if (got <= 0) return ended(drain);
                           drain.buffer.append(chunk, static_cast<std::size_t>(got));
                           for (std::size_t end = 0; (end = drain.buffer.find('\n')) != std::string::npos;) {
                             const std::string line = drain.buffer.substr(0, end);
                             drain.buffer.erase(0, end + 1);
                             heard(drain, nlohmann::json::parse(line, nullptr, false));
                           }
                           listen_to(drain);
                         });
  }

  void heard(Drain& drain, const nlohmann::json& message) {
    if (message.value("event", "") == "first") {
      drain.first = true;
      cold_first_ns_ = monotonic_ns() - options_.started_ns;
      if (std::all_of(drains_.begin(), drains_.end(), [](const Drain& d) { return d.first; })) open_window();
    } else if (message.value("event", "") == "result") {
      drain.result = message;
      if (std::all_of(drains_.begin(), drains_.end(), [](const Drain& d) { return d.result.has_value(); })) finish();
    }
  }

  void open_window() {
    cpu_at_start_ = supervisor_->producers().cpu_ns() + own_cpu_ns();
    failed_at_start_ = supervisor_->failed();
    for (const Drain& drain : drains_) {
      if (::write(drain.in.get(), "\n", 1) != 1) fail(ErrorKind::kPoolGone, "a rank ended before its window began");
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
    double longest = 0;
    double wait = 0;
    double cpu_ranks = 0;
    double first = 0;
    double rank_faults = 0;
    double rank_futex = 0;
    double rank_batches = 0;
    std::vector<std::string> digests;
    for (const Drain& drain : drains_) {
      const nlohmann::json& r = *drain.result;
      images += r.value("images", 0.0);
      longest = std::max(longest, r.value("seconds", 0.0));
      wait += r.value("wait_s", 0.0);
      cpu_ranks += r.value("cpu_s", 0.0);
      first = std::max(first, r.value("first_batch_ms", 0.0));
      rank_faults += r.value("warm_page_faults", 0.0);
      rank_futex += r.value("warm_futex_calls", 0.0);
      rank_batches += r.value("warm_batches", 0.0);
      const auto own = r.value("digest", std::vector<std::string>{});
      // Every rank completes the same epochs; in a timed run one may be a little ahead of another.
      if (&drain == &drains_.front()) digests = own;
      digests.resize(std::min(digests.size(), own.size()));
      if (&drain != &drains_.front())
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
            {"failed", supervisor_->failed() - failed_at_start_},
            {"digest", digests},
            {"producers", options_.producers},
            {"ranks", options_.ranks},
            {"batch_size", options_.config.feeds[0].batch_size}};
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

  void ended(Drain& drain) {
    drain.out.close();
    if (drain.result) return;
    int status = 0;
    ::waitpid(drain.pid, &status, 0);
    drain.pid = 0;
    // It has printed its reason on our standard error.
    fail(ErrorKind::kPoolGone, fmt::format("a benchmark rank ended early with code {}", exit_code_of(status)));
  }

  void interrupted(int number) { fail(ErrorKind::kInternal, fmt::format("interrupted by signal {}", number)); }

  void fail(ErrorKind kind, const std::string& why) {
    if (!error_) error_.emplace(kind, why);
    if (supervisor_) supervisor_->stop();
    io_.stop();
  }

  [[nodiscard]] bool owns(pid_t pid) const {
    return (supervisor_ && supervisor_->producers().owns(pid)) ||
           std::any_of(drains_.begin(), drains_.end(), [pid](const Drain& drain) { return drain.pid == pid; });
  }

  void end_ranks() {
    for (Drain& drain : drains_) {
      if (drain.pid == 0) continue;
      drain.in.reset();
      if (!drain.result) ::kill(drain.pid, SIGKILL);
      ::waitpid(drain.pid, nullptr, 0);
      drain.pid = 0;
    }
  }

  const BenchOptions& options_;
  boost::asio::io_context io_;
  std::string address_;
  Signals signals_;
  std::unique_ptr<Supervisor> supervisor_;
  std::list<Drain> drains_;
  std::optional<Error> error_;
  std::optional<Sample> warm_;
  std::uint64_t cold_first_ns_ = 0;
  std::uint64_t cpu_at_start_ = 0;
  std::uint64_t failed_at_start_ = 0;
  BenchResult result_;
};

}  // namespace

BenchResult bench(const BenchOptions& options) { return Bench(options).run(); }

}  // namespace feedring::cli
