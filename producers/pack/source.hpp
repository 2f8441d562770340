// SPDX-License-Identifier: Apache-2.0
// What a pack is made of: samples in the order of their classes, wherever they come from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace feedring::pack {

class Source {
 public:
  Source() = default;
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Names by number; classes without samples among them.
  [[nodiscard]] virtual const std::vector<std::string>& classes() const = 0;
  [[nodiscard]] virtual std::uint64_t items() const = 0;
  /// The class of an item: not less than that of the one before.
  [[nodiscard]] virtual std::uint32_t label(std::uint64_t number) const = 0;
  /// About how many bytes all items have.
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  /// The name of an item's file, with folders; all different. To be asked once for each, in their order.
  [[nodiscard]] virtual std::string name(std::uint64_t number) = 0;
  /// Its bytes, of an image file; valid until the next read(). Throws Error(kData) with the sample's name.
  [[nodiscard]] virtual std::span<const std::uint8_t> read(std::uint64_t number) = 0;
  /// The file that they are read from: while it stays as it is, so do they.
  [[nodiscard]] virtual std::filesystem::path origin(std::uint64_t number) const = 0;
};

/// Gives the items of a pack their names.
class Names {
 public:
  /// `file` as it is where it lies below the folder of its class, else its last part there; with the item's number, or
  /// a following one, in front where another one has that name. Never a path that leads out of where it is unpacked.
  [[nodiscard]] std::string name_of(std::string_view class_name, std::string_view file, std::uint64_t number);

 private:
  static constexpr std::string_view kReserved = "feedring.json";
  std::unordered_set<std::string> used_;
};

}  // namespace feedring::pack
