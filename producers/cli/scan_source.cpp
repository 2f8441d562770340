// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/scan_source.hpp"

#include <feedring/error.hpp>

namespace feedring::cli {

std::uint64_t ScanSource::bytes() const {
  std::uint64_t all = 0;
  for (const Sample& sample : scan_.samples) all += sample.bytes;
  return all;
}

std::string ScanSource::name(std::uint64_t number) {
  const Sample& sample = scan_.samples.at(number);
  const std::size_t archive =
      scan_.archives.size() > 1 ? scan_.archives.at(scan_.members.at(sample.member).archive).name.size() + 1 : 0;
  return names_.name_of(scan_.classes.at(sample.label), scan_.path(sample).substr(archive), number);
}

std::span<const std::uint8_t> ScanSource::read(std::uint64_t number) {
  const Sample& sample = scan_.samples.at(number);
  Fault fault = file_.read(scan_, sample);
  if (!fault && file_.bytes().size() > kLargestMember) fault = "has more than 256 MiB, the most that a pack takes";
  if (!fault && file_.bytes().empty()) fault = "is empty";
  if (fault) throw Error(ErrorKind::kData, scan_.root + '/' + std::string(scan_.path(sample)) + ": " + *fault);
  return file_.bytes();
}

std::filesystem::path ScanSource::origin(std::uint64_t number) const {
  const Sample& sample = scan_.samples.at(number);
  const std::filesystem::path root = scan_.root;
  if (scan_.archives.empty()) return root / scan_.path(sample);
  return root / scan_.archives.at(scan_.members.at(sample.member).archive).name;
}

}  // namespace feedring::cli
