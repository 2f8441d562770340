// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/digest.hpp"

#include <xxhash.h>

#include <bit>
#include <cstring>
#include <new>

#include "producers/dataset/scan.hpp"

namespace feedring::dataset {

Digest::Digest() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_);
}

Digest::~Digest() { XXH3_freeState(state_); }

void Digest::add(std::string_view path, std::uint64_t bytes, std::uint64_t label) {
  XXH3_128bits_update(state_, path.data(), path.size());
  std::array<std::uint8_t, 17> tail{};  // the NUL comes first
  for (std::size_t i = 0; i < 8; ++i) {
    tail[1 + i] = static_cast<std::uint8_t>(bytes >> (8 * i));
    tail[9 + i] = static_cast<std::uint8_t>(label >> (8 * i));
  }
  XXH3_128bits_update(state_, tail.data(), tail.size());
}

void Digest::add(const Scan& scan, const Sample& sample) {
  add(scan.path(sample), sample.bytes, sample.label);
  if (scan.values.row_bytes == 0) return;
  std::string_view values = scan.values.row(sample.row);
  for (const ColumnSpec& column : scan.values.columns) {
    std::string_view value = values.substr(0, column.bytes());
    values.remove_prefix(column.bytes());
    if (of_files(column.kind)) {  // where a path lies depends on the order of the lines
      ColumnFile file;
      std::memcpy(&file, value.data(), sizeof file);
      add(scan.values.path(file), file.bytes, 0);
    } else {
      XXH3_128bits_update(state_, value.data(), value.size());
    }
  }
}

DigestBytes Digest::finish() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_));
  DigestBytes digest{};
  static_assert(sizeof canonical.digest == sizeof digest);
  std::memcpy(digest.data(), canonical.digest, sizeof digest);
  return digest;
}

DigestBytes digest_of(const Scan& scan) {
  Digest digest;
  for (const Sample& sample : scan.samples) digest.add(scan, sample);
  if (scan.weighted) {
    for (const Sample& sample : scan.samples) digest.add("", std::bit_cast<std::uint64_t>(sample.weight), 0);
  }
  return digest.finish();
}

std::string hex(const DigestBytes& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace feedring::dataset
