// SPDX-License-Identifier: Apache-2.0
// `feedring import`: what is in a pack, and how a feed sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <feedring/error.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "import_files.hpp"

namespace feedring {
namespace {

using nlohmann::json;
using test::Finished;
using test::Import;
using test::run_command;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(Import, PacksAFolderIntoATarWithTheSameDigest) {
  for (const char* name : {"d/b/1.jpg", "d/a/deep/2.png", "d/a/1.jpg"}) files_.file(name, 700);
  files_.folder("d/c");
  const json report = import("d", "d.tar");
  EXPECT_EQ(report["samples"], 3);
  EXPECT_EQ(report["classes"], 3) << "the empty one keeps its number";
  EXPECT_EQ(report["dataset_digest"], dataset_digest(scan_data(path("d"))));
  EXPECT_EQ(report["bytes"], std::filesystem::file_size(path("d.tar")));
  EXPECT_THAT(listing("d.tar"), ElementsAre("a a/1.jpg", "a a/deep/2.png", "b b/1.jpg"));
  EXPECT_THAT(listing("d.tar", {"", {"b"}}), ElementsAre("b b/1.jpg"));
  const std::string members = by_python("d.tar");
  if (members != "no python3") {
    EXPECT_THAT(members, HasSubstr("a/1.jpg=700;a/deep/2.png=700;b/1.jpg=700"));
  }
  import("d.tar", "again.tar");
  EXPECT_EQ(dataset_digest(scan_data(path("again.tar"))), report["dataset_digest"]);
}

TEST_F(Import, KeepsNumbersAndNamesOfListedClasses) {
  const std::string long_name(150, 'n');
  for (const std::string& name : {std::string("i/1.jpg"), std::string("j/1.jpg"), "i/" + long_name + ".jpg"})
    files_.file(name);
  files_.text("l.csv", "path,label\ni/1.jpg,10\nj/1.jpg,10\ni/1.jpg,2\ni/" + long_name + ".jpg,2\n");
  EXPECT_EQ(import("l.csv", "l.tar")["classes"], 11);
  EXPECT_THAT(listing("l.tar"),
              ElementsAre("2 2/1.jpg", "2 2/" + long_name + ".jpg", "10 10/00000003-1.jpg", "10 10/1.jpg"));
  const Scan scan = scan_data(path("l.tar"));
  EXPECT_EQ(scan.samples.back().label, 10U);
}

TEST_F(Import, LeavesNothingHalfDone) {
  files_.file("d/1.jpg");
  files_.text("there.tar", "mine");
  const Finished there = run_command({"import", path("d"), path("there.tar")});
  EXPECT_EQ(there.code, 2);
  EXPECT_THAT(there.err, HasSubstr("is there already"));
  files_.text("l.txt", "d/1.jpg\tx\t1\nd/gone.jpg\tx\t1\n");
  const Finished gone = run_command({"import", path("l.txt"), path("l.tar")});
  EXPECT_EQ(gone.code, 3);
  EXPECT_THAT(gone.err, HasSubstr("gone.jpg"));
  EXPECT_FALSE(std::filesystem::exists(path("l.tar")));
  EXPECT_FALSE(std::filesystem::exists(path("l.tar.part")));
  files_.text("d.tar.part", std::string(100000, 'x'));  // of a try that was killed
  EXPECT_EQ(import("d", "d.tar")["samples"], 1);
}

// Whatever a feed would refuse of the pack is refused before there is one.
TEST_F(Import, LeavesNoPackThatCannotBeRead) {
  files_.file("d/1.jpg");
  for (const char* name : {"out", "out.pack", "out.zip", "out.TAR", "out.tar.gz"}) {
    const Finished finished = run_command({"import", path("d"), path(name)});
    EXPECT_EQ(finished.code, 2) << name;
    EXPECT_THAT(finished.err, HasSubstr("let it end in .tar")) << name;
    EXPECT_FALSE(std::filesystem::exists(path(name))) << name;
  }
  ASSERT_EQ(::mkfifo(path("d.tar.part").c_str(), 0600), 0);
  const Finished finished = run_command({"import", path("d"), path("d.tar")});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("d.tar.part is in the way and is not what an import left"));
}

TEST_F(Import, GivesOneNameToOneFile) {
  for (const char* name : {"i/1.jpg", "j/1.jpg", "k/00000001-1.jpg"}) files_.file(name);
  files_.text("l.csv", "path,label\ni/1.jpg,x\nj/1.jpg,x\nk/00000001-1.jpg,x\n");
  import("l.csv", "l.tar");
  const std::vector<std::string> packed = listing("l.tar");
  EXPECT_EQ(packed.size(), 3U);
  EXPECT_EQ(std::set<std::string>(packed.begin(), packed.end()).size(), 3U);
}

TEST_F(Import, RefusesAPackThatWasChanged) {
  files_.file("d/1.jpg");
  import("d", "d.tar");
  std::fstream tar(path("d.tar"), std::ios::in | std::ios::out | std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(tar), {});
  tar.seekp(static_cast<std::streamoff>(text.find(",1]")) + 1);
  tar << '2';
  tar.close();
  EXPECT_THROW((void)listing("d.tar"), Error);
}

// Each number below the highest label is a class: their names alone may take memory, once or a few times.
TEST_F(Import, TakesLittleMemoryForClassesWithoutSamples) {
  files_.file("1.jpg");
  files_.text("l.csv", "path,label\n1.jpg,1000000\n");
  const std::string command = "ulimit -v 700000; '" FEEDRING_COMMAND "' import '" + path("l.csv") + "' '" +
                              path("l.tar") + "' >/dev/null 2> '" + path("said") + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT: of a test's own words
  const Scan scan = scan_data(path("l.tar"));
  EXPECT_EQ(scan.classes.size(), 1'000'001U);
  EXPECT_EQ(scan.samples.at(0).label, 1'000'000U);
}

}  // namespace
}  // namespace feedring
