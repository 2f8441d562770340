// SPDX-License-Identifier: Apache-2.0
// Shared memory without names: what is sealed stays as it is, what is mapped cannot become SIGBUS, and what a newer
// kernel gives is done without where an older one refuses (a system call filter plays the older kernel).
#include "runtime/memfd.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <feedring/error.hpp>
#include <fstream>
#include <string>

#include "tests/support/child.hpp"

namespace feedring {
namespace {

using test::Child;

constexpr std::size_t kBytes = 64 * 4096;
constexpr unsigned kNoexecSeal = 8;                     // MFD_NOEXEC_SEAL
constexpr int kPopulateRead = 22, kPopulateWrite = 23;  // MADV_POPULATE_…

/// The line of /proc/self/maps for this address.
std::string map_line(const void* address) {
  char start[32];
  std::snprintf(start, sizeof start, "%zx-", reinterpret_cast<std::size_t>(address));
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.starts_with(start)) return line;
  }
  return "";
}

long page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// From now on `call` is EINVAL in this process where its argument `argument` has a bit of `bits` (mask) or equals one
/// of two values (mask 0).
bool refuse_call(long call, unsigned argument, unsigned mask, unsigned value, unsigned or_value) {
  const auto low_half = static_cast<unsigned>(offsetof(seccomp_data, args) + 8 * argument);
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low_half),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, or_value, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof code / sizeof *code, code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Memfd, IsZeroSizedAsAskedClosedOnExecAndNotExecutable) {
  const UniqueFd fd = create_memfd("test", kBytes);
  EXPECT_EQ(size_of(fd.get()), kBytes);
  EXPECT_EQ(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  struct stat info {};
  ASSERT_EQ(::fstat(fd.get(), &info), 0);
  EXPECT_EQ(info.st_blocks, 0) << "no page is reserved yet";
  const Mapping mapping(fd.get(), Mapping::Access::kReadWrite);
  for (std::size_t at = 0; at < kBytes; ++at) ASSERT_EQ(mapping.data()[at], std::byte{0});
}

TEST(Memfd, OfAnImpossibleSizeIsAnError) { EXPECT_THROW((void)create_memfd("test", ~std::uint64_t{0}), Error); }

TEST(Memfd, IsMadeTheSameByAKernelThatDoesNotKnowNoexecSeal) {
  Child child([] {
    if (!refuse_call(SYS_memfd_create, 1, kNoexecSeal, ~0U, ~0U)) return 77;
    if (::memfd_create("test", kNoexecSeal) >= 0) return 1;  // the filter works
    try {
      const UniqueFd fd = create_memfd("test", kBytes);
      seal_size(fd.get());
      if (size_of(fd.get()) != kBytes || ::ftruncate(fd.get(), 0) == 0) return 2;
      return (::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0 ? 0 : 3;
    } catch (const Error&) {
      return 4;
    }
  });
  const int status = child.wait();
  if (status == 77) GTEST_SKIP() << "system call filters are not allowed here";
  EXPECT_EQ(status, 0);
}

TEST(Seals, OnTheSizeRefuseShrinkingAndGrowingAlsoToAPeer) {
  const UniqueFd fd = create_memfd("test", kBytes);
  EXPECT_FALSE(size_is_sealed(fd.get()));
  seal_size(fd.get());
  EXPECT_TRUE(size_is_sealed(fd.get()));
  const Mapping mapping(fd.get(), Mapping::Access::kReadWrite);
  Child peer([&] {
    if (::ftruncate(fd.get(), 0) == 0 || errno != EPERM) return 1;
    if (::ftruncate(fd.get(), kBytes + 1) == 0 || errno != EPERM) return 2;
    const UniqueFd again(::open(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), O_RDWR | O_TRUNC));
    if (again) return 3;
    return 0;
  });
  EXPECT_EQ(peer.wait(), 0);
  EXPECT_EQ(size_of(fd.get()), kBytes);
  mapping.data()[kBytes - 1] = std::byte{1};  // would be SIGBUS had the peer had its way
}

TEST(Seals, AreNotThereOnAPlainFile) {
  const UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(size_is_sealed(file.get()));
  EXPECT_THROW(seal_size(file.get()), Error);
}

TEST(Seals, OnTheContentRefuseEveryWrite) {
  const UniqueFd fd = create_memfd("test", kBytes);
  {
    const Mapping mapping(fd.get(), Mapping::Access::kReadWrite);
    mapping.data()[5] = std::byte{42};
    EXPECT_THROW(seal_content(fd.get()), Error) << "not while somebody has it mapped for writing";
  }
  seal_content(fd.get());
  EXPECT_TRUE(size_is_sealed(fd.get()));
  EXPECT_LT(::pwrite(fd.get(), "x", 1, 0), 0);
  EXPECT_THROW(Mapping(fd.get(), Mapping::Access::kReadWrite), Error);
  EXPECT_EQ(Mapping(fd.get(), Mapping::Access::kReadOnly).bytes()[5], std::byte{42});
}

TEST(Mapping, SharesItsBytesAndOutlivesTheDescriptor) {
  UniqueFd fd = create_memfd("test", kBytes);
  const Mapping one(fd.get(), Mapping::Access::kReadWrite);
  const Mapping two(fd.get(), Mapping::Access::kReadOnly);
  fd.reset();
  one.data()[kBytes - 1] = std::byte{7};
  EXPECT_EQ(two.bytes()[kBytes - 1], std::byte{7});
  EXPECT_EQ(one.size(), kBytes);
  EXPECT_THAT(map_line(one.data()), testing::HasSubstr(" rw-s "));
  EXPECT_THAT(map_line(two.data()), testing::HasSubstr(" r--s "));
}

TEST(Mapping, OfLessThanWasPromisedIsAnErrorThatNamesBoth) {
  const UniqueFd fd = create_memfd("test", 4096);
  try {
    const Mapping mapping(fd.get(), Mapping::Access::kReadOnly, 8192);
    FAIL() << "mapped " << mapping.size() << " bytes";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("4096"), testing::HasSubstr("8192")));
  }
  const UniqueFd empty = create_memfd("test", 0);
  EXPECT_THROW(Mapping(empty.get(), Mapping::Access::kReadOnly), Error);
}

