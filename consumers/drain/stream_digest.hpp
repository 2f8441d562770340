// SPDX-License-Identifier: Apache-2.0
// The digest of what a rank received in an epoch: the sum mod 2^128, over samples (no pads, no zeroed ones), of
// XXH3-128 of ordinal, label (both 64 bit, little-endian) and pixels (of all its views). A sum, so that it does not
// depend on the order, and the sums of all ranks add up to the same whatever the number of ranks and producers. Of an
// episode it is the sum over its images, of XXH3-128 of ordinal, place (the image's number within the episode: support
// set, queries, unlabelled; in learn2learn's layout as they lie there), label and pixels.
#pragma once

#include <xxhash.h>

#include <array>
#include <cstdint>
#include <feedring/batch.hpp>
#include <memory>
#include <span>
#include <string>

namespace feedring {

class StreamDigest {
 public:
  StreamDigest();

  /// Returns how many images it added.
  std::uint64_t add(const Batch& batch);
  /// Adds one sample, pixels as they lie in memory.
  void add(std::uint64_t ordinal, std::int64_t label, const std::byte* pixels, std::size_t bytes);

  using Sum = unsigned __int128;
  /// What was added since the last time.
  [[nodiscard]] Sum take() noexcept;
  /// 32 hexadecimal digits, most significant first.
  [[nodiscard]] static std::string text(Sum sum);

 private:
  std::uint64_t add_episodes(const Batch& batch);
  void add(std::span<const std::uint64_t> key, std::int64_t label, std::span<const std::span<const std::byte>> content);
  struct Free {
    void operator()(XXH3_state_t* state) const noexcept { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
  Sum sum_ = 0;
};

/// Whether the rows of the batch are episodes.
[[nodiscard]] bool is_of_episodes(const Batch& batch);

}  // namespace feedring
