// SPDX-License-Identifier: Apache-2.0
// The first member of a pack (producers/pack): its classes by number, and how many samples each has, in their order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedring {

inline constexpr std::string_view kPackHead = "feedring.json";

struct PackHead {
  std::vector<std::string> classes;
  std::vector<std::uint64_t> samples;  ///< of each class
};

/// Throws Error(kData) for a class whose name is not UTF-8.
[[nodiscard]] std::string write_pack_head(const std::vector<std::string>& classes,
                                          const std::vector<std::uint64_t>& samples);
/// nullopt: it is none.
[[nodiscard]] std::optional<PackHead> read_pack_head(std::string_view text);

}  // namespace feedring
