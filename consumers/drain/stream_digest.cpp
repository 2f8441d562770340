// SPDX-License-Identifier: Apache-2.0
#include "consumers/drain/stream_digest.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <new>
#include <utility>
#include <vector>

#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>  // its macros put this processor's widest instructions behind the names used below
#endif

namespace feedring {

static_assert(std::endian::native == std::endian::little, "ordinal and label are hashed as they lie in memory");

StreamDigest::StreamDigest() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
}

bool is_of_episodes(const Batch& batch) {
  const auto names = batch.names();
  return std::find(names.begin(), names.end(), "ordinal") != names.end();
}

std::uint64_t StreamDigest::add(const Batch& batch) {
  if (is_of_episodes(batch)) return add_episodes(batch);
  std::vector<TensorView> content;  // what is in the files: it lies before the labels
  for (const std::string_view name : batch.names()) {
    if (name == "labels") break;
    content.push_back(batch.tensor(name));
  }
  std::vector<std::span<const std::byte>> pieces(content.size());
  const auto labels = batch.labels();
  const auto valid = batch.valid();
  std::uint64_t added = 0;
  for (std::uint32_t row = 0; row < batch.valid_rows(); ++row) {
    if (valid[row] == 0) continue;
    ++added;
    for (std::size_t i = 0; i < content.size(); ++i) {
      const std::size_t bytes = content[i].bytes / batch.rows();
      pieces[i] = {static_cast<const std::byte*>(content[i].data) + row * bytes, bytes};
    }
    const std::uint64_t ordinal = batch.first_ordinal() + row;
    add({&ordinal, 1}, labels[row], pieces);
  }
  return added;
}

std::uint64_t StreamDigest::add_episodes(const Batch& batch) {
  const auto names = batch.names();
  std::uint64_t place = 0;
  std::uint64_t added = 0;
  for (const char* kind : {"", "support_", "query_", "unlabelled_"}) {
    const auto name = [&](const char* of) { return std::string(kind) + of; };
    if (std::find(names.begin(), names.end(), name("images")) == names.end()) continue;
    const TensorView images = batch.tensor(name("images"));
    const auto mask = batch.tensor(name("mask")).as<std::uint8_t>();
    std::span<const std::int64_t> labels;
    if (std::find(names.begin(), names.end(), name("labels")) != names.end())
      labels = batch.tensor(name("labels")).as<std::int64_t>();
    const auto each = static_cast<std::uint64_t>(images.sizes[1]);
    const std::size_t bytes = images.bytes / (batch.rows() * each);
    for (std::uint64_t i = 0; i < batch.valid_rows() * each; ++i) {
      if (mask[i] == 0) continue;
      ++added;
      const std::uint64_t key[] = {batch.first_ordinal() + i / each, place + i % each};
      const std::span<const std::byte> pixels(static_cast<const std::byte*>(images.data) + i * bytes, bytes);
      add(key, labels.empty() ? -1 : labels[i], {&pixels, 1});
    }
    place += each;
  }
  return added;
}

void StreamDigest::add(std::uint64_t ordinal, std::int64_t label, const std::byte* pixels, std::size_t bytes) {
  const std::span<const std::byte> content(pixels, bytes);
  add({&ordinal, 1}, label, {&content, 1});
}

void StreamDigest::add(std::span<const std::uint64_t> key, std::int64_t label,
                       std::span<const std::span<const std::byte>> content) {
  XXH3_128bits_reset(state_.get());
  XXH3_128bits_update(state_.get(), key.data(), key.size_bytes());
  XXH3_128bits_update(state_.get(), &label, sizeof label);
  for (const std::span<const std::byte> piece : content) XXH3_128bits_update(state_.get(), piece.data(), piece.size());
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
