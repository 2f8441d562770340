// SPDX-License-Identifier: Apache-2.0
#include "runtime/control.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>
#include <string_view>

#include "runtime/futex.hpp"
#include "runtime/message.hpp"
#include "runtime/process.hpp"

namespace feedring {
namespace {

constexpr std::size_t kMaxDescriptors = 16;
// Ours have six levels, with a transform's own parameters. The JSON library copies and writes values by recursion.
constexpr int kMaxNesting = 32;
// An error names what it is about; a peer that sends 100 KiB for a name still gets an answer that the socket carries.
constexpr std::size_t kMaxErrorText = 4096;

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorKind::kInternal, fmt::format("{} failed: {}", what, std::strerror(errno)));
}

struct Address {
  sockaddr_un name{};
  socklen_t length = 0;
};

Address to_sockaddr(const PoolAddress& address) {
  Address result;
  result.name.sun_family = AF_UNIX;
  if (address.empty() || address.size() >= sizeof result.name.sun_path) {
    throw Error(ErrorKind::kUsage, fmt::format("the pool address '{}' is empty or longer than {} bytes", address,
                                               sizeof result.name.sun_path - 1));
  }
  const bool path = address[0] == '/';
  // An abstract name begins with a NUL and has no end mark; its length says where it ends.
  std::memcpy(result.name.sun_path + (path ? 0 : 1), address.data(), address.size());
  result.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size() + 1);
  return result;
}

UniqueFd new_socket(int more = 0) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | more, 0));
  if (!socket) fail("socket");
  return socket;
}

// How long a connection may be kept waiting by a full queue, and an election by another one.
constexpr std::uint64_t kPatienceNs = 1'000'000'000;

// Tries `attempt` until it returns true, for as long as patience lasts.
template <class Attempt>
bool patiently(Attempt attempt) {
  for (const std::uint64_t end = monotonic_ns() + kPatienceNs;;) {
    if (attempt()) return true;
    if (monotonic_ns() >= end) return false;
    ::usleep(5000);
  }
}

std::string folder_of(const PoolAddress& address) {
  return address.substr(0, std::max<std::size_t>(address.rfind('/'), 1));
}

// Whoever may write to the folder of a socket file may put a pool of his own in its place.
void demand_private_folder(const PoolAddress& address) {
  const std::string folder = folder_of(address);
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) fail(fmt::format("looking at the folder {} of the control socket", folder));
  if (info.st_uid != ::geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw Error(ErrorKind::kRefused,
                fmt::format("the control socket {} lies in a folder that others may write to; use one of your own with "
                            "mode 0700",
                            address));
  }
}

// A killed pool leaves its socket file. Nobody listens behind it: then it is no election that was lost. Whoever asks
// holds the folder's lock: else a socket that is bound and does not listen yet would look like a leftover.
bool remove_leftover(const PoolAddress& address, const Address& to) {
  struct stat info {};
  if (::lstat(address.c_str(), &info) == 0 && !S_ISSOCK(info.st_mode)) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("the pool address {} is a file that is no socket; choose a path where nothing is", address));
  }
  const UniqueFd probe = new_socket(SOCK_NONBLOCK);
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&to.name), to.length) == 0 || errno != ECONNREFUSED)
    return false;
  return ::unlink(address.c_str()) == 0;
}

UniqueFd listen_as(const Address& to, const PoolAddress& address, bool path) {
  UniqueFd socket = new_socket();
  const auto bind = [&] { return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&to.name), to.length) == 0; };
  if (!bind()) {
    if (errno != EADDRINUSE) fail(fmt::format("binding the control socket {}", address));
    if (!path || !remove_leftover(address, to) || !bind()) return {};
  }
  if (::listen(socket.get(), 128) != 0) fail("listen");
  return socket;
}

}  // namespace

UniqueFd listen_at(const PoolAddress& address) {
  const Address to = to_sockaddr(address);
  if (address[0] != '/') return listen_as(to, address, false);
  demand_private_folder(address);
  // One election at a time: the lock of a folder leaves no file behind, and goes with its descriptor.
  const UniqueFd folder(::open(folder_of(address).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) fail(fmt::format("opening the folder of the control socket {}", address));
  if (!patiently([&] { return ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0; })) return {};
  return listen_as(to, address, true);
}

void forget_address(const PoolAddress& address) noexcept {
  if (!address.empty() && address[0] == '/') ::unlink(address.c_str());
}

UniqueFd connect_to(const PoolAddress& address) {
  const Address to = to_sockaddr(address);
  // Non-blocking: the queue of one who never accepts is full at once, and connect() would wait for ever.
  UniqueFd socket = new_socket(SOCK_NONBLOCK);
  int rc = 0;
  const bool answered = patiently([&] {
    rc = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to.name), to.length);
    return rc == 0 || (errno != EAGAIN && errno != EINTR);
  });
  if (!answered) return {};
  if (rc != 0) {
    if (errno == ECONNREFUSED || errno == ENOENT) return {};
    if (errno == EACCES || errno == EPERM)
      throw Error(ErrorKind::kRefused, fmt::format("the pool at {} belongs to another user", address));
    fail(fmt::format("connecting to the pool at {}", address));
  }
  const Peer peer = peer_of(socket.get());
  if (peer.uid != ::geteuid()) {
    throw Error(ErrorKind::kRefused,
                fmt::format("the pool at {} belongs to uid {}, this process to uid {}; start a pool "
                            "of your own or set FEEDRING_POOL",
                            address, peer.uid, ::geteuid()));
  }
  if (::fcntl(socket.get(), F_SETFL, 0) != 0) fail("making a socket wait");
  return socket;
}

