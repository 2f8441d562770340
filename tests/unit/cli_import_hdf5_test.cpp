// SPDX-License-Identifier: Apache-2.0
// `feedring import` of TorchMeta's HDF5 files, and of broken ones.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "import_files.hpp"

namespace feedring {
namespace {

using test::Finished;
using test::run_command;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ImportHdf5 : public test::MadeImport {
 protected:
  ImportHdf5() : MadeImport("hdf5_files.py") {}
  void SetUp() override {
    if (!std::filesystem::exists(FEEDRING_LIBEXEC "/feedring-hdf5")) GTEST_SKIP() << "built without HDF5";
    MadeImport::SetUp();
  }
};

/// The file that hdf5_files.py makes: its bytes count from 40 times its number on.
std::string pnm(const std::string& head, int number, int bytes, bool inverted = false) {
  std::string text = head;
  for (int i = 0; i < bytes; ++i)
    text.push_back(static_cast<char>(inverted ? 255 - (40 * number + i) % 256 : 40 * number + i));
  return text;
}

TEST_F(ImportHdf5, TakesTheClassesOfTheListInItsOrder) {
  EXPECT_EQ(import("miniimagenet", "mini.tar", {"--split", "train"})["samples"], 5);
  EXPECT_THAT(listing("mini.tar"), ElementsAre("n01 n01/00000000.ppm", "n01 n01/00000001.ppm", "n01 n01/00000002.ppm",
                                               "n02 n02/00000000.ppm", "n02 n02/00000001.ppm"));
  EXPECT_EQ(file("mini.tar", 2), pnm("P6\n4 2\n255\n", 4, 24));
  const auto digest = dataset_digest(scan_data(path("mini.tar")));
  EXPECT_EQ(import("miniimagenet/train_data.hdf5", "same.tar")["dataset_digest"], digest);
  EXPECT_EQ(import("miniimagenet/train_labels.json", "too.tar")["dataset_digest"], digest);
  import("miniimagenet/val_data.hdf5", "val.tar");
  EXPECT_THAT(listing("val.tar"), ElementsAre("n03 n03/00000000.ppm")) << "without a list all that are there";
}

TEST_F(ImportHdf5, TakesFilesAsTheyAreAndSuperclasses) {
  import("tieredimagenet", "tiered.tar", {"--split", "val"});
  EXPECT_THAT(listing("tiered.tar"), ElementsAre("bird/wren bird/wren/00000000.png", "dog/pug dog/pug/00000000.png",
                                                 "dog/pug dog/pug/00000001.png"));
  EXPECT_EQ(file("tiered.tar", 2), "\x89PNG two");
  import("doublemnist", "double.tar", {"--split", "test"});
  EXPECT_EQ(file("double.tar", 1), "\x89PNG 7");
  EXPECT_EQ(file("double.tar", 3), pnm("P6\n4 2\n255\n", 2, 24)) << "from compressed pieces";
}

TEST_F(ImportHdf5, TakesCharactersAsTheyAreStored) {
  import("omniglot", "vinyals.tar", {"--split", "train"});
  EXPECT_THAT(scan_data(path("vinyals.tar")).classes,
              ElementsAre("images_background/Latin/character02", "images_evaluation/ULOG/character01"));
  for (const int k : {0, 1, 2}) {
    EXPECT_EQ(file("vinyals.tar", static_cast<std::size_t>(k)), pnm("P5\n7 5\n255\n", 1 + (k + 2) % 3, 35, true))
        << "in the order of the file";
  }
  import("omniglot/train_labels.json", "lake.tar");
  EXPECT_THAT(scan_data(path("lake.tar")).classes,
              ElementsAre("images_background/Greek/character01", "images_background/Latin/character02"));
  EXPECT_EQ(import("omniglot", "all.tar")["classes"], 3);
}

TEST_F(ImportHdf5, FindsTheDataOfAListInTheFolderAbove) {
  import("cifar100/fc100", "fc100.tar", {"--split", "train"});
  EXPECT_THAT(listing("fc100.tar"),
              ElementsAre("flowers/poppy flowers/poppy/00000000.ppm", "flowers/poppy flowers/poppy/00000001.ppm",
                          "fish/ray fish/ray/00000000.ppm", "fish/ray fish/ray/00000001.ppm"));
  import("cifar100/cifar-fs/train_labels.json", "cifar.tar");
  EXPECT_THAT(scan_data(path("cifar.tar")).classes, ElementsAre("fish/shark"));
  EXPECT_EQ(import("cifar100", "all.tar")["classes"], 3);
  const auto usage = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "import");
    const Finished finished = run_command(arguments);
    EXPECT_EQ(finished.code, 2);
    return finished.err;
  };
  EXPECT_THAT(usage({path("cifar100"), path("x.tar"), "--split", "train"}),
              HasSubstr("give the folder cifar-fs or fc100"));
  EXPECT_THAT(usage({path("cifar100/fc100"), path("x.tar")}), HasSubstr("choose one by --split"));
  EXPECT_THAT(usage({path("miniimagenet"), path("x.tar")}), HasSubstr("choose one by --split"));
  EXPECT_THAT(usage({path("omniglot"), path("x.tar"), "--split", "test"}),
              HasSubstr("has no list of the split 'test'"));
  EXPECT_THAT(usage({path("miniimagenet/train_data.hdf5"), path("x.tar"), "--split", "val"}),
              HasSubstr("leave --split out"));
  EXPECT_THAT(usage({path("omniglot"), path("x.tar"), "--classes", "builtin:fc100/train"}),
              HasSubstr("leave --classes out"));
}

