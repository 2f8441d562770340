// SPDX-License-Identifier: Apache-2.0
// The head of an array of NumPy's.
#include "producers/pack/npy.hpp"

#include <string_view>

#include "tests/support/fuzz_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  const auto head = pack::read_npy_head({reinterpret_cast<const char*>(data), size});
  if (head) test::fuzz_require(head->begin <= size && head->shape.size() <= 32);
  return 0;
}
