// SPDX-License-Identifier: Apache-2.0
// `feedring import` of pickles and of NumPy's archives of arrays.
#include <gmock/gmock.h>

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "import_files.hpp"

namespace feedring {
namespace {

using test::MadeImport;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ImportPickle : public MadeImport {
 protected:
  ImportPickle() : MadeImport("pickles.py") {}
};

/// The picture that pickles.py makes: its bytes count from 40 times its number on.
std::string ppm(const std::string& head, int number, int bytes) {
  std::string text = head;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(40 * number + i));
  return text;
}

TEST_F(ImportPickle, TakesEachOfTheKnownForms) {
  for (const char* protocol : {"0", "1", "2", "3", "4", "5"}) {
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
  EXPECT_THAT(refusal("evil.pkl"), HasSubstr("calls 'posix.system', which is not done here"));
  EXPECT_THAT(refusal("evil2.pkl"), HasSubstr("calls 'posix.system', which is not done here"));
  EXPECT_THAT(refusal("evil1.pkl"), HasSubstr("calls 'posix.system', which is not done here"));
  EXPECT_THAT(refusal("evil0.pkl"), HasSubstr("calls 'posix.system', which is not done here"));
  EXPECT_THAT(refusal("inst.pkl"), HasSubstr("calls 'os.system', which is not done here"));
  EXPECT_THAT(refusal("obj.pkl"), HasSubstr("calls 'os.system', which is not done here"));
  EXPECT_THAT(refusal("newobj.pkl"), HasSubstr("calls 'os.system', which is not done here"));
  EXPECT_THAT(refusal("persid.pkl"), HasSubstr("asks for what is not done here (code 0x50)"));
  EXPECT_THAT(refusal("ext.pkl"), HasSubstr("asks for what is not done here (code 0x82)"));
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

TEST_F(ImportPickle, ReadsPicturesThatStayInTheFile) {
  for (const char* name : {"large-0.pkl", "large-1.pkl", "large-2.pkl", "large-3.pkl", "large-4.pkl", "large-5.pkl",
                           "python2-large.pickle"}) {
    const std::string pack = std::string(name) + ".tar";
    EXPECT_EQ(import(name, pack)["samples"], 3);
    const bool two = std::string(name).starts_with("python2");
    EXPECT_EQ(file(pack, two ? 0 : 1), ppm("P6\n41 40\n255\n", two ? 2 : 0, 40 * 41 * 3)) << name;
    EXPECT_EQ(file(pack, 2), ppm("P6\n41 40\n255\n", 1, 40 * 41 * 3)) << name;
  }
}

TEST_F(ImportPickle, ReadsTheLinesOfPythonTwo) {
  import("python2-0.pickle", "two.tar");
  EXPECT_THAT(listing("two.tar"), ElementsAre("4 4/00000000.ppm", "4 4/00000003.ppm", "7 7/00000004.ppm",
                                              "9 9/00000001.ppm", "9 9/00000002.ppm"));
  EXPECT_EQ(file("two.tar", 4), ppm("P6\n4 2\n255\n", 2, 24));
  import("escapes.pkl", "escapes.tar");
  EXPECT_THAT(scan_data(path("escapes.tar")).classes,
              ElementsAre("b\u0103\\x\\\\u0041\u00e9\U0001f600", "it\"s", "o'neA\x07\n\\q\\"));
}

TEST_F(ImportPickle, SaysWhatIsWrongWithALine) {
  EXPECT_THAT(refusal("number.pkl"), HasSubstr("is damaged: a number is none"));
  EXPECT_THAT(refusal("long.pkl"), HasSubstr("holds a number of more than 64 bits"));
  EXPECT_THAT(refusal("open.pkl"), HasSubstr("holds a damaged text"));
  EXPECT_THAT(refusal("cut.pkl"), HasSubstr("is cut short"));
  EXPECT_THAT(refusal("hex.pkl"), HasSubstr("holds a damaged text"));
  EXPECT_THAT(refusal("half.pkl"), HasSubstr("holds a text that is no Unicode"));
  EXPECT_THAT(refusal("beyond.pkl"), HasSubstr("holds a text that is no Unicode"));
  EXPECT_THAT(refusal("recall.pkl"), HasSubstr("recalls what was not there"));
}

TEST_F(ImportPickle, CutsLongNamesInMessages) {
  EXPECT_THAT(refusal("name.pkl"), HasSubstr("a name or a number without an end"));
  for (const char* name : {"dtype.pkl", "long_class.pkl"}) {
    const std::string said = refusal(name);
    EXPECT_THAT(said, HasSubstr("...'"));
    EXPECT_LT(said.size(), 900U) << name;
  }
}

TEST_F(ImportPickle, IsAdvisedWhereAFeedIsGivenAPickle) {
  for (const char* name : {"cache-4.pkl", "train", "python2-0.pickle"}) {
    const test::Finished plan = test::run_command({"plan", path(name)});
    EXPECT_EQ(plan.code, 3);
    EXPECT_THAT(plan.err, HasSubstr("import it first (feedring import " + std::string(name) + " PACK.tar)"));
  }
}

TEST_F(ImportPickle, RefusesAChoiceThatItWouldNotMake) {
  for (const std::vector<std::string>& choice : {std::vector<std::string>{"--split", "train"},
                                                 {"--classes", "builtin:fc100/val"},
                                                 {"--class-depth", "2"},
                                                 {"--limit", "3"}}) {
    std::vector<std::string> arguments = {"import", path("cache-4.pkl"), path("x.tar")};
    arguments.insert(arguments.end(), choice.begin(), choice.end());
    const test::Finished finished = test::run_command(arguments);
    EXPECT_EQ(finished.code, 2) << choice[0];
    EXPECT_THAT(finished.err, AllOf(HasSubstr(choice[0]), HasSubstr("choose from the pack")));
  }
}

TEST_F(ImportPickle, SaysWhenAFileMayNotBecomeSoLarge) {
  const std::string command = "ulimit -f 1; '" FEEDRING_COMMAND "' import '" + path("large-4.pkl") + "' '" +
                              path("x.tar") + "' 2> '" + path("said") + "'";
  const int status = std::system(command.c_str());  // NOLINT: of a test's own words
  ASSERT_TRUE(WIFEXITED(status)) << "not killed by SIGXFSZ";
  std::ifstream stream(path("said"));
  const std::string said(std::istreambuf_iterator<char>(stream), {});
  EXPECT_THAT(said, AllOf(HasSubstr("x.tar.part cannot be written"), HasSubstr("File too large")));
  EXPECT_FALSE(std::filesystem::exists(path("x.tar.part")));
}

class ImportNpz : public MadeImport {
 protected:
  ImportNpz() : MadeImport("npz_files.py") {}
};

TEST_F(ImportNpz, TurnsBlueGreenRedAround) {
  for (const char* name : {"stored", "deflated", "version2", "version3", "plain_labels"}) {
    const std::string pack = std::string(name) + ".tar";
    EXPECT_EQ(import(std::string(name) + "_images.npz", pack)["samples"], 5) << name;
    EXPECT_EQ(file(pack, 0), ppm("P6\n4 2\n255\n", 1, 24)) << name;
    EXPECT_EQ(file(pack, 4), ppm("P6\n4 2\n255\n", 3, 24)) << name;
  }
  EXPECT_THAT(
      listing("stored.tar"),
      ElementsAre("dog/pug dog/pug/00000001.ppm", "dog/pug dog/pug/00000002.ppm", "bird/wren bird/wren/00000004.ppm",
                  "dog/terrier dog/terrier/00000000.ppm", "dog/terrier dog/terrier/00000003.ppm"));
  EXPECT_THAT(scan_data(path("plain_labels.tar")).classes, ElementsAre("64", "65", "66"));
  EXPECT_EQ(import("large_images.npz", "large.tar")["samples"], 3);
  EXPECT_EQ(file("large.tar", 2), ppm("P6\n700 600\n255\n", 2, 600 * 700 * 3)) << "deflated, more than a piece";
}

TEST_F(ImportNpz, SaysWhatIsWrong) {
  EXPECT_THAT(refusal("float_images.npz"), HasSubstr("has elements of '<f4': pictures of 8 bits"));
  EXPECT_THAT(refusal("object_images.npz"), HasSubstr("has elements of '|O'"));
  EXPECT_THAT(refusal("gray_images.npz"), HasSubstr("in another shape than (n, height, width, 3)"));
  EXPECT_THAT(refusal("fortran_images.npz"), HasSubstr("in C's order"));
  EXPECT_THAT(refusal("empty_images.npz"), HasSubstr("in another shape than"));
  EXPECT_THAT(refusal("records_images.npz"), HasSubstr("of versions 1 to 3 and without records"));
  EXPECT_THAT(refusal("version4_images.npz"), HasSubstr("of versions 1 to 3"));
  EXPECT_THAT(refusal("head_images.npz"), HasSubstr("does not begin as an array"));
  EXPECT_THAT(refusal("shape_images.npz"), HasSubstr("has other bytes than its shape says"));
  EXPECT_THAT(refusal("huge_images.npz"), HasSubstr("above 256 MiB"));
  EXPECT_THAT(refusal("other_images.npz"), HasSubstr("has no array called images"));
  EXPECT_THAT(refusal("stored.npz"), HasSubstr("has to be NAME_images.npz"));
  EXPECT_THAT(refusal("few_images.npz"), AllOf(HasSubstr("has 5 pictures, but"), HasSubstr("has 2 labels")));
  EXPECT_THAT(refusal("alone_images.npz"), HasSubstr("alone_labels.pkl"));
  EXPECT_THAT(refusal("bit_images.npz"), HasSubstr("has another checksum than the zip says"));
  EXPECT_THAT(refusal("deflated_bit_images.npz"), HasSubstr("it is damaged"));
  EXPECT_THAT(refusal("cut_images.npz"), HasSubstr("cut short"));
  EXPECT_THAT(refusal("gone_images.npz"), HasSubstr("No such file"));
  EXPECT_THAT(refusal("text_images.npz"), HasSubstr("it is no zip"));
  EXPECT_EQ(test::run_command({"import", path("stored_images.npz"), path("x.tar"), "--split", "train"}).code, 2);
}

}  // namespace
}  // namespace feedring
