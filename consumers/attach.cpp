// SPDX-License-Identifier: Apache-2.0
#include "consumers/attach.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <feedring/error.hpp>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "consumers/pool_start.hpp"
#include "runtime/control.hpp"
#include "runtime/fault_point.hpp"
#include "runtime/job_process.hpp"
#include "runtime/message.hpp"
#include "runtime/pool_name.hpp"

namespace feedring {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kRetry{20};
// How long a restarted rank waits for the process before it to die, which may be freeing a GPU.
constexpr milliseconds kPredecessorPatience{5000};
// The supervisor answers between two things of its own, none of which takes long.
constexpr milliseconds kAnswerPatience{5000};

// How often the program is asked whether to go on waiting.
constexpr milliseconds kIdle{100};

double seconds(milliseconds time) { return std::chrono::duration<double>(time).count(); }

/// Where to connect, and what to start where nobody is there.
struct Target {
  PoolAddress address;
  std::optional<PoolStarter> starter;
};

Target find_target(const FeedOptions& options, const Environment& environment, const Launch& launch) {
  const auto named = environment("FEEDRING_POOL");
  if (!options.pool.empty()) return {options.pool, std::nullopt};
  if (named && !named->empty()) return {*named, std::nullopt};
  const std::string config = options.config.empty() ? environment("FEEDRING_CONFIG").value_or("") : options.config;
  if (config.empty()) {
    throw Error(ErrorKind::kUsage,
                "no pool is known to this rank: start it under `feedring run`, set FEEDRING_POOL to a "
                "running pool, or set FEEDRING_CONFIG to a configuration from which to start one");
  }
  PoolAddress address = pool_name(environment, launch, ::geteuid(), process_identity(), options.pool_key);
  PoolStarter starter(config, address, job_process(launch),
                      options.command.empty() ? find_command() : std::filesystem::path(options.command));
  return {std::move(address), std::move(starter)};
}

void pause(const FeedOptions& options) {
  if (options.idle) options.idle();
  std::this_thread::sleep_for(kRetry);
}

/// A connection to the pool; waits for one that is still starting.
UniqueFd connect(Target& target, const FeedOptions& options, Clock::time_point deadline) {
  for (;;) {
    if (UniqueFd socket = connect_to(target.address)) return socket;
    if (target.starter) target.starter->step();
    if (Clock::now() >= deadline) {
      throw Error(
          ErrorKind::kDeadline,
          fmt::format("feed '{}': no pool came to listen at {} within {} s; is `feedring run` or `feedring start` "
                      "running on this node, as this user?",
                      options.name, target.address, seconds(options.attach_deadline)));
    }
    pause(options);
  }
}

/// The answer, or nullopt at the deadline.
std::optional<Message> wait_for_answer(int socket, const FeedOptions& options, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    const auto slice = std::clamp(left, milliseconds(0), kIdle);
    if (auto reply = receive_message(socket, static_cast<int>(slice.count()))) return reply;
    if (left <= slice) return std::nullopt;
    if (options.idle) options.idle();
  }
}

/// nullopt while the place is taken by a process that may be about to end, and `patience` is not.
std::optional<Attachment> ask(int socket, const FeedOptions& options, const Launch& launch, Clock::time_point deadline,
                              Clock::time_point patience) {
  nlohmann::json request = {{"op", "attach"},
                            {"feed", options.name},
                            {"rank", launch.rank},
                            {"local_rank", launch.local_rank},
                            {"world", launch.world}};
  if (launch.local_world) request["local_world"] = *launch.local_world;
  fault_point("attach, with a connection");
  send_message(socket, request);
  fault_point("attach, after the request");
  auto reply = wait_for_answer(socket, options, deadline);
  if (!reply) {
    throw Error(ErrorKind::kDeadline, fmt::format("feed '{}', rank {}: the pool listens but did not answer within {} s",
                                                  options.name, launch.rank, seconds(options.attach_deadline)));
  }
  fault_point("attach, with the answer");
  const auto busy = reply->body.find("busy");
  if (busy != reply->body.end() && *busy == true && Clock::now() < patience) return std::nullopt;
  throw_if_error(reply->body);
  return Attachment{read_feed_info(reply->body, options.name, launch), reply->take(0), reply->take(1), reply->take(2)};
}

}  // namespace

Attachment attach_to_pool(const FeedOptions& options, const Environment& environment) {
  const auto deadline = Clock::now() + options.attach_deadline;
  const Launch launch =
      read_launch({options.rank, options.world_size, options.local_rank, options.local_world_size}, environment);
  Target target = find_target(options, environment, launch);
  const auto patience = std::min(deadline, Clock::now() + kPredecessorPatience);
  for (;;) {
    const UniqueFd socket = connect(target, options, deadline);
    try {
      if (auto attachment = ask(socket.get(), options, launch, deadline, patience)) {
        attachment->info.pool = target.address;
        return std::move(*attachment);
      }
      pause(options);
    } catch (const Error& error) {
      // A pool that ranks start ends by itself; this one may have been about to. The next one is ours to start.
      if (error.kind() != ErrorKind::kPoolGone || !target.starter || Clock::now() >= deadline) throw;
    }
  }
}

std::string ask_for_episode(const FeedInfo& info, std::uint64_t seed, std::uint64_t epoch, std::uint64_t ordinal) {
  const UniqueFd socket = connect_to(info.pool);
  if (!socket)
    throw Error(ErrorKind::kPoolGone, info.what() + ": the pool is gone, so that no episode can be asked for");
  send_message(socket.get(),
               {{"op", "episode"}, {"feed", info.name}, {"seed", seed}, {"epoch", epoch}, {"ordinal", ordinal}});
  const auto reply = receive_message(socket.get(), static_cast<int>(kAnswerPatience.count()));
  if (!reply) {
    throw Error(ErrorKind::kDeadline, fmt::format("{}: the pool did not say what episode {} is within {} s",
                                                  info.what(), ordinal, seconds(kAnswerPatience)));
  }
  throw_if_error(reply->body);
  return reply->body.at("episode").dump();
}

void detach_from_pool(const FeedInfo& info) {
  try {
    const UniqueFd socket = connect_to(info.pool);
    if (!socket) return;
    send_message(socket.get(), {{"op", "detach"}, {"feed", info.name}, {"local_rank", info.launch.local_rank}});
    const auto reply = receive_message(socket.get(), static_cast<int>(kAnswerPatience.count()));
    if (reply) {
      throw_if_error(reply->body);
      return;
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kPoolGone) return;
    throw;
  }
  throw Error(ErrorKind::kDeadline, fmt::format("{}: the pool did not take its ring back within {} s", info.what(),
                                                seconds(kAnswerPatience)));
}

}  // namespace feedring
