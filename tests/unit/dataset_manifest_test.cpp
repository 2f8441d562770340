// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/manifest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <feedring/error.hpp>

#include "dataset_files.hpp"

namespace feedring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> listing(const Scan& scan) {
  std::vector<std::string> lines;
  for (const Sample& sample : scan.samples) {
    lines.push_back(std::to_string(sample.label) + " " + std::string(scan.path(sample)) + " " +
                    std::to_string(sample.bytes));
  }
  return lines;
}

Scan scan_of(const DatasetFiles& files, std::string_view text, const std::vector<std::string>* classes_from = nullptr) {
  files.text("list.tsv", text);
  return scan_data(files.root() / "list.tsv", classes_from);
}

std::string error_of(const DatasetFiles& files, std::string_view text) {
  try {
    (void)scan_of(files, text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    EXPECT_THAT(error.what(), HasSubstr("list.tsv"));
    return error.what();
  }
  return "no error";
}

TEST(DatasetManifest, NumbersNamedClassesInBytewiseOrder) {
  const DatasetFiles files;
  files.file("x/2.jpg", 2);
  files.file("1.bin", 3);
  files.file("é.jpg", 4);
  const Scan scan = scan_of(files, "x/2.jpg\tdog\n1.bin\tcat\né.jpg\tZebra\nx/../1.bin\tdog\n");
  EXPECT_THAT(scan.classes, ElementsAre("Zebra", "cat", "dog"));
  EXPECT_THAT(listing(scan), ElementsAre("0 é.jpg 4", "1 1.bin 3", "2 x/../1.bin 3", "2 x/2.jpg 2"));
  EXPECT_EQ(scan.root, files.root().native()) << "paths are relative to the manifest's folder";
  EXPECT_THAT(scan.warnings, IsEmpty());
}

TEST(DatasetManifest, TakesDecimalLabelsAsTheClassNumbers) {
  const DatasetFiles files;
  files.file("a.jpg");
  files.file("b.jpg");
  const Scan scan = scan_of(files, "a.jpg\t10\nb.jpg\t2\n");
  EXPECT_EQ(scan.classes.size(), 11U);
  EXPECT_EQ(scan.classes[10], "10");
  EXPECT_THAT(listing(scan), ElementsAre("2 b.jpg 1", "10 a.jpg 1"));
  EXPECT_EQ(scan.warnings.size(), 9U) << "the numbers that nobody has are empty classes";
}

TEST(DatasetManifest, GivesLabelZeroWithoutALabelColumn) {
  const DatasetFiles files;
  files.file("b.jpg");
  files.file("a.jpg");
  const Scan scan = scan_of(files, "b.jpg\na.jpg");  // the last line needs no end
  EXPECT_THAT(scan.classes, ElementsAre(""));
  EXPECT_THAT(listing(scan), ElementsAre("0 a.jpg 1", "0 b.jpg 1"));
}

TEST(DatasetManifest, BelievesAColumnOfSizesWithoutLookingAtTheFiles) {
  const DatasetFiles files;
  const Scan scan = scan_of(files, "absent.jpg\tcat\t4096\nempty.jpg\tdog\t0\nlarge.jpg\tdog\t18446744073709551615\n");
  EXPECT_THAT(listing(scan), ElementsAre("0 absent.jpg 4096", "1 large.jpg 18446744073709551615"));
  EXPECT_EQ(scan.skipped_as(Skip::kEmpty), 1U);
  EXPECT_EQ(scan.skipped.at(0).path, "empty.jpg");
}

TEST(DatasetManifest, LeavesOutEmptyFilesAndKeepsTheNumberOfTheirClass) {
  const DatasetFiles files;
  files.file("a.jpg", 0);
  files.file("b.jpg", 1);
  const Scan scan = scan_of(files, "a.jpg\tant\nb.jpg\tbee\n");
  EXPECT_THAT(scan.classes, ElementsAre("ant", "bee"));
  EXPECT_THAT(listing(scan), ElementsAre("1 b.jpg 1"));
  EXPECT_THAT(scan.warnings, ElementsAre(HasSubstr("class 'ant'")));
}

TEST(DatasetManifest, KeepsALineThatComesTwice) {
  const DatasetFiles files;
  EXPECT_THAT(listing(scan_of(files, "a\tx\t1\nb\tx\t1\na\tx\t1\n")), ElementsAre("0 a 1", "0 a 1", "0 b 1"));
}

TEST(DatasetManifest, NumbersLabelsByAnotherFeedsClasses) {
  const DatasetFiles files;
  const std::vector<std::string> train = {"ant", "bee", "cat"};
  EXPECT_THAT(listing(scan_of(files, "1\tcat\t1\n2\tant\t1\n", &train)), ElementsAre("0 2 1", "2 1 1"));
  files.text("list.tsv", "1\tdog\t1\n");
  try {
    (void)scan_data(files.root() / "list.tsv", &train);
    FAIL() << "no class dog";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("class 'dog'"));
  }
}

