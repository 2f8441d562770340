// SPDX-License-Identifier: Apache-2.0
// What a rank that starts a pool and the command that it starts must agree on.
#pragma once

#include <array>
#include <feedring/error.hpp>

namespace feedring {

/// What every further start would end with, too: the rank gives up, and tells the sentence that the command left for
/// it, so that the command itself does not.
inline constexpr std::array kEndsAllStarts = {ErrorKind::kUsage, ErrorKind::kData, ErrorKind::kMemory,
                                              ErrorKind::kRefused};

}  // namespace feedring
