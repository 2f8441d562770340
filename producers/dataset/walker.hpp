// SPDX-License-Identifier: Apache-2.0
// Lists the image files below folders of a data set. Internal to this folder.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "producers/dataset/scan.hpp"
#include "runtime/memfd.hpp"

struct dirent;

namespace feedring::dataset {

using FolderId = std::pair<dev_t, ino_t>;

struct Found {
  std::string path;
  std::uint64_t bytes;
};

/// The entries of one folder, sorted into what they are. Paths are relative to the data.
struct Entries {
  FolderId id{};
  std::vector<std::string> folders;
  std::vector<std::string> linked_folders;
  std::vector<Found> images;  ///< regular files with an image's name, empty ones among them
};

/// One descriptor is open at a time, and everything found is put into order, so that the order in which the file system
/// lists its entries never shows. What is no sample goes to scan.skipped.
class Walker {
 public:
  /// `root` is scan.root. Throws Error(kData), as everything here does for what cannot be read.
  Walker(const std::filesystem::path& root, Scan& scan);

  /// The entries of `folder`; "" is the data's own.
  Entries list(const std::string& folder);
  /// All image files below `folder`. `root`: the folder that a link may not lead back to.
  std::vector<Found> walk(const std::string& folder, FolderId root);

 private:
  Entries list_unless_read(const std::string& folder, std::set<FolderId>& read);
  void sort_in(int fd, const ::dirent& entry, std::string path, Entries& entries);
  void skip(std::string path, Skip why) { scan_.skipped.push_back({std::move(path), why}); }
  [[noreturn]] void fail(const std::string& path, int error) const;

  Scan& scan_;
  UniqueFd root_;
};

/// Appends images to scan.samples; empty ones are skipped.
void add_images(Scan& scan, const std::vector<Found>& images, std::uint32_t label);

}  // namespace feedring::dataset
