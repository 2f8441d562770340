// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/producer_set.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <feedring/error.hpp>

#include "producers/pool/in_hand.hpp"
#include "runtime/control.hpp"
#include "runtime/event_count.hpp"
#include "runtime/message.hpp"
#include "runtime/process.hpp"

namespace feedring {

using contract::WorkPhase;

namespace {

constexpr int kChannelInChild = 3;
constexpr std::uint64_t kSecond = 1'000'000'000;
// A producer that dies this often in a row without finishing a single task will not be saved by another start.
constexpr std::uint32_t kMaxFruitlessStarts = 5;
// A killed process that is still there after this is stuck in the kernel.
constexpr std::uint64_t kBurialDeadline = 5 * kSecond;
// A producer reads its channel at once; one that does not is stopped or broken.
constexpr int kListenWithinMs = 5000;

std::uint64_t cpu_ns_in(const rusage& usage) {
  return static_cast<std::uint64_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * kSecond +
         static_cast<std::uint64_t>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

bool caused_by_a_file(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGABRT || signal == SIGILL || signal == SIGFPE;
}

}  // namespace

struct ProducerSet::Process {
  Process(boost::asio::io_context& io, contract::Claimant id, std::uint32_t place)
      : claimant(id), position(place), channel(io), death(io) {}

  contract::Claimant claimant;
  std::uint32_t position;
  pid_t pid = 0;
  boost::asio::posix::stream_descriptor channel;  // our end of its socket
  boost::asio::posix::stream_descriptor death;    // its pidfd
  std::uint64_t tasks_at_start = 0;
  std::uint32_t fruitless_starts = 0;
  std::uint64_t killed_for_hang_ns = 0;  // 0: not killed by us
};

ProducerSet::ProducerSet(boost::asio::io_context& io, std::filesystem::path program, const std::vector<NodeFeed>& feeds,
                         const Rings& rings, Callbacks callbacks)
    : io_(io), program_(std::move(program)), feeds_(feeds), rings_(rings), callbacks_(std::move(callbacks)) {}

ProducerSet::~ProducerSet() = default;

contract::PoolHeader<std::atomic>& ProducerSet::pool() const noexcept {
  return *reinterpret_cast<contract::PoolHeader<std::atomic>*>(pool_mapping_.data());
}

void ProducerSet::start(std::uint32_t count) {
  if (count < 1 || count > contract::kMaxProducers) {
    throw Error(ErrorKind::kUsage, fmt::format("a pool has 1 to {} producers, not {}", contract::kMaxProducers, count));
  }
  pool_fd_ = create_memfd("feedring-pool", sizeof(contract::PoolHeader<std::atomic>));
  seal_size(pool_fd_.get());
  pool_mapping_ = Mapping(pool_fd_.get(), Mapping::Access::kReadWrite);
  pool_mapping_.populate(0, pool_mapping_.size());
  pool().magic = contract::kPoolMagic;
  pool().bytes = sizeof(contract::PoolHeader<std::atomic>);
  pool().stamp.store(contract::fingerprint(), std::memory_order_release);
  for (std::uint32_t i = 0; i < count; ++i) {
    producers_.emplace_back(io_, static_cast<contract::Claimant>(i + 1), i);
  }
  for (Process& process : producers_) spawn(process);
}

void ProducerSet::spawn(Process& process) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    throw Error(ErrorKind::kInternal, fmt::format("socketpair failed: {}", std::strerror(errno)));
  UniqueFd ours(pair[0]);
  UniqueFd theirs(pair[1]);

  const std::string arguments[] = {program_.string(),
                                   std::to_string(kChannelInChild),
                                   std::to_string(::getpid()),
                                   std::to_string(process.claimant),
                                   std::to_string(process.position),
                                   std::to_string(producers_.size())};
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), kChannelInChild);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  // A producer's data never goes to our standard output, which may be somebody's JSON.
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);  // the supervisor blocks what it reads from a signalfd
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int rc = ::posix_spawn(&process.pid, program_.c_str(), &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (rc != 0) {
    throw Error(ErrorKind::kInternal, fmt::format("{} could not be started: {}", program_.string(), std::strerror(rc)));
  }

  theirs.reset();  // so that its death is the end of the channel
  process.killed_for_hang_ns = 0;
  process.tasks_at_start = pool().producer[process.claimant - 1].counters.tasks.load(std::memory_order_relaxed);
  process.death.assign(open_pidfd(process.pid).release());
  process.channel.assign(ours.release());
  watch_death(process);
  watch_channel(process);

  if (!tell(process, {{"op", "pool"}}, pool_fd_.get())) return;
  for (std::size_t i = 0; i < feeds_.size(); ++i) {
    const nlohmann::json feed = {{"op", "feed"}, {"number", i}, {"spec", to_json(feeds_[i].spec)}};
    if (!tell(process, feed, feeds_[i].index_fd.get())) return;
  }
  for (const auto& ring : rings_.all()) {
    if (!tell(process, {{"op", "ring"}, {"feed", ring->feed}}, ring->fd.get())) return;
  }
}

