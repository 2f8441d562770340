// SPDX-License-Identifier: Apache-2.0
#include "runtime/huge_pages.hpp"

#include <cstdio>
#include <fstream>

namespace feedring {

std::string huge_page_policy(const std::filesystem::path& root) {
  std::ifstream file(root / "sys/kernel/mm/transparent_hugepage/shmem_enabled");
  std::string line;
  std::getline(file, line);
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']', open);
  return open == std::string::npos || close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

bool may_have_huge_pages(const std::string& policy) noexcept {
  return policy == "advise" || policy == "within_size" || policy == "always" || policy == "force";
}

std::string describe_huge_pages(const std::string& policy) {
  if (policy.empty()) return "4 KiB (this kernel has no huge ones for shared memory)";
  return (may_have_huge_pages(policy) ? "2 MiB where there are any (shmem_enabled = "
                                      : "4 KiB (shared memory gets no huge ones: shmem_enabled = ") +
         policy + ")";
}

std::uint64_t huge_bytes_at(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    unsigned long long kib = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) {
      here = begin <= wanted && wanted < end;
    } else if (here && std::sscanf(line.c_str(), "ShmemPmdMapped: %llu kB", &kib) == 1) {
      return kib * 1024;
    }
  }
  return 0;
}

}  // namespace feedring
