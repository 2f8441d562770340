// SPDX-License-Identifier: Apache-2.0
// An index that somebody else made: whatever its records say, a reader stays inside.
#include <feedring/error.hpp>
#include <numeric>

#include "producers/dataset/index.hpp"
#include "tests/support/fuzz_input.hpp"

namespace feedring {
namespace {

constexpr std::uint64_t kLookedAt = 64;

template <class Look>
void look(const Look& at) {
  try {
    at();
  } catch (const Error& error) {
    test::fuzz_require(error.kind() == ErrorKind::kInternal);
  }
}

// Sanitizers see a read beyond the end of a mapping only if something looks at each byte.
void read(std::string_view text) {
  test::fuzz_require(text.data()[text.size()] == '\0');
  test::fuzz_require(std::accumulate(text.begin(), text.end(), 0L) != 1L << 62);
}

}  // namespace
}  // namespace feedring

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  const test::FuzzFile file({reinterpret_cast<const char*>(data), size});
  seal_content(file.fd());
  try {
    const Index index = Index::attach(file.fd());
    look([&] { read(index.root()); });
    for (std::uint64_t i = 0; i < std::min(index.size(), kLookedAt) + 1; ++i) {
      look([&] { read(index.path(i)); });
      look([&] { test::fuzz_require(index.label(i) < index.classes()); });
      look([&] { (void)index.bytes(i); });
      look([&] { test::fuzz_require(index.member(i).archive < index.archives()); });
      look([&] { read(index.archive(i)); });
      look([&] { (void)index.archive_bytes(i); });
    }
    for (std::uint64_t i = 0; i < std::min(index.classes(), kLookedAt) + 1; ++i) {
      look([&] { read(index.class_name(i)); });
      look([&] {
        const Range range = index.class_range(i);
        test::fuzz_require(range.begin <= range.end && range.end <= index.size());
      });
    }
    look([&] { (void)index.class_names(); });
    test::fuzz_require(std::accumulate(index.attachment().begin(), index.attachment().end(), 0L,
                                       [](long sum, std::byte byte) { return sum + std::to_integer<long>(byte); }) >=
                       0);
  } catch (const Error& error) {
    test::fuzz_require(error.kind() == ErrorKind::kRefused);
  }
  return 0;
}
