// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/pickled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "producers/dataset/labels.hpp"
#include "producers/dataset/member.hpp"
#include "producers/pack/label_file.hpp"
#include "producers/pack/pickle.hpp"
#include "producers/pack/pictures.hpp"

namespace feedring::pack {
namespace {

namespace fs = std::filesystem;
using Kind = Pickle::Kind;
using Ref = Pickle::Ref;
using Shared = std::shared_ptr<const Pickle>;  // of pictures that are still to be read

/// The pictures of an array (n, h, w, 3) or, as planes of squares, (n, 3 h h).
struct Pixels {
  std::uint64_t count, height, width;
  Order order;
  Pickle::Bytes bytes;
};

Pixels pixels_in(const Pickle& pickle, Ref value) {
  const Pickle::Array& array = pickle.array(value);
  if (array.dtype != "u1" || array.fortran) pickle.fail("has pictures that are no array of 8 bit numbers in C's order");
  const std::vector<std::uint64_t>& shape = array.shape;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) pickle.fail("has an array without a picture");
  if (shape.size() == 4 && shape[3] == 3) return {shape[0], shape[1], shape[2], Order::kRgb, array.bytes};
  for (std::uint64_t side = 1; shape.size() == 2 && 3 * side * side <= shape[1] && side <= 4096; ++side) {
    if (3 * side * side == shape[1]) return {shape[0], side, side, Order::kPlanes, array.bytes};
  }
  pickle.fail("has pictures in another shape than (n, height, width, 3) or (n, 3072)");
}

std::unique_ptr<Source> of_pixels(const Shared& pickle, const Pixels& pixels, std::vector<std::string> classes,
                                  const std::vector<std::uint32_t>& labels) {
  if (labels.size() != pixels.count) {
    pickle->fail(fmt::format("has {} pictures, but labels of {}", pixels.count, labels.size()));
  }
  const std::uint64_t each = pixels.height * pixels.width * 3;
  if (each > kLargestMember) pickle->fail("has pictures above 256 MiB");
  return std::make_unique<Pictures>(
      pickle->file(), std::move(classes), labels, each, ".ppm",
      [pickle, pixels, each, bytes = std::string(each, '\0')](std::uint64_t picture, std::string& file) mutable {
        pickle->read(pixels.bytes, picture * each, each, bytes.data());
        write_ppm(file, bytes, pixels.height, pixels.width, pixels.order);
      });
}

std::unique_ptr<Source> open_cache(const Shared& shared, Ref images, Ref class_dict) {
  const Pickle& pickle = *shared;
  const Pixels pixels = pixels_in(pickle, images);
  std::vector<std::pair<std::string, Ref>> classes;
  const std::vector<Ref>& both = pickle.items(class_dict);
  for (std::size_t i = 0; i + 1 < both.size(); i += 2) classes.emplace_back(pickle.text(both[i]), both[i + 1]);
  std::sort(classes.begin(), classes.end());
  constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t> labels(pixels.count, kNone);
  std::vector<std::string> names;
  for (const auto& [name, value] : classes) {
    const auto numbers = pickle.numbers(value);
    if (!numbers) pickle.fail("has a class_dict that lists something else than numbers of pictures");
    for (const std::int64_t number : *numbers) {
      if (number < 0 || static_cast<std::uint64_t>(number) >= pixels.count ||
          labels[static_cast<std::size_t>(number)] != kNone) {
        pickle.fail(
            fmt::format("has a class_dict whose class {} lists picture {}, which is not there or in two classes",
                        dataset::shown(name), number));
      }
      labels[static_cast<std::size_t>(number)] = static_cast<std::uint32_t>(names.size());
    }
    names.push_back(name);
  }
  if (std::find(labels.begin(), labels.end(), kNone) != labels.end()) pickle.fail("has pictures of no class");
  return of_pixels(shared, pixels, std::move(names), labels);
}

std::unique_ptr<Source> open_data(const Shared& shared, const fs::path& file, Ref data, Ref label_value) {
  const Pickle& pickle = *shared;
  const auto numbers = pickle.numbers(label_value);
  if (!numbers) pickle.fail("has labels that are no whole numbers");
  std::vector<std::uint32_t> labels;
  std::vector<std::string> classes = classes_of(*numbers, labels);
  const auto coarse = pickle.find(pickle.root(), "coarse_labels");
  name_classes(classes, names_in_meta(file, "fine_label_names"), *numbers, names_in_meta(file, "coarse_label_names"),
               coarse ? pickle.numbers(*coarse) : std::nullopt);
  return of_pixels(shared, pixels_in(pickle, data), std::move(classes), labels);
}

std::unique_ptr<Source> open_png_list(const Shared& shared, const fs::path& file) {
  const Pickle& pickle = *shared;
  std::string name = file.filename().string();
  const std::size_t at = name.find("_images_png");
  if (at == std::string::npos) pickle.fail("is a list; those that are read are called NAME_images_png.pkl");
  const fs::path beside = file.parent_path() / (name.substr(0, at) + "_labels.pkl");
  std::vector<std::uint32_t> labels;
  std::vector<std::string> classes = read_label_file(beside, labels);
  const std::vector<Ref>& pictures = pickle.items(pickle.root());
  if (labels.size() != pictures.size()) {
    pickle.fail(fmt::format("has {} pictures, but {} has {} labels", pictures.size(), dataset::shown(beside.native()),
                            labels.size()));
  }
  return std::make_unique<Pictures>(file, std::move(classes), labels, pickle.file_bytes() / (pictures.size() + 1),
                                    ".png", [shared, pictures](std::uint64_t picture, std::string& png) {
                                      const Pickle::Array& array = shared->array(pictures.at(picture));
                                      if (array.dtype != "u1") shared->fail("has a picture that is no PNG file");
                                      if (array.bytes.size > kLargestMember)
                                        shared->fail("has a picture above 256 MiB");
                                      png.resize(array.bytes.size);
                                      shared->read(array.bytes, 0, png.size(), png.data());
                                    });
}

}  // namespace

std::unique_ptr<Source> open_pickle(const fs::path& file) {
  const Shared opened = std::make_shared<const Pickle>(file);
  const Pickle& pickle = *opened;
  const Ref root = pickle.root();
  if (pickle.kind(root) == Kind::kList) return open_png_list(opened, file);
  const auto images = pickle.find(root, "image_data"), class_dict = pickle.find(root, "class_dict");
  if (images && class_dict) return open_cache(opened, *images, *class_dict);
  const auto data = pickle.find(root, "data");
  auto labels = pickle.find(root, "labels");
  if (!labels) labels = pickle.find(root, "fine_labels");
  if (data && labels) return open_data(opened, file, *data, *labels);
  pickle.fail("has neither image_data and class_dict nor data and labels, and is no list of PNG files");
}

}  // namespace feedring::pack