TEST_F(ImportHdf5, SaysWhatIsWrong) {
  EXPECT_THAT(refusal("wrong/text.hdf5"), HasSubstr("it is no HDF5 file, or a damaged one"));
  for (const char* name : {"float", "floats", "channels"}) {
    EXPECT_THAT(refusal("wrong/" + std::string(name) + ".hdf5"), HasSubstr("'datasets/a' holds no pictures"));
  }
  EXPECT_THAT(refusal("wrong/nothing.hdf5"), HasSubstr("the data has no picture"));
  EXPECT_THAT(refusal("wrong/circle.hdf5"), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal("wrong/test_data.hdf5"),
              AllOf(HasSubstr("it has no class 'b', which"), HasSubstr("test_labels.json")));
  EXPECT_THAT(refusal("badlist/test_data.hdf5"), HasSubstr("it is no list of names"));
  EXPECT_THAT(refusal("wrong/gone.hdf5"), HasSubstr("it is no HDF5 file"));
}

TEST_F(ImportHdf5, ReadsNoOtherFileBecauseAFileSaysSo) {
  import("wrong/links.hdf5", "links.tar");
  EXPECT_THAT(listing("links.tar"), ElementsAre("mine mine/00000000.ppm"));
  EXPECT_THAT(refusal("wrong/external.hdf5"), HasSubstr("'datasets/a' holds no pictures"));
  EXPECT_THAT(refusal("wrong/virtual.hdf5"), HasSubstr("'datasets/a' holds no pictures"));
}

// The command with another reader, or none.
class ImportByReader : public test::Import {
 protected:
  void SetUp() override {
    files_.text("a.hdf5", "x");
    files_.folder("bin");
    std::filesystem::copy_file(FEEDRING_COMMAND, path("bin/feedring"));
  }
  void reader(const std::string& script) const {
    files_.text("libexec/feedring/feedring-hdf5", "#!/bin/sh\n" + script);
    std::filesystem::permissions(path("libexec/feedring/feedring-hdf5"), std::filesystem::perms::owner_all);
  }
  /// The exit code and what was said.
  [[nodiscard]] std::pair<int, std::string> said() const {
    const std::string command = "'" + path("bin/feedring") + "' import '" + path("a.hdf5") + "' '" + path("x.tar") +
                                "' 2> '" + path("said") + "'";
    const int status = std::system(command.c_str());  // NOLINT: of a test's own words
    std::ifstream stream(path("said"));
    return {WEXITSTATUS(status), {std::istreambuf_iterator<char>(stream), {}}};
  }
};

TEST_F(ImportByReader, SaysHowTheReaderEnded) {
  reader("kill -SEGV $$");
  EXPECT_EQ(said().first, 3);
  EXPECT_THAT(said().second, HasSubstr("its reader was killed by signal 11 (Segmentation fault): the file is damaged"));
  reader("exit 5");
  EXPECT_THAT(said().second, HasSubstr("its reader ended with code 5"));
  // Sixteen bytes of a frame (length, failed), then what it holds.
  reader("printf '\\002\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0{}' >&0");
  EXPECT_THAT(said().second, HasSubstr("its reader sent nonsense"));
  reader("printf '\\0\\0\\0\\0\\0\\0\\0\\377\\0\\0\\0\\0\\0\\0\\0\\0' >&0");
  EXPECT_THAT(said().second, HasSubstr("its reader sent nonsense"));
}

TEST_F(ImportByReader, SaysWhenTheBuildHasNone) {
  EXPECT_EQ(said().first, 2);
  EXPECT_THAT(said().second, HasSubstr("this build of feedring has no HDF5: install libhdf5-dev"));
}

TEST_F(ImportHdf5, SaysASentenceOfWhateverBytesAreChanged) {
  for (const char* name : {"tieredimagenet/val_data.hdf5", "doublemnist/test_data.hdf5", "omniglot/data.hdf5"}) {
    std::ifstream stream(path(name), std::ios::binary);
    const std::string good(std::istreambuf_iterator<char>(stream), {});
    std::mt19937 random(7);  // NOLINT: the same files each time
    for (int round = 0; round < 24; ++round) {
      std::string text = good;
      for (int changes = 0; changes < 8; ++changes)
        text[random() % std::min<std::size_t>(text.size(), 6000)] = static_cast<char>(random());
      if (round % 4 == 0) text.resize(text.size() * (random() % 90) / 100);
      files_.text("changed.hdf5", text);
      const Finished finished = run_command({"import", path("changed.hdf5"), path("changed.tar")});
      EXPECT_TRUE(finished.code == 0 || finished.code == 3)
          << name << ' ' << round << ": " << finished.code << finished.err;
      if (finished.code == 3) {
        EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
      }
      std::filesystem::remove(path("changed.tar"));
      std::filesystem::remove(path("changed.tar.part"));
    }
  }
}

}  // namespace
}  // namespace feedring
