// SPDX-License-Identifier: Apache-2.0
// A column of a manifest whose values go along with each sample, as a tensor of the column's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedring {

enum class ColumnKind : std::uint8_t {
  kClass,     ///< one of several names, as its number: int64
  kFloat,     ///< numbers: float32
  kMultiHot,  ///< any of several names: uint8, 1 at the number of each that is there
};

struct ColumnSpec {
  std::string name;
  ColumnKind kind = ColumnKind::kFloat;
  std::optional<std::uint32_t> length{};  ///< kFloat: so many numbers, an axis of the tensor; empty: one, without it
  /// kClass, kMultiHot: the names by number. Empty in a choice: those of the data, in bytewise order.
  std::vector<std::string> classes{};
  bool operator==(const ColumnSpec&) const = default;

  /// Of one sample, once its classes are known.
  [[nodiscard]] std::size_t bytes() const noexcept {
    switch (kind) {
      case ColumnKind::kClass: return sizeof(std::int64_t);
      case ColumnKind::kFloat: return sizeof(float) * length.value_or(1);
      case ColumnKind::kMultiHot: break;
    }
    return classes.size();
  }
};

/// "class", "float", "float[4]" or "multi_hot".
[[nodiscard]] std::string kind_of(const ColumnSpec& column);
/// Kind and length that such a text says; nullopt: none.
[[nodiscard]] std::optional<ColumnSpec> column_of(std::string name, std::string_view kind);

}  // namespace feedring
