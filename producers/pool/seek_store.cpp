// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/seek_store.hpp"

#include <algorithm>
#include <cstring>
#include <feedring/error.hpp>

#include "runtime/fault_point.hpp"

namespace feedring {
namespace {

constexpr std::uint64_t kUnit = 8;

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

// What a record takes, or more than there can be.
std::uint64_t bytes_of(std::size_t entries) {
  constexpr std::size_t kMany = std::size_t{1} << 32;
  return round_up(sizeof(contract::SeekRecord) + std::min(entries, kMany) * sizeof(seekjpeg::Entry), kUnit);
}

}  // namespace

SeekLayout lay_out_seek_store(std::uint64_t samples, std::uint64_t record_bytes) noexcept {
  SeekLayout layout{.samples = samples, .record_bytes = round_up(record_bytes, kUnit)};
  const std::uint64_t words = contract::kLine;
  layout.places_offset = round_up(words + samples * sizeof(StoreWords<>::Word), kUnit);
  layout.records_offset = layout.places_offset + samples * sizeof(std::uint64_t);
  layout.bytes = round_up(layout.records_offset + layout.record_bytes, contract::kPage);
  return layout;
}

SeekStore::SeekStore(int memfd, SeekLayout layout, contract::Claimant self) : layout_(layout), self_(self) {
  if (!size_is_sealed(memfd) || size_of(memfd) != layout_.bytes) {
    throw Error(ErrorKind::kRefused,
                "the memory that was handed over for seek indices is not sealed or has another size than was said: "
                "supervisor and producer are of different builds");
  }
  mapping_ = Mapping(memfd, Mapping::Access::kReadWrite, layout_.bytes);
  words_ = StoreWords<>({reinterpret_cast<StoreWords<>::Word*>(mapping_.data() + contract::kLine), layout_.samples});
}

void SeekStore::turn_to(std::uint64_t sample, std::uint64_t modified_ns) noexcept {
  sample_ = sample;
  modified_ns_ = modified_ns;
}

std::uint64_t SeekStore::taken() const noexcept { return head().taken.load(std::memory_order_relaxed); }

std::byte* SeekStore::place() const noexcept {
  return mapping_.data() + layout_.places_offset + sample_ * sizeof(std::uint64_t);
}

std::byte* SeekStore::record(std::uint64_t begin) const noexcept {
  return mapping_.data() + layout_.records_offset + begin;
}

std::span<const seekjpeg::Entry> SeekStore::find(std::size_t count) {
  if (count == 0 || !words_.is_done(sample_)) return {};
  // Any producer can write all of this: copies, checked before they lead anywhere.
  std::uint64_t begin = 0;
  std::memcpy(&begin, place(), sizeof begin);
  const std::uint64_t bytes = bytes_of(count);
  if (bytes > layout_.record_bytes || begin > layout_.record_bytes - bytes) return {};
  contract::SeekRecord head;
  std::memcpy(&head, record(begin), sizeof head);
  if (head.modified_ns != modified_ns_ || head.entries != count) return {};
  found_.resize(count);
  std::memcpy(found_.data(), record(begin) + sizeof head, count * sizeof(seekjpeg::Entry));
  return found_;
}

bool SeekStore::wants(std::size_t count) {
  if (count == 0) return false;  // a picture of one stretch has nothing to enter by
  const std::uint64_t bytes = bytes_of(count);
  if (bytes > layout_.record_bytes || taken() > layout_.record_bytes - bytes) return false;
  return words_.is_empty(sample_);
}

void SeekStore::keep(std::span<const seekjpeg::Entry> entries) {
  const std::uint64_t bytes = bytes_of(entries.size());
  if (!wants(entries.size()) || !words_.claim(sample_, self_)) return;
  fault_point("seek index, with an entry claimed");
  // Relaxed: it only keeps pieces apart; publish() orders what is written into them.
  const std::uint64_t begin = head().taken.fetch_add(bytes, std::memory_order_relaxed);
  if (begin % kUnit != 0 || begin > layout_.record_bytes - bytes) {  // others took the rest in between
    words_.give_back(sample_);
    return;
  }
  const contract::SeekRecord head{modified_ns_, entries.size()};
  std::memcpy(place(), &begin, sizeof begin);
  std::memcpy(record(begin), &head, sizeof head);
  std::memcpy(record(begin) + sizeof head, entries.data(), entries.size_bytes());
  fault_point("seek index, before it is published");
  words_.publish(sample_);
  fault_point("seek index, after it is published");
}

}  // namespace feedring
