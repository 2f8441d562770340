// SPDX-License-Identifier: Apache-2.0
// A manifest: read, and made into an index whose every record is looked at.
#include <feedring/error.hpp>

#include "producers/dataset/index.hpp"
#include "producers/dataset/manifest.hpp"
#include "tests/support/fuzz_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  const test::FuzzFile file({reinterpret_cast<const char*>(data), size});
  try {
    const Scan scan = read_manifest(file.path());
    const UniqueFd fd = build_index(scan);
    const Index index = Index::attach(fd.get());
    test::fuzz_require(index.size() == scan.samples.size() && index.classes() == scan.classes.size());
    for (std::uint64_t sample = 0; sample < index.size(); ++sample) {
      const auto [begin, end] = index.class_range(index.label(sample));
      test::fuzz_require(index.path(sample) == scan.path(scan.samples[sample]) && begin <= sample && sample < end);
    }
  } catch (const Error& error) {
    test::fuzz_require(error.kind() == ErrorKind::kData);
  }
  return 0;
}
