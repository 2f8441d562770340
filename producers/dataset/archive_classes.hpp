// SPDX-License-Identifier: Apache-2.0
// The images of archives, and which class each is of. Internal to this folder.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "producers/dataset/archive_file.hpp"
#include "producers/dataset/choice.hpp"
#include "producers/dataset/label_table.hpp"
#include "producers/dataset/pack_head.hpp"
#include "producers/dataset/scan.hpp"

namespace feedring::dataset {

class ArchiveImages {
 public:
  explicit ArchiveImages(const DataChoice& choice) : choice_(choice) {}

  /// Reads the labels that members of a tar say of others; whether there are any.
  bool take_labels(const ArchiveFile& file, const std::vector<Listed>& members);
  /// Takes the classes from the head of a pack. Before the first add().
  void take_head(PackHead head) { head_ = std::move(head); }
  [[nodiscard]] bool is_pack() const noexcept { return head_.has_value(); }
  /// `before`: what stands in front of the member's name in the sample's path.
  void add(Listed listed, const std::string& before);
  /// Makes all images samples of `scan`, with their classes. `data` is for messages. Throws Error(kData).
  void number(Scan& scan, const std::vector<std::string>* classes_from, const std::filesystem::path& data);

 private:
  struct Image {
    std::string path;
    std::size_t name;  // begins here in the path
    std::uint64_t bytes;
    Member member;
    std::string label;  // of WebDataset

    [[nodiscard]] std::string_view in_archive() const { return std::string_view(path).substr(name); }
  };

  [[nodiscard]] std::string_view common_folder(std::size_t levels) const;
  void keep_split(const std::filesystem::path& data);
  void add_sample(Scan& scan, const Image& image, std::uint32_t label) const;
  void number_by_folder(Scan& scan, const std::vector<std::string>* classes_from, const std::filesystem::path& data);
  void number_by_head(Scan& scan, const std::vector<std::string>* classes_from, const std::filesystem::path& data);
  void number_by_label(Scan& scan, const std::vector<std::string>* classes_from, const std::filesystem::path& data);

  const DataChoice& choice_;
  std::vector<Image> images_;
  std::map<std::string, std::string, std::less<>> labels_;  // of this tar, by key
  bool labelled_ = false;
  std::optional<PackHead> head_;
};

/// The part of a member's name that all members of a WebDataset sample share: up to the first dot of its last part.
[[nodiscard]] std::string_view key_of(std::string_view name);

}  // namespace feedring::dataset
