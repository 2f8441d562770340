// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <feedring/error.hpp>

#include "producers/config/json_text.hpp"

namespace feedring::cli {
namespace {

[[noreturn]] void fail() {
  throw Error(ErrorKind::kInternal, std::string("cannot write to standard output: ") + std::strerror(errno));
}

void append_hex(std::string& text, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  text += "\\x";
  text += kDigits[byte >> 4];
  text += kDigits[byte & 15];
}

}  // namespace

std::string printable(std::string_view bytes) {
  const std::string utf8 = to_utf8(bytes);
  std::string text;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    const bool c1 = byte == 0xC2 && static_cast<unsigned char>(utf8[i + 1]) < 0xA0;  // U+0080 to U+009F
    if (c1) {
      append_hex(text, static_cast<unsigned char>(utf8[++i]));
    } else if (byte < 0x20 || byte == 0x7F) {
      append_hex(text, byte);
    } else {
      text += utf8[i];
    }
  }
  return text;
}

void write_bytes(std::string_view bytes) {
  errno = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) fail();
}

void write_json(const nlohmann::ordered_json& value) { write_line(value.dump()); }

void write_line(std::string_view text) {
  write_bytes(text);
  write_bytes("\n");
}

void finish_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail();
}

Progress::Progress() : on_terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::string_view text) {
  if (!on_terminal_) return;
  const std::string line = "\r\x1b[K" + std::string(text);
  std::fputs(line.c_str(), stderr);
  shown_ = true;
}

void Progress::clear() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

}  // namespace feedring::cli
