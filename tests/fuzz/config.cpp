// SPDX-License-Identifier: Apache-2.0
// A configuration file: read, its chains parsed, and handed on to a producer as the supervisor does.
#include <feedring/error.hpp>

#include "producers/config/feed_spec.hpp"
#include "producers/transform/pipeline.hpp"
#include "tests/support/fuzz_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  const test::FuzzFile file({reinterpret_cast<const char*>(data), size});
  try {
    for (const FeedSpec& spec : load_config(file.path()).feeds) {
      const FeedSpec told = feed_spec_from_json(to_json(spec));
      test::fuzz_require(told.data == spec.data && to_json(told) == to_json(spec));
      (void)Chain::parse(told.transform).slot_dtype(told.dtype);
    }
  } catch (const Error& error) {
    test::fuzz_require(error.what()[0] != '\0');
  }
  return 0;
}
