// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/feed_context.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

#include "producers/transform/decode_options.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {
namespace {

Pipeline pipeline_of(const FeedSpec& spec) {
  Chain chain = Chain::parse(spec.transform);
  const Dtype dtype = chain.slot_dtype(spec.dtype);
  return {std::move(chain), dtype, spec.layout, decode_options(spec)};
}

}  // namespace

FeedContext::FeedContext(std::uint32_t number, FeedSpec spec, int index_fd)
    : number_(number), spec_(std::move(spec)), index_(Index::attach(index_fd)), pipeline_(pipeline_of(spec_)) {
  if (spec_.episodes) episodes_.emplace(spec_, index_);
  directory_.reset(::open(std::string(index_.root()).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory_) {
    throw Error(ErrorKind::kData, fmt::format("feed '{}': the data directory {} cannot be opened: {}", spec_.name,
                                              index_.root(), std::strerror(errno)));
  }
}

void FeedContext::demand_fits(const contract::RingShape& shape) const {
  const std::uint32_t parts = episodes_ ? episodes_->places().parts() : 1;
  bool fits = shape.parts == parts;
  for (std::uint32_t part = 0; part < parts && fits; ++part) {
    const char* name = "images";
    std::uint64_t at = 0;
    if (episodes_) {
      const PartPlace place = episodes_->places().place(part);
      name = place.column.images;
      at = place.at;
    }
    const contract::TensorEntry* entry = find_tensor(shape, name);
    // One image a row has no other length; of several, each must end inside of the row.
    fits = entry != nullptr && (at + 1) * bytes_per_image() <= entry->row_bytes &&
           (episodes_ || entry->row_bytes == bytes_per_image());
  }
  const contract::TensorEntry* status = find_tensor(shape, "status");
  if (!fits || status == nullptr || status->row_bytes != parts) {
    throw Error(
        ErrorKind::kRefused,
        fmt::format("feed '{}': a ring was handed over that is not made for its samples: somebody overwrote its "
                    "header",
                    spec_.name));
  }
}

FileRequest FeedContext::file(std::uint64_t sample) const {
  return {{number_, sample}, directory_.get(), index_.path(sample), index_.bytes(sample)};
}

std::optional<std::uint64_t> FeedContext::sample(const EpisodeKey& key, std::uint32_t part) {
  if (!episodes_) return plan(key.seed, key.epoch).sample(key.ordinal);
  const auto image = episodes_->image(key, part);
  return image ? std::optional(image->sample) : std::nullopt;
}

const Plan& FeedContext::plan(std::uint64_t seed, std::uint64_t epoch) {
  for (const Kept& kept : plans_) {
    if (kept.seed == seed && kept.plan.epoch() == epoch) return kept.plan;
  }
  if (plans_.size() == 2) plans_.pop_front();
  plans_.push_back({seed, Plan(seed, epoch, index_.size(), spec_.shuffle)});
  return plans_.back().plan;
}

}  // namespace feedring
