// SPDX-License-Identifier: Apache-2.0
// The seek indices of a data set's JPEGs (decode/seekjpeg), in a memfd that the producers share: whoever decodes a
// picture first keeps its index, and later epochs enter its scan at the crop. Bounded, filled in the order that
// pictures come, never given back. Who meets an index that another is making decodes without one.
#pragma once

#include <cstdint>
#include <vector>

#include "producers/decode/seekjpeg/entry.hpp"
#include "runtime/memfd.hpp"
#include "runtime/store_words.hpp"

namespace feedring {

/// Where everything lies (runtime/contract.hpp): worked out by each process from these two numbers.
struct SeekLayout {
  std::uint64_t samples = 0;
  std::uint64_t record_bytes = 0;  ///< for all records, at most; a multiple of 8
  std::uint64_t places_offset = 0;
  std::uint64_t records_offset = 0;
  std::uint64_t bytes = 0;  ///< of the segment
};

[[nodiscard]] SeekLayout lay_out_seek_store(std::uint64_t samples, std::uint64_t record_bytes) noexcept;

/// A store as one process has it mapped; one thread of it at a time.
class SeekStore final : public seekjpeg::Shelf {
 public:
  /// `self` claims entries: a producer. Throws Error(kRefused) where the memory is not sealed or has another size.
  SeekStore(int memfd, SeekLayout layout, contract::Claimant self);

  /// The picture that the next calls are about: its sample, and when its file was last modified. Precondition: sample
  /// < layout.samples.
  void turn_to(std::uint64_t sample, std::uint64_t modified_ns) noexcept;

  /// A copy, since its source may change under our eyes. Empty also where the file was modified since.
  std::span<const seekjpeg::Entry> find(std::size_t count) override;
  bool wants(std::size_t count) override;
  void keep(std::span<const seekjpeg::Entry> entries) override;

  [[nodiscard]] const StoreWords<>& words() const noexcept { return words_; }
  /// Bytes of records that were handed out; a moment's number.
  [[nodiscard]] std::uint64_t taken() const noexcept;

 private:
  using Head = contract::SeekHead<std::atomic>;

  [[nodiscard]] Head& head() const noexcept { return *reinterpret_cast<Head*>(mapping_.data()); }
  [[nodiscard]] std::byte* place() const noexcept;
  [[nodiscard]] std::byte* record(std::uint64_t begin) const noexcept;

  SeekLayout layout_;
  Mapping mapping_;
  StoreWords<> words_;
  contract::Claimant self_;
  std::uint64_t sample_ = 0;
  std::uint64_t modified_ns_ = 0;
  std::vector<seekjpeg::Entry> found_;
};

}  // namespace feedring
