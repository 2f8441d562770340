// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <charconv>
#include <feedring/error.hpp>
#include <system_error>

#include "producers/dataset/archive.hpp"
#include "producers/dataset/labels.hpp"

namespace feedring {
namespace {

namespace fs = std::filesystem;
using dataset::shown;
constexpr std::size_t kMostArchives = 1 << 20;

/// The archives that lie in a folder which holds nothing else that could be data.
std::vector<fs::path> archives_in(const fs::path& folder) {
  std::vector<fs::path> archives;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().native();
    if (name.starts_with('.')) continue;
    std::error_code ignored;
    if (entry->is_directory(ignored) || is_image_name(name)) return {};
    if (is_archive_name(name)) archives.push_back(entry->path());
  }
  return archives;
}

/// `shard-{000..012}.tar` as the names that it stands for.
std::vector<std::string> expand(const std::string& text) {
  const std::size_t open = text.find('{'), dots = text.find("..", open), close = text.find('}', open);
  if (open == std::string::npos || dots == std::string::npos || close == std::string::npos || dots > close)
    return {text};
  const std::string first = text.substr(open + 1, dots - open - 1), last = text.substr(dots + 2, close - dots - 2);
  std::uint64_t from = 0, to = 0;
  const auto read = [&](const std::string& number, std::uint64_t& value) {
    const auto [end, wrong] = std::from_chars(number.data(), number.data() + number.size(), value);
    return wrong == std::errc() && end == number.data() + number.size();
  };
  if (!read(first, from) || !read(last, to) || from > to || to - from >= kMostArchives) return {text};
  std::vector<std::string> names;
  const std::vector<std::string> ends = expand(text.substr(close + 1));
  const std::size_t width = first.starts_with('0') || first.size() == last.size() ? first.size() : 0;
  for (std::uint64_t i = from; i <= to; ++i) {
    for (const std::string& end : ends) {
      names.push_back(fmt::format("{}{:0{}}{}", text.substr(0, open), i, width, end));
      if (names.size() > kMostArchives) return {text};
    }
  }
  return names;
}

std::vector<fs::path> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<fs::path> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths;
}

}  // namespace

std::vector<fs::path> archives_of(const fs::path& data) {
  std::error_code error;
  std::vector<fs::path> archives;
  if (fs::is_directory(data, error)) {
    archives = archives_in(data);
  } else if (fs::exists(data, error)) {
    if (is_archive_name(data.native())) archives = {data};
  } else {
    for (const std::string& name : expand(data.native())) {
      if (name.find_first_of("*?[") != std::string::npos) {
        const std::vector<fs::path> some = matches(name);
        archives.insert(archives.end(), some.begin(), some.end());
      } else if (name != data.native()) {
        archives.emplace_back(name);
      }
    }
  }
  std::sort(archives.begin(), archives.end());
  for (const fs::path& archive : archives) {
    if (archive.parent_path() != archives.front().parent_path()) {
      throw Error(ErrorKind::kData,
                  fmt::format("the archives of {} lie in several folders: one is needed", shown(data.native())));
    }
    if (!is_archive_name(archive.native())) {
      throw Error(ErrorKind::kData,
                  fmt::format("{} of {} is no .tar or .zip", shown(archive.native()), shown(data.native())));
    }
  }
  return archives;
}

}  // namespace feedring
