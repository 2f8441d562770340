// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/column_spec.hpp"

#include <charconv>
#include <utility>

namespace feedring {
namespace {

constexpr std::uint32_t kMostNumbers = 1U << 20;
constexpr std::string_view kFloat = "float";

}  // namespace

std::string kind_of(const ColumnSpec& column) {
  switch (column.kind) {
    case ColumnKind::kClass: return "class";
    case ColumnKind::kMultiHot: return "multi_hot";
    case ColumnKind::kImage: return "image";
    case ColumnKind::kMask: return "mask";
    case ColumnKind::kFloat: break;
  }
  return column.length ? "float[" + std::to_string(*column.length) + ']' : std::string(kFloat);
}

std::optional<ColumnSpec> column_of(std::string name, std::string_view kind) {
  ColumnSpec column{std::move(name)};
  if (kind == "class") {
    column.kind = ColumnKind::kClass;
  } else if (kind == "multi_hot") {
    column.kind = ColumnKind::kMultiHot;
  } else if (kind == "image") {
    column.kind = ColumnKind::kImage;
  } else if (kind == "mask") {
    column.kind = ColumnKind::kMask;
  } else if (kind != kFloat) {
    if (!kind.starts_with("float[") || !kind.ends_with(']')) return std::nullopt;
    kind.remove_prefix(kFloat.size() + 1);
    kind.remove_suffix(1);
    std::uint32_t length = 0;
    const auto [end, error] = std::from_chars(kind.data(), kind.data() + kind.size(), length);
    if (error != std::errc() || end != kind.data() + kind.size() || length < 1 || length > kMostNumbers)
      return std::nullopt;
    column.length = length;
  }
  return column;
}

}  // namespace feedring
