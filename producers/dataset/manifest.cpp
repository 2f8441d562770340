// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/manifest.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <feedring/error.hpp>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "producers/dataset/labels.hpp"
#include "runtime/memfd.hpp"

namespace feedring {
namespace {

using dataset::shown;
constexpr std::uint64_t kMaxLabel = (1U << 24) - 1;  // each number has an entry in the class table

/// A decimal number without sign and without leading zeros.
std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  return value;
}

/// The labels of a manifest become numbers here: at first in the order in which they come, at last as they should be.
class Labels {
 public:
  /// The provisional number of `text`. nullopt: another kind of label than the first line's.
  std::optional<std::uint32_t> add(std::string_view text) {
    const std::optional<std::uint64_t> number = number_in(text);
    if (names_.empty()) numeric_ = number.has_value();
    if (numeric_ != number.has_value()) return std::nullopt;
    if (numeric_ && *number > kMaxLabel) return std::nullopt;
    if (text == last_text_ && !names_.empty()) return last_;
    last_text_ = text;
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return last_ = found->second;
    last_ = static_cast<std::uint32_t>(names_.size());
    names_.emplace_back(text);
    numbers_.emplace(names_.back(), last_);
    return last_;
  }

  [[nodiscard]] bool numeric() const noexcept { return numeric_; }

  /// Sets scan.classes and turns the provisional labels of scan.samples into their numbers.
  void settle(Scan& scan, const std::vector<std::string>* classes_from) const {
    if (classes_from != nullptr) {
      scan.classes = *classes_from;
    } else if (numeric_) {
      number_by_themselves(scan);
      return;
    } else {
      scan.classes.assign(names_.begin(), names_.end());
      std::sort(scan.classes.begin(), scan.classes.end());
    }
    const std::vector<std::uint32_t> numbers =
        dataset::numbers_of({names_.begin(), names_.end()}, scan.classes, scan.root);
    for (Sample& sample : scan.samples) sample.label = numbers[sample.label];
  }

 private:
  // No table from name to number here: it would take more memory than all else where the highest number is large.
  void number_by_themselves(Scan& scan) const {
    std::vector<std::uint32_t> numbers;
    for (const std::string& name : names_) numbers.push_back(static_cast<std::uint32_t>(*number_in(name)));
    const std::uint32_t highest = *std::max_element(numbers.begin(), numbers.end());
    scan.classes.reserve(std::size_t{highest} + 1);
    for (std::uint32_t i = 0; i <= highest; ++i) scan.classes.push_back(std::to_string(i));
    for (Sample& sample : scan.samples) sample.label = numbers[sample.label];
  }