void send_message(int socket, const nlohmann::json& body, const std::vector<int>& descriptors, int timeout_ms) {
  const std::string text = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMaxMessage || descriptors.size() > kMaxDescriptors) {
    throw Error(ErrorKind::kInternal, fmt::format("a control message of {} bytes and {} descriptors is too large",
                                                  text.size(), descriptors.size()));
  }
  iovec part{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> ancillary{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = ancillary.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
  }
  ssize_t sent = 0;
  for (;;) {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent >= 0 || (errno != EINTR && errno != EAGAIN)) break;
    if (errno == EINTR) continue;
    pollfd room{socket, POLLOUT, 0};
    if (::poll(&room, 1, timeout_ms) == 0)
      throw Error(ErrorKind::kDeadline, "the other end of the control socket does not read its messages");
  }
  if (sent < 0) {
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN)
      throw Error(ErrorKind::kPoolGone, "the other end of the control socket is gone");
    fail("sendmsg on the control socket");
  }
}

std::optional<Message> receive_message(int socket, int timeout_ms) {
  pollfd poll_fd{socket, POLLIN, 0};
  int rc = 0;
  do {
    rc = ::poll(&poll_fd, 1, timeout_ms);
  } while (rc < 0 && errno == EINTR);
  if (rc == 0) return std::nullopt;
  if (rc < 0) fail("poll on the control socket");

  std::string text(kMaxMessage, '\0');
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> ancillary{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary.data();
  message.msg_controllen = ancillary.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno != ECONNRESET) fail("recvmsg on the control socket");

  Message result;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      result.descriptors.emplace_back(fd);
    }
  }
  if (got <= 0) throw Error(ErrorKind::kPoolGone, "the other end of the control socket is gone");
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    throw Error(ErrorKind::kRefused, "a control message was larger than any of ours");
  const auto limit_nesting = [](int depth, nlohmann::json::parse_event_t /*event*/, const nlohmann::json& /*value*/) {
    if (depth > kMaxNesting) throw Error(ErrorKind::kRefused, "a control message was nested deeper than any of ours");
    return true;
  };
  result.body = nlohmann::json::parse(text.begin(), text.begin() + got, limit_nesting, false);
  if (!result.body.is_object()) throw Error(ErrorKind::kRefused, "a control message was no JSON object");
  return result;
}

UniqueFd Message::take(std::size_t index) {
  if (index >= descriptors.size() || !descriptors[index])
    throw Error(ErrorKind::kRefused, fmt::format("a control message came without its descriptor {}", index));
  return std::move(descriptors[index]);
}

UniqueFd Message::take_memory(std::size_t index) {
  UniqueFd memory = take(index);
  if (!size_is_sealed(memory.get())) {
    throw Error(ErrorKind::kRefused,
                "shared memory came over the control socket whose size is not sealed; both ends must come from one "
                "build of feedring");
  }
  return memory;
}

nlohmann::json error_reply(const Error& error) {
  const std::string_view text = error.what();
  const bool whole = text.size() <= kMaxErrorText;
  return {{"ok", false},
          {"kind", static_cast<unsigned>(error.kind())},
          {"error", std::string(text.substr(0, kMaxErrorText)) + (whole ? "" : "…")}};
}

void throw_if_error(const nlohmann::json& reply) {
  const auto find = [&reply](const char* key) {
    const auto found = reply.find(key);
    return found == reply.end() ? nlohmann::json() : *found;
  };
  if (find("ok") == true) return;
  const nlohmann::json kind = find("kind");
  const nlohmann::json text = find("error");
  const bool known = kind.is_number_unsigned() && kind <= static_cast<std::uint64_t>(ErrorKind::kForked);
  throw Error(known ? static_cast<ErrorKind>(kind.get<std::uint8_t>()) : ErrorKind::kInternal,
              text.is_string() ? text.get<std::string>() : "the pool refused without a reason");
}

}  // namespace feedring
