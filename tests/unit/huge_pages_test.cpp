// SPDX-License-Identifier: Apache-2.0
#include "runtime/huge_pages.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/memfd.hpp"
#include "runtime/reserve.hpp"
#include "tests/support/fake_root.hpp"

namespace feedring {
namespace {

constexpr std::uint64_t kBytes = 9 * kHugePage + 4096;

TEST(HugePages, ArePromisedBySomePoliciesOnly) {
  FakeRoot root;
  EXPECT_EQ(huge_page_policy(root.path()), "");
  root.write("sys/kernel/mm/transparent_hugepage/shmem_enabled", "always within_size advise [never] deny force\n");
  EXPECT_EQ(huge_page_policy(root.path()), "never");
  root.write("sys/kernel/mm/transparent_hugepage/shmem_enabled", "always within_size [advise] never deny force\n");
  EXPECT_EQ(huge_page_policy(root.path()), "advise");
  for (const char* word : {"advise", "within_size", "always", "force"}) EXPECT_TRUE(may_have_huge_pages(word)) << word;
  for (const char* word : {"", "never", "deny"}) EXPECT_FALSE(may_have_huge_pages(word)) << word;
  EXPECT_EQ(describe_huge_pages("never"), "4 KiB (shared memory gets no huge ones: shmem_enabled = never)");
  EXPECT_EQ(describe_huge_pages("advise"), "2 MiB where there are any (shmem_enabled = advise)");
}

// What the kernel says of a ring-like segment, whatever this machine grants.
TEST(HugePages, AreCountedWhereTheyAreAndNotWhereTheyAreNot) {
  const UniqueFd fd = create_memfd("test", kBytes);
  ASSERT_TRUE(reserve_pages(fd.get(), kBytes));
  const Mapping mapping(fd.get(), Mapping::Access::kReadWrite);
  ASSERT_TRUE(mapping.populate(0, mapping.size()));
  const std::uint64_t huge = huge_bytes_at(mapping.data());
  EXPECT_EQ(huge_bytes_at(mapping.data() + kBytes - 1), huge) << "the same mapping";
  EXPECT_EQ(huge_bytes_at(nullptr), 0U);
  if (!may_have_huge_pages(huge_page_policy())) {
    EXPECT_EQ(huge, 0U);
    GTEST_SKIP() << "shared memory gets no huge pages here: " << describe_huge_pages();
  }
  if (huge == 0) GTEST_SKIP() << "the system grants huge pages and had none just now";
  EXPECT_EQ(huge % kHugePage, 0U);
  EXPECT_LE(huge, 9 * kHugePage);
}

TEST(Reserve, TakesAPreferenceForANodeThatCannotBeMetAsNone) {
  for (const unsigned node : {0U, 63U, 1023U, 5000U}) {
    const UniqueFd fd = create_memfd("test", kBytes);
    EXPECT_TRUE(reserve_pages(fd.get(), kBytes, node)) << node;
    EXPECT_TRUE(reserve_pages(fd.get(), kBytes)) << "again, without";
  }
}

}  // namespace
}  // namespace feedring
