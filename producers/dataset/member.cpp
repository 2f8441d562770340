// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/member.hpp"

#include <fmt/format.h>
#include <sys/uio.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "producers/dataset/inflate.hpp"
#include "producers/dataset/little_endian.hpp"
#include "producers/dataset/member_data.hpp"
#include "runtime/fault_point.hpp"

namespace feedring {
namespace {

using MaybeFault = std::optional<std::string>;
constexpr std::uint64_t kLocalHeader = 30;

ReadOutcome failed(MaybeFault& fault, std::string why) {
  fault = std::move(why);
  return ReadOutcome::kFault;
}

ReadOutcome inflate_at(int archive, std::uint64_t offset, std::uint64_t stored, std::uint8_t* target,
                       std::uint64_t bytes, Wait wait, std::string_view path, MaybeFault& fault) {
  dataset::Inflate inflate;
  if (!inflate.ready()) return failed(fault, "cannot be unpacked: no memory for it");
  std::array<std::uint8_t, 1 << 16> piece;  // NOLINT: filled before it is read
  z_stream& stream = inflate.stream;
  stream.next_out = target;
  stream.avail_out = static_cast<uInt>(bytes);  // kLargestMember fits
  int state = Z_OK;
  while (stored > 0 && state == Z_OK) {
    const std::uint64_t now = std::min<std::uint64_t>(stored, piece.size());
    const ReadOutcome outcome = read_at(archive, offset, piece.data(), now, wait, path, fault);
    if (outcome != ReadOutcome::kRead) return outcome;
    offset += now;
    stored -= now;
    stream.next_in = piece.data();
    stream.avail_in = static_cast<uInt>(now);
    state = ::inflate(&stream, Z_NO_FLUSH);
    if (state == Z_OK && stream.avail_in > 0) break;  // no room for more
  }
  if (state != Z_STREAM_END || stream.avail_out != 0) {
    return failed(fault, "does not unpack to the size that the zip says: it is damaged");
  }
  return ReadOutcome::kRead;
}

}  // namespace

ReadOutcome find_data(int archive, std::uint64_t& offset, Wait wait, std::string_view path, MaybeFault& fault) {
  std::array<std::uint8_t, kLocalHeader> header{};
  const ReadOutcome outcome = read_at(archive, offset, header.data(), header.size(), wait, path, fault);
  if (outcome != ReadOutcome::kRead) return outcome;
  if (dataset::little_endian<4>(header.data()) != 0x04034b50) {
    return failed(fault, "has no header in the zip where its directory says: the zip is damaged");
  }
  offset +=
      kLocalHeader + dataset::little_endian<2>(header.data() + 26) + dataset::little_endian<2>(header.data() + 28);
  return outcome;
}

MaybeFault contradiction_in(const Member& member, std::uint64_t bytes, std::uint64_t archive_bytes) {
  const std::uint64_t header = member.packing == Packing::kPlain ? 0 : kLocalHeader;
  if (bytes > kLargestMember) {
    return fmt::format("has {} bytes, more than the {} that a file in an archive may have", bytes, kLargestMember);
  }
  if (member.offset > archive_bytes || archive_bytes - member.offset < header ||
      member.stored_bytes > archive_bytes - member.offset - header) {
    return "does not lie within its archive, which is damaged or cut short";
  }
  if (member.packing == Packing::kDeflated ? bytes / kMostExpansion > member.stored_bytes
                                           : bytes != member.stored_bytes) {
    return fmt::format("says that its {} bytes become {}, which cannot be", member.stored_bytes, bytes);
  }
  return std::nullopt;
}

ReadOutcome read_at(int file, std::uint64_t offset, std::uint8_t* target, std::uint64_t bytes, Wait wait,
                    std::string_view path, MaybeFault& fault) {
  std::uint64_t have = 0;
  while (have < bytes) {
    const iovec part{target + have, bytes - have};
    ssize_t got = ::preadv2(file, &part, 1, static_cast<off_t>(offset + have), wait == Wait::kNever ? RWF_NOWAIT : 0);
    if (const int error = fault_point("read, instead of a piece", path)) {
      errno = error;
      got = -1;
    }
    if (got < 0 && errno == EINTR) continue;
    // EOPNOTSUPP: a file system that cannot say whether it would wait.
    if (got < 0 && wait == Wait::kNever && (errno == EAGAIN || errno == EOPNOTSUPP)) return ReadOutcome::kNotCached;
    if (got < 0) return failed(fault, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (got == 0) {
      return failed(fault, fmt::format("ended after {} of {} bytes: the data changed while it was read", have, bytes));
    }
    have += static_cast<std::uint64_t>(got);
  }
  return ReadOutcome::kRead;
}

ReadOutcome read_member(int archive, std::uint64_t archive_bytes, const Member& member, std::uint8_t* target,
                        std::uint64_t bytes, Wait wait, std::string_view path, MaybeFault& fault) {
  if (MaybeFault why = contradiction_in(member, bytes, archive_bytes)) return failed(fault, std::move(*why));
  std::uint64_t offset = member.offset;
  if (member.packing == Packing::kPlain) return read_at(archive, offset, target, bytes, wait, path, fault);
  const ReadOutcome found = find_data(archive, offset, wait, path, fault);
  if (found != ReadOutcome::kRead) return found;
  if (offset > archive_bytes || member.stored_bytes > archive_bytes - offset) {
    return failed(fault, "does not lie within its zip, which is damaged");
  }
  const bool stored = member.packing == Packing::kStored;
  const ReadOutcome read = stored ? read_at(archive, offset, target, bytes, wait, path, fault)
                                  : inflate_at(archive, offset, member.stored_bytes, target, bytes, wait, path, fault);
  if (read == ReadOutcome::kRead && ::crc32(0, target, static_cast<uInt>(bytes)) != member.crc) {
    return failed(fault, stored ? "has other bytes than the zip's checksum says: it is damaged"
                                : "unpacks to other bytes than the zip's checksum says: it is damaged");
  }
  return read;
}

}  // namespace feedring
