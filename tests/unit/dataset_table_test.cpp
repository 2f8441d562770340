// SPDX-License-Identifier: Apache-2.0
// Manifests with a head line, and of JSON lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <feedring/error.hpp>
#include <string>
#include <vector>

#include "dataset_files.hpp"
#include "producers/dataset/scan.hpp"

namespace feedring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DatasetTable : public testing::Test {
 protected:
  /// "class path" of each sample.
  std::vector<std::string> read(const std::string& name, std::string_view text, const DataChoice& choice = {}) {
    files_.text(name, text);
    scan_ = scan_data(files_.root() / name, nullptr, NoSamples::kIsAnError, choice);
    std::vector<std::string> lines;
    for (const Sample& sample : scan_.samples) {
      lines.push_back(scan_.classes[sample.label] + ' ' + std::string(scan_.path(sample)));
    }
    return lines;
  }
  std::string error_of(const std::string& name, std::string_view text, const DataChoice& choice = {}) {
    try {
      (void)read(name, text, choice);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kData);
      return error.what();
    }
    return "no error";
  }
  void put(std::initializer_list<const char*> paths) const {
    for (const char* path : paths) files_.file(path);
  }

  DatasetFiles files_;
  Scan scan_;
};

TEST_F(DatasetTable, ReadsACsvWhateverWroteIt) {
  put({"a b.jpg", "b.jpg"});
  const auto expected = ElementsAre("cat b.jpg", "dog a b.jpg");
  EXPECT_THAT(read("l.csv", "path,label\na b.jpg,dog\nb.jpg,cat\n"), expected);
  EXPECT_THAT(read("l.csv", "path,label\r\na b.jpg,dog\r\n\r\n\nb.jpg,cat"), expected) << "ends of lines";
  EXPECT_THAT(read("l.csv", "\xef\xbb\xbfPath,Label\na b.jpg,dog\nb.jpg,cat\n"), expected) << "a spreadsheet's mark";
  EXPECT_THAT(read("l.csv", "\"path\",\"label\"\r\n\"a b.jpg\",\"dog\"\r\n\"b.jpg\",cat\r\n"), expected) << "quotes";
  EXPECT_THAT(read("l.tsv", "label\tpath\ndog\ta b.jpg\ncat\tb.jpg\n"), expected) << "another order, tabs";
  EXPECT_THAT(scan_.warnings, IsEmpty());
  EXPECT_THAT(read("l.csv", ",path,label,note\n0,a b.jpg,dog,x\n1,b.jpg,cat,\n"), expected) << "stray columns";
  EXPECT_THAT(scan_.warnings, ElementsAre(HasSubstr("'', 'note'")));
}

TEST_F(DatasetTable, ReadsFieldsInQuotes) {
  put({"a,b\"c\nd.jpg", "x.jpg"});
  EXPECT_THAT(read("l.csv", "path,label\n\"a,b\"\"c\nd.jpg\",\"one, two\"\nx.jpg,\"three\"\r\n"),
              ElementsAre("one, two a,b\"c\nd.jpg", "three x.jpg"));
  EXPECT_THAT(error_of("l.csv", "path,label\n\"x.jpg,a\n"), HasSubstr("line 2: a field in quotes does not end"));
  EXPECT_THAT(error_of("l.csv", "path,label\n\"x.jpg\"y,a\n"), HasSubstr("line 2: text behind the last quote"));
  EXPECT_THAT(error_of("l.csv", "path,label\n\"" + std::string(2 << 20, 'x') + "\n"), HasSubstr("longer than 1 MiB"));
}

TEST_F(DatasetTable, FindsImagesWhereFewShotSetsKeepThem) {
  put({"ravi/images/n01.jpg", "easy/n01/n01_1.JPEG", "both/images/n01/n01_1.JPEG"});
  EXPECT_THAT(read("ravi/train.csv", "filename,label\nn01.jpg,n01\n"), ElementsAre("n01 images/n01.jpg"));
  EXPECT_THAT(read("easy/train.csv", "class_name,image_name\nn01,n01_1.JPEG\n"), ElementsAre("n01 n01/n01_1.JPEG"));
  EXPECT_THAT(read("both/train.csv", "class_name,image_name\nn01,n01_1.JPEG\n"),
              ElementsAre("n01 images/n01/n01_1.JPEG"));
  EXPECT_THAT(error_of("ravi/train.csv", "filename,label\nn02.jpg,n02\n"),
              HasSubstr("line 2: its file is not there; looked for, beside the manifest: 'n02.jpg', 'images/n02.jpg', "
                        "'n02/n02.jpg', 'images/n02/n02.jpg'"));
  EXPECT_THAT(error_of("ravi/train.csv", "filename,label\nn01.jpg,n01\nn02.jpg,n02\n"),
              HasSubstr("line 3: 'images/n02.jpg': No such file"))
      << "all files of a list lie in one place";
}

