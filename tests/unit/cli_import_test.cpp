// SPDX-License-Identifier: Apache-2.0
// `feedring import`: what is in a pack, and how a feed sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <feedring/error.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "dataset_files.hpp"
#include "producers/dataset/scan.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/program.hpp"

namespace feedring {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_command;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Import : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (files_.root() / name).native(); }
  json import(const std::string& source, const std::string& target, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"import", path(source), path(target), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run_command(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    if (finished.code != 0) return {};
    EXPECT_EQ(test::schema_error(test::schema_of("import"), finished.lines().at(0)), "");
    return finished.lines().at(0);
  }
  /// "class path" of each sample.
  [[nodiscard]] std::vector<std::string> listing(const std::string& data, const DataChoice& choice = {}) const {
    const Scan scan = scan_data(path(data), nullptr, NoSamples::kIsAnError, choice);
    std::vector<std::string> lines;
    for (const Sample& sample : scan.samples) {
      lines.push_back(scan.classes[sample.label] + ' ' + std::string(scan.path(sample)));
    }
    return lines;
  }
  /// Runs Python's tarfile: "name=bytes" of each member.
  [[nodiscard]] std::string by_python(const std::string& pack) const {
    const std::string out = path("listing");
    const std::string command =
        "python3 -c \"import tarfile,sys; print(*[m.name + '=' + str(m.size) for m in "
        "tarfile.open(sys.argv[1])], sep=';', end='')\" '" +
        path(pack) + "' > '" + out + "'";
    if (std::system(command.c_str()) != 0) return "no python3";  // NOLINT: of a test's own words
    std::ifstream stream(out);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  DatasetFiles files_;
};

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
  EXPECT_EQ(finished.code, 3) << "nobody reads the pipe: ENXIO";
  EXPECT_THAT(finished.err, HasSubstr("d.tar.part"));
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

class ImportPickle : public Import {
 protected:
  void SetUp() override {
    const std::string command =
        "/usr/bin/python3 '" FEEDRING_SOURCE_DIR "/tests/unit/pickles.py' '" + files_.root().native() + "' 2>/dev/null";
    if (std::system(command.c_str()) != 0)
      GTEST_SKIP() << "no NumPy for /usr/bin/python3 (python3-numpy)";  // NOLINT: of a test's own words
  }
  /// The file of a sample of a pack.
  [[nodiscard]] std::string file(const std::string& pack, std::size_t number) const {
    const Scan scan = scan_data(path(pack));
    const Sample& sample = scan.samples.at(number);
    std::ifstream stream(path(pack), std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(scan.members.at(sample.member).offset));
    std::string bytes(sample.bytes, '\0');
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }
};

/// The picture that pickles.py makes: its bytes count from 40 times its number on.
std::string ppm(const std::string& head, int number, int bytes) {
  std::string text = head;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(40 * number + i));
  return text;
}

TEST_F(ImportPickle, TakesEachOfTheKnownForms) {
  for (const char* protocol : {"2", "3", "4", "5"}) {
    const std::string pack = std::string(protocol) + ".tar";
    EXPECT_EQ(import("cache-" + std::string(protocol) + ".pkl", pack)["samples"], 5);
    EXPECT_THAT(listing(pack), ElementsAre("n01 n01/00000001.ppm", "n01 n01/00000002.ppm", "n01 n01/00000004.ppm",
                                           "n02 n02/00000000.ppm", "n02 n02/00000003.ppm"));
    EXPECT_EQ(file(pack, 4), ppm("P6\n4 2\n255\n", 3, 24)) << protocol;
  }
  for (const char* name : {"labels-list", "labels-array"}) {
    import(std::string(name) + ".pickle", std::string(name) + ".tar");
    EXPECT_THAT(listing(std::string(name) + ".tar"),
                ElementsAre("64 64/00000001.ppm", "64 64/00000002.ppm", "65 65/00000004.ppm", "66 66/00000000.ppm",
                            "66 66/00000003.ppm"));
  }
  EXPECT_EQ(import("bytes-keys.pickle", "k.tar")["classes"], 2);
  import("train", "cifar.tar");
  EXPECT_THAT(listing("cifar.tar"),
              ElementsAre("fish/ray fish/ray/00000001.ppm", "flowers/poppy flowers/poppy/00000000.ppm",
                          "flowers/poppy flowers/poppy/00000002.ppm"));
  EXPECT_EQ(file("cifar.tar", 2), ppm("P6\n2 2\n255\n", 2, 12)) << "planes become pixels";
  import("tiny_images_png.pkl", "tiny.tar");
  EXPECT_THAT(listing("tiny.tar"), ElementsAre("dog/Yorkshire terrier dog/Yorkshire terrier/00000001.png",
                                               "dog/pug dog/pug/00000000.png", "dog/pug dog/pug/00000002.png"));
  EXPECT_EQ(file("tiny.tar", 0), "PNG1");
}

TEST_F(ImportPickle, ReadsKeysAsPythonDoesAndLetsNoNameLeadElsewhere) {
  import("dupkey.pkl", "dupkey.tar");
  EXPECT_THAT(listing("dupkey.tar"), ElementsAre("ray ray/00000001.ppm", "poppy poppy/00000000.ppm"))
      << "labels 1 and 0: of equal keys the last holds; the names are those of the file meta";
  import("objects_images_png.pkl", "objects.tar");
  EXPECT_THAT(scan_data(path("objects.tar")).classes, ElementsAre("0", "5")) << "not all have a name";
  import("up.pkl", "up.tar");
  EXPECT_THAT(scan_data(path("up.tar")).classes, ElementsAre("../../evil", "/etc", "a/../b"));
  EXPECT_THAT(by_python("up.tar"), testing::AllOf(HasSubstr("_/_/evil/00000000.ppm"), HasSubstr(";_/etc/00000001.ppm"),
                                                  HasSubstr("a/_/b/00000002.ppm")));
}

TEST_F(ImportPickle, RunsNothing) {
  const auto refusal = [&](const char* name) {
    const Finished finished = run_command({"import", path(name), path("x.tar")});
    EXPECT_EQ(finished.code, 3) << name;
    EXPECT_FALSE(std::filesystem::exists(path("x.tar"))) << name;
    return finished.err;
  };
  EXPECT_THAT(refusal("evil.pkl"), HasSubstr("calls posix.system, which is not done here"));
  EXPECT_THAT(refusal("evil2.pkl"), HasSubstr("calls posix.system, which is not done here"));
  EXPECT_FALSE(std::filesystem::exists("was_run") || std::filesystem::exists(path("was_run")));
  EXPECT_THAT(refusal("float.pkl"), HasSubstr("no array of 8 bit numbers"));
  EXPECT_THAT(refusal("big.pkl"), HasSubstr("big-endian"));
  EXPECT_THAT(refusal("few.pkl"), HasSubstr("has 5 pictures, but labels of 1"));
  EXPECT_THAT(refusal("other.pkl"), HasSubstr("neither image_data"));
  EXPECT_THAT(refusal("twice.pkl"), HasSubstr("two classes are called 'a'"));
  EXPECT_THAT(refusal("nothing.pkl"), HasSubstr("without a picture"));
  EXPECT_THAT(refusal("flat.pkl"), HasSubstr("without a picture"));
  EXPECT_THAT(refusal("nul.pkl"), HasSubstr("holds a NUL character"));
  EXPECT_THAT(refusal("bomb.pkl"), HasSubstr("unpacks to more than the file has"));
}

}  // namespace
}  // namespace feedring
