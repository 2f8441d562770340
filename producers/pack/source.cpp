// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/source.hpp"

#include <fmt/format.h>

namespace feedring::pack {
namespace {

bool goes_up(std::string_view path) {
  return path == ".." || path.starts_with("../") || path.ends_with("/..") ||
         path.find("/../") != std::string_view::npos;
}

}  // namespace

std::string Names::name_of(std::string_view class_name, std::string_view file, std::uint64_t number) {
  const std::string folder = class_name.empty() ? "" : std::string(class_name) + '/';
  std::string name(file);
  const std::string_view base = file.substr(file.rfind('/') + 1);
  if (!file.starts_with(folder) || goes_up(file)) name = folder + std::string(base);
  if (name == kReserved || !used_.insert(name).second) {
    name = fmt::format("{}{:08}-{}", folder, number, base);
    used_.insert(name);
  }
  return name;
}

}  // namespace feedring::pack
