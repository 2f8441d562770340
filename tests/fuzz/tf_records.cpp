// SPDX-License-Identifier: Apache-2.0
// A file of records, and an example that would be in one: checksums would keep most changes from it.
#include "producers/pack/tf_records.hpp"

#include <feedring/error.hpp>
#include <string>

#include "producers/pack/tf_example.hpp"
#include "tests/support/fuzz_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto example = pack::read_tf_example(text); example && example->image) {
    const std::string copy(*example->image);  // every byte is there
    test::fuzz_require(copy.size() <= size);
  }
  try {
    const test::FuzzFile file(text);
    const pack::TfRecords records(file.path());
    std::string record;
    for (std::uint64_t i = 0; i < records.size(); ++i) {
      records.read(i, record);
      (void)pack::read_tf_example(record);
    }
  } catch (const Error& error) {
    test::fuzz_require(error.kind() == ErrorKind::kData);
  }
  return 0;
}
