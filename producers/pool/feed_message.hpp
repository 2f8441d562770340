// SPDX-License-Identifier: Apache-2.0
// A feed as the supervisor hands it to whoever makes its samples.
#pragma once

#include <cstddef>

#include "producers/config/feed_spec.hpp"
#include "runtime/message.hpp"

namespace feedring {

/// The "spec" of a message. Where the message has a descriptor number `list`, that is the text of the episodes that the
/// feed draws from, as it was when the pool started. Throws Error(kRefused | kData) and nlohmann::json::exception.
[[nodiscard]] FeedSpec spec_in(Message& message, std::size_t list);

}  // namespace feedring
