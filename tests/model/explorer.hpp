// SPDX-License-Identifier: Apache-2.0
// Tries all orders of a small program: a depth-first search over the states of the machine, each visited once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/model/machine.hpp"

namespace feedring::model {

/// What can happen next: an actor's access, or something from outside of the actors (a death, a restart).
struct Move {
  enum class Kind : std::uint8_t { kStep, kKill, kRestart };
  Kind kind = Kind::kStep;
  std::uint8_t actor = 0;
  std::uint8_t choice = 0;
};

/// A program for the machine.
class World {
 public:
  virtual ~World() = default;
  /// Resets the machine and starts the actors.
  virtual void begin() = 0;
  /// Adds what may happen from outside now.
  virtual void outside(std::vector<Move>& moves) = 0;
  virtual void apply(const Move& outside) = 0;
  /// Nothing can happen any more: is that an end, or is somebody waiting in vain? Calls machine().fail() then.
  virtual void judge_end() = 0;
  [[nodiscard]] virtual std::string name_of(std::size_t actor) const = 0;
};

struct Limits {
  std::uint64_t states = 200'000'000;
  /// Switches away from an actor that could go on; -1: as many as there are. Few find most faults of larger programs.
  int preemptions = -1;
};

struct Verdict {
  std::uint64_t states = 0;
  std::uint64_t moves = 0;
  std::uint64_t ends = 0;  ///< states in which nothing could happen any more
  std::size_t deepest = 0;
  bool complete = false;  ///< all states were tried
  std::string violation;  ///< empty: none
  std::string trail;      ///< how it came to that, a line a move
};

[[nodiscard]] Verdict explore(World& world, const Limits& limits = {});

}  // namespace feedring::model
