// SPDX-License-Identifier: Apache-2.0
// The values of columns in an index: they travel as its attachment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "producers/dataset/column_spec.hpp"
#include "producers/dataset/scan.hpp"

namespace feedring {

class Index;

/// A view of an index, which must outlive it. May be used by many threads.
class ColumnTable {
 public:
  /// Of a feed without columns.
  ColumnTable() = default;
  /// Reads what the attachment says of columns; an index without one has none. Throws Error(kInternal) where it is
  /// damaged.
  explicit ColumnTable(const Index& index);

  [[nodiscard]] const std::vector<ColumnSpec>& columns() const noexcept { return columns_; }
  /// The sample's values, each column's bytes behind those of the column before. Precondition: there is such a sample.
  [[nodiscard]] std::span<const std::byte> row(std::uint64_t sample) const noexcept {
    return rows_.subspan(sample * row_bytes_, row_bytes_);
  }
  struct File {
    std::string_view path;  ///< relative to the index's root; a NUL follows
    std::uint64_t bytes;
  };
  /// Of a column of files, by its number. Throws Error(kInternal) for a damaged index.
  [[nodiscard]] File file(std::uint64_t sample, std::size_t column) const;

 private:
  std::vector<ColumnSpec> columns_;
  std::size_t row_bytes_ = 0;
  std::span<const std::byte> rows_;
  std::string_view paths_;
};

namespace dataset {

/// What a ColumnTable reads, but for the rows, which follow in the order of the samples, and the paths behind them.
/// Empty: there are no columns.
[[nodiscard]] std::string column_head(const Scan& scan);

}  // namespace dataset
}  // namespace feedring