TEST_F(DatasetTable, TakesTheRowsOfASplitAlone) {
  put({"1.jpg", "2.jpg", "3.jpg"});
  const char* const text = "path,label,split\n1.jpg,ant,train\n2.jpg,bee,val\n3.jpg,cat,train\nabsent.jpg,eel,test\n";
  EXPECT_THAT(read("l.csv", text, {"train", {}}), ElementsAre("ant 1.jpg", "cat 3.jpg"));
  EXPECT_THAT(scan_.classes, ElementsAre("ant", "cat")) << "a class of other splits has no number";
  EXPECT_THAT(read("l.csv", text, {"val", {}}), ElementsAre("bee 2.jpg"));
  EXPECT_THAT(error_of("l.csv", text, {"trian", {}}),
              HasSubstr("no sample of split 'trian'; it has these splits: 'test' (1), 'train' (2), 'val' (1)"));
  EXPECT_THAT(error_of("l.csv", "path\n1.jpg\n", {"train", {}}), HasSubstr("add a column \"split\""));
  EXPECT_THAT(error_of("l.tsv", "1.jpg\tant\n", {"train", {}}), HasSubstr("add a column \"split\""));
}

TEST_F(DatasetTable, TakesASplitOfAFolder) {
  put({"train/ant/1.jpg", "images/2.jpg", "images/3.jpg"});
  files_.text("val.csv", "filename,label\n2.jpg,bee\n");
  files_.text("test.jsonl", R"({"path": "3.jpg", "label": "cat"})");
  const auto split = [&](const char* name) {
    const Scan scan = scan_data(files_.root(), nullptr, NoSamples::kIsAnError, {name, {}});
    return scan.classes.at(0) + ' ' + std::string(scan.path(scan.samples.at(0)));
  };
  EXPECT_EQ(split("train"), "ant ant/1.jpg");
  EXPECT_EQ(split("val"), "bee images/2.jpg");
  EXPECT_EQ(split("test"), "cat images/3.jpg");
  for (const char* absent : {"other", "..", "train/ant"}) EXPECT_THROW(split(absent), Error) << absent;
}

TEST_F(DatasetTable, KeepsTheClassesThatAreAskedFor) {
  put({"d/ant/1.jpg", "d/bee/2.jpg", "d/cat/3.jpg", "4.jpg"});
  const auto folder = [&](const std::vector<std::string>& classes) {
    return scan_data(files_.root() / "d", nullptr, NoSamples::kIsAnError, {"", classes}).classes;
  };
  EXPECT_THAT(folder({"cat", "ant"}), ElementsAre("ant", "cat"));
  EXPECT_THAT(folder({"birds/bee"}), ElementsAre("bee")) << "the data knows no superclasses";
  EXPECT_THROW(folder({"ant", "dog"}), Error);
  const char* const text = "path,superclass,label\n4.jpg,x,1\n4.jpg,x,2\n4.jpg,y,3\nabsent.jpg,z,4\n";
  EXPECT_THAT(read("l.csv", text, {"", {"x/1"}}), ElementsAre("x/1 4.jpg"));
  EXPECT_THAT(read("l.csv", text, {"", {"x/", "3"}}), ElementsAre("x/1 4.jpg", "x/2 4.jpg", "y/3 4.jpg"));
  EXPECT_THAT(error_of("l.csv", text, {"", {"x/1", "q/5", "r"}}), HasSubstr("has no class 'q/5' and 1 more"));
}

