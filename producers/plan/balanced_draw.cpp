// SPDX-License-Identifier: Apache-2.0
#include "producers/plan/balanced_draw.hpp"

#include <algorithm>
#include <utility>

#include "producers/plan/subset_rank.hpp"

namespace feedring {

BalancedDraw::Block BalancedDraw::shuffled(std::uint64_t seed, std::uint64_t epoch, std::uint64_t number) {
  Block block{seed, epoch, number, std::vector<std::uint32_t>(classes_)};
  SmallDraw draw(Draw(seed, epoch, number, Stream::kClasses));
  sample_draw_(classes_, draw, block.order);
  return block;
}

void BalancedDraw::part_from_tail(Block& block) {
  // Of the episode that lies across the beginning of this block, so many places are in the block before.
  const auto before = static_cast<std::uint32_t>(Wide{block.number} * classes_ % ways_);
  if (before == 0) return;
  const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                 [&](const Block& each) { return each.is(block.seed, block.epoch, block.number - 1); });
  const Block previous = kept != kept_.end() ? *kept : shuffled(block.seed, block.epoch, block.number - 1);
  const std::span<const std::uint32_t> tail(previous.order.end() - before, before);
  const auto in_tail = [&](std::uint32_t number) { return std::find(tail.begin(), tail.end(), number) != tail.end(); };
  std::uint32_t other = ways_ - before;
  for (std::uint32_t place = 0; place < ways_ - before; ++place) {
    if (!in_tail(block.order[place])) continue;
    while (in_tail(block.order[other])) ++other;
    std::swap(block.order[place], block.order[other++]);
  }
}

const BalancedDraw::Block& BalancedDraw::block(std::uint64_t seed, std::uint64_t epoch, std::uint64_t number) {
  for (const Block& kept : kept_) {
    if (kept.is(seed, epoch, number)) return kept;
  }
  Block made = shuffled(seed, epoch, number);
  part_from_tail(made);
  if (kept_.size() == 2) kept_.pop_front();
  kept_.push_back(std::move(made));
  return kept_.back();
}

void BalancedDraw::operator()(std::uint64_t seed, std::uint64_t epoch, std::uint64_t ordinal,
                              std::span<std::uint32_t> out) {
  const Wide begin = Wide{ordinal} * ways_;
  auto number = static_cast<std::uint64_t>(begin / classes_);
  auto place = static_cast<std::uint32_t>(begin % classes_);
  for (std::uint32_t& each : out) {
    each = block(seed, epoch, number).order[place];
    if (++place == classes_) {
      place = 0;
      ++number;
    }
  }
}

}  // namespace feedring
