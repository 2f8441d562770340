// SPDX-License-Identifier: Apache-2.0
// tar as GNU tar, bsdtar and Python write it: ustar, with GNU's and POSIX's (pax) long names and large sizes.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "producers/dataset/archive_file.hpp"

namespace feedring::dataset {
namespace {

constexpr std::uint64_t kBlock = 512;
constexpr std::uint64_t kLongestExtra = 1 << 20;  // of a long name, or pax's records
using Block = std::array<std::uint8_t, kBlock>;

std::string_view text_in(const Block& block, std::size_t at, std::size_t bytes) {
  const std::string_view field(reinterpret_cast<const char*>(block.data()) + at, bytes);
  return field.substr(0, std::min(field.find('\0'), field.size()));
}

/// An octal number, with blanks around it; or, where the first bit is set, one of the bytes themselves.
std::optional<std::uint64_t> number_in(const Block& block, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  if (block.at(at) == 0x80) {
    for (std::size_t i = at + 1; i < at + bytes; ++i) {
      if (value >> 56 != 0) return std::nullopt;
      value = value << 8 | block.at(i);
    }
    return value;
  }
  std::string_view text = text_in(block, at, bytes);
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty()) return 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool has_checksum(const Block& block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) sum += i >= 148 && i < 156 ? ' ' : block.at(i);
  return number_in(block, 148, 8) == sum;
}

/// What stands before a member about it.
struct Extra {
  std::optional<std::string> name;
  std::optional<std::uint64_t> bytes;
  bool sparse = false;
};

/// pax: records of "LENGTH KEY=VALUE\n", the length counting itself.
bool read_pax(std::string_view records, Extra& extra) {
  while (!records.empty() && records.front() != '\0') {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<std::size_t>(end - records.data());
    if (error != std::errc() || length > records.size() || length < digits + 2 || records[length - 1] != '\n')
      return false;
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    records.remove_prefix(length);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key == "path") extra.name = value;
    if (key.starts_with("GNU.sparse.")) extra.sparse = true;
    if (key == "size") {
      std::uint64_t bytes = 0;
      const auto [last, wrong] = std::from_chars(value.data(), value.data() + value.size(), bytes);
      if (wrong != std::errc() || last != value.data() + value.size()) return false;
      extra.bytes = bytes;
    }
  }
  return true;
}

std::string name_of(const Block& block, const Extra& extra) {
  if (extra.name) return *extra.name;
  std::string name(text_in(block, 0, 100));
  const bool posix = std::memcmp(block.data() + 257, "ustar\0", 6) == 0;
  const std::string_view prefix = posix ? text_in(block, 345, 155) : std::string_view();
  return prefix.empty() ? name : std::string(prefix) + '/' + name;
}

bool is_end(const Block& block) {
  return std::all_of(block.begin(), block.end(), [](std::uint8_t byte) { return byte == 0; });
}

/// Where the bytes of an old GNU sparse file begin: behind the blocks that go on with its map (GNU tar's manual, "Basic
/// Tar Format": `isextended` at 482 of the header and at 504 of these).
std::uint64_t behind_sparse_map(const ArchiveFile& file, Block block, std::uint64_t at) {
  for (std::size_t more = 482; block.at(more) != 0; more = 504) {
    if (file.bytes() - at < kBlock) file.fail("it is cut short in a sparse file's map");
    file.read(at, block.data(), block.size());
    at += kBlock;
  }
  return at;
}

}  // namespace

std::vector<Listed> list_tar(const ArchiveFile& file) {
  std::vector<Listed> members;
  Extra global, extra;  // of all members that follow, and of the next one on top
  std::uint64_t at = 0;
  while (at + kBlock <= file.bytes()) {
    Block block{};
    file.read(at, block.data(), block.size());
    if (is_end(block)) break;
    const std::optional<std::uint64_t> said = number_in(block, 124, 12);
    if (!has_checksum(block) || !said) {
      file.fail(at == 0
                    ? "it is no tar (a compressed one has to be unpacked first: samples are read from where they lie)"
                    : "it is damaged behind " + (members.empty() ? "its begin" : members.back().name));
    }
    const char type = static_cast<char>(block.at(156));
    const bool about_next = type == 'x' || type == 'L', about_all = type == 'g';
    const std::uint64_t bytes = about_next || about_all ? *said : extra.bytes.value_or(*said);
    at += kBlock;
    if (bytes > file.bytes() - at)
      file.fail(name_of(block, extra), "does not lie within it: it is cut short, or damaged");
    if (about_next || about_all || type == 'K') {
      if (bytes > kLongestExtra) file.fail("it has a header of more than 1 MiB");
      const std::string text = about_next || about_all ? file.read_text(at, bytes) : "";
      if (type == 'x' && !read_pax(text, extra)) file.fail("it has a damaged header");
      if (about_all) {
        if (!read_pax(text, global)) file.fail("it has a damaged header");
        extra = global;
      }
      if (type == 'L') extra.name = text.substr(0, std::min(text.find('\0'), text.size()));
    } else {
      std::string name = name_of(block, extra);
      while (name.starts_with("./")) name.erase(0, 2);
      if (name.find('\0') != std::string::npos) file.fail("it has a name with a NUL character");
      const bool file_type = type == '0' || type == '\0' || type == '7';
      const bool sparse = type == 'S' || (file_type && extra.sparse);
      if (type == 'S') at = behind_sparse_map(file, block, at);
      const bool folder = type == '5' || name.ends_with('/') || name.empty() || name == ".";
      if (!folder) {
        const Member member{.offset = at, .stored_bytes = file_type ? bytes : 0};
        members.push_back({std::move(name), member.stored_bytes, member, file_type || sparse,
                           sparse ? "is a sparse file, which is not read" : ""});
      }
      extra = global;
    }
    // At the very end some writers leave the padding out.
    at += std::min((bytes + kBlock - 1) / kBlock * kBlock, file.bytes() - at);
  }
  return members;
}

}  // namespace feedring::dataset
