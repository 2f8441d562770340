// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/easy_set.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "producers/dataset/labels.hpp"
#include "producers/dataset/walker.hpp"

namespace feedring {
namespace {

namespace fs = std::filesystem;
using dataset::shown;

constexpr std::uintmax_t kLargestFile = 16U << 20;  // of class names

class EasySet {
 public:
  explicit EasySet(const fs::path& file) : file_(fs::absolute(file)) {
    std::error_code error;
    if (fs::file_size(file_, error) > kLargestFile || error) fail(error ? error.message() : "it is larger than 16 MiB");
    errno = 0;
    std::ifstream stream(file_, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    if (!stream.is_open() || stream.bad()) fail(std::strerror(errno));
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    names_ = list(json, "class_names");
    roots_ = list(json, "class_roots");
    if (names_.size() != roots_.size()) {
      fail(fmt::format("it has {} class_names, but {} class_roots", names_.size(), roots_.size()));
    }
    std::set<std::string_view> seen;
    for (const std::string& name : names_) {
      if (!seen.insert(name).second) fail(fmt::format("the class {} comes twice", shown(name)));
    }
  }

  [[nodiscard]] const fs::path& file() const noexcept { return file_; }
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  [[nodiscard]] const std::vector<std::string>& roots() const noexcept { return roots_; }

  void keep(const DataChoice& choice) {
    dataset::ClassFilter filter(choice.classes);
    std::vector<std::string> names, roots;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!filter.keeps(names_[i])) continue;
      names.push_back(names_[i]);
      roots.push_back(roots_[i]);
    }
    filter.demand_all_seen(file_);
    names_ = std::move(names);
    roots_ = std::move(roots);
  }

  /// The folder that the roots are relative to.
  [[nodiscard]] fs::path base() const {
    std::error_code error;
    const fs::path first = roots_.front();
    if (first.is_absolute()) return "/";
    std::string tried;
    for (fs::path base = file_.parent_path();; base = base.parent_path()) {
      if (fs::is_directory(base / first, error)) return base;
      tried += (tried.empty() ? "" : ", ") + shown((base / first).lexically_normal().native());
      if (base == base.root_path()) break;
    }
    fail("the folder of its first class is not there; looked for " + tried);
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw Error(ErrorKind::kData, fmt::format("cannot read {}: {}", shown(file_.native()), what));
  }

 private:
  [[nodiscard]] std::vector<std::string> list(const nlohmann::json& json, const char* key) const {
    const auto wrong = [&] {
      fail(fmt::format("it is no JSON object with the lists class_names and class_roots, of texts: {} is not", key));
    };
    if (!json.is_object() || !json.contains(key) || !json[key].is_array() || json[key].empty()) wrong();
    std::vector<std::string> texts;
    for (const nlohmann::json& each : json[key]) {
      if (!each.is_string()) wrong();
      texts.push_back(each.get<std::string>());
      if (texts.back().empty() || texts.back().find('\0') != std::string::npos) wrong();
    }
    return texts;
  }

  fs::path file_;
  std::vector<std::string> names_;
  std::vector<std::string> roots_;
};

}  // namespace

Scan read_easy_set(const fs::path& file, const std::vector<std::string>* classes_from, const DataChoice& choice) {
  EasySet set(file);
  if (!choice.split.empty()) set.fail("it has no splits: leave split out, and name the file of the split as data");
  set.keep(choice);
  Scan scan;
  const fs::path base = set.base();
  scan.root = base.native();
  dataset::Walker walker(base, scan);
  scan.classes = classes_from != nullptr ? *classes_from : set.names();
  const std::vector<std::uint32_t> numbers = dataset::numbers_of(set.names(), scan.classes, set.file());
  for (std::size_t i = 0; i < set.roots().size(); ++i) {
    fs::path root = fs::path(set.roots()[i]).lexically_normal();
    if (root.is_absolute() != (base == "/")) set.fail("some of its class_roots are absolute, some are not");
    root = root.relative_path();
    if (!root.has_filename()) root = root.parent_path();
    dataset::add_images(scan, walker.walk(root.native(), {}), numbers[i]);
  }
  if (scan.samples.empty()) set.fail("there are no images in its folders");
  dataset::finish(scan, classes_from == nullptr);
  return scan;
}

}  // namespace feedring
