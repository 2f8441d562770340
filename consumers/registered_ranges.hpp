// SPDX-License-Identifier: Apache-2.0
// Which memory a device was told of. Any thread.
#pragma once

#include <cstddef>
#include <feedring/error.hpp>
#include <iterator>
#include <map>
#include <mutex>

namespace feedring {

class RegisteredRanges {
 public:
  /// Throws Error(kUsage) for an empty range and for one that overlaps another.
  void add(std::byte* base, std::size_t bytes) {
    if (base == nullptr || bytes == 0) throw Error(ErrorKind::kUsage, "an empty range of memory cannot be registered");
    const std::lock_guard lock(mutex_);
    const auto after = ranges_.lower_bound(base);
    const bool hits_next = after != ranges_.end() && after->first < base + bytes;
    const bool hits_previous = after != ranges_.begin() && end(std::prev(after)) > base;
    if (hits_next || hits_previous) {
      throw Error(ErrorKind::kUsage, "this memory, or a part of it, is already registered with the device");
    }
    ranges_.emplace(base, bytes);
    bytes_ += bytes;
  }
  /// False where no range begins there.
  bool remove(std::byte* base) noexcept {
    const std::lock_guard lock(mutex_);
    const auto range = ranges_.find(base);
    if (range == ranges_.end()) return false;
    bytes_ -= range->second;
    ranges_.erase(range);
    return true;
  }
  /// All of [from, from + bytes) lies in one range.
  [[nodiscard]] bool contain(const std::byte* from, std::size_t bytes) const noexcept {
    const std::lock_guard lock(mutex_);
    const auto after = ranges_.upper_bound(from);
    return after != ranges_.begin() && from + bytes <= end(std::prev(after));
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  using Ranges = std::map<const std::byte*, std::size_t>;
  static const std::byte* end(Ranges::const_iterator range) { return range->first + range->second; }

  mutable std::mutex mutex_;
  Ranges ranges_;
  std::size_t bytes_ = 0;
};

}  // namespace feedring
