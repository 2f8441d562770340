// SPDX-License-Identifier: Apache-2.0
// A sample that lies in an archive: where, and how it is read. Everything here was written by somebody else: it is
// checked against the archive before a byte is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace feedring {

/// How a member's bytes lie in its archive.
enum class Packing : std::uint32_t {
  kPlain,     ///< at `offset`: of a tar
  kStored,    ///< behind the local header at `offset`: of a zip
  kDeflated,  ///< the same, compressed
};

struct Member {
  std::uint64_t offset = 0;
  std::uint64_t stored_bytes = 0;  ///< in the archive; those of the file where it is not compressed
  std::uint32_t archive = 0;       ///< number in Scan::archives
  Packing packing = Packing::kPlain;
  std::uint32_t crc = 0;  ///< of the file; of a zip
  std::uint32_t unused = 0;
};
static_assert(sizeof(Member) == 32, "written into the index as it lies");

/// A file of an archive may have so many bytes: more than any picture, and little enough to be allocated on somebody
/// else's word.
inline constexpr std::uint64_t kLargestMember = std::uint64_t{1} << 28;

/// Whether the member can be true of an archive of `archive_bytes` and a file of `bytes`: it lies inside, and unpacks
/// to no more than its packing can. A sentence where not.
[[nodiscard]] std::optional<std::string> contradiction_in(const Member& member, std::uint64_t bytes,
                                                          std::uint64_t archive_bytes);

enum class Wait : std::uint8_t { kNever, kForStorage };
enum class ReadOutcome : std::uint8_t { kRead, kFault, kNotCached };

/// Reads `bytes` bytes from `offset` of `file` into `target`. kNotCached (with kNever): it would have to wait. `path`
/// is whose bytes they are, for fault points; `fault` says what failed.
[[nodiscard]] ReadOutcome read_at(int file, std::uint64_t offset, std::uint8_t* target, std::uint64_t bytes, Wait wait,
                                  std::string_view path, std::optional<std::string>& fault);

/// Reads the file of `bytes` bytes that `member` of the open `archive` is.
[[nodiscard]] ReadOutcome read_member(int archive, std::uint64_t archive_bytes, const Member& member,
                                      std::uint8_t* target, std::uint64_t bytes, Wait wait, std::string_view path,
                                      std::optional<std::string>& fault);

}  // namespace feedring
