// SPDX-License-Identifier: Apache-2.0
// From a feed's description to the samples that it draws from, and the order in which it draws them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "producers/config/feed_spec.hpp"
#include "producers/dataset/index.hpp"
#include "producers/dataset/scan.hpp"
#include "producers/plan/mixed_order.hpp"

namespace feedring {

/// The data of a feed of files, as scan_data finds it, less what `files` and `limit` leave out, several data sets as
/// one. Names in columns are numbered as in columns of the same names in `numbered`. Throws Error(kData).
[[nodiscard]] Scan scan_samples(const FeedSpec& spec, const std::vector<std::string>* classes_from = nullptr,
                                NoSamples empty = NoSamples::kIsAnError, const std::vector<ColumnSpec>& numbered = {});

/// What an index has to hold for the shares and weights of `scan`.
[[nodiscard]] DrawTables draw_tables(const Scan& scan);

/// Ordinals of an epoch of samples, of which there are so many.
[[nodiscard]] inline std::uint64_t samples_per_epoch(const FeedSpec& spec, std::uint64_t samples) noexcept {
  return spec.samples_per_epoch.value_or(samples);
}

/// The tables as a plan wants them. Owns nothing of `sums` and `members`, which have to outlive it.
class OrderView {
 public:
  OrderView(const FeedSpec& spec, std::uint64_t samples, std::span<const std::uint64_t> sums,
            std::span<const Source> sources, std::span<const std::uint64_t> members);

  [[nodiscard]] SampleOrder order() const noexcept {
    return {samples_, shuffle_, per_epoch_, sums_, sources_, members_};
  }

 private:
  std::uint64_t samples_;
  bool shuffle_;
  std::uint64_t per_epoch_;
  std::span<const std::uint64_t> sums_;
  std::vector<OrderSource> sources_;
  std::span<const std::uint64_t> members_;
};

}  // namespace feedring
