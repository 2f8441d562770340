// SPDX-License-Identifier: Apache-2.0
// What fuzz targets share: bytes that become numbers, a file that holds them, the tiny data set that is in the corpus.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "runtime/memfd.hpp"

namespace feedring::test {

/// What has to be so whatever the input, in every build.
inline void fuzz_require(bool fine) {
  if (!fine) std::abort();
}

/// Takes an input apart from the front. At the end everything is 0.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size) noexcept : left_(data, size) {}

  [[nodiscard]] bool empty() const noexcept { return left_.empty(); }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] T take() noexcept {
    T value{};
    const std::size_t bytes = std::min(sizeof value, left_.size());
    if (bytes != 0) std::memcpy(&value, left_.data(), bytes);
    left_ = left_.subspan(bytes);
    return value;
  }
  /// A number below `n`.
  [[nodiscard]] std::uint32_t below(std::uint32_t n) noexcept { return take<std::uint8_t>() % n; }
  /// The text up to the next `end` byte or to the end of the input; the byte itself goes too.
  [[nodiscard]] std::string_view text(char end) noexcept {
    const std::string_view all = rest();
    const std::string_view text = all.substr(0, all.find(end));
    left_ = left_.subspan(std::min(text.size() + 1, left_.size()));
    return text;
  }
  [[nodiscard]] std::string_view rest() const noexcept {
    return {reinterpret_cast<const char*>(left_.data()), left_.size()};
  }

 private:
  std::span<const std::uint8_t> left_;
};

/// A file without a name that holds `bytes`: for what reads a path, and for what maps a descriptor.
class FuzzFile {
 public:
  explicit FuzzFile(std::string_view bytes) : fd_(create_memfd("fuzz", 0)) {
    fuzz_require(::write(fd_.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }

 private:
  UniqueFd fd_;
};

/// Sends bytes as they are, with `copies` of a descriptor beside them (16 at most).
struct Beside {
  std::size_t copies = 0;
  int descriptor = -1;
};
inline void send_bytes(int socket, std::string_view text, const Beside& beside = {}) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(16 * sizeof(int))> ancillary{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (beside.copies > 0) {
    message.msg_control = ancillary.data();
    message.msg_controllen = CMSG_SPACE(beside.copies * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(beside.copies * sizeof(int));
    for (std::size_t i = 0; i < beside.copies; ++i)
      std::memcpy(CMSG_DATA(header) + i * sizeof(int), &beside.descriptor, sizeof(int));
  }
  fuzz_require(::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
}

/// A folder of the kept corpus, as a data set: a few pictures, some of them bad.
inline std::string fuzz_pictures() { return FEEDRING_SOURCE_DIR "/tests/fuzz/corpus/decode"; }

}  // namespace feedring::test
