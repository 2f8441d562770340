// SPDX-License-Identifier: Apache-2.0
// How a rank finds its pool and gets its ring.
#pragma once

#include <cstdint>
#include <feedring/feed.hpp>
#include <string>

#include "consumers/feed_info.hpp"
#include "runtime/launch_env.hpp"
#include "runtime/memfd.hpp"

namespace feedring {

struct Attachment {
  FeedInfo info;
  UniqueFd ring;
  UniqueFd pool;
  UniqueFd supervisor;  ///< pidfd: fired once the pool is gone
};

/// Asks the pool at options.pool, FEEDRING_POOL or this job's own name for the ring of this rank. Where no pool was
/// named and none listens, starts one (pool_start.hpp). Tries until options.attach_deadline. Throws Error as
/// Feed::attach() does.
[[nodiscard]] Attachment attach_to_pool(const FeedOptions& options, const Environment& environment);

/// Which classes and samples an episode of the feed has, as the pool works it out: one line of JSON. Throws Error as
/// Feed::episode() does.
[[nodiscard]] std::string ask_for_episode(const FeedInfo& info, std::uint64_t seed, std::uint64_t epoch,
                                          std::uint64_t ordinal);

/// Tells the pool that nobody in this process uses the ring any more; returns when the next one may attach. Does
/// nothing where the pool is gone. Throws Error(kDeadline) where it does not answer.
void detach_from_pool(const FeedInfo& info);

}  // namespace feedring
