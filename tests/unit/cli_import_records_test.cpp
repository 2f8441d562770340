// SPDX-License-Identifier: Apache-2.0
// `feedring import` of Meta-Dataset's folders of records.
#include <gmock/gmock.h>

#include <string>

#include "import_files.hpp"

namespace feedring {
namespace {

using test::Finished;
using test::run_command;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ImportRecords : public test::MadeImport {
 protected:
  ImportRecords() : MadeImport("meta_dataset_files.py") {}
  [[nodiscard]] std::vector<std::string> classes(const std::string& source, const std::string& split) {
    const std::string pack = source + "-" + split + ".tar";
    import(source, pack, {"--split", split});
    return scan_data(path(pack)).classes;
  }
};

/// The file that meta_dataset_files.py makes.
std::string image(int number, int k) {
  std::string text = "\xff\xd8 image " + std::to_string(k) + " of class " + std::to_string(number) + ' ';
  for (int i = 0; i < 200; ++i) text.push_back(static_cast<char>(i));
  return text;
}

TEST_F(ImportRecords, TakesClassesInTheirOrderAndImagesAsTheyAre) {
  EXPECT_EQ(import("plain", "plain.tar")["samples"], 8);
  EXPECT_THAT(listing("plain.tar"),
              ElementsAre("wren wren/00000000.jpg", "wren wren/00000001.jpg", "wren wren/00000002.jpg",
                          "pug_dog pug_dog/00000000.jpg", "ray ray/00000000.jpg", "ray ray/00000001.jpg",
                          "poppy poppy/00000000.jpg", "poppy poppy/00000001.jpg"));
  EXPECT_EQ(file("plain.tar", 2), image(0, 2));
  EXPECT_EQ(file("plain.tar", 5), image(2, 1));
  EXPECT_EQ(import("plain/dataset_spec.json", "same.tar")["dataset_digest"],
            dataset_digest(scan_data(path("plain.tar"))));
}

TEST_F(ImportRecords, KnowsTheSplitsOfEachKindOfSpecification) {
  EXPECT_THAT(classes("plain", "train"), ElementsAre("wren", "pug_dog"));
  EXPECT_THAT(classes("plain", "valid"), ElementsAre("ray"));
  EXPECT_THAT(classes("plain", "test"), ElementsAre("poppy"));
  EXPECT_THAT(classes("letters", "train"), ElementsAre("Greek/Greek-character01"));
  EXPECT_THAT(classes("letters", "test"), ElementsAre("Latin/Latin-character01", "Latin/Latin-character02"));
  EXPECT_THAT(classes("graph", "train"), ElementsAre("n2", "n3"));
  EXPECT_THAT(classes("graph", "val"), ElementsAre("n5"));
  EXPECT_THAT(classes("graph", "test"), ElementsAre("n4"));
  EXPECT_EQ(file("graph-val.tar", 0), image(2, 0));
  const Finished other = run_command({"import", path("plain"), path("x.tar"), "--split", "TRAIN"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("has no split 'TRAIN': those of Meta-Dataset are train, valid and test"));
  EXPECT_EQ(run_command({"import", path("plain"), path("x.tar"), "--classes", "wren"}).code, 2);
}

TEST_F(ImportRecords, PutsTheShardsOfAClassTogether) {
  EXPECT_EQ(import("shards", "shards.tar")["samples"], 18);
  for (const int k : {0, 9, 10, 12}) {
    EXPECT_EQ(file("shards.tar", static_cast<std::size_t>(k)), image(0, k)) << "by numbers, then names";
  }
}

TEST_F(ImportRecords, SaysWhatIsWrong) {
  EXPECT_THAT(refusal("cut"), HasSubstr("1.tfrecords': record 0 is cut short"));
  EXPECT_THAT(refusal("head"), HasSubstr("record 0 is cut short"));
  EXPECT_THAT(refusal("length"), HasSubstr("record 0 has a length with another checksum"));
  EXPECT_THAT(refusal("long"), HasSubstr("record 0 is cut short"));
  EXPECT_THAT(refusal("bit"), HasSubstr("record 0 has another checksum"));
  EXPECT_THAT(refusal("label"), HasSubstr("has the label 7, but the file is of class 1"));
  EXPECT_THAT(refusal("unlabelled"), HasSubstr("has not one image and one label"));
  EXPECT_THAT(refusal("two"), HasSubstr("is no tf.train.Example, or damaged"));
  EXPECT_THAT(refusal("example"), HasSubstr("is no tf.train.Example, or damaged"));
  EXPECT_THAT(refusal("empty"), HasSubstr("it has 0 bytes"));
  EXPECT_THAT(refusal("fewer"), HasSubstr("has 0 images, but dataset_spec.json says 1"));
  EXPECT_THAT(refusal("splits"), HasSubstr("its splits have more classes than it names"));
  EXPECT_THAT(refusal("splits2"), HasSubstr("its splits have fewer classes than it names"));
  EXPECT_THAT(refusal("splits3"), HasSubstr("has a split that is called 'train'"));
  EXPECT_THAT(refusal("keys"), HasSubstr("its class_names has other keys than the numbers from 0 on: '4'"));
  EXPECT_LT(refusal("keys2").size(), 900U) << "names are cut";
  EXPECT_THAT(refusal("keys3"), HasSubstr("its images_per_class has 1 entries for 4"));
  EXPECT_THAT(refusal("counts"), HasSubstr("its images_per_class has something else than counts"));
  EXPECT_THAT(refusal("pattern"), HasSubstr("its file_pattern is neither"));
  EXPECT_THAT(refusal("gone"), HasSubstr("2.tfrecords"));
  EXPECT_THAT(refusal("text"), HasSubstr("it is no JSON object"));
  EXPECT_THAT(refusal("deep"), HasSubstr("it is no JSON object"));
  EXPECT_THAT(refusal("none"), HasSubstr("it has no class_names"));
}

}  // namespace
}  // namespace feedring
