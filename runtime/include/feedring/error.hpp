// SPDX-License-Identifier: Apache-2.0
// What can go wrong, as one exception type with a kind. The kind decides the exit code of the commands and lets a
// program react without reading the text; the text is one sentence for a person: what happened, to which file, rank
// or slot, and what to do.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace feedring {

enum class ErrorKind : std::uint8_t {
  kUsage,     ///< wrong arguments, configuration or environment
  kData,      ///< a data set or file that cannot be used
  kInternal,  ///< a broken promise of our own, or a system call that had no reason to fail
  kMemory,    ///< not enough memory for what was asked
  kPoolGone,  ///< the pool, a producer or a peer died and could not be replaced
  kDeadline,  ///< a wait passed its deadline
  kRefused,   ///< another user, another build, another job, or a ring that somebody else owns
  kHeld,      ///< the caller holds all slots of its ring and asked for one more
  kForked,    ///< a forked child used what belongs to its parent
};

/// Exit code of the commands for an error of this kind (docs/deadlines.md and `feedring --help` list them).
constexpr int exit_code(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::kUsage: return 2;
    case ErrorKind::kData: return 3;
    case ErrorKind::kMemory: return 71;
    case ErrorKind::kPoolGone: return 72;
    case ErrorKind::kDeadline: return 73;
    case ErrorKind::kRefused: return 74;
    case ErrorKind::kInternal:
    case ErrorKind::kHeld:
    case ErrorKind::kForked: return 70;
  }
  return 70;
}

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& sentence) : std::runtime_error(sentence), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace feedring
