// SPDX-License-Identifier: Apache-2.0
// How far an import has come, in a file beside what it has written: an import that was interrupted goes on there. What
// it says is compared with both, the pack and the source, and never believed. Internal to this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/memfd.hpp"

namespace feedring::pack {

struct Checkpoint {
  std::uint64_t items = 0;  ///< that are written
  std::uint64_t end = 0;    ///< of them in the pack
  std::string source;       ///< checksum of names and origins of the items since the checkpoint before
  std::string pack;         ///< checksum of the pack's bytes since then
};

class Journal {
 public:
  /// Takes TARGET.part.journal. `head`: a checksum of the pack's head; what was written for another one counts for
  /// nothing. The caller has the lock of TARGET.part. Throws Error(kData) where it cannot be written.
  Journal(const std::filesystem::path& target, const std::string& head);

  /// What an earlier import left, each behind the one before.
  [[nodiscard]] const std::vector<Checkpoint>& found() const noexcept { return found_; }
  /// Forgets all but the first `count` of those found. Before the first add().
  void keep(std::size_t count);
  void add(const Checkpoint& checkpoint);
  /// Whether there is anything to go on from.
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  void remove() noexcept;

 private:
  void write(const std::string& text);

  std::filesystem::path file_;
  UniqueFd fd_;
  std::string head_;  // the first line
  std::vector<Checkpoint> found_;
  std::size_t count_ = 0;
};

}  // namespace feedring::pack
