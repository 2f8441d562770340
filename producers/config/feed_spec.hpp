// SPDX-License-Identifier: Apache-2.0
// A feed's and a pool's configuration, as read from TOML or made up for a plain folder. Values only.
#pragma once

#include <array>
#include <cstdint>
#include <feedring/producer.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "producers/dataset/column_spec.hpp"
#include "producers/plan/episode_spec.hpp"
#include "runtime/layout.hpp"
#include "runtime/schedule.hpp"

namespace feedring {

/// What a failed sample becomes. A shape or a step count never changes.
enum class OnError : std::uint8_t { kRaise, kReplace, kZero };
enum class Shard : std::uint8_t { kRank, kNone };
/// Who turns 8 bit pixels into the batch's element type, values and layout (ToDtype, Normalize, layout).
enum class FinishBy : std::uint8_t { kProducer, kDevice };
/// Whether samples are decoded once a node and kept (docs/configuration.md).
enum class Cache : std::uint8_t { kNone, kDecoded };
/// Whose order, names and element types the tensors of an episode have (docs/episodes.md).
enum class EpisodeLayout : std::uint8_t { kFeedring, kTorchmeta, kLearn2learn, kEasyfsl };

/// Few-shot regression tasks, after TorchMeta's toy data sets of these names.
enum class Tasks : std::uint8_t { kSinusoid, kHarmonic, kSinusoidAndLine };
struct TasksSpec {
  Tasks kind = Tasks::kSinusoid;
  std::uint32_t shots = 5;
  std::uint32_t queries = 15;
  double noise_std = 0;
  std::uint64_t seed = 0;  ///< of the tasks, not of their order: other tasks for another feed
};

/// Samples that are in no files: a Filler makes them (<feedring/producer.hpp>), of the pool's producer program, or
/// feedring's own for `tasks`.
struct OwnSpec {
  std::uint64_t samples = 0;
  std::vector<OwnTensor> tensors;
  nlohmann::json options = nlohmann::json::object();  ///< handed on as it stands
  std::optional<std::filesystem::path> attachment;    ///< absolute; its bytes are handed on
  std::optional<TasksSpec> tasks;
};

/// Pictures that are made of each picture of a feed, and are a tensor of its batches.
struct ViewSpec {
  std::string name;                      ///< of the tensor
  std::optional<std::uint32_t> count{};  ///< an axis of so many; empty: one picture, without that axis
  nlohmann::json transform = nlohmann::json::array();
};

/// One of several data sets that a feed mixes. The fields mean what those of a FeedSpec do.
struct MixedData {
  std::filesystem::path data;
  std::string split;
  std::vector<std::string> classes;
  std::uint32_t class_depth = 1;
  std::vector<std::string> files;
  std::optional<std::uint64_t> limit;
  double weight = 1;  ///< its share, in proportion to those of the others
};

/// How often samples come, where not all come alike.
struct SampleWeights {
  std::string column;                                   ///< of a manifest; empty: none
  bool by_class = false;                                ///< each class has a share of its own
  std::vector<std::pair<std::string, double>> classes;  ///< by_class: the weights that are not 1
};

struct FeedSpec {
  std::string name;
  std::filesystem::path data;          ///< absolute; empty for own samples, and with `mix`
  std::string split;                   ///< of the data; empty: all
  std::vector<std::string> classes;    ///< of the data, by name; empty: all
  std::uint32_t class_depth = 1;       ///< so many levels of folders make a class
  std::vector<std::string> files;      ///< of the data, by path or last part of it; empty: all
  std::optional<std::uint64_t> limit;  ///< of the data, so many samples at even distances
  std::vector<MixedData> mix;          ///< in the place of `data`
  SampleWeights weights;
  std::optional<std::uint64_t> samples_per_epoch;  ///< default: as many as there are
  std::uint32_t batch_size = 64;                   ///< per rank: samples, or episodes
  std::uint32_t slots = 4;                         ///< per ring
  std::uint64_t seed = 0;                          ///< documented constant, so that two runs without a seed are equal
  bool shuffle = true;
  Remainder remainder = Remainder::kDrop;
  OnError on_error = OnError::kRaise;
  double error_budget = 0.01;  ///< share of an epoch's samples that may fail before the feed ends with an error
  Dtype dtype = Dtype::kUint8;
  Layout layout = Layout::kNhwc;
  FinishBy finish = FinishBy::kProducer;
  Cache cache = Cache::kNone;
  bool repeat = true;      ///< false: filling ends with the epoch until the next iteration
  bool auto_epoch = true;  ///< false: every iteration repeats the same epoch
  Shard shard = Shard::kRank;
  std::optional<std::string> classes_from;  ///< name of the feed whose class numbers hold here
  std::uint64_t max_pixels = 178'956'970;   ///< Pillow's own limit for a "decompression bomb" error
  bool accept_damaged = false;              ///< deliver what a damaged file still gives
  bool exif_orientation = false;            ///< turn pictures as their EXIF data say
  std::optional<std::array<std::uint8_t, 3>>
      background;                                      ///< blend what is transparent over this; else alpha is dropped
  double item_deadline_s = 30.0;                       ///< a sample that takes longer hangs: its producer is killed
  nlohmann::json transform = nlohmann::json::array();  ///< [{"name": "RandomResizedCrop", "size": 224, …}, …]
  std::vector<ColumnSpec> columns;                     ///< of the manifest: what goes along with each sample
  std::vector<ViewSpec> views;                         ///< in the place of `transform`, in the file's order
  std::optional<EpisodeSpec> episodes;                 ///< the feed delivers episodes in the place of samples
  EpisodeLayout episode_layout = EpisodeLayout::kFeedring;
  std::optional<OwnSpec> own;  ///< the feed has no data: its samples are made by the pool's own producer program
};

struct PoolSpec {
  std::optional<std::uint32_t> producers;         ///< per node; default: the granted cores
  std::optional<std::uint32_t> ranks;             ///< local ranks; default: asked at the first attach
  std::optional<std::uint64_t> memory_limit;      ///< bytes
  std::optional<std::uint64_t> seek_index;        ///< bytes for all feeds, 0: none; default: what their data may need
  std::optional<std::filesystem::path> failures;  ///< JSON lines, one per failed sample
  std::vector<std::string> producer;              ///< program and arguments of own producers; empty: feedring's
  double ready_deadline_s = 300.0;                ///< a producer that is not ready after it never will be
};

struct Config {
  PoolSpec pool;
  std::vector<FeedSpec> feeds;  ///< in the file's order; names are unique
};

/// A plain folder, uint8 NHWC, with the usual training transform: RandomResizedCrop(size), RandomHorizontalFlip. With a
/// cache, for which pictures must stay the same: Resize(size), CenterCrop(size).
Config config_for_folder(const std::filesystem::path& folder, std::uint32_t size = 224, Cache cache = Cache::kNone);

/// Reads a configuration file. Throws Error(kUsage) with file, line and a suggestion for a misspelt key.
Config load_config(const std::filesystem::path& file);

/// What is made of each picture of a feed of files: its views, or `images`, as its transform says.
[[nodiscard]] std::vector<ViewSpec> views_of(const FeedSpec& spec);

/// The supervisor hands a feed's spec to its producers as JSON; both ends use these.
nlohmann::json to_json(const FeedSpec& spec);
FeedSpec feed_spec_from_json(const nlohmann::json& json);
nlohmann::json to_json(const OwnSpec& spec);
OwnSpec own_spec_from_json(const nlohmann::json& json);
/// Of spec.list, JSON says the file and its digest; what it holds travels beside.
nlohmann::json to_json(const EpisodeSpec& spec);
EpisodeSpec episode_spec_from_json(const nlohmann::json& json);

/// Whether episodes stay the same over epochs unless the configuration says otherwise: those of a feed that is called
/// "val", "valid", "validation" or "test", or so up to a '-', '_' or '.'.
[[nodiscard]] bool fixed_by_name(std::string_view feed) noexcept;

}  // namespace feedring
