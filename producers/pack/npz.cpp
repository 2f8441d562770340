// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "producers/dataset/archive_file.hpp"
#include "producers/dataset/labels.hpp"
#include "producers/dataset/member.hpp"
#include "producers/pack/label_file.hpp"
#include "producers/pack/npy.hpp"
#include "producers/pack/pictures.hpp"
#include "producers/pack/unpacked.hpp"

namespace feedring::pack {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kMember = "images.npy";

dataset::Listed find_images(const dataset::ArchiveFile& zip) {
  for (dataset::Listed& member : dataset::list_zip(zip)) {
    if (member.name == kMember) return std::move(member);
  }
  zip.fail("it has no array called images; those that are read are tieredImageNet's, NAME_images.npz");
}

/// The array, with what it lies in.
struct Images {
  Images(const fs::path& file, const fs::path& scratch)
      : zip(file, "file"), array(zip, find_images(zip), scratch), head(read_head()) {}

  NpyHead read_head() {
    std::string begin(std::min(array.bytes(), kLongestNpyHead), '\0');
    array.read(0, begin.data(), begin.size());
    auto read = read_npy_head(begin);
    if (!read) zip.fail(kMember, "does not begin as an array of NumPy does, of versions 1 to 3 and without records");
    return std::move(*read);
  }

  dataset::ArchiveFile zip;
  Unpacked array;
  NpyHead head;
};

/// The bytes of a picture.
std::uint64_t bytes_each(const Images& images) {
  const NpyHead& head = images.head;
  const std::vector<std::uint64_t>& shape = head.shape;
  if (head.dtype != "|u1" && head.dtype != "<u1" && head.dtype != "u1") {
    images.zip.fail(kMember,
                    fmt::format("has elements of {}: pictures of 8 bits, '|u1', are read", dataset::shown(head.dtype)));
  }
  if (head.fortran || shape.size() != 4 || shape[3] != 3 || std::count(shape.begin(), shape.end(), 0U) != 0) {
    images.zip.fail(kMember, "has pictures in another shape than (n, height, width, 3) in C's order");
  }
  if (shape[1] > kLargestMember / 3 || shape[2] > kLargestMember / 3 / shape[1]) {
    images.zip.fail(kMember, "has pictures above 256 MiB");
  }
  const std::uint64_t each = 3 * shape[1] * shape[2];
  const std::uint64_t bytes = images.array.bytes() - head.begin;
  if (bytes % each != 0 || bytes / each != shape[0]) {
    images.zip.fail(kMember, "has other bytes than its shape says: it is damaged");
  }
  return each;
}

}  // namespace

std::unique_ptr<Source> open_npz(const fs::path& file, const fs::path& scratch) {
  constexpr std::string_view kEnd = "_images.npz";
  const std::string name = file.filename().native();
  const auto images = std::make_shared<const Images>(file, scratch);
  if (!name.ends_with(kEnd)) {
    images->zip.fail(
        "its labels are looked for by its name, which has to be NAME_images.npz, with NAME_labels.pkl beside");
  }
  const std::uint64_t each = bytes_each(*images);
  const fs::path beside = file.parent_path() / (name.substr(0, name.size() - kEnd.size()) + "_labels.pkl");
  std::vector<std::uint32_t> labels;
  std::vector<std::string> classes = read_label_file(beside, labels);
  const std::uint64_t pictures = images->head.shape[0];
  if (labels.size() != pictures) {
    images->zip.fail(fmt::format("it has {} pictures, but {} has {} labels", pictures, dataset::shown(beside.native()),
                                 labels.size()));
  }
  return std::make_unique<Pictures>(
      file, std::move(classes), labels, each, ".ppm",
      [images, each, bytes = std::string(each, '\0')](std::uint64_t picture, std::string& to) mutable {
        images->array.read(images->head.begin + picture * each, bytes.data(), each);
        write_ppm(to, bytes, images->head.shape[1], images->head.shape[2], Order::kBgr);
      });
}

}  // namespace feedring::pack
