// SPDX-License-Identifier: Apache-2.0
// Pictures that a node decodes once: what the geometric steps of a transform make of each sample, in a memfd of fixed
// size that the producers share. Whoever comes to a sample first fills its entry; whoever meets an entry that another
// fills makes its own pixels and does not wait. An entry that is done never changes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "producers/plan/episode_spec.hpp"
#include "runtime/memfd.hpp"
#include "runtime/store_words.hpp"

namespace feedring {

/// Where everything lies: worked out by each process from what it knows of the feed, never read from shared memory.
struct StoreLayout {
  std::uint64_t samples = 0;
  std::vector<ClassAugment> turns;  ///< a sample has an entry for itself, and one for each of these
  std::uint64_t picture_bytes = 0;
  std::uint64_t entry_stride = 0;  ///< picture and slack, so that no reader touches its neighbour's entry
  std::uint64_t entries_offset = 0;
  std::uint64_t bytes = 0;  ///< of the segment

  [[nodiscard]] std::uint64_t entries() const noexcept { return samples * (turns.size() + 1); }
};

/// Throws Error(kMemory) where no machine could hold it.
[[nodiscard]] StoreLayout lay_out_store(std::uint64_t samples, std::uint64_t picture_bytes,
                                        std::vector<ClassAugment> turns);

/// A store as one process has it mapped.
class DecodedStore {
 public:
  /// `self` claims entries: a producer. Throws Error(kRefused) where the memory is not sealed or has another size.
  DecodedStore(int memfd, StoreLayout layout, contract::Claimant self);

  [[nodiscard]] const StoreLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] const StoreWords<>& words() const noexcept { return words_; }

  /// The entry of a sample; nullopt where the store has none for this turn. Precondition: sample < layout().samples.
  [[nodiscard]] std::optional<std::size_t> entry(std::uint64_t sample, std::optional<ClassAugment> turned) const;
  /// Its pixels, with kSlack readable bytes behind them, where they are done; else nullptr.
  [[nodiscard]] const std::uint8_t* find(std::size_t entry) const noexcept;
  /// Room for its pixels, which are then to be published or given back; nullptr where somebody else has claimed it.
  [[nodiscard]] std::uint8_t* claim(std::size_t entry) const noexcept;
  void publish(std::size_t entry) const noexcept { words_.publish(entry); }
  void give_back(std::size_t entry) const noexcept { words_.give_back(entry); }

  /// Faults all pages in, so that the steady state takes no page fault.
  void populate() const noexcept { mapping_.populate(0, mapping_.size()); }

 private:
  [[nodiscard]] std::uint8_t* at(std::size_t entry) const noexcept;

  StoreLayout layout_;
  Mapping mapping_;
  StoreWords<> words_;
  contract::Claimant self_;
};

}  // namespace feedring
