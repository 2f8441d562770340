// SPDX-License-Identifier: Apache-2.0
// From 8 bit interleaved RGB to the element type and the layout of a slot, with the values that ToDtype and Normalize
// of torchvision.transforms.v2 compute.
//
// A pixel value is one of 256, so each channel has a table of results, made once by the same operations in the same
// order and precision as PyTorch's on the CPU: uint8 to float and times float(1/255); minus mean, over std. In float16
// and bfloat16 each operation computes in float and rounds its result to 16 bits. So [ToDtype float16, Normalize]
// rounds after every operation, [ToDtype float32, Normalize, ToDtype float16] once.
//
// A look-up an element is slower than the operations themselves on vectors. So these run where they give, on this
// processor, the 768 results of the tables; elsewhere, and for an image's last pixels, the tables do. For 16 bits one
// multiplication and addition give them as a rule.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "producers/plan/draw.hpp"
#include "producers/transform/finish_kernels.hpp"
#include "producers/transform/transform.hpp"
#include "runtime/finish_table.hpp"
#include "runtime/layout.hpp"

namespace feedring {

/// Immutable; may be used by any thread.
class Finish {
 public:
  /// `dtype` is what the slot holds: the chain's own, or, for a chain without ToDtype, any; a floating point one then
  /// gets values from 0 to 1, as ToDtype(dtype, scale = true) makes them. Throws Error(kUsage) for another.
  Finish(const Chain& chain, Dtype dtype, Layout layout);

  /// The slot holds interleaved 8 bit RGB: there is nothing to do, and run() must not be called.
  [[nodiscard]] bool is_plain() const noexcept { return dtype_ == Dtype::kUint8 && layout_ == Layout::kNhwc; }
  [[nodiscard]] std::size_t bytes_per_image() const noexcept { return pixels_ * 3 * bytes_of(dtype_); }

  /// `rgb` holds the pixels of one image without gaps, and kSlack readable bytes behind them. Writes exactly
  /// bytes_per_image() bytes at `out`.
  void run(const std::uint8_t* rgb, std::uint8_t* out) const noexcept;

  /// Writes `values`, one a channel, into the part `box` of the image at `out`, each rounded to the slot's type.
  void erase(Box box, const std::array<double, 3>& values, std::uint8_t* out) const noexcept;

  /// Standard normal numbers of `random` in their place: for each channel, row by row, each rounded to the slot's type.
  void erase(Box box, Draw random, std::uint8_t* out) const noexcept;

  /// run() computes here instead of looking up.
  [[nodiscard]] bool computes() const noexcept { return formula_.has_value(); }
  /// What pixel value `value` of `channel` (0 red, 1 green, 2 blue) becomes, as a float, which holds every value of
  /// the smaller types.
  [[nodiscard]] float value(int channel, std::uint8_t value) const noexcept;
  /// All that run() does to values and layout, for who does it elsewhere.
  [[nodiscard]] FinishTable table() const noexcept;

 private:
  /// Writes next(channel) into each value of the part `box`, for each channel, row by row.
  template <class Next>
  void write_part(Box box, std::uint8_t* out, Next next) const noexcept;
  /// Writes the pixels from number `done` on by look-up.
  void look_up(const std::uint8_t* rgb, std::size_t done, std::size_t pixels, std::uint8_t* out) const noexcept;
  /// The chain's floating point steps as one formula, if they are one and its kernel gives every result of the tables.
  [[nodiscard]] std::optional<kernels::Affine> formula(const Chain& chain) const;
  /// A line that meets all of them, where they are of 16 bits and one was found.
  [[nodiscard]] std::optional<kernels::Line> line_of(const kernels::Affine& affine) const;
  /// Whether its kernel gives all of them.
  [[nodiscard]] bool is_right(const kernels::Affine& affine) const;

  Size size_;
  std::size_t pixels_;
  Dtype dtype_;
  Layout layout_;
  std::array<std::array<float, 256>, 3> floats_{};
  std::array<std::array<std::uint16_t, 256>, 3> halves_{};  ///< float16 or bfloat16, as bits
  std::optional<kernels::Affine> formula_;
};

}  // namespace feedring
