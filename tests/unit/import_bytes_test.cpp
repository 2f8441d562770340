// SPDX-License-Identifier: Apache-2.0
// Sources of an import with any byte changed or missing: an error, or pictures; never anything else. The sanitizers
// look on.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>
#include <feedring/error.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "dataset_files.hpp"
#include "producers/pack/import.hpp"

namespace feedring {
namespace {

namespace fs = std::filesystem;

class ImportBytes : public testing::Test {
 protected:
  /// Runs a script of this folder; false where it lacks a package.
  [[nodiscard]] bool make(const std::string& script) const {
    const std::string command = "/usr/bin/python3 '" FEEDRING_SOURCE_DIR "/tests/unit/" + script + "' '" +
                                files_.root().native() + "' 2>/dev/null";
    const int status = std::system(command.c_str());  // NOLINT: of a test's own words
    EXPECT_TRUE(status == 0 || WEXITSTATUS(status) == 77) << command;
    return status == 0;
  }
  /// Reads all that there is; whether it could be read.
  [[nodiscard]] bool reads(const fs::path& source) const {
    try {
      const auto opened = pack::open_import({.data = source, .beside = files_.root(), .hdf5 = {}, .split = {}});
      if (opened == nullptr) return false;
      for (std::uint64_t i = 0; i < opened->items(); ++i) {
        (void)opened->name(i);
        (void)opened->read(i);
      }
      return true;
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::kData || error.kind() == ErrorKind::kMemory) << error.what();
      return false;
    }
  }
  /// Changes each byte of `file`, and cuts it at each, and reads `source`. Returns how many of these could be read.
  [[nodiscard]] int walk(const std::string& file, const std::string& source) const {
    std::ifstream stream(files_.root() / file, std::ios::binary);
    const std::string good(std::istreambuf_iterator<char>(stream), {});
    EXPECT_TRUE(reads(files_.root() / source)) << source;
    int read = 0;
    for (std::size_t i = 0; i < good.size(); ++i) {
      files_.text(file, std::string_view(good).substr(0, i));
      read += reads(files_.root() / source) ? 1 : 0;
      std::string changed = good;
      changed[i] = static_cast<char>(changed[i] ^ (i % 2 == 0 ? '\x81' : '\x01'));
      files_.text(file, changed);
      read += reads(files_.root() / source) ? 1 : 0;
    }
    files_.text(file, good);
    return read;
  }
  DatasetFiles files_;
};

TEST_F(ImportBytes, OfNumPysArchivesAreChecked) {
  if (!make("npz_files.py")) GTEST_SKIP() << "no NumPy for /usr/bin/python3 (python3-numpy)";
  for (const char* name : {"stored_images.npz", "deflated_images.npz"}) (void)walk(name, name);
  (void)walk("stored_labels.pkl", "stored_images.npz");
}

TEST_F(ImportBytes, OfPicklesAreChecked) {
  if (!make("pickles.py")) GTEST_SKIP() << "no NumPy for /usr/bin/python3 (python3-numpy)";
  for (const char* name : {"cache-4.pkl", "cache-0.pkl", "tiny_images_png.pkl"}) (void)walk(name, name);
}

TEST_F(ImportBytes, OfRecordsAreChecked) {
  ASSERT_TRUE(make("meta_dataset_files.py"));
  EXPECT_EQ(walk("plain/1.tfrecords", "plain"), 0) << "lengths, checksums and labels are known";
  (void)walk("graph/dataset_spec.json", "graph");
}

}  // namespace
}  // namespace feedring
