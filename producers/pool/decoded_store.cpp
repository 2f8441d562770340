// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/decoded_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <limits>
#include <utility>

#include "producers/decode/image.hpp"

namespace feedring {
namespace {

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

StoreLayout lay_out_store(std::uint64_t samples, std::uint64_t picture_bytes, std::vector<ClassAugment> turns) {
  StoreLayout layout{.samples = samples, .turns = std::move(turns), .picture_bytes = picture_bytes};
  layout.entry_stride = round_up(picture_bytes + kSlack, contract::kLine);
  // Both factors come from a configuration and a data set: their product may exceed 64 bits.
  using Wide = unsigned __int128;
  const Wide entries = Wide{samples} * (layout.turns.size() + 1);
  const Wide bytes = entries * (sizeof(StoreWords<>::Word) + layout.entry_stride) + 2 * contract::kPage;
  if (bytes > static_cast<Wide>(std::numeric_limits<std::int64_t>::max())) {
    throw Error(ErrorKind::kMemory,
                fmt::format("a store of {} pictures of {} bytes is more than a machine can hold; leave out cache = "
                            "\"decoded\", or make the pictures smaller",
                            samples, picture_bytes));
  }
  layout.entries_offset = round_up(layout.entries() * sizeof(StoreWords<>::Word), contract::kPage);
  layout.bytes = round_up(layout.entries_offset + layout.entries() * layout.entry_stride, contract::kPage);
  return layout;
}

DecodedStore::DecodedStore(int memfd, StoreLayout layout, contract::Claimant self)
    : layout_(std::move(layout)), self_(self) {
  if (!size_is_sealed(memfd) || size_of(memfd) != layout_.bytes) {
    throw Error(ErrorKind::kRefused,
                "the memory that was handed over for decoded pictures is not sealed or has another size than the "
                "feed's samples need: supervisor and producer are of different builds");
  }
  mapping_ = Mapping(memfd, Mapping::Access::kReadWrite, layout_.bytes);
  words_ = StoreWords<>({reinterpret_cast<StoreWords<>::Word*>(mapping_.data()), layout_.entries()});
}

std::optional<std::size_t> DecodedStore::entry(std::uint64_t sample, std::optional<ClassAugment> turned) const {
  std::uint64_t variant = 0;
  if (turned) {
    const auto found = std::find(layout_.turns.begin(), layout_.turns.end(), *turned);
    if (found == layout_.turns.end()) return std::nullopt;
    variant = static_cast<std::uint64_t>(found - layout_.turns.begin()) + 1;
  }
  return variant * layout_.samples + sample;
}

const std::uint8_t* DecodedStore::find(std::size_t entry) const noexcept {
  return words_.is_done(entry) ? at(entry) : nullptr;
}

std::uint8_t* DecodedStore::claim(std::size_t entry) const noexcept {
  return words_.claim(entry, self_) ? at(entry) : nullptr;
}

std::uint8_t* DecodedStore::at(std::size_t entry) const noexcept {
  return reinterpret_cast<std::uint8_t*>(mapping_.data() + layout_.entries_offset + entry * layout_.entry_stride);
}

}  // namespace feedring
