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
  kImage,     ///< the path of another picture
  kMask,      ///< the path of a picture whose pixels are class numbers
};

/// The column's values are paths of files.
[[nodiscard]] constexpr bool of_files(ColumnKind kind) noexcept {
  return kind == ColumnKind::kImage || kind == ColumnKind::kMask;
}

/// A file of a column of files, as a row has it.
struct ColumnFile {
  std::uint64_t path_begin;  ///< in the paths of all rows
  std::uint64_t path_length;
  std::uint64_t bytes;  ///< the file's size
};

struct ColumnSpec {
  std::string name;
  ColumnKind kind = ColumnKind::kFloat;
  std::optional<std::uint32_t> length{};  ///< kFloat: so many numbers, an axis of the tensor; empty: one, without it
  /// kClass, kMultiHot: the names by number. Empty in a choice: those of the data, in bytewise order.
  std::vector<std::string> classes{};
  bool operator==(const ColumnSpec&) const = default;

  /// Of one sample in a row of values, once its classes are known; a slot has as much, but of columns of files.
  [[nodiscard]] std::size_t bytes() const noexcept {
    switch (kind) {
      case ColumnKind::kClass: return sizeof(std::int64_t);
      case ColumnKind::kFloat: return sizeof(float) * length.value_or(1);
      case ColumnKind::kImage:
      case ColumnKind::kMask: return sizeof(ColumnFile);
      case ColumnKind::kMultiHot: break;
    }
    return classes.size();
  }
};

/// "class", "float", "float[4]", "multi_hot", "image" or "mask".
[[nodiscard]] std::string kind_of(const ColumnSpec& column);
/// Kind and length that such a text says; nullopt: none.
[[nodiscard]] std::optional<ColumnSpec> column_of(std::string name, std::string_view kind);

}  // namespace feedring
