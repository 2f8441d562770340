// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/choice.hpp"

#include <fmt/format.h>

#include <feedring/error.hpp>
#include <system_error>

#include "producers/dataset/labels.hpp"

namespace feedring::dataset {

ClassFilter::ClassFilter(const std::vector<std::string>& wanted) : unseen_(wanted.begin(), wanted.end()) {
  for (const std::string& name : wanted) {
    const std::size_t slash = name.rfind('/');
    if (slash != std::string::npos && slash + 1 == name.size()) {
      supers_.emplace(name.substr(0, slash), name);
      continue;
    }
    names_.emplace(name, name);
    if (slash == std::string::npos) {
      bare_.emplace(name, name);
    } else {
      ends_.emplace(name.substr(slash + 1), name);
    }
  }
}

bool ClassFilter::known(const Names& names, std::string_view name) {
  const auto found = names.find(name);
  if (found == names.end()) return false;
  unseen_.erase(found->second);
  return true;
}

bool ClassFilter::keeps(std::string_view name) {
  if (keeps_all() || known(names_, name)) return true;
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return known(ends_, name);
  return known(supers_, name.substr(0, slash)) || known(bare_, name.substr(slash + 1));
}

void ClassFilter::demand_all_seen(const std::filesystem::path& data) const {
  if (unseen_.empty()) return;
  const std::string others = unseen_.size() == 1 ? "" : fmt::format(" and {} more", unseen_.size() - 1);
  throw Error(ErrorKind::kData,
              fmt::format("{} has no class {}{}, which \"classes\" asks for: name classes that are there",
                          shown(data.native()), shown(*unseen_.begin()), others));
}

std::filesystem::path place_of_split(const std::filesystem::path& folder, const std::string& split) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (split.find('/') == std::string::npos && split != "." && split != "..") {
    const fs::path inside = folder / split;
    if (fs::is_directory(inside, error)) return inside;
    for (const char* extension : {".csv", ".tsv", ".jsonl", ".json", ".txt", ".zip", ".tar"}) {
      fs::path file = inside;
      file += extension;
      if (fs::is_regular_file(file, error)) return file;
    }
  }
  throw Error(ErrorKind::kData,
              fmt::format("{} has no split {}: there is neither a folder of that name in it nor a file that is called "
                          "so and ends in .csv, .tsv, .jsonl, .json, .txt, .zip or .tar",
                          shown(folder.native()), shown(split)));
}

}  // namespace feedring::dataset
