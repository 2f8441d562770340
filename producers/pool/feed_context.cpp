// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/feed_context.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

#include "producers/pool/toy_tasks.hpp"
#include "producers/transform/decode_options.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {
namespace {

Views make_views(const FeedSpec& spec) {
  std::vector<Views::Group> groups;
  for (ViewSpec& view : views_of(spec)) {
    Chain chain = Chain::parse(view.transform);
    const Dtype dtype = chain.slot_dtype(spec.dtype);
    groups.push_back({std::move(view.name), view.count.value_or(1),
                      Pipeline(std::move(chain), dtype, spec.layout, decode_options(spec))});
  }
  return Views(std::move(groups));
}

}  // namespace

FeedContext::FeedContext(std::uint32_t number, FeedSpec spec, int index_fd, const MakeFiller& make_filler,
                         FeedStores stores)
    : number_(number),
      spec_(std::move(spec)),
      index_(Index::attach(index_fd)),
      columns_(index_),
      stores_(std::move(stores)),
      order_(spec_, index_.size(), index_.sums(), index_.sources(), index_.drawn()) {
  if (spec_.own) {
    for (const OwnTensor& tensor : spec_.own->tensors) {
      pictures_.emplace_back();
      if (tensor.transform.empty()) continue;
      pictures_.back().emplace(Chain::parse(nlohmann::json::parse(tensor.transform)), tensor.dtype, Layout::kNhwc);
    }
    own_ = {spec_.name, spec_.own->samples, spec_.own->tensors, spec_.own->options.dump(), index_.attachment()};
    if (spec_.own->tasks) {
      filler_ = make_toy_tasks(*spec_.own->tasks);
    } else if (make_filler) {
      filler_ = make_filler(own_);
    }
    if (filler_ == nullptr) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("feed '{}': this program makes no samples of its own for it", spec_.name));
    }
    return;
  }
  views_.emplace(make_views(spec_));
  const DecodedStore* const store = stores_.decoded.get();
  const bool fits = store == nullptr || (store->layout().samples == index_.size() &&
                                         store->layout().picture_bytes == pipeline().kept_bytes());
  if (!fits || (stores_.seek && stores_.seek->words().size() != index_.size())) {
    throw Error(ErrorKind::kRefused,
                fmt::format("feed '{}': the store that was handed over is not made for its samples", spec_.name));
  }
  if (spec_.episodes) episodes_.emplace(spec_, index_);
  directory_.reset(::open(std::string(index_.root()).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory_) {
    throw Error(ErrorKind::kData, fmt::format("feed '{}': the data directory {} cannot be opened: {}", spec_.name,
                                              index_.root(), std::strerror(errno)));
  }
}

bool FeedContext::fits_views(const contract::RingShape& shape) const {
  const std::vector<Views::Group>& groups = views_->groups();
  return std::all_of(groups.begin(), groups.end(), [&](const Views::Group& group) {
    const contract::TensorEntry* entry = find_tensor(shape, group.tensor);
    return entry != nullptr && entry->row_bytes == group.count * group.pipeline.bytes_per_image();
  });
}

bool FeedContext::fits_columns(const contract::RingShape& shape) const {
  const std::vector<ColumnSpec>& columns = columns_.columns();
  return std::all_of(columns.begin(), columns.end(), [&](const ColumnSpec& column) {
    const contract::TensorEntry* entry = find_tensor(shape, column.name);
    return entry != nullptr && entry->row_bytes == bytes_in_slot(column);
  });
}

bool FeedContext::fits_episodes(const contract::RingShape& shape) const {
  for (std::uint32_t part = 0; part < shape.parts; ++part) {
    const PartPlace place = episodes_->places().place(part);
    const contract::TensorEntry* entry = find_tensor(shape, kEpisodeColumns[place.column].images);
    if (entry == nullptr || (place.at + 1) * bytes_per_image() > entry->row_bytes) return false;
  }
  return true;
}

bool FeedContext::fits_own(const contract::RingShape& shape) const {
  return std::all_of(own_.tensors.begin(), own_.tensors.end(), [&](const OwnTensor& tensor) {
    std::uint64_t bytes = bytes_of(tensor.dtype);
    for (const std::uint64_t length : tensor.shape) bytes *= length;
    const contract::TensorEntry* entry = find_tensor(shape, tensor.name);
    return entry != nullptr && entry->row_bytes == bytes;
  });
}

void FeedContext::demand_fits(const contract::RingShape& shape) const {
  const std::uint32_t parts = episodes_ ? episodes_->places().parts() : 1;
  const contract::TensorEntry* status = find_tensor(shape, "status");
  if (shape.parts != parts || status == nullptr || status->row_bytes != parts ||
      !(has_own()   ? fits_own(shape)
        : episodes_ ? fits_episodes(shape)
                    : fits_views(shape) && fits_columns(shape))) {
    throw Error(
        ErrorKind::kRefused,
        fmt::format("feed '{}': a ring was handed over that is not made for its samples: somebody overwrote its "
                    "header",
                    spec_.name));
  }
}

FileRequest FeedContext::file(std::uint64_t sample) {
  FileRequest request{{number_, sample}, directory_.get(), index_.path(sample), index_.bytes(sample)};
  if (index_.archives() != 0) {
    request.member = index_.member(sample);
    request.archive = archives_.open(directory_.get(), index_, request.member.archive);
  }
  return request;
}

FileRequest FeedContext::column_file(std::uint64_t sample, std::size_t column) const {
  const ColumnTable::File file = columns_.file(sample, column);
  // Told from the sample's picture by a number that no sample has.
  return {{number_, sample | (std::uint64_t{column} + 1) << 48}, directory_.get(), file.path, file.bytes};
}

std::size_t FeedContext::bytes_in_slot(const ColumnSpec& column) const noexcept {
  if (column.kind == ColumnKind::kImage) return bytes_per_image();
  if (column.kind == ColumnKind::kMask) return views_->groups().front().pipeline.pixels();
  return column.bytes();
}

std::optional<FileRequest> FeedContext::planned_file(const EpisodeKey& key, std::uint32_t part) {
  std::uint64_t sample = 0;
  std::optional<ClassAugment> turned;
  if (episodes_) {
    const auto image = episodes_->image(key, part);
    if (!image) return std::nullopt;
    sample = image->sample;
    turned = image->turned;
  } else {
    sample = plan(key.seed, key.epoch).sample(key.ordinal);
  }
  if (stores_.decoded) {
    const auto entry = stores_.decoded->entry(sample, turned);
    if (entry && stores_.decoded->find(*entry) != nullptr) return std::nullopt;
  }
  return file(sample);
}

const Plan& FeedContext::plan(std::uint64_t seed, std::uint64_t epoch) {
  for (const Kept& kept : plans_) {
    if (kept.seed == seed && kept.plan.epoch() == epoch) return kept.plan;
  }
  if (plans_.size() == 2) plans_.pop_front();
  plans_.push_back({seed, Plan(seed, epoch, order_.order())});
  return plans_.back().plan;
}

}  // namespace feedring
