// SPDX-License-Identifier: Apache-2.0
// What holds for every sample, whatever makes it: it is in hand while it is being made, quarantined once it has ended
// producers, and its failure becomes what the feed's policy says.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "producers/decode/image.hpp"
#include "producers/pool/feed_context.hpp"
#include "runtime/contract.hpp"

namespace feedring {

/// One row, or part of a row, of one turn of a slot. A producer that dies within a task leaves its rows to be done, and
/// their failures to be reported, once more: by this the supervisor knows a report that it has heard.
struct WorkPlace {
  std::uint32_t ring;  ///< in the order in which every producer is told of them
  std::uint32_t slot;
  std::uint32_t turn;
  std::uint32_t row;  ///< or part, counted through all rows
};

/// A failed sample, for the list of failures and for the rank that raises.
struct Failure {
  std::uint32_t feed;
  std::uint64_t epoch;
  std::uint64_t ordinal;
  std::uint64_t sample;
  std::string reason;
  contract::RowStatus outcome;  ///< what the policy made of it
  WorkPlace place;
};

/// The file, its number and size, and what is wrong with it, as a rank is told. Of own samples there is no file.
[[nodiscard]] std::string words_of(const FeedContext& feed, const Failure& failure);

/// What goes where, and which ordinal of which epoch it is.
struct RowTask {
  std::byte* payload;  ///< of the slot
  WorkPlace place;
  std::uint64_t seed;
  std::uint64_t epoch;
  std::uint64_t ordinal;
  bool valid;  ///< false: a repeat that fills a short step
};

class SampleWriter {
 public:
  /// `in_hand` is this producer's block; `on_failure` is called for every failed sample.
  SampleWriter(const contract::PoolHeader<std::atomic>& pool, contract::InHand<std::atomic>& in_hand,
               std::function<void(const Failure&)> on_failure);

  struct Result {
    contract::RowStatus status;
    std::uint64_t sample;  ///< whose content it is; the planned one's where it failed
    [[nodiscard]] bool good() const noexcept {
      return status == contract::RowStatus::kOk || status == contract::RowStatus::kReplaced;
    }
  };
  /// Makes a sample, or says why not.
  using Make = std::function<Fault(std::uint64_t sample)>;
  /// The attempt's number -> another sample of the class; nullopt where all were tried.
  using Substitute = std::function<std::optional<std::uint64_t>(std::uint64_t)>;
  /// Writes zeros in the place of the sample.
  using Clear = std::function<void()>;

  Result write(const FeedContext& feed, const RowTask& task, std::uint64_t sample, const Make& make,
               const Substitute& substitute, const Clear& clear);

  /// From `make`: what this producer does with the sample in hand, for the words of a crash.
  void now(contract::WorkPhase phase) noexcept;

 private:
  Fault attempt(const FeedContext& feed, std::uint64_t sample, const Make& make);

  const contract::PoolHeader<std::atomic>& pool_;
  contract::InHand<std::atomic>& in_hand_;
  std::function<void(const Failure&)> on_failure_;
};

}  // namespace feedring
