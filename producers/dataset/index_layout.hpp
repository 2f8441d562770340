// SPDX-License-Identifier: Apache-2.0
// The bytes of an index, for the builder and the reader alone. All numbers are little-endian, all offsets 64 bit.
//
//   ┌────────┬────────────────┬───────────┬─────────────────┬───────────────┬────────┬──────────┬────────┬──────────┐
//   │ Header │ SampleRecord×N │ Member×N  │ ArchiveRecord×A │ ClassRecord×C │ sums×N │ Source×S │ drawn  │ text     │
//   │ 200 B  │ 24 B each      │ 32 B each │ 24 B each       │ 32 B each     │ 8 B    │ 24 B     │ 8 B    │          │
//   └────────┴────────────────┴───────────┴─────────────────┴───────────────┴────────┴──────────┴────────┴──────────┘
// Text: root, names of archives and classes, paths; each with a NUL behind it. Members are there where samples lie in
// archives; sums, or sources and the samples drawn from them, where samples are not drawn alike. Samples without files
// have no SampleRecords. At the end stand the bytes of an attachment: of samples without files what their maker wants,
// else the values of columns (column_table.hpp).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace feedring::dataset {

inline constexpr std::uint64_t kIndexMagic = 0x3158444e49524446;  // "FDRINDX1" in memory
inline constexpr std::uint64_t kIndexVersion = 3;

struct IndexHeader {
  std::uint64_t magic;
  std::uint64_t version;
  std::uint64_t total_bytes;
  std::uint64_t samples;
  std::uint64_t samples_at;  ///< offset of the first SampleRecord
  std::uint64_t classes;
  std::uint64_t classes_at;  ///< offset of the first ClassRecord
  std::uint64_t text_at;
  std::uint64_t text_bytes;
  std::uint64_t root_length;  ///< the root stands first in the text
  std::array<std::uint8_t, 16> digest;
  std::uint64_t nameless;  ///< 1: samples have no files, and there are no SampleRecords
  std::uint64_t attachment_at;
  std::uint64_t attachment_bytes;
  std::uint64_t archives;  ///< 0: samples are files, and there are no Members
  std::uint64_t archives_at;
  std::uint64_t members_at;
  std::uint64_t sums;  ///< as many as samples, or 0
  std::uint64_t sums_at;
  std::uint64_t sources;
  std::uint64_t sources_at;
  std::uint64_t drawn;  ///< members of the sources
  std::uint64_t drawn_at;
  std::uint64_t unused;
};

struct SampleRecord {
  std::uint64_t path_begin;  ///< in the text
  std::uint64_t bytes;
  std::uint32_t path_length;
  std::uint32_t label;
};

struct ArchiveRecord {
  std::uint64_t name_begin;  ///< in the text
  std::uint64_t name_length;
  std::uint64_t bytes;
};

/// The samples of class c are [begin, end): they stand together.
struct ClassRecord {
  std::uint64_t name_begin;  ///< in the text
  std::uint64_t name_length;
  std::uint64_t begin;
  std::uint64_t end;
};

static_assert(std::endian::native == std::endian::little, "the records are written as they lie in memory");
static_assert(sizeof(IndexHeader) == 200 && sizeof(SampleRecord) == 24 && sizeof(ClassRecord) == 32 &&
                  sizeof(ArchiveRecord) == 24,
              "no padding: every byte of the index is written");

}  // namespace feedring::dataset
