// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/feed_message.hpp"

#include <fmt/format.h>

#include "producers/config/episode_file.hpp"
#include "runtime/memfd.hpp"

namespace feedring {

FeedSpec spec_in(Message& message, std::size_t list) {
  FeedSpec spec = feed_spec_from_json(message.body.at("spec"));
  if (message.descriptors.size() <= list) return spec;
  const Mapping text(message.take_memory(list).get(), Mapping::Access::kReadOnly);
  take_episodes(fmt::format("feed '{}'", spec.name), {reinterpret_cast<const char*>(text.data()), text.size()},
                spec.episodes.emplace());
  return spec;
}

}  // namespace feedring
