// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/unpacked.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <feedring/error.hpp>
#include <optional>
#include <system_error>
#include <vector>

#include "producers/dataset/inflate.hpp"
#include "producers/dataset/labels.hpp"
#include "producers/dataset/member_data.hpp"
#include "runtime/memory_limits.hpp"

namespace feedring::pack {
namespace {

namespace fs = std::filesystem;
using dataset::ArchiveFile;
using dataset::Listed;
constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;

/// Where the bytes of a member begin: behind its local header, whose length only that says.
std::uint64_t begin_of(const ArchiveFile& zip, const Listed& member) {
  std::uint64_t begin = member.member.offset;
  std::optional<std::string> fault;
  if (find_data(zip.fd(), begin, Wait::kForStorage, zip.name(), fault) != ReadOutcome::kRead) {
    zip.fail(member.name, *fault);
  }
  if (begin > zip.bytes() || member.member.stored_bytes > zip.bytes() - begin) {
    zip.fail(member.name, "does not lie within the zip, which is damaged or cut short");
  }
  return begin;
}

/// A file that goes away by itself.
UniqueFd open_scratch(const fs::path& folder, std::uint64_t bytes) {
  const auto fail = [&](ErrorKind kind, std::string_view why) {
    throw Error(kind,
                fmt::format("cannot unpack {} in {}: {}", human_bytes(bytes), dataset::shown(folder.native()), why));
  };
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (!error && space.available < bytes) {
    fail(ErrorKind::kMemory, fmt::format("its file system has {} free", human_bytes(space.available)));
  }
  UniqueFd file(::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  if (!file) {  // a file system that does not know it
    std::string name = (folder / ".feedring-XXXXXX").native();
    file.reset(::mkostemp(name.data(), O_CLOEXEC));
    if (!file) fail(ErrorKind::kData, std::strerror(errno));
    ::unlink(name.c_str());
  }
  return file;
}

void write_all(int file, const std::uint8_t* data, std::uint64_t bytes) {
  while (bytes > 0) {
    const ssize_t done = ::write(file, data, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      const bool room = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
      throw Error(room ? ErrorKind::kMemory : ErrorKind::kData,
                  fmt::format("cannot unpack into a file beside the pack: {}", std::strerror(errno)));
    }
    data += done;
    bytes -= static_cast<std::uint64_t>(done);
  }
}

/// Unpacks into `target`. Returns the checksum.
std::uint32_t inflate_into(int target, const ArchiveFile& zip, const Listed& member, std::uint64_t begin) {
  dataset::Inflate inflate;
  if (!inflate.ready()) zip.fail(member.name, "cannot be unpacked: no memory for it");
  std::vector<std::uint8_t> in(kPiece), out(kPiece);
  std::uint64_t left = member.member.stored_bytes, made = 0;
  uLong crc = 0;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    if (inflate.stream.avail_in == 0 && left > 0) {
      const std::uint64_t now = std::min(left, kPiece);
      zip.read(begin, in.data(), now);
      begin += now;
      left -= now;
      inflate.stream.next_in = in.data();
      inflate.stream.avail_in = static_cast<uInt>(now);
    }
    inflate.stream.next_out = out.data();
    inflate.stream.avail_out = static_cast<uInt>(kPiece);
    state = ::inflate(&inflate.stream, Z_NO_FLUSH);
    const std::uint64_t got = kPiece - inflate.stream.avail_out;
    made += got;
    if ((state != Z_OK && state != Z_STREAM_END) || made > member.bytes) break;
    crc = ::crc32(crc, out.data(), static_cast<uInt>(got));
    write_all(target, out.data(), got);
    if (state == Z_STREAM_END && made == member.bytes) return static_cast<std::uint32_t>(crc);
  }
  zip.fail(member.name, "does not unpack to the size that the zip says: it is damaged");
}

std::uint32_t checksum_of(const ArchiveFile& zip, std::uint64_t begin, std::uint64_t bytes) {
  std::vector<std::uint8_t> piece(kPiece);
  uLong crc = 0;
  while (bytes > 0) {
    const std::uint64_t now = std::min(bytes, kPiece);
    zip.read(begin, piece.data(), now);
    crc = ::crc32(crc, piece.data(), static_cast<uInt>(now));
    begin += now;
    bytes -= now;
  }
  return static_cast<std::uint32_t>(crc);
}

}  // namespace

Unpacked::Unpacked(const ArchiveFile& zip, const Listed& member, const fs::path& scratch)
    : zip_(zip), bytes_(member.bytes) {
  if (!member.refusal.empty()) zip.fail(member.name, member.refusal);
  begin_ = begin_of(zip, member);
  std::uint32_t crc = 0;
  if (member.member.packing == Packing::kStored) {
    if (bytes_ != member.member.stored_bytes) zip.fail(member.name, "has two sizes: the zip is damaged");
    crc = checksum_of(zip, begin_, bytes_);
  } else {
    if (bytes_ / kMostExpansion > member.member.stored_bytes) {
      zip.fail(member.name, "is said to unpack to more than it can: the zip is damaged");
    }
    scratch_ = open_scratch(scratch, bytes_);
    crc = inflate_into(scratch_.get(), zip, member, begin_);
  }
  if (crc != member.member.crc) zip.fail(member.name, "has another checksum than the zip says: it is damaged");
}

void Unpacked::read(std::uint64_t offset, void* target, std::uint64_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) zip_.fail("it is damaged: an array is shorter than it says");
  if (!scratch_) return zip_.read(begin_ + offset, target, bytes);
  std::optional<std::string> fault;
  if (read_at(scratch_.get(), offset, static_cast<std::uint8_t*>(target), bytes, Wait::kForStorage, zip_.name(),
              fault) != ReadOutcome::kRead) {
    zip_.fail(*fault);
  }
}

}  // namespace feedring::pack