TEST(Mapping, MovesWithItsMemory) {
  const UniqueFd fd = create_memfd("test", kBytes), small = create_memfd("test", 4096);
  Mapping first(fd.get(), Mapping::Access::kReadWrite);
  const std::byte* const address = first.data();
  Mapping second(std::move(first));
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): moved from means empty
  EXPECT_EQ(second.data(), address);
  Mapping third(small.get(), Mapping::Access::kReadOnly);
  const std::byte* const dropped = third.data();
  third = std::move(second);
  EXPECT_EQ(third.data(), address);
  EXPECT_EQ(third.size(), kBytes);
  EXPECT_TRUE(third.populate(0, kBytes));
  EXPECT_EQ(map_line(dropped), "") << "what it held before is unmapped";
}

TEST(Mapping, IsNotThereInAForkedChildWhoseDestructorLeavesTheAddressesAlone) {
  const UniqueFd fd = create_memfd("test", kBytes);
  Mapping mapping(fd.get(), Mapping::Access::kReadWrite);
  Child child([&] {
    unsigned char resident = 0;
    if (::mincore(mapping.data(), 4096, &resident) == 0 || errno != ENOMEM) return 1;
    // Something else of the child comes to lie at the same addresses.
    void* other = ::mmap(mapping.data(), kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (other != mapping.data()) return 77;
    mapping = Mapping();
    static_cast<std::byte*>(other)[0] = std::byte{1};
    return ::mincore(other, 4096, &resident) == 0 ? 0 : 2;
  });
  const int status = child.wait();
  if (status == 77) GTEST_SKIP() << "the kernel did not give the child the address that was asked for";
  EXPECT_EQ(status, 0);
  mapping.data()[0] = std::byte{1};
}

/// Touches every page after populate(); returns the page faults of that.
long faults_after_populate(Mapping::Access access) {
  const UniqueFd fd = create_memfd("test", kBytes);
  const Mapping mapping(fd.get(), access);
  const Mapping peer(fd.get(), Mapping::Access::kReadWrite);
  peer.data()[4096] = std::byte{9};
  if (!mapping.populate(0, kBytes) || mapping.bytes()[4096] != std::byte{9}) return -1;
  const long before = page_faults();
  for (std::size_t at = 0; at < kBytes; at += 4096) {
    std::atomic_ref<std::uint8_t> byte(reinterpret_cast<std::uint8_t&>(mapping.data()[at]));
    if (access == Mapping::Access::kReadWrite) {
      byte.store(1);
    } else {
      (void)byte.load();
    }
  }
  return page_faults() - before;
}

// The race detector keeps notes on every byte that is touched, in pages of its own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kFaultsAreOurs = false;
#else
constexpr bool kFaultsAreOurs = true;
#endif

TEST(Populate, LeavesNoPageFaultForLaterAndChangesNothing) {
  if (!kFaultsAreOurs) GTEST_SKIP() << "page faults cannot be counted under the race detector";
  EXPECT_EQ(faults_after_populate(Mapping::Access::kReadWrite), 0);
  EXPECT_EQ(faults_after_populate(Mapping::Access::kReadOnly), 0);
}

TEST(Populate, DoesTheSameByTouchingWhereTheKernelDoesNotKnowTheAdvice) {
  if (!kFaultsAreOurs) GTEST_SKIP() << "page faults cannot be counted under the race detector";
  Child child([] {
    if (!refuse_call(SYS_madvise, 2, 0, kPopulateRead, kPopulateWrite)) return 77;
    if (faults_after_populate(Mapping::Access::kReadWrite) != 0) return 1;
    return faults_after_populate(Mapping::Access::kReadOnly) == 0 ? 0 : 2;
  });
  const int status = child.wait();
  if (status == 77) GTEST_SKIP() << "system call filters are not allowed here";
  EXPECT_EQ(status, 0);
}

TEST(Populate, KeepsToTheMapping) {
  const UniqueFd fd = create_memfd("test", kBytes);
  const Mapping mapping(fd.get(), Mapping::Access::kReadWrite);
  EXPECT_TRUE(mapping.populate(kBytes - 1, ~std::size_t{0}));
  EXPECT_TRUE(mapping.populate(kBytes, 1));
  EXPECT_TRUE(mapping.populate(0, 0));
  EXPECT_TRUE(mapping.populate(5000, 1));
  struct stat info {};
  ASSERT_EQ(::fstat(fd.get(), &info), 0);
  EXPECT_EQ(info.st_blocks, 2 * 8) << "the pages of the first and the fourth call, in blocks of 512 bytes";
}

}  // namespace
}  // namespace feedring
