// SPDX-License-Identifier: Apache-2.0
#include "consumers/pool_start.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>
#include <system_error>
#include <utility>

#include "runtime/process.hpp"
#include "runtime/start_end.hpp"

extern char** environ;

namespace feedring {
namespace {

// A lost election ends at once; the winner listens soon after. No need to spawn faster than this.
constexpr std::chrono::milliseconds kBetweenStarts{500};
constexpr int kWordsInChild = STDERR_FILENO + 1;
constexpr int kJobInChild = kWordsInChild + 1;
constexpr std::size_t kLongestSentence = 4096;

class SpawnSettings {
 public:
  SpawnSettings(int words, int job) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    // The pool outlives this rank for a while: it must not keep the other end of anybody's pipe open.
    ::posix_spawn_file_actions_adddup2(&actions_, words, kWordsInChild);
    ::posix_spawn_file_actions_adddup2(&actions_, job, kJobInChild);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, kJobInChild + 1);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    // A session of its own: a launcher's signal to the group of this rank does not reach the pool of all ranks.
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// Exit codes that every further try would end with too.
bool gives_up(int code, ErrorKind& kind) {
  for (const ErrorKind each : kEndsAllStarts) {
    if (exit_code(each) != code) continue;
    kind = each;
    return true;
  }
  return false;
}

std::string sentence_in(int file) {
  std::string text(kLongestSentence, '\0');
  const ssize_t bytes = ::pread(file, text.data(), text.size(), 0);
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return text;
}

}  // namespace

std::filesystem::path find_command() {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& folder :
       {here, here / "../bin", here / "../../bin", std::filesystem::path(FEEDRING_INSTALLED_BIN)}) {
    auto candidate = (folder / "feedring").lexically_normal();
    if (::access(candidate.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(candidate, error)) return candidate;
  }
  return "feedring";
}

PoolStarter::PoolStarter(std::string config, PoolAddress address, pid_t job, std::filesystem::path command)
    : config_(std::move(config)), address_(std::move(address)), command_(std::move(command)), job_(open_pidfd(job)) {}

PoolStarter::PoolStarter(PoolStarter&& other) noexcept
    : config_(std::move(other.config_)),
      address_(std::move(other.address_)),
      command_(std::move(other.command_)),
      job_(std::move(other.job_)),
      child_(std::exchange(other.child_, -1)),
      words_(std::move(other.words_)),
      started_(other.started_) {}

PoolStarter::~PoolStarter() {
  if (child_ > 0) ::waitpid(child_, nullptr, WNOHANG);
}

void PoolStarter::step() {
  if (child_ > 0) {
    int status = 0;
    if (::waitpid(child_, &status, WNOHANG) == 0) return;  // still coming up
    child_ = -1;
    ErrorKind kind{};
    if (WIFEXITED(status) && gives_up(WEXITSTATUS(status), kind)) {
      if (const std::string why = sentence_in(words_.get()); !why.empty()) throw Error(kind, why);
      throw Error(kind,
                  fmt::format("the pool that this rank started from {} ended with exit code {}; its message is on "
                              "standard error",
                              config_, WEXITSTATUS(status)));
    }
  }
  if (std::chrono::steady_clock::now() - started_ >= kBetweenStarts) start();
}

void PoolStarter::start() {
  started_ = std::chrono::steady_clock::now();
  words_ = create_memfd("feedring-words", 0);
  // Not one of those that the child's take the place of.
  const UniqueFd words(::fcntl(words_.get(), F_DUPFD_CLOEXEC, kJobInChild + 1));
  const UniqueFd job(::fcntl(job_.get(), F_DUPFD_CLOEXEC, kJobInChild + 1));
  const SpawnSettings settings(words.get(), job.get());
  std::string arguments[] = {"feedring",
                             "start",
                             "-c",
                             config_,
                             "--address",
                             address_,
                             "--from-rank",
                             "--error-fd",
                             std::to_string(kWordsInChild),
                             "--job-fd",
                             std::to_string(kJobInChild)};
  char* pointers[std::size(arguments) + 1] = {};
  for (std::size_t i = 0; i < std::size(arguments); ++i) pointers[i] = arguments[i].data();
  const int rc =
      ::posix_spawnp(&child_, command_.c_str(), settings.actions(), settings.attributes(), pointers, environ);
  if (rc != 0) {
    child_ = -1;
    throw Error(ErrorKind::kUsage,
                fmt::format("the command `{}` cannot be started to run a pool: {}; install feedring or "
                            "put it into PATH",
                            command_.native(), std::strerror(rc)));
  }
}

}  // namespace feedring
