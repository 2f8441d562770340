// SPDX-License-Identifier: Apache-2.0
// The central directory of a zip, zip64 too. Where a file's bytes begin its local header says, which is read with them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "producers/dataset/archive_file.hpp"
#include "producers/dataset/little_endian.hpp"

namespace feedring::dataset {
namespace {

constexpr std::uint64_t kEnd = 22, kEnd64 = 56, kLocator = 20, kEntry = 46;
constexpr std::uint64_t kLongestComment = 0xffff;
constexpr std::uint64_t kLargestDirectory = std::uint64_t{1} << 31;  // some twenty million files

struct Directory {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
};

const std::uint8_t* bytes_of(const std::string& text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

/// Reads zip64's record of the end, where there is one before `end`.
void read_end64(const ArchiveFile& file, std::uint64_t end, Directory& directory) {
  if (end < kLocator) return;
  const std::string locator = file.read_text(end - kLocator, kLocator);
  if (little_endian<4>(bytes_of(locator)) != 0x07064b50) return;
  const std::uint64_t at = little_endian<8>(bytes_of(locator) + 8);
  const std::string record = file.read_text(at, kEnd64);
  if (little_endian<4>(bytes_of(record)) != 0x06064b50) file.fail("it is a damaged zip");
  directory.entries = little_endian<8>(bytes_of(record) + 32);
  directory.bytes = little_endian<8>(bytes_of(record) + 40);
  directory.at = little_endian<8>(bytes_of(record) + 48);
}

Directory find_directory(const ArchiveFile& file) {
  if (file.bytes() < kEnd) file.fail("it is no zip");
  const std::uint64_t tail = std::min(file.bytes(), kEnd + kLongestComment);
  const std::string text = file.read_text(file.bytes() - tail, tail);
  for (std::size_t at = text.size() - kEnd + 1; at-- > 0;) {
    const std::uint8_t* record = bytes_of(text) + at;
    if (little_endian<4>(record) != 0x06054b50 || at + kEnd + little_endian<2>(record + 20) != text.size()) continue;
    if (little_endian<2>(record + 4) != 0 && little_endian<2>(record + 4) != 0xffff)
      file.fail("it is a part of a split zip");
    const std::uint64_t end = file.bytes() - tail + at;
    Directory directory{.at = little_endian<4>(record + 16),
                        .bytes = little_endian<4>(record + 12),
                        .entries = little_endian<2>(record + 10)};
    read_end64(file, end, directory);
    if (directory.at > end || directory.bytes > end - directory.at || directory.bytes > kLargestDirectory ||
        directory.entries > directory.bytes / kEntry) {
      file.fail("it is a damaged zip, or has something in front of it");
    }
    return directory;
  }
  file.fail("it is no zip, or cut short");
}

/// zip64: numbers that do not fit stand in an extra field, in this order.
bool read_extra(const std::uint8_t* extra, std::uint64_t length, std::uint64_t& bytes, std::uint64_t& stored,
                std::uint64_t& offset) {
  while (length >= 4) {
    const std::uint64_t id = little_endian<2>(extra), size = little_endian<2>(extra + 2);
    if (size > length - 4) return false;
    if (id == 1) {
      std::uint64_t at = 4;
      for (std::uint64_t* number : {&bytes, &stored, &offset}) {
        if (*number != 0xffffffff) continue;
        if (at + 8 > size + 4) return false;
        *number = little_endian<8>(extra + at);
        at += 8;
      }
      return true;
    }
    extra += 4 + size;
    length -= 4 + size;
  }
  return true;
}

Listed read_entry(const ArchiveFile& file, const std::uint8_t* entry, std::uint64_t name_length,
                  std::uint64_t extra_length) {
  Listed listed;
  listed.name.assign(reinterpret_cast<const char*>(entry + kEntry), name_length);
  while (listed.name.starts_with("./")) listed.name.erase(0, 2);
  if (listed.name.find('\0') != std::string::npos) file.fail("it has a name with a NUL character");
  listed.bytes = little_endian<4>(entry + 24);
  listed.member.stored_bytes = little_endian<4>(entry + 20);
  listed.member.offset = little_endian<4>(entry + 42);
  listed.member.crc = static_cast<std::uint32_t>(little_endian<4>(entry + 16));
  if (!read_extra(entry + kEntry + name_length, extra_length, listed.bytes, listed.member.stored_bytes,
                  listed.member.offset)) {
    file.fail(listed.name, "has a damaged entry");
  }
  // Unix: what kind of file it is stands in the upper half of the attributes; 0 where the writer did not know.
  const std::uint64_t kind = little_endian<1>(entry + 5) == 3 ? little_endian<4>(entry + 38) >> 28 : 0;
  listed.regular = kind == 0 || kind == 8;
  if (listed.name.empty() || listed.name.ends_with('/') || !listed.regular) return listed;
  const std::uint64_t method = little_endian<2>(entry + 10);
  if ((little_endian<2>(entry + 8) & 1U) != 0) {
    listed.refusal = "is encrypted, which is not read";
  } else if (method != 0 && method != 8) {
    listed.refusal = fmt::format("is compressed by method {}: only stored and deflated files are read", method);
  }
  listed.member.packing = method == 0 ? Packing::kStored : Packing::kDeflated;
  return listed;
}

}  // namespace

std::vector<Listed> list_zip(const ArchiveFile& file) {
  const Directory directory = find_directory(file);
  const std::string text = file.read_text(directory.at, directory.bytes);
  std::vector<Listed> members;
  // To the directory's end, whatever the count says: without zip64 it has 16 bits.
  for (std::uint64_t at = 0; at < text.size();) {
    const std::uint8_t* entry = bytes_of(text) + at;
    if (text.size() - at < kEntry || little_endian<4>(entry) != 0x02014b50) file.fail("its directory is damaged");
    const std::uint64_t name = little_endian<2>(entry + 28), extra = little_endian<2>(entry + 30);
    const std::uint64_t length = kEntry + name + extra + little_endian<2>(entry + 32);
    if (length > text.size() - at) file.fail("its directory is damaged");
    at += length;
    Listed listed = read_entry(file, entry, name, extra);
    if (!listed.name.empty() && !listed.name.ends_with('/')) members.push_back(std::move(listed));
  }
  return members;
}

}  // namespace feedring::dataset
