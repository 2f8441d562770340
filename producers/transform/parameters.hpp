// SPDX-License-Identifier: Apache-2.0
// The parameters of one transform of a chain, read from JSON with errors that say where and what was expected.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "producers/decode/image.hpp"
#include "producers/transform/steps.hpp"
#include "producers/transform/weights.hpp"

namespace feedring {

class Parameters {
 public:
  /// `transform` is the object with "name" and its parameters, at `place` (from 1) of the chain; outlives this. Throws
  /// Error(kUsage) for a parameter that is not in `known`.
  Parameters(const nlohmann::json& transform, std::size_t place, std::string_view name,
             const std::vector<std::string_view>& known);

  /// Error(kUsage) about this transform: "transform 2 (Resize): " + `what`.
  [[noreturn]] void fail(const std::string& what) const;

  // Each throws Error(kUsage) for a value of another kind, and, without a fallback, where there is none (null counts as
  // none).
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key, bool fallback) const;
  [[nodiscard]] double number(std::string_view key, double fallback) const;
  [[nodiscard]] std::string word(std::string_view key) const;
  /// Whether it is this word. A value of another kind is not.
  [[nodiscard]] bool says(std::string_view key, std::string_view word) const;
  /// A number or a list of numbers; all finite.
  [[nodiscard]] std::vector<double> numbers(std::string_view key) const;
  /// A whole number or a list of them, each in [low, high].
  [[nodiscard]] std::vector<std::int32_t> integers(std::string_view key, std::int32_t low, std::int32_t high) const;
  /// A list of transforms, not empty.
  [[nodiscard]] const nlohmann::json& transforms(std::string_view key) const;
  /// "size" of a crop: an integer for both sides, or [height, width].
  [[nodiscard]] Size size() const;
  /// "interpolation", bilinear by default; and "antialias", which must not be false.
  [[nodiscard]] Filter filter() const;
  /// "interpolation" of a rotation: nearest by default, bilinear or bicubic.
  [[nodiscard]] Filter warp_filter() const;
  /// "p".
  [[nodiscard]] double probability(double fallback) const;
  /// "padding": a whole number, [left and right, top and bottom] or [left, top, right, bottom].
  [[nodiscard]] Padding padding() const;
  /// "fill", a whole number or three; black by default.
  [[nodiscard]] Colour fill() const;
  /// "padding_mode", constant by default.
  [[nodiscard]] Edge edge() const;

 private:
  [[nodiscard]] const nlohmann::json& at(std::string_view key) const;
  [[noreturn]] void expected(std::string_view key, const std::string& what) const;

  const nlohmann::json& json_;
  std::string where_;
};

/// The longest side that a chain may ask for, in pixels.
inline constexpr std::int32_t kLargestSide = 65535;

}  // namespace feedring
