// SPDX-License-Identifier: Apache-2.0
// How much of memory this machine's processors keep near them.
#pragma once

#include <cstdint>
#include <filesystem>

namespace feedring {

/// Bytes of the outermost cache that the first processor shares with its neighbours; 0 where the kernel does not say.
/// From sysfs: sysconf(_SC_LEVEL3_CACHE_SIZE) adds up the caches of a whole socket in some virtual machines. `root`
/// stands for "/" (tests make one up).
[[nodiscard]] std::uint64_t outermost_cache_bytes(const std::filesystem::path& root = "/");

}  // namespace feedring
