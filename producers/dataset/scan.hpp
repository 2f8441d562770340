// SPDX-License-Identifier: Apache-2.0
// Finds the samples of a data set: which files, how large, of which class, in an order that depends on nothing but
// their names. No file is opened: what is inside shows when it is decoded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "producers/dataset/choice.hpp"
#include "producers/dataset/column_values.hpp"
#include "producers/dataset/member.hpp"

namespace feedring {

/// Why a file (or folder) that lies in the data is no sample.
enum class Skip : std::uint8_t {
  kHidden,         ///< its name starts with a dot; a hidden folder counts once, for all that is in it
  kStray,          ///< its name does not end like an image's
  kBesideClasses,  ///< an image that lies beside the class folders, in none of them
  kEmpty,          ///< an image's name, but no bytes
  kNoFile,         ///< an image's name, but a socket, a device, or a link that leads nowhere
  kSeenFolder,     ///< a link to a folder that its class contains already, or that contains the link: a loop
};

/// One clause, such as "empty file".
[[nodiscard]] std::string_view reason_of(Skip why) noexcept;

struct Skipped {
  std::string path;  ///< bytes, relative to the data
  Skip why;
};

inline constexpr std::uint32_t kNoMember = 0xffffffff;
inline constexpr std::uint32_t kNoSource = 0xffffffff;

struct Sample {
  std::uint64_t path_begin = 0;  ///< in Scan::paths; a NUL follows the path
  std::uint64_t bytes = 0;       ///< the file's size
  std::uint32_t path_length = 0;
  std::uint32_t label = 0;           ///< a number below Scan::classes.size()
  std::uint32_t member = kNoMember;  ///< in Scan::members
  std::uint32_t row = 0;             ///< in Scan::values
  std::uint32_t source = kNoSource;  ///< in Scan::shares; kNoSource where there are none, or it is never drawn
  double weight = 1;                 ///< where Scan::weighted
};

struct Archive {
  std::string name;  ///< relative to the root
  std::uint64_t bytes = 0;
};

/// What was found. File and class names are bytes: anything but NUL (and, in a folder, '/').
struct Scan {
  std::string root;                   ///< the folder that all paths are relative to, absolute
  std::vector<std::string> classes;   ///< by number; one class named "" where the data has no classes
  std::vector<Sample> samples;        ///< sorted by (label, path), bytewise
  std::string paths;                  ///< the samples' paths, each with a NUL behind it
  std::vector<Archive> archives;      ///< empty: all samples are files; else all are members of these
  std::vector<Member> members;        ///< where each sample lies, by Sample::member
  ColumnValues values;                ///< of the columns that were chosen
  std::vector<std::uint64_t> shares;  ///< of sources (select.hpp); empty: all samples are drawn alike
  bool weighted = false;              ///< samples have weights, not negative, from the column that was asked for
  std::vector<Skipped> skipped;       ///< sorted by path
  std::vector<std::string> warnings;  ///< one sentence each

  [[nodiscard]] std::string_view path(const Sample& sample) const noexcept {
    return {paths.data() + sample.path_begin, sample.path_length};
  }
  [[nodiscard]] std::uint64_t skipped_as(Skip why) const noexcept;
};

/// What a folder without a single sample is. Nothing can be fed from it, but it can be looked through.
enum class NoSamples : std::uint8_t { kIsAnError, kIsAResult };

/// Scans `data`: a folder, a manifest (manifest.hpp), an EasySet (easy_set.hpp) or archives (archive.hpp). Where
/// `classes_from` is given, labels are its class numbers, and a class that it lacks is an error. Of the data, what
/// `choice` says. Throws Error(kData), with the file's name, for whatever cannot be read, and where there is no sample
/// at all (in a folder only as `empty` says).
[[nodiscard]] Scan scan_data(const std::filesystem::path& data, const std::vector<std::string>* classes_from = nullptr,
                             NoSamples empty = NoSamples::kIsAnError, const DataChoice& choice = {});

/// Scans a folder. Image files are known by their extension (is_image_name), at any depth.
/// - Where a sub-folder holds image files, all sub-folders are classes, numbered by their names in bytewise order as
///   torchvision's ImageFolder does (dot folders aside); one without images keeps its number, with a warning. With a
///   class_depth above 1, the folders so many levels down are, by their path.
/// - Else the folder is flat: one class, label 0.
/// Links to files and folders are followed. Within a class each folder is read once, its real place going before a link
/// to it, so that loops end and no file is counted twice through a linked folder. Folders of classes that are not
/// wanted are not looked into.
[[nodiscard]] Scan scan_folder(const std::filesystem::path& folder,
                               const std::vector<std::string>* classes_from = nullptr,
                               NoSamples empty = NoSamples::kIsAnError, const DataChoice& choice = {});

/// .jpg .jpeg .png .ppm .pgm .pbm .webp .gif .bmp .tif .tiff, in upper or lower case (ASCII, whatever the locale).
[[nodiscard]] bool is_image_name(std::string_view name) noexcept;

/// XXH3-128 over each sample in order: the bytes of its path, NUL, its size and its label as little-endian 64 bit
/// numbers; then its row of values, where there are any. With weights, then over NUL, each as a little-endian double,
/// and eight NUL. 32 hexadecimal digits, as `xxhsum -H2` prints.
[[nodiscard]] std::string dataset_digest(const Scan& scan);

}  // namespace feedring
