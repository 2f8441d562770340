// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/column_table.hpp"

#include <charconv>
#include <cstring>
#include <feedring/error.hpp>
#include <optional>

#include "producers/dataset/index.hpp"

namespace feedring {
namespace {

[[noreturn]] void damaged() { throw Error(ErrorKind::kInternal, "the columns of a data set index are damaged"); }

/// Texts with a NUL behind each.
class Texts {
 public:
  explicit Texts(std::span<const std::byte> bytes) : rest_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  std::string_view next() {
    const std::size_t end = rest_.find('\0');
    if (end == std::string_view::npos) damaged();
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::uint64_t number() {
    const std::string_view text = next();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) damaged();
    return value;
  }
  [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }

 private:
  std::string_view rest_;
};

}  // namespace

ColumnTable::ColumnTable(const Index& index) {
  const std::span<const std::byte> all = index.attachment();
  if (index.nameless() || all.empty()) return;
  Texts texts(all);
  const std::uint64_t path_bytes = texts.number();
  for (std::uint64_t left = texts.number(); left > 0; --left) {
    std::string name(texts.next());
    std::optional<ColumnSpec> column = column_of(std::move(name), texts.next());
    if (!column) damaged();
    for (std::uint64_t names = texts.number(); names > 0; --names) column->classes.emplace_back(texts.next());
    row_bytes_ += column->bytes();
    columns_.push_back(*std::move(column));
  }
  if (path_bytes > texts.left()) damaged();
  const std::uint64_t row_bytes = texts.left() - path_bytes;
  if (row_bytes / index.size() != row_bytes_ || row_bytes % index.size() != 0) damaged();
  rows_ = all.last(texts.left()).first(row_bytes);
  paths_ = {reinterpret_cast<const char*>(all.last(path_bytes).data()), path_bytes};
}

ColumnTable::File ColumnTable::file(std::uint64_t sample, std::size_t column) const {
  std::span<const std::byte> value = row(sample);
  for (std::size_t i = 0; i < column; ++i) value = value.subspan(columns_[i].bytes());
  ColumnFile file;
  std::memcpy(&file, value.data(), sizeof file);
  if (file.path_begin >= paths_.size() || file.path_length >= paths_.size() - file.path_begin) damaged();
  if (paths_[file.path_begin + file.path_length] != '\0') damaged();
  return {paths_.substr(file.path_begin, file.path_length), file.bytes};
}

std::string dataset::column_head(const Scan& scan) {
  if (scan.values.columns.empty()) return {};
  std::string head;
  const auto put = [&](std::string_view text) { head.append(text).push_back('\0'); };
  put(std::to_string(scan.values.paths.size()));
  put(std::to_string(scan.values.columns.size()));
  for (const ColumnSpec& column : scan.values.columns) {
    put(column.name);
    put(kind_of(column));
    put(std::to_string(column.classes.size()));
    for (const std::string& name : column.classes) put(name);
  }
  return head;
}

}  // namespace feedring
