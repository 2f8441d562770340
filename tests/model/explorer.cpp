// SPDX-License-Identifier: Apache-2.0
#include "tests/model/explorer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace feedring::model {
namespace {

// A set of 64 bit numbers, open addressing; zero is kept apart.
class Seen {
 public:
  bool insert(std::uint64_t key) {
    if (key == 0) key = 1;
    if (2 * (count_ + 1) > slots_.size()) grow();
    std::uint64_t& slot = find(key);
    if (slot == key) return false;
    slot = key;
    ++count_;
    return true;
  }

 private:
  std::uint64_t& find(std::uint64_t key) {
    std::size_t at = key & (slots_.size() - 1);
    while (slots_[at] != 0 && slots_[at] != key) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    std::vector<std::uint64_t> old(slots_.size() * 2, 0);
    old.swap(slots_);
    for (const std::uint64_t key : old) {
      if (key != 0) find(key) = key;
    }
  }
  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(1 << 16, 0);
  std::size_t count_ = 0;
};

struct Frame {
  Machine::Snapshot snapshot;
  std::vector<Move> moves;
  std::size_t next = 0;
  std::uint8_t last = 0xFF;  // who made the access that led here
  int preemptions = 0;
};

}  // namespace

Verdict explore(World& world, const Limits& limits) {
  Machine& it = machine();
  Verdict verdict;
  Seen seen;
  std::vector<Frame> frames(1);  // frames beyond `depth` keep their memory for the next use
  std::size_t depth = 0;

  const auto open = [&](std::uint8_t last, int preemptions) {
    if (depth == frames.size()) frames.emplace_back();
    Frame& frame = frames[depth];
    frame.moves.clear();
    frame.next = 0;
    frame.last = last;
    frame.preemptions = preemptions;
    const bool goes_on = last != 0xFF && it.choices(last) != 0;
    const bool bound = limits.preemptions >= 0 && preemptions >= limits.preemptions && goes_on;
    for (std::uint8_t actor = 0; actor < kMaxActors; ++actor) {
      if (bound && actor != last) continue;
      const std::uint32_t choices = it.choices(actor);
      for (std::uint32_t choice = 0; choice < choices; ++choice) {
        frame.moves.push_back({Move::Kind::kStep, actor, static_cast<std::uint8_t>(choice)});
      }
    }
    world.outside(frame.moves);
    // A death is no way on: whoever waits for one waits in vain.
    if (std::all_of(frame.moves.begin(), frame.moves.end(),
                    [](const Move& move) { return move.kind == Move::Kind::kKill; })) {
      ++verdict.ends;
      world.judge_end();
      return;
    }
    it.save(frame.snapshot);
    ++depth;
  };
  const auto key = [&](std::uint8_t last, int preemptions) {
    std::uint64_t hash = it.fingerprint();
    if (limits.preemptions >= 0)
      hash +=
          (static_cast<std::uint64_t>(last) * 64 + static_cast<std::uint64_t>(preemptions) + 1) * 0x9e3779b97f4a7c15;
    return hash;
  };
  const auto tell = [&](std::size_t frames_to_tell) {
    world.begin();
    for (std::size_t f = 0; f < frames_to_tell; ++f) {
      const Move& move = frames[f].moves[frames[f].next - 1];
      std::string what = move.kind == Move::Kind::kKill ? "DIES" : "starts again";
      if (move.kind == Move::Kind::kStep) {
        what = it.describe(move.actor);
        if (move.choice != 0) what += fmt::format(" (choice {})", move.choice);
        it.step(move.actor, move.choice);
      } else {
        world.apply(move);
      }
      verdict.trail += fmt::format("{:4} {}: {}\n", f, world.name_of(move.actor), what);
    }
  };

  world.begin();
  seen.insert(key(0xFF, 0));
  open(0xFF, 0);
  bool live = true;  // the machine is in the state of the last frame
  while (depth > 0) {
    Frame& frame = frames[depth - 1];
    if (frame.next == frame.moves.size()) {
      --depth;
      live = false;
      continue;
    }
    if (!live) it.restore(frame.snapshot);
    live = false;
    const Move move = frame.moves[frame.next++];
    ++verdict.moves;
    int preemptions = frame.preemptions;
    std::uint8_t last = frame.last;
    if (move.kind == Move::Kind::kStep) {
      if (last != 0xFF && last != move.actor && it.choices(last) != 0) ++preemptions;
      last = move.actor;
      it.step(move.actor, move.choice);
    } else {
      world.apply(move);
      last = 0xFF;
    }
    const std::size_t before = depth;
    if (it.violation().empty()) {
      if (!seen.insert(key(last, preemptions))) continue;
      ++verdict.states;
      open(last, preemptions);
      live = depth > before;
      verdict.deepest = std::max(verdict.deepest, depth);
    }
    if (!it.violation().empty()) {
      verdict.violation = it.violation();
      tell(before);
      return verdict;
    }
    if (verdict.states >= limits.states) return verdict;
  }
  verdict.complete = true;
  return verdict;
}

}  // namespace feedring::model
