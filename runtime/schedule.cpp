// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>

namespace feedring {

Schedule::Schedule(std::uint64_t samples, std::uint32_t world, std::uint32_t batch, Remainder remainder,
                   std::uint64_t start)
    : samples_(samples), world_(world), batch_(batch), remainder_(remainder), start_(start) {
  if (samples == 0) throw Error(ErrorKind::kData, "the data set has no samples, so that there is nothing to schedule");
  if (world == 0 || batch == 0) {
    throw Error(ErrorKind::kUsage,
                fmt::format("world size {} and batch size {} must both be at least 1", world, batch));
  }
  if (start > samples) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("the state starts at ordinal {} of an epoch that has only {}: it belongs to another data set",
                    start, samples));
  }
  const std::uint64_t left_over = (samples - start) % global_batch();
  if (remainder == Remainder::kExact && left_over != 0) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("remainder = \"exact\", but {} samples do not divide into steps of {} ({} ranks x batch size "
                    "{}): {} are left over; choose \"drop\" or \"pad\", or another batch size",
                    samples - start, global_batch(), world, batch, left_over));
  }
}

std::uint64_t Schedule::steps() const noexcept {
  const std::uint64_t left = samples_ - start_;
  const std::uint64_t whole = left / global_batch();
  return remainder_ == Remainder::kPad && left % global_batch() != 0 ? whole + 1 : whole;
}

void Schedule::demand_steps(const char* what) const {
  if (steps() != 0) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("remainder = \"drop\" leaves nothing of the {} {}, because one step takes {} ({} ranks x "
                          "batch size {}); lower batch_size or choose \"pad\"",
                          samples_ - start_, what, global_batch(), world_, batch_));
}

std::uint64_t Schedule::left_out() const noexcept {
  return remainder_ == Remainder::kDrop ? (samples_ - start_) % global_batch() : 0;
}

std::uint64_t Schedule::repeats() const noexcept {
  return remainder_ == Remainder::kPad ? steps() * global_batch() - (samples_ - start_) : 0;
}

Share Schedule::share(std::uint64_t step, std::uint32_t rank) const noexcept {
  const std::uint64_t begin = start_ + step * global_batch();
  const std::uint64_t count = std::min(global_batch(), samples_ - begin);
  // The first count mod W ranks take one more than the others; in a whole step count / W is the batch size.
  const std::uint64_t each = count / world_;
  const std::uint64_t extra = count % world_;
  return {begin + rank * each + std::min<std::uint64_t>(rank, extra),
          static_cast<std::uint32_t>(each + (rank < extra ? 1 : 0))};
}

std::uint64_t Schedule::next_ordinal(std::uint64_t step) const noexcept {
  return step >= steps() ? samples_ : start_ + step * global_batch();
}

std::uint64_t ordinal_of_row(const Share& share, std::uint32_t row, std::uint64_t samples) noexcept {
  return row < share.valid ? share.first + row : (row - share.valid) % samples;
}

}  // namespace feedring
