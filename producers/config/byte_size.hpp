// SPDX-License-Identifier: Apache-2.0
// Amounts of memory as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace feedring {

/// Bytes of "8 GiB", "8GiB", "512 MiB", "1.5 GiB", "64 kB", "1048576" or "1048576 B". KiB, MiB, GiB, TiB count in
/// 1024s; kB, MB, GB, TB in 1000s (IEC 80000-13), without regard to case; a bare K, M, G or T is refused, since half of
/// the world means the one and half the other. A fraction is rounded down to whole bytes. nullopt: not such an amount,
/// zero, or 2^63 and more.
[[nodiscard]] std::optional<std::uint64_t> parse_byte_size(std::string_view text);

}  // namespace feedring
