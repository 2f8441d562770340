// SPDX-License-Identifier: Apache-2.0
// One axis of a resize: which source pixels each output pixel reads, and with which weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace feedring {

/// Pillow's filters. kNearest takes the source pixel under the output pixel's centre and has no weights.
enum class Filter : std::uint8_t { kNearest, kBox, kBilinear, kHamming, kBicubic, kLanczos };

/// "nearest", "box", "bilinear", "hamming", "bicubic", "lanczos".
[[nodiscard]] std::string_view name_of(Filter filter) noexcept;
/// nullopt for another word. "nearest-exact" is torchvision's second name for kNearest on Pillow images.
[[nodiscard]] std::optional<Filter> filter_of(std::string_view name) noexcept;

/// Source pixels [start, start + count) of one output pixel.
struct Taps {
  std::int32_t start = 0;
  std::int32_t count = 0;
};

/// The taps of output pixel `output` of a resize from `source` to `target` pixels. Both ends grow with `output`.
/// Precondition: filter is not kNearest, 0 <= output < target.
[[nodiscard]] Taps taps_of(std::int32_t source, std::int32_t target, std::int32_t output, Filter filter) noexcept;

/// Four of the twelve values of a group of outputs: those of one output and of the next on the right, in the source.
struct Third {
  std::int32_t offset;    ///< where its block begins in a row, in bytes
  std::int32_t distance;  ///< of the two outputs' first taps, in pixels
};

/// A horizontal pass, as its kernel takes it. `starts` and `words` (see AxisWeights) have an entry for each output.
struct AcrossWeights {
  const std::int32_t* starts;
  const std::int32_t* words;
  std::size_t stride;
  std::int32_t widest;  ///< the largest number of taps; words has an even number of rows for them
  std::int32_t count;
  bool mirrored;
  // The same as thirds of groups, made by kernels::spread.
  const Third* thirds;
  const std::int32_t* spread;  ///< for each third its words, four times each: one for a value
  std::int32_t farthest;       ///< the largest distance
};

/// The weights of a run of output pixels, ready for multiply-add of 16 bit pairs: a weight is an integer of 22
/// fractional bits, w = high * 2^kSplitBits + low with the signs of high and low that of w. Word (2p, i) holds the
/// highs of taps 2p and 2p+1 of output i in its lower and upper half, word (2p + 1, i) the lows. Absent taps weigh 0.
class AxisWeights {
 public:
  /// What the weights are for. Rows of a vertical pass are read one by one. A horizontal pass reads widest() pixels for
  /// every output: near the end its taps begin earlier, with weight 0, so that no read passes the last tap of all.
  enum class Pass : std::uint8_t {
    kDown,
    kAcross,
    kMirrored,  ///< kAcross with entry i for output first + count - 1 - i
  };

  /// Computes outputs [first, first + count) of a resize from `source` to `target` pixels. Keeps what it has when asked
  /// for the same again.
  /// Precondition: filter is not kNearest, all lengths positive, first >= 0, first + count <= target.
  void build(std::int32_t source, std::int32_t target, std::int32_t first, std::int32_t count, Filter filter,
             Pass pass);

  /// The largest number of taps of an output, and how many pairs they make.
  [[nodiscard]] std::int32_t widest() const noexcept { return widest_; }
  [[nodiscard]] std::int32_t pairs() const noexcept { return (widest_ + 1) / 2; }
  /// The source pixel that tap 0 of each output weighs. Entries behind the last repeat it, to a multiple of four.
  [[nodiscard]] const std::int32_t* starts() const noexcept { return starts_.data(); }
  /// The source pixel behind the last tap of each output.
  [[nodiscard]] const std::int32_t* ends() const noexcept { return ends_.data(); }
  /// Word (row, i) is words()[row * stride() + i]; rows 0 to 2 * pairs() - 1. As with starts(), the last is repeated.
  [[nodiscard]] const std::int32_t* words() const noexcept { return words_.data(); }
  [[nodiscard]] std::size_t stride() const noexcept { return stride_; }
  /// Of a horizontal pass: all of it.
  [[nodiscard]] AcrossWeights across() const noexcept;

 private:
  struct Key {
    std::int32_t source = 0, target = 0, first = 0, count = 0;
    Filter filter = Filter::kNearest;
    Pass pass = Pass::kDown;
    bool operator==(const Key&) const = default;
  };
  Key key_;
  std::int32_t widest_ = 0;
  std::size_t stride_ = 0;
  std::vector<std::int32_t> starts_;
  std::vector<std::int32_t> ends_;
  std::vector<double> raw_;  ///< weights of a few outputs before they are normalised, tap by tap
  std::vector<std::int32_t> words_;
  std::vector<Third> thirds_;  ///< with spread_ and farthest_: of a horizontal pass
  std::vector<std::int32_t> spread_;
  std::int32_t farthest_ = 0;
};

}  // namespace feedring
