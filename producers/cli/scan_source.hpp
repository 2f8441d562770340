// SPDX-License-Identifier: Apache-2.0
// Data that a feed could read, as what a pack is made of.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "producers/cli/read_image.hpp"
#include "producers/dataset/scan.hpp"
#include "producers/pack/source.hpp"

namespace feedring::cli {

class ScanSource : public pack::Source {
 public:
  explicit ScanSource(Scan scan) : scan_(std::move(scan)) {}

  [[nodiscard]] const std::vector<std::string>& classes() const override { return scan_.classes; }
  [[nodiscard]] std::uint64_t items() const override { return scan_.samples.size(); }
  [[nodiscard]] std::uint32_t label(std::uint64_t number) const override { return scan_.samples.at(number).label; }
  [[nodiscard]] std::uint64_t bytes() const override;
  [[nodiscard]] std::string name(std::uint64_t number) override;
  [[nodiscard]] std::span<const std::uint8_t> read(std::uint64_t number) override;
  [[nodiscard]] std::filesystem::path origin(std::uint64_t number) const override;

 private:
  Scan scan_;
  pack::Names names_;
  FileBytes file_;
};

}  // namespace feedring::cli
