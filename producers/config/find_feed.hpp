// SPDX-License-Identifier: Apache-2.0
// Which feed of a configuration a name means.
#pragma once

#include <cstddef>
#include <string>

#include "producers/config/feed_spec.hpp"

namespace feedring {

/// Its place in config.feeds. `file`: where the configuration was read, for the message; empty: it is a plain folder's.
/// Throws Error(kUsage) with a suggestion where there is none of that name.
[[nodiscard]] std::size_t find_feed(const std::string& name, const Config& config, const std::string& file);

}  // namespace feedring
