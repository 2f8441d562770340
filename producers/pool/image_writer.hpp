// SPDX-License-Identifier: Apache-2.0
// One sample becomes one image of a slot: file, pixels; or what the feed's policy makes of a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "producers/decode/decoder.hpp"
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

/// What goes where, and which ordinal of which epoch it is.
struct RowTask {
  std::byte* payload;  ///< of the slot
  WorkPlace place;
  std::uint64_t seed;
  std::uint64_t epoch;
  std::uint64_t ordinal;
  bool valid;  ///< false: a repeat that fills a short step
};

class ImageWriter {
 public:
  /// `in_hand` is this producer's block; `on_failure` is called for every failed sample.
  ImageWriter(Reader& reader, contract::PoolHeader<std::atomic>& pool, contract::InHand<std::atomic>& in_hand,
              std::function<void(const Failure&)> on_failure);

  struct Result {
    contract::RowStatus status;
    std::uint64_t sample;  ///< whose pixels these are; the planned one's where it failed
  };
  /// The attempt's number -> another sample of the class; nullopt where all were tried.
  using Substitute = std::function<std::optional<std::uint64_t>(std::uint64_t)>;
  /// Writes the image of `sample` at `out`: exactly its bytes. `draw` and `turned` as in Pipeline::run.
  Result write(FeedContext& feed, const RowTask& task, std::uint64_t sample, Draw draw,
               std::optional<ClassAugment> turned, const Substitute& substitute, std::byte* out);

 private:
  Fault make_image(FeedContext& feed, std::uint64_t sample, Draw draw, std::optional<ClassAugment> turned,
                   std::byte* out);

  Reader& reader_;
  contract::PoolHeader<std::atomic>& pool_;
  contract::InHand<std::atomic>& in_hand_;
  std::function<void(const Failure&)> on_failure_;
  Decoder decoder_;
};

}  // namespace feedring
