// SPDX-License-Identifier: Apache-2.0
// Which classes the episodes of a feed draw from, in which groups. Worked out once, when a feed starts: here is where
// data that cannot give what was asked for is refused, with names and numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "producers/plan/episode_spec.hpp"

namespace feedring {

/// A class of the data set: its samples are [begin, begin + count).
struct SampleClass {
  std::string name;
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
};

/// What the data set's class is called above its last '/': "Greek" for "Greek/character03"; empty where there is none.
[[nodiscard]] std::string_view superclass_of(std::string_view name) noexcept;

/// The classes of a data set that take part, augmented ones included. Class a * C + c is class c of the data set's C
/// with augmentation a of spec.augment, counted from 1; a = 0 is the class as it is. Immutable.
class ClassPool {
 public:
  /// Members [begin, end): an episode draws its classes from one group.
  struct Group {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    [[nodiscard]] std::uint32_t size() const noexcept { return end - begin; }
  };
  /// A data set of a mixture: its groups are [begin, end), each as likely as the others.
  struct Source {
    double weight = 1;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  /// Without members: nothing is drawn.
  ClassPool() = default;
  /// Throws Error(kUsage) for values that exclude each other, and names that no class has; Error(kData) where the
  /// classes are too few or too small, with the largest numbers that would do.
  ClassPool(const EpisodeSpec& spec, const std::vector<SampleClass>& classes);

  /// The classes' numbers; a member's position in this list is what draws yield.
  [[nodiscard]] std::span<const std::uint32_t> members() const noexcept { return members_; }
  /// By member; empty where all are equal.
  [[nodiscard]] const std::vector<double>& weights() const noexcept { return weights_; }
  [[nodiscard]] const std::vector<Group>& groups() const noexcept { return groups_; }
  [[nodiscard]] const std::vector<Source>& sources() const noexcept { return sources_; }
  /// Names of the classes that small_classes = "skip" left out.
  [[nodiscard]] const std::vector<std::string>& skipped() const noexcept { return skipped_; }

 private:
  void leave_out_small(const EpisodeSpec& spec, const std::vector<SampleClass>& classes,
                       std::vector<std::uint32_t>& chosen);
  void group(const EpisodeSpec& spec, const std::vector<SampleClass>& classes, const std::vector<std::uint32_t>& chosen,
             std::string_view source);

  std::vector<std::uint32_t> members_;
  std::vector<double> weights_;
  std::vector<Group> groups_;
  std::vector<Source> sources_;
  std::vector<std::string> skipped_;
};

/// Samples that an episode takes of one class at most. With kMetaDataset, the fewest that a class can take part with.
[[nodiscard]] std::uint64_t samples_needed(const EpisodeSpec& spec);

}  // namespace feedring
