// SPDX-License-Identifier: Apache-2.0
// What a producer knows about one feed: its spec, its index, its transform.
#pragma once

#include <cstdint>
#include <deque>
#include <feedring/producer.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "producers/config/feed_spec.hpp"
#include "producers/dataset/column_table.hpp"
#include "producers/dataset/index.hpp"
#include "producers/plan/plan.hpp"
#include "producers/pool/archive_shelf.hpp"
#include "producers/pool/decoded_store.hpp"
#include "producers/pool/episode_feed.hpp"
#include "producers/pool/reader.hpp"
#include "producers/pool/sample_order.hpp"
#include "producers/pool/seek_store.hpp"
#include "producers/transform/views.hpp"
#include "runtime/contract.hpp"
#include "runtime/memfd.hpp"

namespace feedring {

/// What a feed shares with those of the same data; nullptr: not kept.
struct FeedStores {
  std::shared_ptr<const DecodedStore> decoded = nullptr;
  std::shared_ptr<SeekStore> seek = nullptr;
};

class FeedContext {
 public:
  /// `number` names the feed in shared memory. Opens the data directory, or makes the Filler of own samples. Throws
  /// Error.
  FeedContext(std::uint32_t number, FeedSpec spec, int index_fd, const MakeFiller& make_filler = nullptr,
              FeedStores stores = {});

  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] const FeedSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] const Index& index() const noexcept { return index_; }
  /// Whether the samples are own ones, made by filler(), and not images. What follows is for images alone, but for
  /// plan() and demand_fits().
  [[nodiscard]] bool has_own() const noexcept { return filler_ != nullptr; }
  /// For the work loop alone. Precondition: has_own(); of own() too.
  [[nodiscard]] Filler& filler() noexcept { return *filler_; }
  [[nodiscard]] const OwnFeed& own() const noexcept { return own_; }
  /// What pictures go through into tensor `number` of own(); nullptr: none. For the work loop alone.
  [[nodiscard]] Pipeline* pictures(std::size_t number) noexcept {
    return pictures_[number] ? &*pictures_[number] : nullptr;
  }
  /// What goes along with each sample.
  [[nodiscard]] const ColumnTable& columns() const noexcept { return columns_; }
  /// What is made of each picture. For the work loop alone: they keep scratch memory.
  [[nodiscard]] Views& views() noexcept { return *views_; }
  /// Where there is one view: of episodes, and where pictures are kept.
  [[nodiscard]] Pipeline& pipeline() noexcept { return views_->groups().front().pipeline; }
  [[nodiscard]] std::size_t bytes_per_image() const noexcept {
    return views_->groups().front().pipeline.bytes_per_image();
  }
  /// nullptr: every picture is decoded anew.
  [[nodiscard]] const DecodedStore* store() const noexcept { return stores_.decoded.get(); }
  /// For the work loop alone. nullptr: seek indices are not kept.
  [[nodiscard]] SeekStore* seek_store() const noexcept { return stores_.seek.get(); }
  /// Where the feed draws episodes; for the work loop alone. Empty: it delivers samples.
  [[nodiscard]] std::optional<EpisodeFeed>& episodes() noexcept { return episodes_; }
  /// Ordinals of an epoch.
  [[nodiscard]] std::uint64_t ordinals() const noexcept {
    return episodes_ ? episodes_->per_epoch() : samples_per_epoch(spec_, index_.size());
  }

  /// Whether samples of this feed fit into the rows of a ring. Its header lies where a rank can write, and a producer
  /// that starts later reads it again. Throws Error(kRefused).
  void demand_fits(const contract::RingShape& shape) const;

  /// What the reader needs to fetch a sample. Precondition: sample < index().size().
  [[nodiscard]] FileRequest file(std::uint64_t sample);

  /// The same for a column of files of columns().
  [[nodiscard]] FileRequest column_file(std::uint64_t sample, std::size_t column) const;
  /// Bytes of a sample in the tensor of such a column, or another.
  [[nodiscard]] std::size_t bytes_in_slot(const ColumnSpec& column) const noexcept;

  /// The file that a part of a row is made of, as planned; nullopt for padding of an episode, and where the store has
  /// the picture. For the work loop alone.
  [[nodiscard]] std::optional<FileRequest> planned_file(const EpisodeKey& key, std::uint32_t part);

  /// The plan of an epoch of samples. Keeps the last two, because an epoch's end and the next one's start overlap in a
  /// ring.
  [[nodiscard]] const Plan& plan(std::uint64_t seed, std::uint64_t epoch);

 private:
  [[nodiscard]] bool fits_columns(const contract::RingShape& shape) const;
  [[nodiscard]] bool fits_views(const contract::RingShape& shape) const;
  [[nodiscard]] bool fits_episodes(const contract::RingShape& shape) const;
  [[nodiscard]] bool fits_own(const contract::RingShape& shape) const;

  struct Kept {
    std::uint64_t seed;
    Plan plan;
  };

  std::uint32_t number_;
  FeedSpec spec_;
  Index index_;
  ColumnTable columns_;  // of the index
  OwnFeed own_;
  std::unique_ptr<Filler> filler_;
  std::vector<std::optional<Pipeline>> pictures_;  // for each tensor of own_
  std::optional<Views> views_;
  std::optional<EpisodeFeed> episodes_;
  FeedStores stores_;
  UniqueFd directory_;
  ArchiveShelf archives_;
  OrderView order_;
  std::deque<Kept> plans_;
};

}  // namespace feedring
