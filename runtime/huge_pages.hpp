// SPDX-License-Identifier: Apache-2.0
// Huge pages for shared memory: a ring in 2 MiB pages is registered with a device several times faster, and its mapping
// needs a 512th of the page table. The administrator decides (shmem_enabled); what was got is counted, for the kernel
// says yes to the advice and then does as it pleases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace feedring {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// The word in brackets of transparent_hugepage/shmem_enabled: "never", "advise", "within_size", "always", …; "" where
/// the kernel has none. `root` stands for "/" (tests make one up).
[[nodiscard]] std::string huge_page_policy(const std::filesystem::path& root = "/");

/// Whether memory that asks for huge pages may get some under a policy.
[[nodiscard]] bool may_have_huge_pages(const std::string& policy) noexcept;

/// What rings will lie in, for people: "4 KiB (shared memory gets no huge ones: shmem_enabled = never)".
[[nodiscard]] std::string describe_huge_pages(const std::string& policy = huge_page_policy());

/// Bytes of the mapping at `address` of this process that lie in huge pages (ShmemPmdMapped of /proc/self/smaps, which
/// alone tells the truth); 0 where nothing is mapped there.
[[nodiscard]] std::uint64_t huge_bytes_at(const void* address);

}  // namespace feedring
