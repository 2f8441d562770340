// SPDX-License-Identifier: Apache-2.0
// Pillow as a child process: the reference for every pixel of a resize, and the other side of the benchmark.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "producers/decode/image.hpp"

namespace feedring::test {

class PillowResizer {
 public:
  struct Answer {
    std::vector<std::uint8_t> pixels;  ///< size.width * size.height * 3 bytes
    double cpu_us = 0;                 ///< processor time of one call of resize
  };

  /// Starts an interpreter: by default that of Debian's python3-pil. running() is false where it, or its Pillow, is
  /// missing.
  explicit PillowResizer(std::string python = "/usr/bin/python3") {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    char option[] = "-c";
    std::string script(kScript);
    char* const arguments[] = {python.data(), option, script.data(), nullptr};
    const bool started = posix_spawn(&child_, python.c_str(), &actions, nullptr, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    socket_ = ends[0];
    if (!started) child_ = -1;
    version_ = started ? read_line().value_or("") : "";
  }
  ~PillowResizer() {
    if (socket_ >= 0) close(socket_);
    if (child_ > 0) waitpid(child_, nullptr, 0);
  }
  PillowResizer(const PillowResizer&) = delete;
  PillowResizer& operator=(const PillowResizer&) = delete;

  [[nodiscard]] bool running() const noexcept { return !version_.empty(); }
  [[nodiscard]] const std::string& version() const noexcept { return version_; }

  /// Image.crop(box).resize(size, filter) of interleaved RGB; `repeat` calls of resize are timed.
  std::optional<Answer> resize(const std::vector<std::uint8_t>& rgb, Size image, Box box, Size size,
                               std::string_view filter, int repeat = 1) {
    char header[256];
    std::snprintf(header, sizeof(header), "%d %d %d %d %d %d %d %d %.*s %d\n", image.width, image.height, box.x, box.y,
                  box.x + box.width, box.y + box.height, size.width, size.height, static_cast<int>(filter.size()),
                  filter.data(), repeat);
    if (!send_all(header, std::strlen(header)) || !send_all(rgb.data(), rgb.size())) return std::nullopt;
    const std::optional<std::string> line = read_line();
    if (!line) return std::nullopt;
    Answer answer;
    answer.cpu_us = std::stod(*line);
    answer.pixels.resize(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3);
    for (std::size_t got = 0; got < answer.pixels.size();) {
      const ssize_t n = read(socket_, answer.pixels.data() + got, answer.pixels.size() - got);
      if (n <= 0) return std::nullopt;
      got += static_cast<std::size_t>(n);
    }
    return answer;
  }

 private:
  static constexpr std::string_view kScript = R"(
import sys, time
from PIL import Image
import PIL
source, sink = sys.stdin.buffer, sys.stdout.buffer
sink.write((PIL.__version__ + '\n').encode()); sink.flush()
while line := source.readline():
    *numbers, name, repeat = line.split()
    w, h, x0, y0, x1, y1, tw, th = map(int, numbers)
    image = Image.frombytes('RGB', (w, h), source.read(w * h * 3)).crop((x0, y0, x1, y1))
    filter = getattr(Image.Resampling, name.decode().upper())
    start = time.process_time_ns()
    for _ in range(int(repeat)):
        result = image.resize((tw, th), filter)
    spent = (time.process_time_ns() - start) / 1000 / int(repeat)
    sink.write(f'{spent}\n'.encode() + result.tobytes()); sink.flush()
)";

  bool send_all(const void* data, std::size_t size) {
    for (const char* at = static_cast<const char*>(data); size > 0;) {
      const ssize_t n = send(socket_, at, size, MSG_NOSIGNAL);  // a dead child is an answer, not a signal
      if (n <= 0) return false;
      at += n;
      size -= static_cast<std::size_t>(n);
    }
    return true;
  }
  std::optional<std::string> read_line() {
    std::string line;
    for (char c; read(socket_, &c, 1) == 1; line += c) {
      if (c == '\n') return line;
    }
    return std::nullopt;
  }

  pid_t child_ = -1;
  int socket_ = -1;
  std::string version_;
};

}  // namespace feedring::test
