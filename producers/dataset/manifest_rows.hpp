// SPDX-License-Identifier: Apache-2.0
// The rows of a manifest, whatever its form, become samples. Internal to this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "producers/dataset/choice.hpp"
#include "producers/dataset/column_values.hpp"
#include "producers/dataset/label_table.hpp"
#include "producers/dataset/scan.hpp"
#include "producers/dataset/text_lines.hpp"
#include "runtime/memfd.hpp"

namespace feedring::dataset {

struct ManifestRow {
  std::string_view path;
  std::optional<std::string_view> label;  ///< nullopt: the manifest has none
  std::optional<std::string_view> split;
  std::optional<std::uint64_t> bytes;  ///< nullopt: the file is looked at
  std::optional<double> weight;        ///< of the column that DataChoice::weights names
};

class ManifestRows {
 public:
  /// Where a row's file is looked for: where its path says, or also in the places in which few-shot data sets keep
  /// their images while their lists give names alone.
  enum class Places : std::uint8_t { kPath, kUsual };

  ManifestRows(const std::filesystem::path& manifest, const DataChoice& choice, Places places);

  [[nodiscard]] const std::vector<ColumnSpec>& columns() const noexcept { return cells_.columns(); }
  /// Takes the row that `lines` has just given, with a cell for each of columns(), or leaves it out. Throws
  /// Error(kData) that names the line.
  void add(const ManifestRow& row, const std::vector<Cell>& cells, const TextLines& lines);
  /// The samples, sorted and numbered. Throws Error(kData) where there are none.
  [[nodiscard]] Scan finish(const std::vector<std::string>* classes_from);
  /// The column that samples have their weights from; empty: none.
  [[nodiscard]] const std::string& weights() const noexcept { return choice_.weights; }
  void warn(std::string sentence) { scan_.warnings.push_back(std::move(sentence)); }

 private:
  [[nodiscard]] bool chosen(const ManifestRow& row, const TextLines& lines);
  [[nodiscard]] double weight_of(const ManifestRow& row, const TextLines& lines) const;
  void find_place(const ManifestRow& row, const TextLines& lines);
  void put_place(const ManifestRow& row);
  [[nodiscard]] std::uint64_t size_on_disk(const TextLines& lines) const;
  [[noreturn]] void fail_without_samples() const;

  std::filesystem::path file_;
  const DataChoice& choice_;
  Places places_;
  UniqueFd folder_;
  ClassFilter filter_;
  LabelTable labels_;
  ColumnCells cells_;
  std::optional<std::size_t> place_;                                // the first row's, of kPlaces
  std::string path_;                                                // of the row's file, from the manifest's folder
  std::map<std::string, std::uint64_t, std::less<>> other_splits_;  // rows left out
  Scan scan_;
};

}  // namespace feedring::dataset
