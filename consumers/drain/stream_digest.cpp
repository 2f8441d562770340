// SPDX-License-Identifier: Apache-2.0
#include "consumers/drain/stream_digest.hpp"

#include <bit>
#include <cstdio>
#include <new>
#include <utility>

#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>  // its macros put this processor's widest instructions behind the names used below
#endif

namespace feedring {

static_assert(std::endian::native == std::endian::little, "ordinal and label are hashed as they lie in memory");

StreamDigest::StreamDigest() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
}

void StreamDigest::add(const Batch& batch) {
  const TensorView images = batch.images();
  const std::size_t row_bytes = images.bytes / batch.rows();
  const auto labels = batch.labels();
  const auto valid = batch.valid();
  for (std::uint32_t row = 0; row < batch.valid_rows(); ++row) {
    if (valid[row] == 0) continue;
    add(batch.first_ordinal() + row, labels[row], static_cast<const std::byte*>(images.data) + row * row_bytes,
        row_bytes);
  }
}

void StreamDigest::add(std::uint64_t ordinal, std::int64_t label, const std::byte* pixels, std::size_t bytes) {
  XXH3_128bits_reset(state_.get());
  XXH3_128bits_update(state_.get(), &ordinal, sizeof ordinal);
  XXH3_128bits_update(state_.get(), &label, sizeof label);
  XXH3_128bits_update(state_.get(), pixels, bytes);
  const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
  sum_ += static_cast<unsigned __int128>(hash.high64) << 64 | hash.low64;
}

StreamDigest::Sum StreamDigest::take() noexcept { return std::exchange(sum_, 0); }

std::string StreamDigest::text(Sum sum) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(sum >> 64),
                static_cast<unsigned long long>(sum & ~0ULL));
  return text;
}

}  // namespace feedring
