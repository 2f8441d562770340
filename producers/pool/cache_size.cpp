// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/cache_size.hpp"

#include <charconv>
#include <optional>
#include <string>

#include "runtime/cgroup.hpp"

namespace feedring {
namespace {

namespace fs = std::filesystem;

// "32768K", as the kernel writes all of them (drivers/base/cacheinfo.c).
std::uint64_t bytes_in(const std::string& text) {
  std::uint64_t kibibytes = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, kibibytes);
  if (read.ec != std::errc() || std::string_view(read.ptr, end) != "K" || kibibytes > (UINT64_MAX >> 10)) return 0;
  return kibibytes << 10;
}

}  // namespace

std::uint64_t outermost_cache_bytes(const fs::path& root) {
  const fs::path caches = root / "sys/devices/system/cpu/cpu0/cache";
  std::uint64_t outermost = 0;
  std::uint64_t bytes = 0;
  for (int number = 0; const auto level = read_number(caches / ("index" + std::to_string(number)) / "level");
       ++number) {
    if (*level < outermost) continue;
    outermost = *level;
    bytes = bytes_in(read_line(caches / ("index" + std::to_string(number)) / "size").value_or(""));
  }
  return bytes;
}

}  // namespace feedring
