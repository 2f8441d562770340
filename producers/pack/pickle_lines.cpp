// SPDX-License-Identifier: Apache-2.0
// What protocols 0 and 1 write as lines of text: numbers, and texts with escapes.
#include <charconv>
#include <system_error>

#include "producers/pack/pickle_machine.hpp"

namespace feedring::pack {
namespace {

std::optional<std::uint32_t> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

void append_utf8(std::string& text, std::uint32_t character) {
  const auto put = [&text](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (character < 0x80) return put(character);
  if (character < 0x800) {
    put(0xc0 | character >> 6);
  } else {
    if (character < 0x10000) {
      put(0xe0 | character >> 12);
    } else {
      put(0xf0 | character >> 18);
      put(0x80 | (character >> 12 & 0x3f));
    }
    put(0x80 | (character >> 6 & 0x3f));
  }
  put(0x80 | (character & 0x3f));
}

/// What the letter behind a backslash stands for; '\0': nothing.
char plain_escape(char letter) {
  switch (letter) {
    case '\\':
    case '\'':
    case '"': return letter;
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    default: return '\0';
  }
}

}  // namespace

std::int64_t PickleMachine::take_number_line(std::string_view end) {
  std::string_view line = take_line();
  if (line.ends_with(end)) line.remove_suffix(end.size());
  std::int64_t number = 0;
  const auto [last, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error == std::errc::result_out_of_range) fail("holds a number of more than 64 bits");
  if (error != std::errc() || last != line.data() + line.size()) fail("is damaged: a number is none");
  return number;
}

std::uint64_t PickleMachine::take_place_line() {
  const std::int64_t place = take_number_line("");
  if (place < 0) fail("is damaged: a number is none");
  return static_cast<std::uint64_t>(place);
}

bool PickleMachine::step_number_line(unsigned char code) {
  switch (code) {
    case 'I': {
      const std::string line(take_line());
      if (line == "00" || line == "01") {
        push(make(Kind::kBool));
        out_.values_.back().number = line == "01" ? 1 : 0;
        return true;
      }
      std::int64_t number = 0;
      const auto [last, error] = std::from_chars(line.data(), line.data() + line.size(), number);
      if (error != std::errc() || last != line.data() + line.size()) fail("is damaged: a number is none");
      push_number(number);
      return true;
    }
    case 'L': push_number(take_number_line("L")); return true;
    case 'F':
      (void)take_line();
      push(make(Kind::kFloat));
      return true;
    default: return false;
  }
}

bool PickleMachine::step_text_line(unsigned char code) {
  switch (code) {
    case 'S': push_made_text(Kind::kBytes, unescape_bytes()); return true;  // Python 2's str
    case 'V': push_made_text(Kind::kText, unescape_text()); return true;
    default: return false;
  }
}

std::uint32_t PickleMachine::take_hex(std::size_t digits) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const auto digit = hex_digit(take_one());
    if (!digit || number >> 28 != 0) fail("holds a damaged text");
    number = number << 4 | *digit;
  }
  return number;
}

/// The rest of a line that is a literal of Python 2: with quotes around it.
std::string PickleMachine::unescape_bytes() {
  const char quote = take_one();
  if (quote != '\'' && quote != '"') fail("holds a damaged text");
  std::string bytes;
  bool closed = false;  // the last one was a quote
  for (char next = take_one(); next != '\n'; next = take_one()) {
    closed = next == quote;
    if (next != '\\') {
      bytes.push_back(next);
      continue;
    }
    const char letter = take_one();
    if (letter == '\n') fail("holds a damaged text");
    if (letter == 'x') {
      bytes.push_back(static_cast<char>(take_hex(2)));
    } else if (letter >= '0' && letter <= '7') {  // one to three digits; what else was taken is looked at again
      std::uint32_t number = static_cast<std::uint32_t>(letter - '0');
      for (int i = 0; i < 2; ++i) {
        const char digit = take_one();
        if (digit < '0' || digit > '7') {
          give_back();
          break;
        }
        number = number * 8 + static_cast<std::uint32_t>(digit - '0');
      }
      bytes.push_back(static_cast<char>(number));
    } else if (const char plain = plain_escape(letter); plain != '\0') {
      bytes.push_back(plain);
    } else {
      bytes.push_back('\\');
      bytes.push_back(letter);
    }
  }
  if (!closed) fail("holds a damaged text");
  bytes.pop_back();
  return bytes;
}

/// The rest of a line in Python's raw-unicode-escape, as UTF-8.
std::string PickleMachine::unescape_text() {
  std::string text;
  for (char next = take_one(); next != '\n'; next = take_one()) {
    if (next != '\\') {
      append_utf8(text, static_cast<unsigned char>(next));
      continue;
    }
    const char letter = take_one();
    if (letter == 'u' || letter == 'U') {
      const std::uint32_t character = take_hex(letter == 'u' ? 4 : 8);
      if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000)) fail("holds a text that is no Unicode");
      append_utf8(text, character);
      continue;
    }
    text.push_back('\\');
    if (letter == '\n') break;
    append_utf8(text, static_cast<unsigned char>(letter));
  }
  return text;
}

}  // namespace feedring::pack
