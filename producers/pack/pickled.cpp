// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/pickled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <system_error>

#include "producers/pack/mapped_file.hpp"
#include "producers/pack/pickle.hpp"
#include "producers/pack/pictures.hpp"

namespace feedring::pack {
namespace {

namespace fs = std::filesystem;
using Kind = Pickle::Kind;
using Ref = Pickle::Ref;

/// A pickle and the file that its arrays lie in.
struct Opened {
  explicit Opened(const fs::path& path) : file(path), pickle(file.text(), '\'' + path.string() + '\'') {}
  MappedFile file;
  Pickle pickle;
};
using Shared = std::shared_ptr<const Opened>;

/// The pictures of an array (n, h, w, 3) or, as planes of squares, (n, 3 h h).
struct Pixels {
  std::uint64_t count, height, width;
  Order order;
  const std::uint8_t* first;
};

Pixels pixels_in(const Pickle& pickle, Ref value) {
  const Pickle::Array& array = pickle.array(value);
  const auto* first = reinterpret_cast<const std::uint8_t*>(array.bytes.data());
  if (array.dtype != "u1" || array.fortran) pickle.fail("has pictures that are no array of 8 bit numbers in C's order");
  const std::vector<std::uint64_t>& shape = array.shape;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) pickle.fail("has an array without a picture");
  if (shape.size() == 4 && shape[3] == 3) return {shape[0], shape[1], shape[2], Order::kRgb, first};
  for (std::uint64_t side = 1; shape.size() == 2 && 3 * side * side <= shape[1] && side <= 4096; ++side) {
    if (3 * side * side == shape[1]) return {shape[0], side, side, Order::kPlanes, first};
  }
  pickle.fail("has pictures in another shape than (n, height, width, 3) or (n, 3072)");
}

std::unique_ptr<Source> of_pixels(const Shared& opened, const Pixels& pixels, std::vector<std::string> classes,
                                  const std::vector<std::uint32_t>& labels) {
  if (labels.size() != pixels.count) {
    opened->pickle.fail(fmt::format("has {} pictures, but labels of {}", pixels.count, labels.size()));
  }
  const std::uint64_t each = pixels.height * pixels.width * 3;
  return std::make_unique<Pictures>(
      std::move(classes), labels, each, ".ppm", [opened, pixels, each](std::uint64_t picture, std::string& file) {
        write_ppm(file, pixels.first + picture * each, pixels.height, pixels.width, pixels.order);
      });
}

std::unique_ptr<Source> open_cache(const Shared& opened, Ref images, Ref class_dict) {
  const Pickle& pickle = opened->pickle;
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
        pickle.fail(fmt::format(
            "has a class_dict whose class {} lists picture {}, which is not there or in two classes", name, number));
      }
      labels[static_cast<std::size_t>(number)] = static_cast<std::uint32_t>(names.size());
    }
    names.push_back(name);
  }
  if (std::find(labels.begin(), labels.end(), kNone) != labels.end()) pickle.fail("has pictures of no class");
  return of_pixels(opened, pixels, std::move(names), labels);
}

/// The names of CIFAR-100's classes, in the file `meta` beside it; empty where there is none.
std::vector<std::string> names_in_meta(const fs::path& file, const char* key) {
  const fs::path meta = file.parent_path() / "meta";
  std::error_code error;
  if (!fs::is_regular_file(meta, error)) return {};
  const Opened opened(meta);
  const auto names = opened.pickle.find(opened.pickle.root(), key);
  return names ? opened.pickle.texts(*names).value_or(std::vector<std::string>()) : std::vector<std::string>();
}

