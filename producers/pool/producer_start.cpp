// SPDX-License-Identifier: Apache-2.0
// How a ProducerSet starts a producer, and what they say to each other from then on.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

#include "producers/config/json_text.hpp"
#include "producers/pool/producer_process.hpp"
#include "runtime/control.hpp"
#include "runtime/fault_point.hpp"
#include "runtime/futex.hpp"
#include "runtime/message.hpp"
#include "runtime/process.hpp"

namespace feedring {
namespace {

constexpr int kChannelInChild = 3;
// A producer reads its channel at once; one that does not is stopped or broken.
constexpr int kListenWithinMs = 5000;

}  // namespace

void ProducerSet::spawn(Process& process) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    throw Error(ErrorKind::kInternal, fmt::format("socketpair failed: {}", std::strerror(errno)));
  UniqueFd ours(pair[0]);
  UniqueFd theirs(pair[1]);

  std::vector<std::string> arguments = program_.command;
  arguments.insert(arguments.end(),
                   {std::to_string(kChannelInChild), std::to_string(::getpid()), std::to_string(process.claimant),
                    std::to_string(process.position), std::to_string(producers_.size())});
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
  const int rc = ::posix_spawnp(&process.pid, argv.front(), &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (rc != 0) {
    throw Error(ErrorKind::kInternal, fmt::format("the producer program {} could not be started: {}",
                                                  program_.command.front(), std::strerror(rc)));
  }

  theirs.reset();  // so that its death is the end of the channel
  process.killed_for_hang_ns = 0;
  process.ready = false;
  process.unable.clear();
  process.started_ns = monotonic_ns();
  process.tasks_at_start = pool().producer[process.claimant - 1].counters.tasks.load(std::memory_order_relaxed);
  process.death.assign(open_pidfd(process.pid).release());
  process.channel.assign(ours.release());
  watch_death(process);
  watch_channel(process);
  place(process);

  fault_point("start, before the descriptors");
  if (!tell(process, {{"op", "pool"}, {"feeds", feeds_.size()}}, {pool_fd_.get()})) return;
  for (const NodeStores::Made& made : stores_.all()) {
    if (!tell(process, {{"op", "store"}, {"layout", to_json(made.plan.layout)}}, {made.fd.get()})) return;
  }
  for (const NodeStores::MadeSeek& made : stores_.all_seek()) {
    if (!tell(process, {{"op", "seek"}, {"layout", to_json(made.plan.layout)}}, {made.fd.get()})) return;
  }
  for (std::size_t i = 0; i < feeds_.size(); ++i) {
    nlohmann::json feed = {{"op", "feed"}, {"number", i}, {"spec", to_json(feeds_[i].spec)}};
    if (const auto store = stores_.store_of(feeds_[i].spec.name)) feed["store"] = *store;
    if (const auto seek = stores_.seek_of(feeds_[i].spec.name)) feed["seek"] = *seek;
    std::vector<int> descriptors{feeds_[i].index_fd.get()};
    if (feeds_[i].episodes_fd) descriptors.push_back(feeds_[i].episodes_fd.get());
    if (!tell(process, feed, descriptors)) return;
  }
  for (const auto& ring : rings_.all()) {
    if (!tell(process, {{"op", "ring"}, {"feed", ring->feed}}, {ring->fd.get()})) return;
  }
}

// Near the ring that it turns to first where several are served alike (producers/pool/chooser.hpp): all write to all
// rings, but most of what it writes is near.
// A node with more producers than cores would leave the rest of the machine idle: so many are kept there, no more.
void ProducerSet::place(const Process& process) const {
  if (rings_.all().empty()) return;
  const auto home_of = [this](std::size_t position) -> const NodeRing& {
    return *rings_.all()[position % rings_.all().size()];
  };
  const NodeRing& home = home_of(process.position);
  if (!home.numa_node) return;
  std::uint32_t before = 0;
  for (std::size_t p = 0; p < process.position; ++p) before += home_of(p).numa_node == home.numa_node ? 1 : 0;
  if (before != 0 && before >= placement_.cores(*home.numa_node)) return;
  if (!placement_.bind(process.pid, *home.numa_node)) {
    spdlog::warn(
        "producer {} (pid {}) could not be kept on NUMA node {}: none of its cores is granted, or the system "
        "refused; it runs where it is",
        process.claimant, process.pid, *home.numa_node);
  }
}

// False: it just died, or does not listen, which it then dies of. Its successor is told everything.
bool ProducerSet::tell(Process& process, const nlohmann::json& message, const std::vector<int>& descriptors) {
  fault_point("start, between two descriptors");
  try {
    send_message(process.channel.native_handle(), message, descriptors, kListenWithinMs);
    return true;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) throw;
    send_signal(process.death.native_handle(), SIGKILL);
    return false;
  }
}

void ProducerSet::announce(const std::vector<const NodeRing*>& rings) {
  for (Process& process : producers_) {
    place(process);
    for (const NodeRing* ring : rings) {
      if (!tell(process, {{"op", "ring"}, {"feed", ring->feed}}, {ring->fd.get()})) break;
    }
  }
}

void ProducerSet::watch_channel(Process& process) {
  process.channel.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                             [this, &process, pid = process.pid](const boost::system::error_code& gone) {
                               if (gone || stopping_ || process.pid != pid)
                                 return;  // a successor has a watch of its own
                               try {
                                 if (auto message = receive_message(process.channel.native_handle(), 0))
                                   take_report(process, message->body);
                               } catch (const Error& error) {
                                 if (error.kind() != ErrorKind::kRefused) return;  // closed: its pidfd tells the rest
                                 warn_of_nonsense(process, error);
                               }
                               watch_channel(process);
                             });
}

// A producer decodes files of strangers: what it says is not believed, and nonsense does not end the pool.
void ProducerSet::take_report(Process& process, const nlohmann::json& said) {
  try {
    if (said.value("op", "") == "ready") process.ready = true;
    if (said.value("op", "") == "unable") process.unable = to_utf8(said.value("why", ""));
    if (said.value("op", "") == "failure") callbacks_.on_failure(said);
  } catch (const nlohmann::json::exception& malformed) {
    warn_of_nonsense(process, malformed);
  }
}

void ProducerSet::warn_of_nonsense(const Process& process, const std::exception& what) {
  spdlog::warn("producer {} (pid {}) sent a report that makes no sense: {}", process.claimant, process.pid,
               what.what());
}

// All that it has said and nobody has heard yet. It is dead, so that this ends.
void ProducerSet::hear(Process& process) {
  for (;;) {
    try {
      auto message = receive_message(process.channel.native_handle(), 0);
      if (!message) return;
      take_report(process, message->body);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kRefused) return;  // the end of it
      warn_of_nonsense(process, error);
    }
  }
}

}  // namespace feedring
