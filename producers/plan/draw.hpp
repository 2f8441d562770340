// SPDX-License-Identifier: Apache-2.0
// The only source of chance: a counter-based generator (Philox4x64-10: Salmon, Moraes, Dror, Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011). A draw is a pure function of what it is for, so that neither the producer,
// nor the number of ranks, nor what was drawn before can change it.
#pragma once

#include <array>
#include <cstdint>

namespace feedring {

/// What a draw is for. Streams never share a random number. The values are part of every plan: add, never renumber.
enum class Stream : std::uint64_t {
  kOrder = 1,       ///< the order of an epoch's samples
  kAugment = 2,     ///< crop boxes, flips and every other random choice of a transform
  kSubstitute = 3,  ///< what stands in for a failed sample
  kClasses = 4,     ///< the classes of an episode
  kMembers = 5,     ///< the samples of an episode's classes
  kLabels = 6,      ///< the labels that an episode gives its classes
  kSizes = 7,       ///< how many classes and samples an episode has, where that is left to chance
  kTasks = 8,       ///< functions that regression tasks are samples of, and those samples
  kNoise = 9,       ///< values that RandomErasing writes; its seed is a word of kAugment, epoch and ordinal are 0
};

/// A sequence of random numbers that belongs to one ordinal of one epoch under one seed. A value type: 100 bytes, no
/// allocation; copies continue alike. The counter is {ordinal, epoch, stream + 256 * lane, block}, the key {seed, 0},
/// so that neither two seeds nor two epochs can meet, as they would if a sum of them were the seed.
class Draw {
 public:
  /// `lane` (below 2^56) tells apart what one ordinal needs several sequences of one stream for, such as the classes of
  /// an episode.
  Draw(std::uint64_t seed, std::uint64_t epoch, std::uint64_t ordinal, Stream stream, std::uint64_t lane = 0) noexcept
      : counter_{ordinal, epoch, static_cast<std::uint64_t>(stream) + (lane << 8), 0}, seed_(seed) {}

  /// 64 random bits: word `i mod 4` of Philox block `i / 4` for the i-th call.
  std::uint64_t bits() noexcept {
    if (used_ == words_.size()) refill();
    return words_[used_++];
  }

  /// Uniform in [0, 1): a multiple of 2^-53, as Python's random() and NumPy's random() are.
  double uniform() noexcept { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

  /// Uniform in [0, n), without bias (Lemire, "Fast random integer generation in an interval", 2019). Precondition:
  /// n >= 1. Takes one word, more with a probability below n / 2^64.
  std::uint64_t below(std::uint64_t n) noexcept;

 private:
  void refill() noexcept;

  std::array<std::uint64_t, 4> counter_;
  std::uint64_t seed_;
  std::array<std::uint64_t, 4> words_{};
  std::size_t used_ = words_.size();
};

}  // namespace feedring
