// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "producers/transform/copy_kernels.hpp"
#include "resample_targets.hpp"

namespace feedring {
namespace {

class CopyOn : public test::OnInstructionSet {};
INSTANTIATE_TEST_SUITE_P(Kernels, CopyOn, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         test::name_of_instruction_set);

TEST_P(CopyOn, MovesEveryByteAndNoOtherWhereverItLies) {
  std::vector<std::uint8_t> from(5000);
  std::iota(from.begin(), from.end(), 1);
  for (const std::size_t bytes : {0U, 1U, 63U, 64U, 65U, 255U, 256U, 257U, 511U, 512U, 1000U, 4096U, 4500U}) {
    for (const std::size_t shift : {0U, 1U, 31U, 32U, 33U, 63U}) {
      for (const std::size_t place : {0U, 1U, 17U, 63U}) {
        std::vector<std::uint8_t> right(5000, 0);
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(shift), bytes,
                    right.begin() + static_cast<std::ptrdiff_t>(place));
        for (const bool past_caches : {false, true}) {
          std::vector<std::uint8_t> to(5000, 0);
          kernels::copy(from.data() + shift, bytes, to.data() + place, past_caches);
          ASSERT_EQ(to, right) << bytes << " bytes, " << shift << ", " << place << ", " << past_caches;
        }
      }
    }
  }
}

}  // namespace
}  // namespace feedring