// False: it just died, or does not listen, which it then dies of. Its successor is told everything.
bool ProducerSet::tell(Process& process, const nlohmann::json& message, int descriptor) {
  try {
    send_message(process.channel.native_handle(), message, {descriptor}, kListenWithinMs);
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) throw;
    send_signal(process.death.native_handle(), SIGKILL);
    return false;
  }
}

void ProducerSet::announce(const std::vector<const NodeRing*>& rings) {
  for (Process& process : producers_) {
    for (const NodeRing* ring : rings) {
      if (!tell(process, {{"op", "ring"}, {"feed", ring->feed}}, ring->fd.get())) break;
    }
  }
}

void ProducerSet::watch_death(Process& process) {
  process.death.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                           [this, &process](const boost::system::error_code& error) {
                             if (!error && !stopping_) bury(process);
                           });
}

void ProducerSet::watch_channel(Process& process) {
  process.channel.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                             [this, &process, pid = process.pid](const boost::system::error_code& error) {
                               if (error || stopping_ || process.pid != pid)
                                 return;  // a successor has a watch of its own
                               try {
                                 if (auto message = receive_message(process.channel.native_handle(), 0)) {
                                   if (message->body.value("op", "") == "failure") callbacks_.on_failure(message->body);
                                 }
                               } catch (const Error&) {
                                 return;  // closed: its pidfd tells the rest
                               }
                               watch_channel(process);
                             });
}

// All that it has said and nobody has heard yet. It is dead, so that this ends.
void ProducerSet::hear(Process& process) {
  try {
    while (auto message = receive_message(process.channel.native_handle(), 0)) {
      if (message->body.value("op", "") == "failure") callbacks_.on_failure(message->body);
    }
  } catch (const Error&) {
    // The end of it.
  }
}

// The death is confirmed: its pidfd has fired.
void ProducerSet::bury(Process& process) {
  int status = 0;
  rusage usage{};
  while (::wait4(process.pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  cpu_of_dead_ns_ += cpu_ns_in(usage);
  hear(process);
  bool charged = false;
  const std::string cause = charge(process, status, charged);
  process.channel.close();
  process.death.close();
  sweep(process);

  auto& block = pool().producer[process.claimant - 1];
  const bool fruitful = block.counters.tasks.load(std::memory_order_relaxed) != process.tasks_at_start;
  // Whoever was simply killed, by a person or for want of memory, is just replaced, however often; and each death that
  // a sample is charged with brings its quarantine nearer, so that there is an end to them.
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && process.killed_for_hang_ns == 0;
  if (fruitful) process.fruitless_starts = 0;
  if (!fruitful && !killed && !charged) ++process.fruitless_starts;
  if (process.fruitless_starts >= kMaxFruitlessStarts) {
    callbacks_.on_broken(ErrorKind::kPoolGone,
                         fmt::format("producer {} ended {} times in a row without finishing a task, the last time {}",
                                     process.claimant, kMaxFruitlessStarts, cause));
    return;
  }
  spdlog::warn("producer {} (pid {}) ended {}; what it had in hand is done again by others, and it is replaced",
               process.claimant, process.pid, cause);
  ++replaced_;
  try {
    spawn(process);
  } catch (const Error& error) {
    callbacks_.on_broken(error.kind(),
                         fmt::format("producer {} could not be replaced: {}", process.claimant, error.what()));
  }
}

void ProducerSet::sweep(const Process& process) {
  std::uint32_t found = 0;
  for (const auto& ring : rings_.all()) found += ring->ring.sweep(process.claimant);
  EventCount work(pool().work);
  work.forget(process.claimant - 1U);
  pool().producer[process.claimant - 1].in_hand.since_ns.store(0, std::memory_order_relaxed);
  // Whatever was found: it may have died between a change and its wake-up.
  work.notify_all();
  for (const auto& ring : rings_.all()) EventCount(ring->ring.header().ready).notify_all();
  spdlog::debug("swept {} tasks of producer {}", found, process.claimant);
}

// What it died of, in words; a crash that a file can cause is charged to the sample in hand.
std::string ProducerSet::charge(const Process& process, int wait_status, bool& charged) {
  std::string cause = WIFSIGNALED(wait_status)
                          ? fmt::format("by signal {} ({})", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)))
                          : fmt::format("with exit code {}", WEXITSTATUS(wait_status));
  if (process.killed_for_hang_ns != 0) cause = "because it was killed for a sample that took too long";
  const auto held = held_sample(pool().producer[process.claimant - 1].in_hand, feeds_);
  if (!held) return cause;
  const bool crashed = WIFSIGNALED(wait_status) && caused_by_a_file(WTERMSIG(wait_status));
  if (process.killed_for_hang_ns != 0 || crashed) {
    suspect(pool(), *held);
    charged = crashes_of(pool(), held->feed, held->sample) != 0;  // not where the table of suspects is full
  }
  return cause + fmt::format(" while it {} {}", held->phase == WorkPhase::kRead ? "read" : "decoded", held->path);
}

