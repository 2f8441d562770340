// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/tf_records.hpp"

#include <fmt/format.h>

#include "producers/dataset/little_endian.hpp"
#include "producers/dataset/member.hpp"
#include "producers/pack/crc32c.hpp"

namespace feedring::pack {
namespace {

constexpr std::uint64_t kHead = 12, kTail = 4;

std::uint32_t checksum_at(const std::string& bytes, std::size_t at) {
  return static_cast<std::uint32_t>(
      dataset::little_endian<4>(reinterpret_cast<const std::uint8_t*>(bytes.data()) + at));
}

}  // namespace

TfRecords::TfRecords(const std::filesystem::path& file) : file_(file, "file of records") {
  std::string head(kHead, '\0');
  for (std::uint64_t at = 0; at < file_.bytes();) {
    const std::uint64_t left = file_.bytes() - at;
    if (left < kHead + kTail) fail(records_.size(), "is cut short");
    file_.read(at, head.data(), kHead);
    const std::uint64_t bytes = dataset::little_endian<8>(reinterpret_cast<const std::uint8_t*>(head.data()));
    if (masked(crc32c(std::string_view(head).substr(0, 8))) != checksum_at(head, 8)) {
      fail(records_.size(), "has a length with another checksum: the file is damaged, or no TFRecord file");
    }
    if (bytes > left - kHead - kTail) fail(records_.size(), "is cut short");
    if (bytes > kLargestMember) fail(records_.size(), "has more than 256 MiB");
    records_.push_back({at + kHead, bytes});
    at += kHead + bytes + kTail;
  }
}

void TfRecords::read(std::uint64_t number, std::string& record) const {
  const Record& of = records_.at(number);
  record.resize(of.bytes + kTail);
  file_.read(of.begin, record.data(), record.size());
  const std::uint32_t said = checksum_at(record, of.bytes);
  record.resize(of.bytes);
  if (masked(crc32c(record)) != said) fail(number, "has another checksum than the file says: it is damaged");
}

void TfRecords::fail(std::uint64_t number, std::string_view what) const {
  file_.fail(fmt::format("record {} {}", number, what));
}

}  // namespace feedring::pack
