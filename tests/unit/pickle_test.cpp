// SPDX-License-Identifier: Apache-2.0
// A pickle that somebody changes while it is read.
#include "producers/pack/pickle.hpp"

#include <gmock/gmock.h>

#include <feedring/error.hpp>
#include <filesystem>
#include <string>

#include "dataset_files.hpp"

namespace feedring {
namespace {

TEST(Pickle, ThatIsCutShortMeanwhileIsASentence) {
  const DatasetFiles files;
  std::string text =
      "\x80\x03"
      "B";
  text += std::string("\0\0\x01\0", 4) + std::string(65536, 'x') + '.';
  files.text("a.pkl", text);
  const pack::Pickle pickle(files.root() / "a.pkl");
  const pack::Pickle::Bytes bytes = pickle.bytes(pickle.root());
  std::string read(10, '\0');
  pickle.read(bytes, 65526, read.size(), read.data());
  EXPECT_EQ(read, "xxxxxxxxxx");
  std::filesystem::resize_file(files.root() / "a.pkl", 100);
  try {
    pickle.read(bytes, 65526, read.size(), read.data());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    EXPECT_THAT(error.what(), testing::HasSubstr("the data changed while it was read"));
  }
}

}  // namespace
}  // namespace feedring
