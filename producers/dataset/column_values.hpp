// SPDX-License-Identifier: Apache-2.0
// The values of a manifest's further columns, from text to the bytes that a slot holds. Internal to this folder, but
// for ColumnValues.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "producers/dataset/column_spec.hpp"

namespace feedring {

/// Of a scan: a row for each sample, by Sample::row.
struct ColumnValues {
  std::vector<ColumnSpec> columns;  ///< with their classes
  std::size_t row_bytes = 0;
  std::string rows;   ///< in each the columns' values, one behind the other
  std::string paths;  ///< of columns of files, each with a NUL behind it

  [[nodiscard]] std::string_view row(std::uint32_t number) const noexcept {
    return {rows.data() + number * row_bytes, row_bytes};
  }
  /// Of a column of files, by its number.
  [[nodiscard]] ColumnFile file(std::uint32_t row_number, std::size_t column) const noexcept;
  [[nodiscard]] std::string_view path(const ColumnFile& file) const noexcept {
    return {paths.data() + file.path_begin, file.path_length};
  }
};

namespace dataset {

class TextLines;
class LabelTable;

/// What a field of a table, or a value of JSON, is made of: one text, or the several of a list.
using Cell = std::vector<std::string>;

/// The parts of a table's field: numbers apart by spaces, ',', ';' or '|'; names of a multi-hot one by '|'.
[[nodiscard]] Cell cell_of(std::string_view field, ColumnKind kind);

class ColumnCells {
 public:
  explicit ColumnCells(const std::vector<ColumnSpec>& columns);
  ~ColumnCells();
  ColumnCells(const ColumnCells&) = delete;
  ColumnCells& operator=(const ColumnCells&) = delete;

  [[nodiscard]] const std::vector<ColumnSpec>& columns() const noexcept { return columns_; }
  /// Takes a row's cells, one for each column, and gives its number. Files are looked at in `folder`, a descriptor.
  /// Throws Error(kData) that names line and column.
  std::uint32_t add(const std::vector<Cell>& cells, int folder, const TextLines& lines);
  /// Throws Error(kData), with the column and `data`, for a name that a column's given classes lack.
  [[nodiscard]] ColumnValues finish(const std::filesystem::path& data) const;

 private:
  struct Column;
  void add_numbers(Column& to, const ColumnSpec& column, const Cell& cell, const TextLines& lines);
  void add_file(Column& to, const ColumnSpec& column, const Cell& cell, int folder, const TextLines& lines);
  void add_names(Column& to, const ColumnSpec& column, const Cell& cell, const TextLines& lines);

  std::vector<ColumnSpec> columns_;
  std::vector<Column> read_;
  std::string paths_;
  std::uint32_t rows_ = 0;
};

}  // namespace dataset
}  // namespace feedring
