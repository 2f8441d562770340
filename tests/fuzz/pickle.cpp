// SPDX-License-Identifier: Apache-2.0
// A pickle: carried out, and all that it leaves looked at.
#include "producers/pack/pickle.hpp"

#include <feedring/error.hpp>
#include <string>

#include "tests/support/fuzz_input.hpp"
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  using Kind = pack::Pickle::Kind;
  try {
    const test::FuzzFile file({reinterpret_cast<const char*>(data), size});
    const pack::Pickle pickle(file.path());
    const pack::Pickle::Ref root = pickle.root();
    (void)pickle.numbers(root);
    (void)pickle.texts(root);
    (void)pickle.find(root, "data");
    if (pickle.kind(root) == Kind::kArray) {
      const pack::Pickle::Array& array = pickle.array(root);
      test::fuzz_require(array.dtype == "O" || array.elements() <= array.bytes.size);
      std::string bytes(array.bytes.size, '\0');
      pickle.read(array.bytes, 0, bytes.size(), bytes.data());
    }
    if (pickle.kind(root) == Kind::kDict) {
      for (const pack::Pickle::Ref each : pickle.items(root)) (void)pickle.numbers(each);
    }
  } catch (const Error& error) {
    test::fuzz_require(error.kind() == ErrorKind::kData);
  }
  return 0;
}
