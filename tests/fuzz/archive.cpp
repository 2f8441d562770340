// SPDX-License-Identifier: Apache-2.0
// An archive: listed as a tar and as a zip, and what it says it holds is read.
#include <feedring/error.hpp>
#include <vector>

#include "producers/dataset/archive_file.hpp"
#include "tests/support/fuzz_input.hpp"

namespace feedring {
namespace {

constexpr std::uint64_t kMostRead = 1 << 20;

template <class List>
void look(const dataset::ArchiveFile& file, const List& list) {
  try {
    std::size_t read = 0;
    for (const dataset::Listed& listed : list(file)) {
      test::fuzz_require(listed.name.find('\0') == std::string::npos);
      if (!listed.regular || !listed.refusal.empty() || ++read > 64) continue;
      if (contradiction_in(listed.member, listed.bytes, file.bytes()) || listed.bytes > kMostRead) continue;
      std::vector<std::uint8_t> bytes(listed.bytes);
      std::optional<std::string> fault;
      const ReadOutcome outcome = read_member(file.fd(), file.bytes(), listed.member, bytes.data(), bytes.size(),
                                              Wait::kForStorage, listed.name, fault);
      test::fuzz_require((outcome == ReadOutcome::kRead) == !fault);
    }
  } catch (const Error& error) {
    test::fuzz_require(error.kind() == ErrorKind::kData);
  }
}

}  // namespace
}  // namespace feedring

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  const test::FuzzFile input({reinterpret_cast<const char*>(data), size});
  const dataset::ArchiveFile file(input.path());
  look(file, dataset::list_tar);
  look(file, dataset::list_zip);
  return 0;
}
