// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/source.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace feedring::pack {
namespace {

/// A part of a path is a name, and none that leads elsewhere when somebody unpacks it.
bool leads_astray(std::string_view path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return true;
    begin = end + 1;
  }
  return false;
}

/// The class's folder with its '/'; a name that is no path below another folder becomes one that is. The head of a pack
/// has the name itself.
std::string folder_of(std::string_view class_name) {
  if (class_name.empty()) return "";
  std::string folder;
  for (std::size_t begin = 0; begin <= class_name.size();) {
    const std::size_t end = std::min(class_name.find('/', begin), class_name.size());
    const std::string_view part = class_name.substr(begin, end - begin);
    folder += part.empty() || part == "." || part == ".." ? "_" : part;
    folder += '/';
    begin = end + 1;
  }
  return folder;
}

}  // namespace

std::string Names::name_of(std::string_view class_name, std::string_view file, std::uint64_t number) {
  const std::string folder = folder_of(class_name);
  const std::string_view base = file.substr(file.rfind('/') + 1);
  std::string name(file);
  if (!file.starts_with(folder) || leads_astray(file)) name = folder + std::string(base);
  for (std::uint64_t tried = number; name == kReserved || !used_.insert(name).second; ++tried) {
    name = fmt::format("{}{:08}-{}", folder, tried, base);
  }
  return name;
}

}  // namespace feedring::pack
