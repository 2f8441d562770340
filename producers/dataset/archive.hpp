// SPDX-License-Identifier: Apache-2.0
// Data in archives, read as they lie: zip, and tar that is not compressed, one or several of them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "producers/dataset/choice.hpp"
#include "producers/dataset/scan.hpp"

namespace feedring {

/// .zip or .tar, in upper or lower case.
[[nodiscard]] bool is_archive_name(std::string_view name) noexcept;

/// The archives that `data` means: itself; those in a folder that has no images and no folders; those that match it
/// where it is a pattern, with *, ? and [, or with ranges such as {000..012}. Sorted, all in one folder. Empty where it
/// means none. Throws Error(kData).
[[nodiscard]] std::vector<std::filesystem::path> archives_of(const std::filesystem::path& data);

/// Scans archives (one at least). A member's path is its name, of several archives with the archive's in front.
/// - Where a tar has a member `….cls`, or a `….json` with a label, beside an image, all are read as WebDataset: members
///   with the same name up to the first dot are a sample.
/// - A pack (pack_head.hpp) says itself which member is of which class.
/// - Else classes are folders as in scan_folder, below the folder that all images have in common.
/// - A split is the folder of that name there.
/// Throws Error(kData) for a damaged archive, for an image that cannot be read from it, and where there are none.
[[nodiscard]] Scan scan_archives(const std::vector<std::filesystem::path>& files,
                                 const std::vector<std::string>* classes_from, NoSamples empty,
                                 const DataChoice& choice);

}  // namespace feedring
