// SPDX-License-Identifier: Apache-2.0
// Episodes as a file that can be kept, sent and drawn again: JSON lines, docs/episodes.md has the format. The first
// line says how they were drawn and from which data, the last one their number and a digest of all lines before it, so
// that neither a changed nor a truncated file is taken for whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "producers/plan/episode_list.hpp"

struct XXH3_state_s;

namespace feedring {

/// Adds `classes`, `support`, `query` and `label_map` to a line, and with unlabelled samples those.
void put_episode(nlohmann::ordered_json& line, const Episode& episode, std::uint32_t unlabelled);

/// Writes such a file, line by line.
class EpisodeFileWriter {
 public:
  using Sink = std::function<void(std::string_view)>;

  /// Writes the first line: episodes drawn as `spec` says, with `seed` in `epoch`.
  EpisodeFileWriter(const EpisodeSpec& spec, std::uint64_t seed, std::uint64_t epoch, std::string_view dataset_digest,
                    Sink sink);
  ~EpisodeFileWriter();
  EpisodeFileWriter(const EpisodeFileWriter&) = delete;
  EpisodeFileWriter& operator=(const EpisodeFileWriter&) = delete;

  void add(const Episode& episode);
  /// Writes the last line; nothing may follow. Returns the digest.
  std::string finish();

 private:
  void write(std::string_view line);

  Sink sink_;
  XXH3_state_s* state_;
  std::uint64_t episodes_ = 0;
  std::uint32_t unlabelled_;
};

/// All of the file's text. Throws Error(kData) where it cannot be read, or is larger than 256 MiB.
[[nodiscard]] std::string read_episode_text(const std::filesystem::path& file);

/// Makes `spec` one that takes its episodes from `text`, the content of `file`; what was in it before is gone. Throws
/// Error(kData) with the line for what is no such file, was changed after it was written, or is not all there. Whether
/// the data can give the episodes is EpisodeSampler's to say.
void take_episodes(const std::string& file, std::string_view text, EpisodeSpec& spec);

/// Throws Error(kData) where spec.list is of other data than those at `data`, whose digest is `dataset_digest`.
void demand_same_data(const EpisodeSpec& spec, std::string_view dataset_digest, const std::filesystem::path& data);

}  // namespace feedring