TEST_F(DatasetTable, ReadsJsonLines) {
  put({"a.jpg", "b.jpg"});
  EXPECT_THAT(read("l.jsonl",
                   "{\"path\": \"b.jpg\", \"label\": 3, \"note\": [1]}\r\n\n{\"file_name\": \"a.jpg\", "
                   "\"label\": 0, \"split\": null}"),
              ElementsAre("0 a.jpg", "3 b.jpg"));
  EXPECT_THAT(read("l.jsonl", R"({"path": "b.jpg"})"), ElementsAre(" b.jpg"));
  EXPECT_THAT(read("l.jsonl", R"({"path": "gone.jpg", "bytes": 7, "superclass": "x", "label": "ü\n"})"),
              ElementsAre("x/ü\n gone.jpg"));
  const auto wrong = [&](const std::string& text) { return error_of("l.jsonl", text); };
  EXPECT_THAT(wrong("{\"path\": \"a.jpg\"}\n{\"path\": \"a.jpg\", \"label\": 1}"), HasSubstr("line 2: a label, but"));
  EXPECT_THAT(wrong("[1]"), HasSubstr("line 1: no JSON object"));
  EXPECT_THAT(wrong("{\"path\": "), HasSubstr("line 1: no JSON object"));
  EXPECT_THAT(wrong(R"({"label": 1})"), HasSubstr("line 1: no path"));
  EXPECT_THAT(wrong(R"({"path": 7})"), HasSubstr("the path is no text"));
  EXPECT_THAT(wrong(R"({"path": "a\u0000b"})"), HasSubstr("NUL"));
  EXPECT_THAT(wrong(R"({"path": "a.jpg", "label": -1})"), HasSubstr("neither a text nor a whole number"));
  EXPECT_THAT(wrong(R"({"path": "a.jpg", "bytes": "7"})"), HasSubstr("bytes is no size"));
}

TEST_F(DatasetTable, NamesTheLineOfEveryMistake) {
  put({"a.jpg"});
  const auto wrong = [&](const std::string& text) { return error_of("l.csv", text); };
  EXPECT_THAT(wrong("n0,n1\n"), HasSubstr("line 1: a .csv begins with the names of its columns"));
  EXPECT_THAT(wrong("path,filename\n"), HasSubstr("line 1: two columns, 'path' and 'filename', say the same"));
  EXPECT_THAT(wrong("path,superclass\n"), HasSubstr("line 1: a column of superclasses"));
  EXPECT_THAT(wrong("path,label\na.jpg\n"), HasSubstr("line 2: 1 fields where the head line has 2"));
  EXPECT_THAT(wrong("path,label\n\na.jpg,\n"), HasSubstr("line 3: the label is empty"));
  EXPECT_THAT(wrong("path,label\n,x\n"), HasSubstr("line 2: the path is empty"));
  EXPECT_THAT(wrong("path,label\n/a.jpg,x\n"), HasSubstr("line 2: an absolute path"));
  EXPECT_THAT(wrong("path,bytes\na.jpg,-1\n"), HasSubstr("line 2: '-1' is no size"));
  EXPECT_THAT(wrong("path,label\n"), HasSubstr("lists no samples"));
}

TEST_F(DatasetTable, ReadsAnEasySet) {
  put({"data/cub/images/001.A/2.jpg", "data/cub/images/001.A/1.PNG", "data/cub/images/002.B/3.jpg"});
  const char* const text = R"({"class_names": ["B", "A"], "class_roots": ["./data/cub/images/002.B",
                               "data/cub/images/001.A/"]})";
  // Such files name folders from where a script runs: above the file.
  EXPECT_THAT(
      read("data/cub/train.json", text),
      ElementsAre("B data/cub/images/002.B/3.jpg", "A data/cub/images/001.A/1.PNG", "A data/cub/images/001.A/2.jpg"));
  EXPECT_EQ(scan_.root, files_.root().native());
  EXPECT_EQ(read("data/cub/train.json", text, {"", {"A"}}).size(), 2U);
  EXPECT_EQ(read("abs.json",
                 R"({"class_names": ["A"], "class_roots": [")" + files_.root().native() + "/data/cub/images/001.A\"]}")
                .size(),
            2U);
  const auto wrong = [&](const std::string& json) { return error_of("l.json", json); };
  EXPECT_THAT(wrong(R"({"class_names": ["A"], "class_roots": ["gone"]})"), HasSubstr("looked for '"));
  EXPECT_THAT(wrong(R"({"class_names": ["A", "A"], "class_roots": ["data", "data"]})"), HasSubstr("comes twice"));
  EXPECT_THAT(wrong(R"({"class_names": ["A", "B"], "class_roots": ["data"]})"), HasSubstr("2 class_names, but 1"));
  EXPECT_THAT(wrong(R"({"class_names": ["A"]})"), HasSubstr("class_roots is not"));
  EXPECT_THAT(wrong("[]"), HasSubstr("class_names is not"));
}

}  // namespace
}  // namespace feedring
