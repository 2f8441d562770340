// SPDX-License-Identifier: Apache-2.0
// The whole way of one sample: bytes of a file -> the values of its place in a slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "producers/decode/decoder.hpp"
#include "producers/transform/edge.hpp"
#include "producers/transform/finish.hpp"
#include "producers/transform/geometry.hpp"
#include "producers/transform/painter.hpp"
#include "producers/transform/resample.hpp"
#include "producers/transform/transform.hpp"
#include "producers/transform/turn.hpp"

namespace feedring {

/// Makes the result of a Geometry. One per thread; keeps its scratch.
class Renderer {
 public:
  /// `geometry` is finished; `pixels` are those that its first stage needs. Writes its result as interleaved RGB,
  /// exactly size().width * 3 bytes a row, rows `stride` bytes apart.
  void render(RgbView pixels, const Geometry& geometry, std::uint8_t* out, std::size_t stride);

 private:
  void run(const Geometry& geometry, const Stage& stage, RgbView input, std::uint8_t* out, std::size_t stride);
  void draw(const Geometry& geometry, const Stage& stage, RgbView input, std::uint8_t* out, std::size_t stride);

  Resampler resampler_;
  EdgeReader edges_;
  Painter painter_;
  std::vector<std::uint8_t> scratch_[2];  ///< results of stages before the last, in turn
};

/// What a chain does to one picture: its steps with their choices made, and the passes over pixels that they come to.
struct Drawn {
  Size size;  ///< of the picture
  Choices choices;
  Geometry geometry;

  /// The part of the picture that is needed for it.
  [[nodiscard]] Box need() const noexcept { return geometry.stages().front().need; }
};

/// A feed's samples. One per thread; keeps its scratch, so that the steady state neither allocates nor faults pages.
class Pipeline {
 public:
  /// `dtype` is chain.slot_dtype(…). Throws Error(kUsage) for a dtype that the chain does not make.
  Pipeline(Chain chain, Dtype dtype, Layout layout, const DecodeOptions& options = {});

  [[nodiscard]] std::size_t bytes_per_image() const noexcept { return finish_.bytes_per_image(); }

  [[nodiscard]] std::size_t pixels() const noexcept {
    const Size size = chain_.output_size();
    return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
  }

  /// Writes exactly bytes_per_image() bytes at `out`, which is aligned for the dtype. On a fault they are undefined.
  /// `random` is the ordinal's stream for augmentation. `turned`: before all else, the image is turned so.
  Fault run(std::span<const std::uint8_t> bytes, Decoder& decoder, Draw& random, std::uint64_t max_pixels,
            std::uint8_t* out, std::optional<ClassAugment> turned = std::nullopt);

  /// The same for a picture that is decoded already. Reads nothing outside of `picture`: it needs no slack.
  Fault run(RgbView picture, Draw& random, std::uint64_t max_pixels, std::uint8_t* out);

  /// What the last run() did.
  [[nodiscard]] const Drawn& drawn() const noexcept { return drawn_; }

  // The same step by step, for who needs the picture more than once (views.hpp).

  [[nodiscard]] const DecodeOptions& options() const noexcept { return options_; }
  /// Chooses what is done to a picture of this size. On a fault `drawn` is undefined.
  Fault draw(Size size, Draw& random, std::uint64_t max_pixels, Drawn& drawn) const;
  /// From the pixels of the part that it needs, with kSlack readable bytes behind them, what run() writes at `out`.
  void make(RgbView needed, const Drawn& drawn, std::uint8_t* out);

  // The same in two halves, for a chain without random_step(): what its geometric steps make is kept, and used again.

  /// What keep() writes.
  [[nodiscard]] std::size_t kept_bytes() const noexcept;
  /// Writes the pixels as interleaved RGB without gaps: exactly kept_bytes() at `pixels`. On a fault, which is the one
  /// that run() finds, they are undefined.
  Fault keep(std::span<const std::uint8_t> bytes, Decoder& decoder, std::uint64_t max_pixels, std::uint8_t* pixels,
             std::optional<ClassAugment> turned = std::nullopt);
  /// From such pixels, with kSlack readable bytes behind them, what run() writes at `out`. `past_caches`: as copy() of
  /// copy_kernels.hpp, where nothing is left to do but to copy.
  void finish_kept(const std::uint8_t* pixels, Draw& random, std::uint8_t* out, bool past_caches);

 private:
  [[nodiscard]] std::size_t row_bytes() const noexcept {
    return static_cast<std::size_t>(chain_.output_size().width) * 3;
  }
  Fault decode_needed(std::span<const std::uint8_t> bytes, const ImageInfo& info, Decoder& decoder,
                      std::optional<ClassAugment> turned, RgbView& needed);
  RgbView with_slack(RgbView picture, Box box);
  void erase(const Choices& choices, std::uint8_t* out) const;

  Chain chain_;
  Finish finish_;
  DecodeOptions options_;
  Drawn drawn_;
  Renderer renderer_;
  std::vector<std::uint8_t> turned_;  ///< the whole image, turned; of a picture that was given, what is needed of it
  std::vector<std::uint8_t> pixels_;  ///< the last stage's result where the slot holds other than uint8 NHWC
};

}  // namespace feedring
