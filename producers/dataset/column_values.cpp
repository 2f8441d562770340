// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/column_values.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <feedring/error.hpp>

#include "producers/dataset/label_table.hpp"
#include "producers/dataset/labels.hpp"
#include "producers/dataset/text_lines.hpp"

namespace feedring {

ColumnFile ColumnValues::file(std::uint32_t row_number, std::size_t column) const noexcept {
  std::string_view value = row(row_number);
  for (std::size_t i = 0; i < column; ++i) value.remove_prefix(columns[i].bytes());
  ColumnFile file;
  std::memcpy(&file, value.data(), sizeof file);
  return file;
}

}  // namespace feedring

namespace feedring::dataset {
namespace {

constexpr std::size_t kMostHot = 1U << 16;  // classes of a multi-hot column: each sample has a byte for each

[[noreturn]] void fail(const ColumnSpec& column, const TextLines& lines, const std::string& why) {
  lines.fail(fmt::format("column {}: {}", shown(column.name), why));
}

std::string_view without_spaces(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

float number_of(const ColumnSpec& column, std::string_view text, const TextLines& lines) {
  if (text.starts_with('+')) text.remove_prefix(1);
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) fail(column, lines, fmt::format("{} does not fit float32", shown(text)));
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    fail(column, lines, fmt::format("{} is no finite number", shown(text)));
  return value;
}

}  // namespace

Cell cell_of(std::string_view field, ColumnKind kind) {
  if (kind == ColumnKind::kClass || of_files(kind)) return {std::string(without_spaces(field))};
  Cell cell;
  const std::string_view apart = kind == ColumnKind::kFloat ? " \t,;|\r" : "|";
  for (std::size_t begin = 0; begin <= field.size();) {
    const std::size_t end = std::min(field.find_first_of(apart, begin), field.size());
    const std::string_view part = without_spaces(field.substr(begin, end - begin));
    if (!part.empty()) cell.emplace_back(part);
    begin = end + 1;
  }
  return cell;
}

struct ColumnCells::Column {
  std::vector<float> numbers;        // kFloat: of all rows
  std::vector<ColumnFile> files;     // of columns of files, likewise
  LabelTable names;                  // else: those that were met
  std::vector<std::uint32_t> named;  // their provisional numbers, of all rows
  std::vector<std::size_t> ends;     // of each row's in `named`
};

ColumnCells::ColumnCells(const std::vector<ColumnSpec>& columns) : columns_(columns), read_(columns.size()) {}
ColumnCells::~ColumnCells() = default;

std::uint32_t ColumnCells::add(const std::vector<Cell>& cells, int folder, const TextLines& lines) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].kind == ColumnKind::kFloat) {
      add_numbers(read_[i], columns_[i], cells.at(i), lines);
    } else if (of_files(columns_[i].kind)) {
      add_file(read_[i], columns_[i], cells.at(i), folder, lines);
    } else {
      add_names(read_[i], columns_[i], cells.at(i), lines);
    }
  }
  return rows_++;
}

void ColumnCells::add_numbers(Column& to, const ColumnSpec& column, const Cell& cell, const TextLines& lines) {
  const std::size_t wanted = column.length.value_or(1);
  if (cell.size() != wanted) fail(column, lines, fmt::format("{} numbers where it has {}", cell.size(), wanted));
  for (const std::string& text : cell) to.numbers.push_back(number_of(column, text, lines));
}

void ColumnCells::add_file(Column& to, const ColumnSpec& column, const Cell& cell, int folder, const TextLines& lines) {
  if (cell.size() != 1 || cell.front().empty()) fail(column, lines, "one path of a file has to stand there");
  const std::string& path = cell.front();
  if (path.front() == '/') fail(column, lines, "an absolute path: paths are relative to the manifest's folder");
  struct stat info {};
  if (::fstatat(folder, path.c_str(), &info, 0) != 0)
    fail(column, lines, fmt::format("{}: {}", shown(path), std::strerror(errno)));
  if (!S_ISREG(info.st_mode) || info.st_size == 0)
    fail(column, lines, fmt::format("{} is empty, or no regular file", shown(path)));
  to.files.push_back({paths_.size(), path.size(), static_cast<std::uint64_t>(info.st_size)});
  paths_.append(path).push_back('\0');
}

void ColumnCells::add_names(Column& to, const ColumnSpec& column, const Cell& cell, const TextLines& lines) {
  if (column.kind == ColumnKind::kClass && (cell.size() != 1 || cell.front().empty()))
    fail(column, lines, "one name, or number, is a class");
  for (const std::string& text : cell) {
    const std::optional<std::uint32_t> number = to.names.add(text);
    if (!number) {
      fail(column, lines,
           to.names.numeric()
               ? fmt::format("{} is no number up to {}, but the first one is", shown(text), LabelTable::kMaxLabel)
               : fmt::format("{} is a number, but the first one is a name", shown(text)));
    }
    to.named.push_back(*number);
  }
  to.ends.push_back(to.named.size());
}

ColumnValues ColumnCells::finish(const std::filesystem::path& data) const {
  ColumnValues values{columns_, 0, {}, paths_};
  std::vector<std::vector<std::uint32_t>> numbers(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    ColumnSpec& column = values.columns[i];
    if (column.kind != ColumnKind::kFloat && !of_files(column.kind)) {
      LabelTable::Numbered numbered =
          read_[i].names.numbered(column.classes.empty() ? nullptr : &columns_[i].classes, data);
      column.classes = std::move(numbered.classes);
      numbers[i] = std::move(numbered.numbers);
    }
    if (column.kind == ColumnKind::kMultiHot && (column.classes.empty() || column.classes.size() > kMostHot)) {
      throw Error(ErrorKind::kData,
                  fmt::format("column {} of {} has {} different names: a multi_hot one has 1 to {}", shown(column.name),
                              shown(data.native()), column.classes.size(), kMostHot));
    }
    values.row_bytes += column.bytes();
  }
  values.rows.assign(values.row_bytes * rows_, '\0');
  char* out = values.rows.data();
  for (std::uint32_t row = 0; row < rows_; ++row) {
    for (std::size_t i = 0; i < columns_.size(); out += values.columns[i++].bytes()) {
      const Column& read = read_[i];
      if (columns_[i].kind == ColumnKind::kFloat) {
        const std::size_t bytes = values.columns[i].bytes();
        std::memcpy(out, read.numbers.data() + row * (bytes / sizeof(float)), bytes);
        continue;
      }
      if (of_files(columns_[i].kind)) {
        std::memcpy(out, &read.files[row], sizeof(ColumnFile));
        continue;
      }
      for (std::size_t at = row == 0 ? 0 : read.ends[row - 1]; at < read.ends[row]; ++at) {
        const std::int64_t number = numbers[i][read.named[at]];
        if (columns_[i].kind == ColumnKind::kMultiHot) {
          out[number] = 1;
        } else {
          std::memcpy(out, &number, sizeof number);
        }
      }
    }
  }
  return values;
}

}  // namespace feedring::dataset
