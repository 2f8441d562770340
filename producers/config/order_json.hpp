// SPDX-License-Identifier: Apache-2.0
// What of a feed's description decides how often and how many samples come, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "producers/config/feed_spec.hpp"

namespace feedring {

/// Adds to `json` what is not as it is without these keys: weights, the weights of mixed data, samples_per_epoch. Which
/// samples there are is the index's to say.
void put_order(nlohmann::json& json, const FeedSpec& spec);

/// Reads what put_order wrote, but for mixed data, which only the index knows.
void get_order(const nlohmann::json& json, FeedSpec& spec);

}  // namespace feedring
