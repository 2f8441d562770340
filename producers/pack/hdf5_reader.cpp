// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/hdf5_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <feedring/error.hpp>
#include <nlohmann/json.hpp>
#include <system_error>

#include "producers/dataset/labels.hpp"
#include "producers/pack/hdf5_pipe.hpp"

namespace feedring::pack {
namespace {

constexpr timeval kPatience{.tv_sec = 60, .tv_usec = 0};  // without a byte; a row is a picture

}  // namespace

Hdf5Reader::Hdf5Reader(const std::filesystem::path& program, const std::filesystem::path& file) : file_(file.native()) {
  std::error_code error;
  if (!std::filesystem::exists(program, error)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} is an HDF5 file, and this build of feedring has no HDF5: install libhdf5-dev and build "
                            "feedring anew",
                            dataset::shown(file_)));
  }
  start(program);
  try {
    take_listing();
  } catch (...) {
    end(SIGKILL);
    throw;
  }
}

Hdf5Reader::~Hdf5Reader() { end(SIGKILL); }

void Hdf5Reader::start(const std::filesystem::path& program) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) fail(std::strerror(errno));
  socket_.reset(pair[0]);
  const UniqueFd theirs(pair[1]);
  (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDIN_FILENO);
  // What a library says of a damaged file is not for whoever imports it: one sentence is.
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  }
  std::string name = program.native();
  std::array<char*, 3> arguments = {name.data(), file_.data(), nullptr};
  const int error = ::posix_spawn(&pid_, name.c_str(), &actions, nullptr, arguments.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    pid_ = -1;
    throw Error(ErrorKind::kInternal, fmt::format("cannot start {}: {}", name, std::strerror(error)));
  }
}

void Hdf5Reader::read(std::uint64_t dataset, std::uint64_t row, std::string& bytes) {
  const Hdf5Request request{dataset, row};
  // It is less than any socket's buffer, and the other end waits for it.
  if (::send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof request)) {
    fail_as_it_ended();
  }
  take_frame(bytes);
}

void Hdf5Reader::take(void* target, std::uint64_t bytes) {
  auto* to = static_cast<char*>(target);
  while (bytes > 0) {
    const ssize_t got = ::recv(socket_.get(), to, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      end(SIGKILL);
      fail(fmt::format("its reader said nothing for {} seconds: the file is damaged, or lies where nothing can be read",
                       kPatience.tv_sec));
    }
    if (got <= 0) fail_as_it_ended();
    to += got;
    bytes -= static_cast<std::uint64_t>(got);
  }
}

void Hdf5Reader::take_frame(std::string& bytes) {
  Hdf5Frame frame{};
  take(&frame, sizeof frame);
  if (frame.bytes > kLargestFrame) fail("its reader sent nonsense: the file is damaged");
  bytes.resize(frame.bytes);
  take(bytes.data(), bytes.size());
  if (frame.failed != 0) fail(bytes);
}

void Hdf5Reader::take_listing() {
  std::string text;
  take_frame(text);
  const nlohmann::json listing = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!listing.is_array()) fail("its reader sent nonsense: the file is damaged");
  for (const nlohmann::json& each : listing) {
    Hdf5Dataset& dataset = datasets_.emplace_back();
    try {
      dataset.name = each.at("name").get<std::string>();
      dataset.rows = each.at("rows").get<std::uint64_t>();
      dataset.shape = each.at("shape").get<std::vector<std::uint64_t>>();
      dataset.superclass = each.at("superclass").get<std::string>();
      const std::string kind = each.at("kind").get<std::string>();
      if (kind == "files") dataset.kind = Hdf5Dataset::Kind::kFiles;
      if (kind == "pixels") dataset.kind = Hdf5Dataset::Kind::kPixels;
    } catch (const nlohmann::json::exception&) {
      fail("its reader sent nonsense: the file is damaged");
    }
  }
}

void Hdf5Reader::fail_as_it_ended() {
  end(0);
  if (WIFSIGNALED(status_)) {
    fail(fmt::format("its reader was killed by signal {} ({}): the file is damaged", WTERMSIG(status_),
                     ::strsignal(WTERMSIG(status_))));
  }
  fail(fmt::format("its reader ended with code {}", WEXITSTATUS(status_)));
}

void Hdf5Reader::end(int signal) noexcept {
  if (pid_ < 0) return;
  socket_.reset();
  if (signal != 0) ::kill(pid_, signal);
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

void Hdf5Reader::fail(std::string_view what) const {
  throw Error(ErrorKind::kData, fmt::format("cannot read the HDF5 file {}: {}", dataset::shown(file_), what));
}

}  // namespace feedring::pack