void ProducerSet::check_deadlines(std::uint64_t late_ns) {
  const std::uint64_t now = monotonic_ns();
  if (late_ns > kSecond) blameless_until_ns_ = now;
  for (Process& process : producers_) {
    if (!process.death.is_open()) continue;
    if (process.killed_for_hang_ns == 0) {
      blame_hang(process, now);
    } else if (now - process.killed_for_hang_ns > kBurialDeadline) {
      const auto held = held_sample(pool().producer[process.claimant - 1].in_hand, feeds_);
      callbacks_.on_broken(ErrorKind::kDeadline,
                           fmt::format("producer {} (pid {}) was killed and does not die: it is stuck in the kernel{}; "
                                       "check the file system and the storage behind it",
                                       process.claimant, process.pid, held ? " with " + held->path : ""));
      return;
    }
  }
}

void ProducerSet::blame_hang(Process& process, std::uint64_t now) {
  const auto& hand = pool().producer[process.claimant - 1].in_hand;
  const std::uint64_t since = hand.since_ns.load(std::memory_order_acquire);
  if (since == 0) return;
  const std::uint32_t feed = hand.feed.load(std::memory_order_relaxed);
  const double limit = feeds_[feed < feeds_.size() ? feed : 0].spec.item_deadline_s;
  const std::uint64_t from = std::max(since, blameless_until_ns_);
  if (now < from || static_cast<double>(now - from) < limit * 1e9) return;
  process.killed_for_hang_ns = now;
  send_signal(process.death.native_handle(), SIGKILL);
}

void ProducerSet::stop() {
  stopping_ = true;
  // The end of what they hear is their end; what they have said is still to be heard.
  for (Process& process : producers_) {
    if (process.channel.is_open()) ::shutdown(process.channel.native_handle(), SHUT_WR);
  }
  wait_for_deaths(kSecond / 2);
  for (Process& process : producers_) {
    if (process.death.is_open()) send_signal(process.death.native_handle(), SIGKILL);
  }
  // One that does not die now is stuck in the kernel; it has no memory of ours that anybody still uses.
  wait_for_deaths(kSecond);
  for (Process& process : producers_) {
    if (process.channel.is_open()) process.channel.close();
  }
}

void ProducerSet::wait_for_deaths(std::uint64_t most_ns) {
  const std::uint64_t until = monotonic_ns() + most_ns;
  for (Process& process : producers_) {
    if (!process.death.is_open()) continue;
    const std::uint64_t now = monotonic_ns();
    if (!is_dead(process.death.native_handle(), now < until ? static_cast<int>((until - now) / 1'000'000) : 0))
      continue;
    rusage usage{};
    ::wait4(process.pid, nullptr, 0, &usage);
    cpu_of_dead_ns_ += cpu_ns_in(usage);
    hear(process);
    process.death.close();
  }
}

bool ProducerSet::owns(pid_t pid) const {
  return std::any_of(producers_.begin(), producers_.end(),
                     [pid](const Process& process) { return process.death.is_open() && process.pid == pid; });
}

std::uint64_t ProducerSet::cpu_ns() const {
  std::uint64_t sum = cpu_of_dead_ns_;
  for (const Process& process : producers_) {
    if (process.death.is_open()) sum += cpu_ns_of(process.pid);
  }
  return sum;
}

std::uint64_t ProducerSet::minor_faults() const {
  std::uint64_t sum = 0;
  for (const Process& process : producers_) sum += minor_faults_of(process.pid);
  return sum;
}

nlohmann::json ProducerSet::status() const {
  nlohmann::json list = nlohmann::json::array();
  const std::uint64_t now = monotonic_ns();
  for (const Process& process : producers_) {
    const auto& block = pool().producer[process.claimant - 1];
    constexpr auto relaxed = std::memory_order_relaxed;
    nlohmann::json entry = {{"id", process.claimant},
                            {"pid", process.pid},
                            {"samples", block.counters.samples.load(relaxed)},
                            {"tasks", block.counters.tasks.load(relaxed)},
                            {"failures", block.counters.failures.load(relaxed)},
                            {"bytes_read", block.counters.bytes_read.load(relaxed)},
                            {"work_s", static_cast<double>(block.counters.work_ns.load(relaxed)) * 1e-9},
                            {"read_wait_s", static_cast<double>(block.counters.read_wait_ns.load(relaxed)) * 1e-9},
                            {"idle_s", static_cast<double>(block.counters.idle_ns.load(relaxed)) * 1e-9},
                            {"futex_calls", block.counters.futex_calls.load(relaxed)},
                            {"cpu_s", static_cast<double>(cpu_ns_of(process.pid)) * 1e-9}};
    const auto held = held_sample(block.in_hand, feeds_);
    if (held && held->since_ns < now)
      entry["in_hand"] = {{"path", held->path}, {"seconds", static_cast<double>(now - held->since_ns) * 1e-9}};
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace feedring
