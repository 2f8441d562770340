// SPDX-License-Identifier: Apache-2.0
// THE LAW OF A STORE: the moves on its words (contract.hpp), one word an entry: who fills it, and whether it is filled.
//
//   R5 publish's store        -> A5 the load that finds it done: every pixel is written
//   R6 give back's, sweep's   -> A6 the next claim: a former claimant writes no more
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "runtime/contract.hpp"

namespace feedring {

/// A view. Any thread of a producer, one at a time in its claimant's name, and the supervisor. Precondition of all that
/// take an entry: it is one of words.size().
template <template <class> class Atom = std::atomic>
class StoreWords {
 public:
  using Word = Atom<std::uint32_t>;

  StoreWords() = default;
  explicit StoreWords(std::span<Word> words) noexcept : words_(words) {}

  [[nodiscard]] std::size_t size() const noexcept { return words_.size(); }

  /// The entry's pixels are there, and stay. A5.
  [[nodiscard]] bool is_done(std::size_t entry) const noexcept {
    return words_[entry].load(std::memory_order_acquire) == contract::kStoreDone;  // A5
  }

  /// Nobody has it: a hint, which claim() makes sure of.
  [[nodiscard]] bool is_empty(std::size_t entry) const noexcept {
    return words_[entry].load(std::memory_order_relaxed) == contract::kStoreEmpty;
  }

  /// True: the entry is `self`'s, which alone writes it until publish() or give_back(). False: somebody else's, or
  /// done. A6: what a former claimant wrote comes before what this one will.
  [[nodiscard]] bool claim(std::size_t entry, contract::Claimant self) const noexcept {
    std::uint32_t empty = contract::kStoreEmpty;
    Word& word = words_[entry];
    return word.compare_exchange_strong(empty, self, std::memory_order_acquire, std::memory_order_relaxed);  // A6
  }

  /// R5: all of the pixels are written. Precondition: claimed.
  void publish(std::size_t entry) const noexcept {
    words_[entry].store(contract::kStoreDone, std::memory_order_release);  // R5
  }

  /// R6: there will be no pixels. Precondition: claimed.
  void give_back(std::size_t entry) const noexcept {
    words_[entry].store(contract::kStoreEmpty, std::memory_order_release);  // R6
  }

  /// R6: opens what `dead` had claimed; returns how many entries. Precondition: its death is confirmed, so that nobody
  /// writes them any more, and whoever confirmed it comes after all that it wrote.
  std::uint64_t sweep(contract::Claimant dead) const noexcept {
    std::uint64_t found = 0;
    for (Word& word : words_) {
      if (word.load(std::memory_order_relaxed) != dead) continue;
      word.store(contract::kStoreEmpty, std::memory_order_release);  // R6
      ++found;
    }
    return found;
  }

  /// Entries that are done; a moment's number.
  [[nodiscard]] std::uint64_t filled() const noexcept {
    std::uint64_t count = 0;
    for (const Word& word : words_) count += word.load(std::memory_order_relaxed) == contract::kStoreDone ? 1 : 0;
    return count;
  }

 private:
  std::span<Word> words_;
};

}  // namespace feedring
