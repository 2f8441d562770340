// SPDX-License-Identifier: Apache-2.0
// The digest of what a rank received in an epoch: the sum mod 2^128, over samples (no pads, no zeroed ones), of
// XXH3-128 of ordinal, label (both 64 bit, little-endian) and pixels. A sum, so that it does not depend on the order,
// and the sums of all ranks add up to the same whatever the number of ranks and producers.
#pragma once

#include <xxhash.h>

#include <array>
#include <cstdint>
#include <feedring/batch.hpp>
#include <memory>
#include <string>

namespace feedring {

class StreamDigest {
 public:
  StreamDigest();

  void add(const Batch& batch);
  /// Adds one sample, pixels as they lie in memory.
  void add(std::uint64_t ordinal, std::int64_t label, const std::byte* pixels, std::size_t bytes);

  using Sum = unsigned __int128;
  /// What was added since the last time.
  [[nodiscard]] Sum take() noexcept;
  /// 32 hexadecimal digits, most significant first.
  [[nodiscard]] static std::string text(Sum sum);

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const noexcept { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
  Sum sum_ = 0;
};

}  // namespace feedring
