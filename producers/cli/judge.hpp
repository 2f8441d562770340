// SPDX-License-Identifier: Apache-2.0
// What `feedring check` finds out about single files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "producers/cli/read_image.hpp"
#include "producers/config/feed_spec.hpp"
#include "producers/dataset/scan.hpp"
#include "producers/decode/decoder.hpp"

namespace feedring::cli {

/// What is known of one file.
struct Verdict {
  std::string path;
  Fault reason;  ///< nullopt: every pixel decodes
  bool skipped = false;
  ImageInfo info;
  std::optional<std::uint64_t> bytes;
  std::string column;       ///< where a manifest's row names it beside the sample's own picture; else empty
  std::uint64_t index = 0;  ///< with `column`: the sample's number
};

/// One thread's means.
class Judge {
 public:
  /// How the feed reads its pictures.
  explicit Judge(const DecodeOptions& options = {}, std::uint64_t max_pixels = FeedSpec{}.max_pixels)
      : options_(options), max_pixels_(max_pixels) {}

  Verdict look_at(const std::string& path) { return judge(path, file_.read(path)); }
  /// The picture of sample number `index`, and behind it the files of its columns.
  std::vector<Verdict> look_at(const Scan& scan, std::uint64_t index);

 private:
  Verdict judge(std::string path, Fault unread, bool mask = false);
  Verdict judge_column(const Scan& scan, std::uint64_t index, std::size_t column, Size picture);

  DecodeOptions options_;
  std::uint64_t max_pixels_;
  FileBytes file_;
  Decoder decoder_;
};

}  // namespace feedring::cli
