// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/torchmeta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "producers/dataset/archive_file.hpp"
#include "producers/dataset/labels.hpp"
#include "producers/dataset/member.hpp"
#include "producers/pack/hdf5_reader.hpp"
#include "producers/pack/pictures.hpp"

namespace feedring::pack {
namespace {

namespace fs = std::filesystem;
using Kind = Hdf5Dataset::Kind;
constexpr std::string_view kGroup = "datasets/";
constexpr std::uint64_t kLongestList = std::uint64_t{1} << 26;

/// The names in a list of classes: a text, or a list of texts, which are parts of a path.
std::vector<std::string> read_labels(const fs::path& path) {
  const dataset::ArchiveFile file(path, "list of classes");
  if (file.bytes() > kLongestList) file.fail("it has more than 64 MiB");
  const auto json = nlohmann::json::parse(file.read_text(0, file.bytes()), nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> names;
  const auto wrong = [&] { file.fail("it is no list of names, or of lists of names"); };
  if (!json.is_array() || json.empty()) wrong();
  for (const nlohmann::json& each : json) {
    std::string name;
    if (each.is_string()) name = each.get<std::string>();
    if (!each.is_string() && (!each.is_array() || each.size() > 8)) wrong();
    for (std::size_t i = 0; each.is_array() && i < each.size(); ++i) {
      if (!each[i].is_string()) wrong();
      name += (i == 0 ? "" : "/") + each[i].get<std::string>();
    }
    if (name.empty()) wrong();
    names.push_back(std::move(name));
  }
  return names;
}

class TorchMetaSource : public Source {
 public:
  TorchMetaSource(const TorchMeta& torchmeta, const fs::path& reader)
      : hdf5_(torchmeta.hdf5), reader_(reader, torchmeta.hdf5) {
    std::map<std::string, std::size_t, std::less<>> known;
    for (std::size_t i = 0; i < reader_.datasets().size(); ++i) known.emplace(reader_.datasets()[i].name, i);
    if (torchmeta.labels.empty()) {
      for (const auto& [name, dataset] : known) add(dataset);
    } else {
      for (const std::string& name : read_labels(torchmeta.labels)) {
        auto found = known.find(std::string(kGroup) + name);
        if (found == known.end()) found = known.find(name);
        if (found == known.end()) {
          reader_.fail(fmt::format("it has no class {}, which {} lists", dataset::shown(name),
                                   dataset::shown(torchmeta.labels.native())));
        }
        add(found->second);
      }
    }
    look_at_files();
  }

  [[nodiscard]] const std::vector<std::string>& classes() const override { return classes_; }
  [[nodiscard]] std::uint64_t items() const override { return items_; }
  [[nodiscard]] std::uint32_t label(std::uint64_t number) const override {
    return static_cast<std::uint32_t>(&part_of(number) - parts_.data());
  }
  [[nodiscard]] std::uint64_t bytes() const override { return bytes_; }  // of files nobody knows it before

  [[nodiscard]] std::string name(std::uint64_t number) override {
    const Part& part = part_of(number);
    const Hdf5Dataset& of = reader_.datasets()[part.dataset];
    const std::string_view extension = of.kind == Kind::kFiles ? file_extension_ : of.shape.size() == 3 ? "ppm" : "pgm";
    return names_.name_of(classes_[label(number)], fmt::format("{:08}.{}", number - part.first, extension), number);
  }
  [[nodiscard]] fs::path origin(std::uint64_t /*number*/) const override { return hdf5_; }

  [[nodiscard]] std::span<const std::uint8_t> read(std::uint64_t number) override {
    const Part& part = part_of(number);
    const Hdf5Dataset& of = reader_.datasets()[part.dataset];
    reader_.read(part.dataset, number - part.first, row_);
    const bool files = of.kind == Kind::kFiles;
    if (!files) {
      const bool colour = of.shape.size() == 3;
      if (row_.size() != of.shape[0] * of.shape[1] * (colour ? 3 : 1))
        reader_.fail("its reader sent nonsense: the file is damaged");
      if (colour) {
        write_ppm(file_, row_, of.shape[0], of.shape[1], Order::kRgb);
      } else {
        write_pgm(file_, row_, of.shape[0], of.shape[1]);
      }
    }
    const std::string& file = files ? row_ : file_;
    return {reinterpret_cast<const std::uint8_t*>(file.data()), file.size()};
  }

 private:
  struct Part {
    std::size_t dataset;
    std::uint64_t first;  // item
  };

  void add(std::size_t number) {
    const Hdf5Dataset& of = reader_.datasets()[number];
    const bool picture = of.shape.size() == 2 || (of.shape.size() == 3 && of.shape[2] == 3);
    if (of.kind == Kind::kOther || (of.kind == Kind::kPixels && !picture)) {
      reader_.fail(
          fmt::format("{} holds no pictures: those are files, or arrays (n, height, width) or (n, height, width, 3) "
                      "of 8 bit numbers",
                      dataset::shown(of.name)));
    }
    if (of.rows > UINT32_MAX || items_ + of.rows > UINT32_MAX) reader_.fail("it has more than 4,294,967,295 pictures");
    std::string name = of.name.starts_with(kGroup) ? of.name.substr(kGroup.size()) : of.name;
    std::string before = of.superclass;
    if (!before.empty()) {
      for (std::string* text : {&name, &before}) std::replace(text->begin(), text->end(), '/', '_');
      before += '/';
    }
    parts_.push_back({number, items_});
    items_ += of.rows;
    classes_.push_back(before + name);
    if (of.kind != Kind::kPixels) return;
    std::uint64_t each = 1;
    for (const std::uint64_t length : of.shape) {
      if (length == 0 || each > kLargestMember / length) reader_.fail("it has pictures of no size, or above 256 MiB");
      each *= length;
    }
    bytes_ += each * of.rows;
  }
  /// What the files of a data set are is said by the first of them.
  void look_at_files() {
    for (const Part& part : parts_) {
      const Hdf5Dataset& of = reader_.datasets()[part.dataset];
      if (of.kind != Kind::kFiles || of.rows == 0) continue;
      reader_.read(part.dataset, 0, row_);
      if (row_.starts_with("\x89PNG")) file_extension_ = "png";
      if (row_.starts_with("\xff\xd8")) file_extension_ = "jpg";
      return;
    }
  }
  [[nodiscard]] const Part& part_of(std::uint64_t item) const {
    const auto behind = std::upper_bound(parts_.begin(), parts_.end(), item,
                                         [](std::uint64_t at, const Part& part) { return at < part.first; });
    return *std::prev(behind);
  }

  fs::path hdf5_;
  Hdf5Reader reader_;
  std::vector<std::string> classes_;
  std::vector<Part> parts_;  // one a class
  std::uint64_t items_ = 0, bytes_ = 0;
  std::string row_, file_;
  std::string_view file_extension_ = "image";
  Names names_;
};

}  // namespace

std::unique_ptr<Source> open_torchmeta(const TorchMeta& torchmeta, const fs::path& reader) {
  return std::make_unique<TorchMetaSource>(torchmeta, reader);
}

}  // namespace feedring::pack