/// Gives `classes`, which are called by their numbers, names where all numbers have one. `supers` are superclasses by
/// number, `super_of` that of each sample in the order of `numbers`; a class gets its first sample's.
void name_classes(std::vector<std::string>& classes, const std::vector<std::string>& names,
                  const std::vector<std::int64_t>& numbers, const std::vector<std::string>& supers,
                  const std::optional<std::vector<std::int64_t>>& super_of) {
  const auto has = [](const std::vector<std::string>& list, std::int64_t number) {
    return number >= 0 && static_cast<std::size_t>(number) < list.size();
  };
  if (!std::all_of(classes.begin(), classes.end(), [&](const auto& name) { return has(names, std::stoll(name)); }))
    return;
  for (std::string& name : classes) {
    const std::int64_t number = std::stoll(name);
    name = names[static_cast<std::size_t>(number)];
    std::replace(name.begin(), name.end(), '/', '_');
    const auto at = static_cast<std::size_t>(std::find(numbers.begin(), numbers.end(), number) - numbers.begin());
    if (!super_of || at >= super_of->size() || !has(supers, (*super_of)[at])) continue;
    name = supers[static_cast<std::size_t>((*super_of)[at])] + '/' + name;
  }
}

/// The names of tieredImageNet's labels, in their file. `labels` become class numbers.
std::vector<std::string> read_label_file(const fs::path& file, std::vector<std::uint32_t>& labels) {
  const Opened opened(file);
  const Pickle& pickle = opened.pickle;
  const auto specific = pickle.find(pickle.root(), "label_specific");
  const auto of = specific ? specific : pickle.find(pickle.root(), "labels");
  const auto numbers = of ? pickle.numbers(*of) : std::nullopt;
  if (!numbers) pickle.fail("has neither label_specific nor labels, of whole numbers");
  std::vector<std::string> classes = classes_of(*numbers, labels);
  const auto texts = [&](const char* key) {
    const auto value = pickle.find(pickle.root(), key);
    return value ? pickle.texts(*value).value_or(std::vector<std::string>()) : std::vector<std::string>();
  };
  const auto general = pickle.find(pickle.root(), "label_general");
  name_classes(classes, texts("label_specific_str"), *numbers, texts("label_general_str"),
               general ? pickle.numbers(*general) : std::nullopt);
  return classes;
}

std::unique_ptr<Source> open_data(const Shared& opened, const fs::path& file, Ref data, Ref label_value) {
  const Pickle& pickle = opened->pickle;
  const auto numbers = pickle.numbers(label_value);
  if (!numbers) pickle.fail("has labels that are no whole numbers");
  std::vector<std::uint32_t> labels;
  std::vector<std::string> classes = classes_of(*numbers, labels);
  const auto coarse = pickle.find(pickle.root(), "coarse_labels");
  name_classes(classes, names_in_meta(file, "fine_label_names"), *numbers, names_in_meta(file, "coarse_label_names"),
               coarse ? pickle.numbers(*coarse) : std::nullopt);
  return of_pixels(opened, pixels_in(pickle, data), std::move(classes), labels);
}

std::unique_ptr<Source> open_png_list(const Shared& opened, const fs::path& file) {
  const Pickle& pickle = opened->pickle;
  std::string name = file.filename().string();
  const std::size_t at = name.find("_images_png");
  if (at == std::string::npos) pickle.fail("is a list; those that are read are called NAME_images_png.pkl");
  const fs::path beside = file.parent_path() / (name.substr(0, at) + "_labels.pkl");
  std::vector<std::uint32_t> labels;
  std::vector<std::string> classes = read_label_file(beside, labels);
  const std::vector<Ref> pictures = pickle.items(pickle.root());
  if (labels.size() != pictures.size())
    pickle.fail(fmt::format("has {} pictures, but {} has {} labels", pictures.size(), beside.string(), labels.size()));
  return std::make_unique<Pictures>(std::move(classes), labels, opened->file.text().size() / (pictures.size() + 1),
                                    ".png", [opened, pictures](std::uint64_t picture, std::string& png) {
                                      const Pickle::Array& array = opened->pickle.array(pictures.at(picture));
                                      if (array.dtype != "u1") opened->pickle.fail("has a picture that is no PNG file");
                                      png = array.bytes;
                                    });
}

}  // namespace

bool is_pickle(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return false;  // a pipe would be waited for
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 2> begin{};
  stream.read(begin.data(), begin.size());
  return stream.gcount() == 2 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5;
}

std::unique_ptr<Source> open_pickle(const fs::path& file) {
  const Shared opened = std::make_shared<const Opened>(file);
  const Pickle& pickle = opened->pickle;
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
