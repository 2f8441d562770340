// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/node_feed.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <feedring/error.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "producers/config/episode_file.hpp"
#include "producers/config/order_json.hpp"
#include "producers/dataset/scan.hpp"
#include "producers/plan/episode.hpp"
#include "producers/pool/episode_classes.hpp"
#include "producers/pool/episode_layout.hpp"
#include "producers/pool/sample_order.hpp"
#include "producers/transform/finish.hpp"
#include "producers/transform/transform.hpp"
#include "runtime/memory_limits.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {
namespace {

namespace fs = std::filesystem;

void report(const FeedSpec& spec, const Scan& scan) {
  for (const std::string& warning : scan.warnings) spdlog::warn("feed '{}': {}", spec.name, warning);
  if (!scan.skipped.empty()) {
    spdlog::info(
        "feed '{}': {} files are no samples ({} hidden, {} stray, {} beside the class folders, {} empty); "
        "`feedring check` lists them",
        spec.name, scan.skipped.size(), scan.skipped_as(Skip::kHidden), scan.skipped_as(Skip::kStray),
        scan.skipped_as(Skip::kBesideClasses), scan.skipped_as(Skip::kEmpty));
  }
}

// A memfd that is too large is not refused, it brings the out-of-memory killer.
void demand_index_memory(const FeedSpec& spec, std::uint64_t bytes) {
  const MemoryHeadroom room = memory_headroom();
  if (bytes > room.bytes) {
    throw Error(ErrorKind::kMemory,
                fmt::format("the index of feed '{}' needs {} and {} are free by {}; use a smaller data set", spec.name,
                            human_bytes(bytes), human_bytes(room.bytes), room.limit));
  }
}

std::string hash_of(const nlohmann::json& canonical) {
  const std::string text = canonical.dump();
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::vector<TensorSpec> own_tensors(const OwnSpec& own) {
  std::vector<TensorSpec> tensors;
  for (const OwnTensor& tensor : own.tensors) {
    tensors.push_back({tensor.name, tensor.dtype, tensor.shape, {}});
    // As the pictures of a feed of files lie: (3, H, W), channels last.
    if (!tensor.transform.empty()) tensors.back().strides = {1, 3 * tensor.shape.at(2), 3};
  }
  tensors.push_back({"sample_ids", Dtype::kInt64, {}, {}});
  tensors.push_back({"valid", Dtype::kUint8, {}, {}});
  tensors.push_back({"status", Dtype::kUint8, {}, {}});
  return tensors;
}

// Episodes of an epoch; refuses data that cannot give what they shall have.
std::uint64_t episodes_of(const FeedSpec& spec, const Index& index) {
  demand_same_data(*spec.episodes, index.digest(), spec.data);
  const EpisodeSampler sampler(*spec.episodes, episode_classes(index), spec.seed);
  for (const std::string& name : sampler.pool().skipped())
    spdlog::warn("feed '{}': class \"{}\" has too few samples for an episode and is left out", spec.name, name);
  return sampler.tasks_per_epoch();
}

// What the feed draws from a list, for producers, which may start long after this: empty where there is none.
UniqueFd episodes_of_list(const FeedSpec& spec) {
  if (!spec.episodes || !spec.episodes->list) return {};
  std::string text;
  EpisodeFileWriter writer(*spec.episodes, spec.seed, 0, spec.episodes->list->dataset_digest,
                           [&](std::string_view line) { text += line; });
  for (const Episode& episode : spec.episodes->list->episodes) writer.add(episode);
  (void)writer.finish();
  UniqueFd fd = create_memfd("feedring-episodes", text.size());
  {
    const Mapping mapping(fd.get(), Mapping::Access::kReadWrite);
    std::memcpy(mapping.data(), text.data(), text.size());
  }
  seal_content(fd.get());
  return fd;
}

// What the transforms of its tensors make, spelled out; refuses one that cannot be.
OwnSpec with_pictures(OwnSpec own) {
  for (OwnTensor& tensor : own.tensors) {
    if (tensor.transform.empty()) continue;
    const Chain chain = Chain::parse(nlohmann::json::parse(tensor.transform));
    tensor.dtype = chain.slot_dtype(tensor.dtype);
    (void)Finish(chain, tensor.dtype, Layout::kNhwc);
    tensor.shape = {3, static_cast<std::uint64_t>(chain.output_size().height),
                    static_cast<std::uint64_t>(chain.output_size().width)};
    tensor.transform = chain.canonical().dump();
  }
  return own;
}

NodeFeed open_own_feed(FeedSpec spec) {
  spec.own = with_pictures(*std::move(spec.own));
  std::string attachment;
  if (spec.own->attachment) {
    const fs::path& file = *spec.own->attachment;
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(file, error);
    if (!error) demand_index_memory(spec, bytes);
    std::ifstream stream(file, std::ios::binary);
    attachment.assign(std::istreambuf_iterator<char>(stream), {});
    if (error || !stream || attachment.size() != bytes)
      throw Error(ErrorKind::kData,
                  fmt::format("feed '{}': the attachment {} cannot be read", spec.name, file.string()));
  }
  UniqueFd fd = build_nameless_index(spec.own->samples, "own samples " + to_json(*spec.own).dump(), attachment);
  Index index = Index::attach(fd.get());
  return {.spec = spec,
          .index_fd = std::move(fd),
          .index = std::move(index),
          .spec_hash = spec_hash_of(spec),
          .ordinals = samples_per_epoch(spec, spec.own->samples),
          .asked = spec};
}

NodeFeed open_feed(const FeedSpec& spec, const NodeFeed* numbered_as) {
  FeedPictures pictures = pictures_of(spec);  // refuses a bad chain before the data is walked
  std::vector<std::string> classes;
  if (numbered_as != nullptr) classes = numbered_as->index.class_names();
  const Scan scan = scan_samples(spec, numbered_as != nullptr ? &classes : nullptr, NoSamples::kIsAnError,
                                 numbered_as != nullptr ? numbered_as->columns : std::vector<ColumnSpec>());
  report(spec, scan);
  const DrawTables tables = draw_tables(scan);
  demand_index_memory(spec, index_bytes(scan, tables));
  UniqueFd fd = build_index(scan, tables);
  Index index = Index::attach(fd.get());
  const std::uint64_t ordinals = spec.episodes ? episodes_of(spec, index) : samples_per_epoch(spec, index.size());
  return {.spec = std::move(pictures.spec),
          .index_fd = std::move(fd),
          .index = std::move(index),
          .spec_hash = spec_hash_of(spec),
          .views = std::move(pictures.views),
          .columns = scan.values.columns,
          .ordinals = ordinals,
          .finish = pictures.finish,
          .asked = std::move(pictures.asked),
          .episodes_fd = episodes_of_list(spec)};
}

}  // namespace

std::vector<NodeFeed> open_feeds(const Config& config) {
  std::vector<std::optional<NodeFeed>> opened(config.feeds.size());
  const auto number_of = [&](const std::string& name) {
    const auto found =
        std::find_if(config.feeds.begin(), config.feeds.end(), [&](const auto& f) { return f.name == name; });
    return static_cast<std::size_t>(found - config.feeds.begin());
  };
  // A feed that takes its class numbers from another waits for that one.
  for (std::size_t left = opened.size(); left > 0;) {
    const std::size_t before = left;
    for (std::size_t i = 0; i < opened.size(); ++i) {
      const auto& from = config.feeds[i].classes_from;
      if (opened[i] || (from && !opened[number_of(*from)])) continue;
      opened[i] = config.feeds[i].own ? open_own_feed(config.feeds[i])
                                      : open_feed(config.feeds[i], from ? &*opened[number_of(*from)] : nullptr);
      --left;
    }
    if (left == before)
      throw Error(ErrorKind::kUsage, "classes_from goes in a circle: one feed must number its own classes");
  }
  std::vector<NodeFeed> feeds;
  for (auto& feed : opened) feeds.push_back(std::move(*feed));
  return feeds;
}

std::string spec_hash_of(const FeedSpec& spec) {
  if (spec.own) {
    nlohmann::json own = {{"shuffle", spec.shuffle}, {"own", to_json(*spec.own)}};
    put_order(own, spec);
    return hash_of(own);
  }
  nlohmann::json canonical = {{"shuffle", spec.shuffle}};
  if (spec.views.empty()) {
    const Chain chain = Chain::parse(spec.transform);
    canonical["transform"] = chain.canonical();
    canonical["dtype"] = name_of(chain.slot_dtype(spec.dtype));
  }
  for (const ViewSpec& view : spec.views) {
    const Chain chain = Chain::parse(view.transform);
    canonical["views"].push_back({{"name", view.name},
                                  {"count", view.count ? nlohmann::json(*view.count) : nlohmann::json()},
                                  {"transform", chain.canonical()},
                                  {"dtype", name_of(chain.slot_dtype(spec.dtype))}});
  }
  // Named where they are not what they always were, so that states of earlier runs go on.
  for (const ColumnSpec& column : spec.columns) canonical["columns"].push_back({column.name, kind_of(column)});
  if (spec.accept_damaged) canonical["accept_damaged"] = true;
  if (spec.exif_orientation) canonical["exif_orientation"] = true;
  if (spec.background) canonical["background"] = *spec.background;
  put_order(canonical, spec);
  if (spec.episodes) canonical["episodes"] = to_json(*spec.episodes);
  if (spec.episodes && spec.episodes->list) {  // what they are, wherever the file lies
    canonical["episodes"].erase("file");
    canonical["episodes"].erase("file_hex");
  }
  return hash_of(canonical);
}

std::uint32_t tasks_of_slot(std::uint32_t producers, std::uint32_t rings, std::uint32_t rows) {
  const std::uint32_t wanted = (4 * producers + rings - 1) / std::max(rings, 1U);
  return std::clamp(wanted, 1U, std::min(contract::kMaxTasks, rows));
}

contract::RingShape ring_shape_of(const NodeFeed& feed, std::uint32_t producers, std::uint32_t ranks) {
  if (feed.spec.episodes) {
    const EpisodePlaces places(*feed.spec.episodes, feed.spec.episode_layout);
    const std::uint64_t images = std::uint64_t{feed.spec.batch_size} * places.parts();
    const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(images, contract::kMaxTasks));
    const NodeView& picture = feed.views.front();
    return lay_out_ring(feed.spec.slots, tasks_of_slot(producers, ranks, most), feed.spec.batch_size,
                        places.tensors(picture.height, picture.width, picture.dtype, feed.spec.layout), places.parts());
  }
  return lay_out_ring(
      feed.spec.slots, tasks_of_slot(producers, ranks, feed.spec.batch_size), feed.spec.batch_size,
      feed.spec.own ? own_tensors(*feed.spec.own) : tensors_of(feed.views, feed.columns, feed.spec.layout));
}

}  // namespace feedring