  std::deque<std::string> names_;  // never moved, so that the keys stay valid
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  bool numeric_ = false;
  std::string last_text_;  // lines of one class mostly stand together
  std::uint32_t last_ = 0;
};

class Manifest {
 public:
  explicit Manifest(const std::filesystem::path& file)
      : name_(file.native()), file_(std::fopen(file.c_str(), "re"), std::fclose) {
    if (!file_) fail(std::strerror(errno));
    folder_.reset(
        ::open(file.has_parent_path() ? file.parent_path().c_str() : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder_) fail(std::strerror(errno));
    refuse_binary();
  }
  ~Manifest() { std::free(buffer_); }
  Manifest(const Manifest&) = delete;
  Manifest& operator=(const Manifest&) = delete;

  void read_into(Scan& scan, Labels& labels) {
    while (next_line()) {
      const std::string_view path = fields_[0];
      if (path.empty()) fail("the path is empty");
      if (path.front() == '/') fail("an absolute path: paths are relative to the manifest's folder");
      if (path.size() >= PATH_MAX) fail("the path is too long to be opened");
      const std::optional<std::uint32_t> label = labels.add(columns_ > 1 ? fields_[1] : std::string_view());
      if (!label) {
        fail(labels.numeric()
                 ? fmt::format("label {} is no number up to {}, but the first line's is", shown(fields_[1]), kMaxLabel)
                 : fmt::format("label {} is a number, but the first line's is a name", shown(fields_[1])));
      }
      const std::uint64_t bytes = columns_ > 2 ? size_field() : size_on_disk(path);
      if (bytes == 0) {
        scan.skipped.push_back({std::string(path), Skip::kEmpty});
      } else {
        dataset::add_sample(scan, path, bytes, *label);
      }
    }
  }

 private:
  /// An image or an archive would else be read as one endless line.
  void refuse_binary() const {
    std::array<char, 4096> start{};
    const std::size_t read = std::fread(start.data(), 1, start.size(), file_.get());
    if (std::find(start.begin(), start.begin() + read, '\0') != start.begin() + read) {
      fail("it is no text: data is a folder of images, or a text file with the path of an image in each line");
    }
    std::rewind(file_.get());
  }

  /// Splits the next line into fields_. Returns false at the end of the file.
  bool next_line() {
    errno = 0;
    const ssize_t length = ::getline(&buffer_, &capacity_, file_.get());
    if (length < 0) {
      if (std::ferror(file_.get()) != 0) fail(std::strerror(errno));
      return false;
    }
    ++line_;
    std::string_view line(buffer_, static_cast<std::size_t>(length));
    if (line.back() == '\n') line.remove_suffix(1);
    if (line.empty()) fail("an empty line");
    if (line.find('\0') != std::string_view::npos) fail("a NUL byte: this is no manifest");
    if (line.back() == '\r') fail("the line ends in a carriage return: save the file with \\n at the end of lines");
    std::size_t columns = 0;
    for (std::size_t begin = 0; begin <= line.size(); ++columns) {
      if (columns == fields_.size()) fail("more than three columns (path, label, bytes)");
      const std::size_t end = std::min(line.find('\t', begin), line.size());
      fields_[columns] = line.substr(begin, end - begin);
      begin = end + 1;
    }
    if (line_ == 1) columns_ = columns;
    if (columns != columns_) fail(fmt::format("{} columns where the first line has {}", columns, columns_));
    if (columns > 1 && fields_[1].empty()) fail("the label is empty");
    return true;
  }

  std::uint64_t size_field() const {
    const std::optional<std::uint64_t> bytes = number_in(fields_[2]);
    if (!bytes) fail(fmt::format("{} is no size in bytes", shown(fields_[2])));
    return *bytes;
  }

  std::uint64_t size_on_disk(std::string_view path) const {
    const std::string terminated(path);
    struct stat info {};
    if (::fstatat(folder_.get(), terminated.c_str(), &info, 0) != 0) {
      fail(fmt::format("{}: {}", shown(path), std::strerror(errno)));
    }
    if (!S_ISREG(info.st_mode)) fail(fmt::format("{} is no regular file", shown(path)));
    return static_cast<std::uint64_t>(info.st_size);
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw Error(ErrorKind::kData, line_ == 0 ? fmt::format("cannot read manifest {}: {}", shown(name_), what)
                                             : fmt::format("manifest {}, line {}: {}", shown(name_), line_, what));
  }

  std::string name_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  UniqueFd folder_;
  char* buffer_ = nullptr;  // getline's
  std::size_t capacity_ = 0;
  std::uint64_t line_ = 0;
  std::size_t columns_ = 0;
  std::array<std::string_view, 3> fields_;
};

}  // namespace

Scan read_manifest(const std::filesystem::path& manifest, const std::vector<std::string>* classes_from) {
  const std::filesystem::path file = std::filesystem::absolute(manifest);
  Scan scan;
  scan.root = file.parent_path().native();
  Labels labels;
  Manifest(file).read_into(scan, labels);
  if (scan.samples.empty()) {
    throw Error(ErrorKind::kData, fmt::format("manifest {} lists no samples ({} of empty files)", shown(file.native()),
                                              scan.skipped.size()));
  }
  labels.settle(scan, classes_from);
  dataset::finish(scan, classes_from == nullptr);
  return scan;
}

}  // namespace feedring
