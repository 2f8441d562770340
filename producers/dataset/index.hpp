// SPDX-License-Identifier: Apache-2.0
// The list of samples as one piece of shared memory: made once per node from a Scan, sealed, and mapped read-only by
// everybody who needs a path, a label or a class. Attaching costs the same at any size: nothing is copied or parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "producers/dataset/draw_tables.hpp"
#include "producers/dataset/scan.hpp"
#include "runtime/memfd.hpp"

namespace feedring {

namespace dataset {
struct SampleRecord;
}

/// What build_index will need, in bytes. A memfd does not fail when memory is short, it brings the out-of-memory
/// killer: whoever builds one compares this with what is free first.
[[nodiscard]] std::uint64_t index_bytes(const Scan& scan, const DrawTables& tables = {}) noexcept;

/// Writes the index of `scan` into a new memfd and seals size and content. Throws Error(kInternal).
[[nodiscard]] UniqueFd build_index(const Scan& scan, const DrawTables& tables = {});

/// The same for `samples` that have no files, all of one class without a name. `identity` says what they are: it makes
/// the digest. Costs the same for any number of them. `attachment`: bytes for whoever makes them, no part of the
/// digest.
[[nodiscard]] UniqueFd build_nameless_index(std::uint64_t samples, std::string_view identity,
                                            std::string_view attachment = "");

/// Sample or class numbers [begin, end).
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  [[nodiscard]] std::uint64_t size() const noexcept { return end - begin; }
  bool operator==(const Range&) const = default;
};

/// A view of a built index. May be used by many threads. Every accessor checks what it reads against the size of the
/// mapping, and throws Error(kInternal) for a number out of range or a damaged index.
class Index {
 public:
  /// Maps the index behind `fd`, which may be closed afterwards, and takes in its page table. Throws Error(kRefused)
  /// where the memory is not sealed against change, of another version, or no index.
  static Index attach(int fd);

  [[nodiscard]] std::uint64_t size() const noexcept { return samples_; }
  /// Samples have no files: path() is empty, bytes() and label() are 0.
  [[nodiscard]] bool nameless() const noexcept { return nameless_; }
  /// What stands at the end: of nameless samples for who makes them, else the values of columns (column_table.hpp).
  [[nodiscard]] std::span<const std::byte> attachment() const noexcept { return attachment_; }
  /// Relative to root(); path(i).data() ends in a NUL, as a system call wants it. Lives as long as the Index.
  [[nodiscard]] std::string_view path(std::uint64_t sample) const;
  /// How messages call the sample: its path, or `sample 17`.
  [[nodiscard]] std::string called(std::uint64_t sample) const;
  /// The size of the sample's file when the data was scanned.
  [[nodiscard]] std::uint64_t bytes(std::uint64_t sample) const;
  [[nodiscard]] std::uint32_t label(std::uint64_t sample) const;

  /// 0: samples are files below root().
  [[nodiscard]] std::uint64_t archives() const noexcept { return archives_; }
  /// Relative to root(), and a NUL behind it.
  [[nodiscard]] std::string_view archive(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t archive_bytes(std::uint64_t number) const;
  /// Where the sample's bytes lie, and in which archive. What it says of them was checked when the data was scanned,
  /// and is again when they are read. Precondition: archives() > 0.
  [[nodiscard]] Member member(std::uint64_t sample) const;

  /// Number of classes, empty ones included; 1 for data without classes.
  [[nodiscard]] std::uint64_t classes() const noexcept { return classes_; }
  [[nodiscard]] std::string_view class_name(std::uint64_t number) const;
  /// The samples of a class.
  [[nodiscard]] Range class_range(std::uint64_t number) const;
  /// All names in the order of their numbers: what another feed's `classes_from` needs.
  [[nodiscard]] std::vector<std::string> class_names() const;

  /// DrawTables of the index, each empty where it has none. They live as long as the Index.
  [[nodiscard]] std::span<const std::uint64_t> sums() const noexcept { return sums_; }
  [[nodiscard]] std::span<const Source> sources() const noexcept { return sources_; }
  [[nodiscard]] std::span<const std::uint64_t> drawn() const noexcept { return drawn_; }

  /// dataset_digest of the scan.
  [[nodiscard]] const std::string& digest() const noexcept { return digest_; }
  /// The folder that paths are relative to, absolute, with a NUL behind it.
  [[nodiscard]] std::string_view root() const;
  /// root(), and the names of the archives: data of the same digest and origin are the same files.
  [[nodiscard]] std::string origin() const;

 private:
  explicit Index(Mapping mapping);

  [[nodiscard]] dataset::SampleRecord sample(std::uint64_t number) const;
  template <class Record>
  [[nodiscard]] Record record(std::uint64_t at, std::uint64_t number, std::uint64_t count) const;
  template <class Record>
  [[nodiscard]] std::span<const Record> records(std::uint64_t at, std::uint64_t count) const;
  [[nodiscard]] std::string_view text(std::uint64_t begin, std::uint64_t length) const;

  Mapping mapping_;
  bool nameless_ = false;
  std::uint64_t samples_ = 0;
  std::uint64_t samples_at_ = 0;
  std::uint64_t members_at_ = 0;
  std::uint64_t archives_ = 0;
  std::uint64_t archives_at_ = 0;
  std::uint64_t classes_ = 0;
  std::uint64_t classes_at_ = 0;
  std::uint64_t text_at_ = 0;
  std::uint64_t text_bytes_ = 0;
  std::uint64_t root_length_ = 0;
  std::span<const std::uint64_t> sums_;
  std::span<const Source> sources_;
  std::span<const std::uint64_t> drawn_;
  std::string digest_;
  std::span<const std::byte> attachment_;
};

}  // namespace feedring
