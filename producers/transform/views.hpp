// SPDX-License-Identifier: Apache-2.0
// The views that a feed makes of each of its pictures: as a rule one, or several (global and local crops, a weak and a
// strong augmentation), for which the file is decoded once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "producers/transform/pipeline.hpp"

namespace feedring {

/// Of one view of one picture: the random numbers that it draws, and its place. One picture of an episode is one too.
struct Shot {
  Draw random;
  std::span<std::uint8_t> out;  ///< exactly the bytes of its pipeline's image, aligned for the dtype
};

/// One per thread, as its pipelines are.
class Views {
 public:
  /// Pictures that are made alike, each with random numbers of its own: a tensor of a slot.
  struct Group {
    std::string tensor;
    std::uint32_t count;
    Pipeline pipeline;
  };

  /// At least one group. All read files alike.
  explicit Views(std::vector<Group> groups);

  [[nodiscard]] std::vector<Group>& groups() noexcept { return groups_; }
  [[nodiscard]] const std::vector<Group>& groups() const noexcept { return groups_; }

  /// Writes a picture's views: `shots` are those of the first group, then of the next, and so on; or a single one of
  /// the first group. The file is decoded once, as much of it as all of them need. On a fault what was written is
  /// undefined. `turned` as in Pipeline::run, and for a single shot alone.
  Fault run(std::span<const std::uint8_t> bytes, Decoder& decoder, std::span<Shot> shots, std::uint64_t max_pixels,
            std::optional<ClassAugment> turned = std::nullopt);

 private:
  std::vector<Group> groups_;
  std::vector<Drawn> drawn_;  ///< of each view
};

}  // namespace feedring
