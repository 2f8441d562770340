// SPDX-License-Identifier: Apache-2.0
// What the episodes of a feed shall be. Values only; docs/episodes.md says what each of them means to the user.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedring {

/// How many: the same in each episode, or drawn for each one, uniformly from both ends and what is between.
struct Count {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  [[nodiscard]] bool varies() const noexcept { return low != high; }
  bool operator==(const Count&) const = default;
};

/// Where the numbers of classes and samples come from.
enum class EpisodeSizes : std::uint8_t {
  kGiven,        ///< ways, shots and queries, as they say
  kMetaDataset,  ///< drawn per episode and class by the rule of Meta-Dataset (episode_sizes.hpp)
};
/// How an episode's queries spread over its classes.
enum class QuerySplit : std::uint8_t {
  kEven,      ///< `queries` of each class
  kUniform,   ///< ways * queries, drawn from all samples of the episode's classes that are not in the support set
  kWeighted,  ///< ways * queries, in proportion to `query_weights` by the place of the class in the episode
};
/// How an episode gets its classes.
enum class ClassDraw : std::uint8_t {
  kIid,        ///< each episode by itself
  kBalanced,   ///< by turns: over an epoch, no class is used more than once more than another
  kEnumerate,  ///< every set of classes once an epoch
};
/// What the samples of a class depend on.
enum class SampleBinding : std::uint8_t {
  kFresh,  ///< the episode: drawn anew
  kTuple,  ///< the set of classes: when it comes back, its samples are the same
};
/// The label of the class at place j of an episode of n classes.
enum class LabelMap : std::uint8_t {
  kRandom,    ///< a random order of 0 … n-1
  kSorted,    ///< its rank among the episode's class numbers
  kIdentity,  ///< j
};
/// What happens to classes with fewer samples than an episode takes of one.
enum class SmallClasses : std::uint8_t {
  kError,
  kSkip,  ///< they are left out
};
/// How the classes that are made of others look. Applied to the image before anything else.
enum class ClassAugment : std::uint8_t { kRotate90, kRotate180, kRotate270, kFlipHorizontal, kFlipVertical };

struct EpisodeList;

struct EpisodeSpec {
  Count ways{5, 5};
  Count shots{1, 1};  ///< of each class; with kMetaDataset, `high` is what one class can add to the support set's size
  Count queries{15, 15};  ///< of each class; with kMetaDataset, `high` is the largest
  EpisodeSizes sizes = EpisodeSizes::kGiven;
  std::uint32_t support_limit = 500;  ///< kMetaDataset: the largest support set
  QuerySplit query_split = QuerySplit::kEven;
  std::vector<double> query_weights;  ///< kWeighted: one per way, above zero
  ClassDraw classes = ClassDraw::kIid;
  SampleBinding binding = SampleBinding::kFresh;
  LabelMap labels = LabelMap::kRandom;
  bool within_superclass = false;                             ///< all classes of an episode have one superclass
  std::vector<std::pair<std::string, double>> class_weights;  ///< by name; 1 for all others, 0 leaves a class out
  std::vector<std::pair<std::string, double>> mixture;        ///< weight by the beginning of a class's name
  std::vector<std::string> only;                              ///< the names of the classes that take part; empty: all
  std::vector<ClassAugment> augment;                          ///< distinct
  std::uint32_t unlabelled = 0;                               ///< of each class, and of each distractor
  std::uint32_t distractors = 0;                              ///< classes that have unlabelled samples alone
  SmallClasses small_classes = SmallClasses::kError;
  std::optional<std::uint64_t> tasks_per_epoch;  ///< at least 1; none: 1000, or with kEnumerate all sets
  bool fixed = false;                            ///< the episodes of epoch 0 in every epoch
  /// Set: nothing is drawn, these are the episodes. The rest then says what they look like, and how they were drawn.
  std::shared_ptr<const EpisodeList> list = nullptr;
};

/// Which two of its values exclude each other, as a sentence; nullopt where all agree. What depends on the data is
/// EpisodeSampler's to say.
[[nodiscard]] std::optional<std::string> contradiction_in(const EpisodeSpec& spec);

/// All episodes have the same numbers of classes, shots and queries, as many queries of each class, and nothing else.
[[nodiscard]] bool has_one_shape(const EpisodeSpec& spec) noexcept;

/// The weighted queries of each class: ways * queries in proportion to `query_weights`, one each at least, the rest by
/// the largest remainder, ties to the earlier. Precondition: kWeighted, no contradiction.
[[nodiscard]] std::vector<std::uint32_t> weighted_queries(const EpisodeSpec& spec);

}  // namespace feedring
