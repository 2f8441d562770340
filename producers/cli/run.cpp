// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <feedring/error.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "producers/cli/canary.hpp"
#include "producers/cli/launcher.hpp"
#include "producers/cli/programs.hpp"
#include "producers/cli/signals.hpp"
#include "producers/pool/supervisor.hpp"
#include "runtime/contract.hpp"
#include "runtime/cores.hpp"
#include "runtime/launch_env.hpp"
#include "runtime/message.hpp"
#include "runtime/pool_name.hpp"

namespace feedring::cli {
namespace {

std::string address_of_job() {
  const Environment environment = process_environment();
  return pool_name(environment, read_launch({}, environment), ::geteuid(), process_identity());
}

// A connection to a pool of this user that runs already. A pool that a `run` started does not end while it is open.
struct Joined {
  UniqueFd socket;
};

constexpr int kAnswerMs = 2000;

// Empty where nobody listens, or the pool is just ending. Throws Error(kRefused) where another user holds the name.
std::optional<Joined> join(const std::string& address) {
  UniqueFd socket = connect_to(address);
  if (!socket) return std::nullopt;
  try {
    send_message(socket.get(), {{"op", "join"}});
    (void)receive_message(socket.get(), kAnswerMs);  // none, or a refusal: whoever attaches will be told why
    return Joined{std::move(socket)};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// The socket of a pool that begins here, or one at a pool that runs already. Throws Error(kRefused) where another user
// holds the name, or somebody who serves nobody there.
std::variant<UniqueFd, Joined> listen_or_join(const std::string& address) {
  // A pool of ours does not answer either between its bind and its listen, and while it ends.
  constexpr std::chrono::seconds kPatience{2};
  for (const auto end = std::chrono::steady_clock::now() + kPatience;;) {
    if (UniqueFd listener = listen_at(address)) return listener;
    if (auto joined = join(address)) return std::move(*joined);
    if (std::chrono::steady_clock::now() >= end) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  throw Error(
      ErrorKind::kRefused,
      fmt::format("the name {} of the pool is held by a process that serves nobody there, maybe another user's; "
                  "end that process, or choose another name by --address or FEEDRING_POOL",
                  address));
}

// Says what the pool serves that is joined instead of started: it may be another one than its caller thinks of.
void tell_what_is_joined(const std::string& address, const Joined& pool) {
  std::string serves;
  try {
    send_message(pool.socket.get(), {{"op", "status"}});
    const auto reply = receive_message(pool.socket.get(), kAnswerMs);
    if (!reply) return;
    throw_if_error(reply->body);
    serves = fmt::format("process {}", reply->body.at("pid").get<pid_t>());
    for (const auto& feed : reply->body.at("feeds")) {
      serves += fmt::format(", feed '{}' of {} samples", feed.at("name").get<std::string>(),
                            feed.at("samples").get<std::uint64_t>());
    }
  } catch (const std::exception&) {
    return;  // it just ended, or is of another build: whoever attaches will be told
  }
  spdlog::warn(
      "joining the pool at {} that runs already ({}): its data and configuration count, whatever is named here",
      address, serves);
}

// A start that fails leaves no socket file.
struct Unlisten {
  const std::string* address;
  explicit Unlisten(const std::string& listens_at) : address(&listens_at) {}
  Unlisten(const Unlisten&) = delete;
  Unlisten& operator=(const Unlisten&) = delete;
  ~Unlisten() {
    if (address != nullptr) forget_address(*address);
  }
};

SupervisorOptions supervisor_options(const Config& config, const PoolOverrides& overrides, std::string address) {
  SupervisorOptions options;
  options.config = config;
  options.address = std::move(address);
  options.producers = producers_of(config, overrides);
  options.ranks = overrides.ranks ? overrides.ranks : config.pool.ranks;
  options.producer_command = producer_command(config);
  return options;
}

}  // namespace

std::uint32_t producers_of(const Config& config, const PoolOverrides& overrides) {
  if (overrides.producers) return *overrides.producers;
  if (config.pool.producers) return *config.pool.producers;
  return std::min(granted_cores().cores, contract::kMaxProducers);
}

int run(const RunOptions& options) {
  boost::asio::io_context io(1);
  const std::string address = address_of_job();
  std::unique_ptr<Supervisor> supervisor;
  std::optional<int> code;
  CommandLauncherOptions launch;
  launch.command = options.command;
  launch.copies = options.copies;
  launch.environment["FEEDRING_POOL"] = address;
  if (!options.config_file.empty()) launch.environment["FEEDRING_CONFIG"] = options.config_file;

  CommandLauncher launcher(io, std::move(launch), [&](int ended) {
    code = ended;
    if (supervisor && ended == 0) {
      // The other tasks of the job on this node are commands of their own `run`, which joined this one's pool.
      if (supervisor->joined() != 0)
        spdlog::info("the command has ended; the pool stays for {} that joined it", supervisor->joined());
      supervisor->stop_when_alone();
    } else {
      if (supervisor) supervisor->stop();
      io.stop();
    }
  });

  auto place = listen_or_join(address);
  if (auto* listener = std::get_if<UniqueFd>(&place)) {
    Unlisten unlisten(address);
    PoolOverrides overrides = options.overrides;
    if (!overrides.ranks && options.copies) overrides.ranks = options.copies;
    supervisor =
        std::make_unique<Supervisor>(io, supervisor_options(options.config, overrides, address), std::move(*listener));
    unlisten.address = nullptr;
  } else {
    tell_what_is_joined(address, std::get<Joined>(place));
  }
  // From here on signals are events. Until here, while data sets are read, they end this process as they end any.
  std::optional<Canary> canary;
  const Signals signals(
      io,
      [&](int number, bool from_terminal) {
        if (code) {  // its command has ended, others' have not
          supervisor->stop();
          return;
        }
        // Asked in any case, so that a new one takes a dead one's place.
        const bool all_got_it = canary->also_got(number);
        if (!from_terminal && !all_got_it) launcher.signal(number);
      },
      [&](pid_t pid) {
        return canary->is(pid) || launcher.owns(pid) || (supervisor && supervisor->producers().owns(pid));
      });
  canary.emplace();
  launcher.start();
  io.run();
  return code.value_or(exit_code(ErrorKind::kInternal));
}

int serve(const StartOptions& options, const std::function<void(const std::string&)>& on_ready) {
  boost::asio::io_context io(1);
  const std::string address = options.address.empty() ? address_of_job() : options.address;
  auto place = listen_or_join(address);
  if (const auto* joined = std::get_if<Joined>(&place)) {
    tell_what_is_joined(address, *joined);
    on_ready(address);
    return 0;
  }
  Unlisten unlisten(address);
  SupervisorOptions supervise = supervisor_options(options.config, options.overrides, address);
  if (options.grace_s) supervise.grace = std::chrono::seconds(*options.grace_s);
  if (options.job_fd >= 0) supervise.job = UniqueFd(::fcntl(options.job_fd, F_DUPFD_CLOEXEC, 0));
  Supervisor supervisor(io, std::move(supervise), std::move(std::get<UniqueFd>(place)));
  unlisten.address = nullptr;
  const Signals signals(
      io,
      [&](int number, bool) {
        // A pool that waits for its ranks outlives the group kill of a launcher; `stop` and its grace end it.
        if (!options.grace_s || number == SIGTERM) supervisor.stop();
      },
      [&](pid_t pid) { return supervisor.producers().owns(pid); });
  on_ready(address);
  io.run();
  if (supervisor.broken()) throw Error(*supervisor.broken());
  return 0;
}

}  // namespace feedring::cli
