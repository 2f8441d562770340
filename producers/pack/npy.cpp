// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/npy.hpp"

#include <charconv>
#include <system_error>

namespace feedring::pack {
namespace {

/// A Python literal of the few kinds that stand in such a head. Each call takes what it names, with blanks in front.
class Literal {
 public:
  explicit Literal(std::string_view text) : left_(text) {}

  bool take(std::string_view what) {
    skip_blanks();
    if (!left_.starts_with(what)) return false;
    left_.remove_prefix(what.size());
    return true;
  }
  std::optional<std::string_view> take_text() {
    skip_blanks();
    if (left_.empty() || (left_.front() != '\'' && left_.front() != '"')) return std::nullopt;
    const std::size_t end = left_.find(left_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = left_.substr(1, end - 1);
    left_.remove_prefix(end + 1);
    return text;
  }
  std::optional<std::uint64_t> take_number() {
    skip_blanks();
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), number);
    if (error != std::errc()) return std::nullopt;
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    (void)(left_.starts_with('L') && take("L"));  // Python 2's long
    return number;
  }
  bool at_end() {
    skip_blanks();
    return left_.empty();
  }

 private:
  void skip_blanks() {
    const std::size_t first = left_.find_first_not_of(" \t\r\n");
    left_.remove_prefix(first == std::string_view::npos ? left_.size() : first);
  }
  std::string_view left_;
};

std::optional<std::vector<std::uint64_t>> take_shape(Literal& literal) {
  std::vector<std::uint64_t> shape;
  if (!literal.take("(")) return std::nullopt;
  while (!literal.take(")")) {
    if (!shape.empty() && !literal.take(",")) return std::nullopt;
    if (literal.take(")")) break;
    const auto length = literal.take_number();
    if (!length || shape.size() == 32) return std::nullopt;
    shape.push_back(*length);
  }
  return shape;
}

/// {'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }
bool read_dict(std::string_view text, NpyHead& head) {
  Literal literal(text);
  bool dtype = false, order = false, shape = false;
  if (!literal.take("{")) return false;
  while (!literal.take("}")) {
    const auto key = literal.take_text();
    if (!key || !literal.take(":")) return false;
    if (*key == "descr") {
      const auto value = literal.take_text();
      if (!value) return false;  // a list: records
      head.dtype = *value;
      dtype = true;
    } else if (*key == "fortran_order") {
      head.fortran = literal.take("True");
      if (!head.fortran && !literal.take("False")) return false;
      order = true;
    } else if (*key == "shape") {
      auto value = take_shape(literal);
      if (!value) return false;
      head.shape = std::move(*value);
      shape = true;
    } else {
      return false;
    }
    if (!literal.take(",")) {
      if (!literal.take("}")) return false;
      break;
    }
  }
  return dtype && order && shape && literal.at_end();
}

}  // namespace

std::optional<NpyHead> read_npy_head(std::string_view file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  if (!file.starts_with(kMagic) || file.size() < 12) return std::nullopt;
  const auto byte = [&](std::size_t at) { return std::uint64_t{static_cast<unsigned char>(file[at])}; };
  const std::uint64_t version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0) return std::nullopt;
  std::uint64_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  NpyHead head;
  head.begin = version > 1 ? 12 : 10;
  if (length > file.size() - head.begin || !read_dict(file.substr(head.begin, length), head)) return std::nullopt;
  head.begin += length;
  return head;
}

}  // namespace feedring::pack
