// SPDX-License-Identifier: Apache-2.0
// A terminal for a program under test: what a person would type goes in, what he would see comes out.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <string>

namespace feedring::test {

class Terminal {
 public:
  Terminal() {
    if (::openpty(&master_, &slave_, nullptr, nullptr, nullptr) != 0) master_ = slave_ = -1;
    for (const int fd : {master_, slave_}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    ::close(master_);
    ::close(slave_);
  }

  [[nodiscard]] int slave() const { return slave_; }
  void type(const std::string& text) const {
    if (::write(master_, text.data(), text.size()) < 0) ::perror("typing");
  }
  /// All that has been shown until now.
  const std::string& shown() {
    std::array<char, 4096> buffer{};
    pollfd ready{master_, POLLIN, 0};
    while (::poll(&ready, 1, 0) == 1 && (ready.revents & POLLIN) != 0) {
      const ssize_t got = ::read(master_, buffer.data(), buffer.size());
      if (got <= 0) break;
      shown_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return shown_;
  }

 private:
  int master_ = -1;
  int slave_ = -1;
  std::string shown_;
};

}  // namespace feedring::test