TEST(DatasetManifest, NamesTheLineOfEveryMistake) {
  const DatasetFiles files;
  files.file("a.jpg");
  files.folder("folder");
  EXPECT_THAT(error_of(files, "a.jpg\n\n"), HasSubstr("line 2: an empty line"));
  EXPECT_THAT(error_of(files, "a.jpg\r\n"), HasSubstr("line 1: the line ends in a carriage return"));
  EXPECT_THAT(error_of(files, "a.jpg\nb.jpg\n"), HasSubstr("line 2: 'b.jpg': No such file or directory"));
  EXPECT_THAT(error_of(files, "folder\n"), HasSubstr("line 1: 'folder' is no regular file"));
  EXPECT_THAT(error_of(files, "/etc/passwd\n"), HasSubstr("line 1: an absolute path"));
  EXPECT_THAT(error_of(files, "a.jpg\tx\na.jpg\n"), HasSubstr("line 2: 1 columns where the first line has 2"));
  EXPECT_THAT(error_of(files, "a.jpg\nb.jpg\tx\n"), HasSubstr("line 2: 2 columns where the first line has 1"));
  EXPECT_THAT(error_of(files, "a.jpg\tx\t1\ty\n"), HasSubstr("line 1: more than three columns"));
  EXPECT_THAT(error_of(files, "\tx\n"), HasSubstr("line 1: the path is empty"));
  EXPECT_THAT(error_of(files, "a.jpg\t\n"), HasSubstr("line 1: the label is empty"));
  EXPECT_THAT(error_of(files, "a.jpg\t1\na.jpg\tx\n"), HasSubstr("line 2: label 'x' is no number"));
  EXPECT_THAT(error_of(files, "a.jpg\t1\na.jpg\t01\n"), HasSubstr("line 2: label '01' is no number"));
  EXPECT_THAT(error_of(files, "a.jpg\t16777216\n"), HasSubstr("line 1: label '16777216' is no number up to 16777215"));
  EXPECT_THAT(error_of(files, "a.jpg\tx\na.jpg\t1\n"), HasSubstr("line 2: label '1' is a number"));
  EXPECT_THAT(error_of(files, "a.jpg\tx\t-1\n"), HasSubstr("line 1: '-1' is no size"));
  EXPECT_THAT(error_of(files, "a.jpg\tx\t\n"), HasSubstr("line 1: '' is no size"));
  EXPECT_THAT(error_of(files, "a.jpg\tx\t18446744073709551616\n"), HasSubstr("is no size"));
  EXPECT_THAT(error_of(files, std::string(5000, 'x') + "\tx\t1\n"), HasSubstr("too long"));
}

TEST(DatasetManifest, SumsUpTheEmptyClassesThatOneLargeNumberLeaves) {
  const DatasetFiles files;
  files.text("list.tsv", "1\t5000\t1\n");
  const Scan scan = scan_data(files.root() / "list.tsv");
  EXPECT_EQ(scan.classes.size(), 5001U);
  EXPECT_EQ(scan.samples[0].label, 5000U);
  ASSERT_EQ(scan.warnings.size(), 21U);
  EXPECT_THAT(scan.warnings[0], HasSubstr("class '0'"));
  EXPECT_THAT(scan.warnings[20], HasSubstr("4980 more classes"));
}

TEST(DatasetManifest, RefusesWhatIsNoText) {
  const DatasetFiles files;
  EXPECT_THAT(error_of(files, std::string_view("\xff\xd8\xff\xe0\0\x10JFIF", 10)), HasSubstr("it is no text"));
  // Behind the part that is looked at first: still an error, in the line where it stands.
  const std::string late = std::string(300, 'a') + "\tx\t1\n";
  std::string text;
  while (text.size() < 5000) text += late;
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  text += std::string("b\0c\tx\t1\n", 8);
  EXPECT_THAT(error_of(files, text), HasSubstr("line " + std::to_string(lines + 1) + ": a NUL byte"));
}

TEST(DatasetManifest, RefusesAListWithoutSamples) {
  const DatasetFiles files;
  EXPECT_THAT(error_of(files, ""), HasSubstr("lists no samples"));
  EXPECT_THAT(error_of(files, "a\tx\t0\n"), HasSubstr("1 of empty files"));
}

}  // namespace
}  // namespace feedring
