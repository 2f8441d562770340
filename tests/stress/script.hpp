// SPDX-License-Identifier: Apache-2.0
// What every actor of a stress test knows by heart: which ticket has which numbers and which cell which value. Whoever
// reads anything else has caught a torn ticket, a torn row, or somebody else's turn.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

#include "runtime/ring.hpp"

namespace feedring::stress {

constexpr std::uint64_t mix(std::uint64_t x) {  // splitmix64's finalizer
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return mix(mix(a + 0x9e3779b97f4a7c15) ^ b); }

inline Want ticket(std::uint64_t seed, std::uint64_t plan, std::uint64_t sequence, std::uint32_t rows) {
  const std::uint64_t key = mix(mix(seed, plan), sequence);
  return {sequence, plan, seed, mix(key, 1), mix(key, 2), static_cast<std::uint32_t>(mix(key, 3)), rows};
}
inline std::int64_t cell(const Want& want, std::uint32_t row, std::uint32_t column) {
  return static_cast<std::int64_t>(mix(mix(want.epoch, want.sequence), std::uint64_t{row} << 32 | column));
}

/// The cells of row `row`: `count` of them. The rings of these tests have one tensor.
inline std::int64_t* row_cells(const Ring<>& ring, std::uint32_t slot, std::uint32_t row) {
  const contract::TensorEntry& entry = ring.shape().tensor[0];
  return reinterpret_cast<std::int64_t*>(ring.payload(slot) + entry.offset + row * entry.row_bytes);
}
inline std::uint32_t cells_of_a_row(const Ring<>& ring) {
  return static_cast<std::uint32_t>(ring.shape().tensor[0].row_bytes / 8);
}

/// The first thing that went wrong, in memory that all actors see; who sees it stops.
struct Verdict {
  std::atomic<std::uint32_t> failed;
  std::atomic<std::uint32_t> written;
  char text[240];

  void fail(const std::string& what) {
    if (failed.exchange(1) != 0) return;
    std::snprintf(text, sizeof text, "%s", what.c_str());
    written.store(1);
  }
  [[nodiscard]] std::string said() const { return written.load() != 0 ? text : ""; }
};

/// Chance, and the small delays that widen the windows in which things go wrong.
class Chance {
 public:
  /// Of its delays one in `sleep_one_in` is a sleep.
  explicit Chance(std::uint64_t seed, std::uint64_t sleep_one_in = 256) : random_(seed), sleep_one_in_(sleep_one_in) {}
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  /// Nothing, mostly; now and then the processor goes to another, or some microseconds pass.
  void dawdle();

 private:
  std::mt19937_64 random_;
  std::uint64_t sleep_one_in_;
};

}  // namespace feedring::stress
