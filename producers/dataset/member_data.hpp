// SPDX-License-Identifier: Apache-2.0
// What is known of a zip's members before they are read. Internal to this folder and producers/pack.
#pragma once

#include "producers/dataset/member.hpp"

namespace feedring {

/// What deflate can make of a byte: 258 bytes of two bits.
inline constexpr std::uint64_t kMostExpansion = 1032;

/// Turns the offset of a zip's local header into that of what it stands before.
[[nodiscard]] ReadOutcome find_data(int archive, std::uint64_t& offset, Wait wait, std::string_view path,
                                    std::optional<std::string>& fault);

}  // namespace feedring
