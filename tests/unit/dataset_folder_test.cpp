// SPDX-License-Identifier: Apache-2.0
// Scanning folders. What ImageFolder would say is written out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <feedring/error.hpp>

#include "dataset_files.hpp"
#include "producers/dataset/scan.hpp"

namespace feedring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// "label path bytes" of each sample, in order.
std::vector<std::string> listing(const Scan& scan) {
  std::vector<std::string> lines;
  for (const Sample& sample : scan.samples) {
    lines.push_back(std::to_string(sample.label) + " " + std::string(scan.path(sample)) + " " +
                    std::to_string(sample.bytes));
  }
  return lines;
}

std::vector<std::string> skipped(const Scan& scan, Skip why) {
  std::vector<std::string> paths;
  for (const Skipped& file : scan.skipped)
    if (file.why == why) paths.push_back(file.path);
  EXPECT_EQ(scan.skipped_as(why), paths.size());
  return paths;
}

/// The message of the Error(kData) that scanning must throw.
std::string error_of(const std::filesystem::path& data, const std::vector<std::string>* classes_from = nullptr) {
  try {
    (void)scan_data(data, classes_from);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kData);
    return error.what();
  }
  return "no error";
}

TEST(DatasetFolder, NumbersClassFoldersInBytewiseOrderAndSortsTheirFiles) {
  const DatasetFiles files;
  files.file("dog/2.jpg", 7);
  files.file("cat/b.png", 5);
  files.file("Zebra/1.jpg", 2);
  files.file("cat/a.jpg", 3);
  files.file("\xc3\xa4hre/1.jpg", 4);  // "ähre" in UTF-8: after ASCII, as by code point
  const Scan scan = scan_data(files.root());
  EXPECT_THAT(scan.classes, ElementsAre("Zebra", "cat", "dog", "\xc3\xa4hre"));
  EXPECT_THAT(listing(scan), ElementsAre("0 Zebra/1.jpg 2", "1 cat/a.jpg 3", "1 cat/b.png 5", "2 dog/2.jpg 7",
                                         "3 \xc3\xa4hre/1.jpg 4"));
  EXPECT_EQ(scan.root, files.root().native());
  EXPECT_THAT(scan.warnings, IsEmpty());
  EXPECT_THAT(scan.skipped, IsEmpty());
}

TEST(DatasetFolder, TakesNestedFilesAndSortsThemByTheBytesOfTheirPath) {
  const DatasetFiles files;
  files.file("a/x/y/1.jpg");
  files.file("a/x-1.jpg");  // '-' comes before '/', '0' after it
  files.file("a/x0.jpg");
  files.file("a/x/2.jpg");
  files.file("a-b/1.jpg");  // the class before a's files by path, but class a has the lower number
  EXPECT_THAT(listing(scan_data(files.root())),
              ElementsAre("0 a/x-1.jpg 1", "0 a/x/2.jpg 1", "0 a/x/y/1.jpg 1", "0 a/x0.jpg 1", "1 a-b/1.jpg 1"));
}

TEST(DatasetFolder, ReadsAFolderWithoutSubFoldersAsFlat) {
  const DatasetFiles files;
  files.file("2.jpg", 2);
  files.file("10.jpg", 3);
  files.file("readme.txt");
  const Scan scan = scan_data(files.root());
  EXPECT_THAT(scan.classes, ElementsAre(""));
  EXPECT_THAT(listing(scan), ElementsAre("0 10.jpg 3", "0 2.jpg 2"));
  EXPECT_THAT(scan.warnings, IsEmpty());
}

TEST(DatasetFolder, ReadsAFolderWhoseSubFoldersHoldNoImagesAsFlatAndSaysSo) {
  const DatasetFiles files;
  files.file("1.jpg");
  files.file("notes/readme.txt");
  files.folder("empty");
  const Scan scan = scan_data(files.root());
  EXPECT_THAT(listing(scan), ElementsAre("0 1.jpg 1"));
  EXPECT_THAT(scan.warnings, ElementsAre(HasSubstr("none of its 2 sub-folders holds an image")));
  EXPECT_THAT(skipped(scan, Skip::kStray), ElementsAre("notes/readme.txt"));
}

TEST(DatasetFolder, KnowsImagesByTheirExtensionInAnyCase) {
  for (const char* name : {"a.jpg", "a.JPG", "a.jPeG", "a.png", "a.PNG", "a.ppm", "a.pgm", "a.webp", "a.WebP", "a.gif",
                           "a.bmp", "a.tif", "a.TIFF", "a.tiff", "a.b.jpg", "\n.jpg", "\xff.jpg"})
    EXPECT_TRUE(is_image_name(name)) << name;
  for (const char* name :
       {"", "a", "jpg", "a.jpg.txt", "a.jpg~", "a.", "a.jpgx", "a.jp", "a.jp2", "a jpg", "a.j\xc4\xb1g"})
    EXPECT_FALSE(is_image_name(name)) << name;
}

TEST(DatasetFolder, CountsWhatItLeavesOut) {
  const DatasetFiles files;
  files.file("a/1.jpg");
  files.file("a/2.jpg", 0);
  files.file("a/.hidden.jpg");
  files.file("a/.jpg");
  files.file("a/.ipynb_checkpoints/1.jpg");
  files.file("a/Thumbs.db");
  files.file("a/labels/1.txt");
  files.file(".git/1.jpg");
  files.file(".DS_Store");
  files.file("cover.jpg");
  files.file("blank.png", 0);
  files.file("LICENSE");
  files.link("a/gone.jpg", "nowhere.jpg");
  files.link("a/gone.txt", "nowhere.txt");
  files.link("a/self.jpg", "self.jpg");
  ASSERT_EQ(::mkfifo((files.root() / "a/pipe.jpg").c_str(), 0600), 0);
  const Scan scan = scan_data(files.root());
  EXPECT_THAT(scan.classes, ElementsAre("a"));
  EXPECT_THAT(listing(scan), ElementsAre("0 a/1.jpg 1"));
  EXPECT_THAT(skipped(scan, Skip::kHidden),
              ElementsAre(".DS_Store", ".git", "a/.hidden.jpg", "a/.ipynb_checkpoints", "a/.jpg"));
  EXPECT_THAT(skipped(scan, Skip::kEmpty), ElementsAre("a/2.jpg", "blank.png"));
  EXPECT_THAT(skipped(scan, Skip::kStray), ElementsAre("LICENSE", "a/Thumbs.db", "a/gone.txt", "a/labels/1.txt"));
  EXPECT_THAT(skipped(scan, Skip::kBesideClasses), ElementsAre("cover.jpg"));
  EXPECT_THAT(skipped(scan, Skip::kNoFile), ElementsAre("a/gone.jpg", "a/pipe.jpg", "a/self.jpg"));
}

TEST(DatasetFolder, LetsAnEmptyClassKeepItsNumberWithAWarning) {
  const DatasetFiles files;
  files.file("a/1.jpg");
  files.folder("b");
  files.file("c/1.jpg", 0);
  files.file("d/1.txt");
  files.file("e/1.jpg");
  const Scan scan = scan_data(files.root());
  EXPECT_THAT(scan.classes, ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(listing(scan), ElementsAre("0 a/1.jpg 1", "4 e/1.jpg 1"));
  EXPECT_THAT(scan.warnings, ElementsAre(HasSubstr("class 'b'"), HasSubstr("class 'c'"), HasSubstr("class 'd'")));
  EXPECT_THAT(scan.warnings[1], HasSubstr("keeps its number 2"));
}

TEST(DatasetFolder, FindsTheSameWhateverTheOrderOfCreation) {
  std::vector<std::string> names;
  for (const char* folder : {"b", "a", "C", "\xff"})
    for (int i = 0; i < 40; ++i)
      names.push_back(std::string(folder) + (i % 3 == 0 ? "/sub/" : "/") + std::to_string(i * 7919 % 101) + ".jpg");
  const DatasetFiles forwards, backwards;
  for (const std::string& name : names) forwards.file(name, name.size());
  std::reverse(names.begin(), names.end());
  for (const std::string& name : names) backwards.file(name, name.size());
  const Scan one = scan_data(forwards.root()), other = scan_data(backwards.root());
  EXPECT_EQ(one.samples.size(), 160U);
  EXPECT_EQ(listing(one), listing(other));
  EXPECT_EQ(dataset_digest(one), dataset_digest(other));
}

TEST(DatasetFolder, SortsAlikeUnderEveryLocale) {
  const DatasetFiles files;
  for (const char* name : {"B", "a", "_", "\xc3\x84", "\xff", "i", "I"}) files.file(std::string(name) + "/1.jpg");
  int tried = 0;
  for (const char* name : {"C", "C.UTF-8", "en_US.UTF-8", "tr_TR.UTF-8", "de_DE.ISO-8859-1"}) {
    if (std::setlocale(LC_ALL, name) == nullptr) continue;
    ++tried;
    EXPECT_THAT(scan_data(files.root()).classes, ElementsAre("B", "I", "_", "a", "i", "\xc3\x84", "\xff")) << name;
  }
  std::setlocale(LC_ALL, "C");
  EXPECT_GE(tried, 1);
}

TEST(DatasetFolder, TakesNamesOfAnyBytes) {
  const DatasetFiles files;
  const std::string all = [] {  // every byte that a file name can hold
    std::string bytes;
    for (int byte = 1; byte < 256; ++byte)
      if (byte != '/') bytes.push_back(static_cast<char>(byte));
    return bytes;
  }();
  const std::string name = all.substr(0, 120) + ".jpg", other = all.substr(120) + ".png";
  files.file("a\nb/" + name);
  files.file("a\nb/" + other);
  files.file("a\tb/ .jpg");
  files.file("\x80/-rf *.jpg");
  const Scan scan = scan_data(files.root());
  EXPECT_THAT(scan.classes, ElementsAre("a\tb", "a\nb", "\x80"));
  EXPECT_THAT(listing(scan),
              ElementsAre("0 a\tb/ .jpg 1", "1 a\nb/" + name + " 1", "1 a\nb/" + other + " 1", "2 \x80/-rf *.jpg 1"));
}

TEST(DatasetFolder, FollowsLinksToFilesAndFolders) {
  const DatasetFiles store, files;
  store.file("cat/1.jpg", 11);
  store.file("dogs/deep/2.jpg", 22);
  files.link("cat/one.jpg", (store.root() / "cat/1.jpg").native());
  files.link("dog", (store.root() / "dogs").native());
  const Scan scan = scan_data(files.root());
  EXPECT_THAT(scan.classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(listing(scan), ElementsAre("0 cat/one.jpg 11", "1 dog/deep/2.jpg 22"));
}

TEST(DatasetFolder, EndsInLoopsOfLinks) {
  const DatasetFiles files;
  files.file("data/a/1.jpg");
  files.file("data/a/deep/2.jpg");
  files.link("data/a/deep/up", "..");
  files.link("data/a/self", ".");
  files.link("data/a/root", (files.root() / "data").native());
  files.link("data/a/above", "../..");
  files.file("outside/4.jpg");
  files.file("data/b/3.jpg");
  files.link("data/b/back", "../b");
  files.link("data/c", "c");
  const Scan scan = scan_data(files.root() / "data");
  EXPECT_THAT(scan.classes, ElementsAre("a", "b"));
  EXPECT_THAT(listing(scan),
              ElementsAre("0 a/1.jpg 1", "0 a/above/outside/4.jpg 1", "0 a/deep/2.jpg 1", "1 b/3.jpg 1"));
  EXPECT_THAT(skipped(scan, Skip::kSeenFolder), ElementsAre("a/above/data", "a/deep/up", "a/root", "a/self", "b/back"));
}

TEST(DatasetFolder, ReadsAFolderOnceThoughTwoToTheFortyPathsLeadToIt) {
  const DatasetFiles files;
  for (int level = 0; level < 40; ++level) {
    files.folder("a/" + std::to_string(level));
    if (level == 0) continue;
    files.link("a/" + std::to_string(level) + "/left", "../" + std::to_string(level - 1));
    files.link("a/" + std::to_string(level) + "/right", "../" + std::to_string(level - 1));
  }
  files.file("a/0/1.jpg");
  EXPECT_THAT(listing(scan_data(files.root())), ElementsAre("0 a/0/1.jpg 1"));
}

TEST(DatasetFolder, PrefersAFoldersRealPlaceToALinkThatSortsBeforeIt) {
  const DatasetFiles files;
  files.file("c/real/1.jpg");
  files.link("c/alias", "real");
  EXPECT_THAT(listing(scan_data(files.root())), ElementsAre("0 c/real/1.jpg 1"));
}

TEST(DatasetFolder, LetsTwoClassesShareALinkedFolder) {
  const DatasetFiles store, files;
  store.file("1.jpg");
  files.link("a/shared", store.root().native());
  files.link("b/shared", store.root().native());
  EXPECT_THAT(listing(scan_data(files.root())), ElementsAre("0 a/shared/1.jpg 1", "1 b/shared/1.jpg 1"));
}

TEST(DatasetFolder, NamesAFolderThatCannotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads every folder";
  const DatasetFiles files;
  files.file("a/1.jpg");
  files.folder("a/lo\ncked");
  ASSERT_EQ(::chmod((files.root() / "a/lo\ncked").c_str(), 0), 0);
  EXPECT_THAT(error_of(files.root()), HasSubstr("a/lo\\ncked': Permission denied"));
}

TEST(DatasetFolder, NamesAPathThatIsTooLongToOpen) {
  // A tree deeper than PATH_MAX: made and removed by relative steps, as no call takes its whole path.
  const DatasetFiles files;
  files.file("a/1.jpg");
  const std::string step(200, 'd');
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(files.root() / "a");
  for (int i = 0; i < 25; ++i) {
    std::filesystem::create_directory(step);
    std::filesystem::current_path(step);
  }
  EXPECT_THAT(error_of(files.root()), HasSubstr("File name too long"));
  for (int i = 0; i < 25; ++i) {
    std::filesystem::current_path("..");
    std::filesystem::remove(step);
  }
  std::filesystem::current_path(before);
}

TEST(DatasetFolder, SaysWhatIsMissingWhereThereAreNoImages) {
  const DatasetFiles files;
  EXPECT_THAT(error_of(files.root() / "nowhere"), AllOf(HasSubstr("nowhere"), HasSubstr("No such file")));
  EXPECT_THAT(error_of(files.root()), HasSubstr("no images in"));
  files.file("a/1.txt");
  files.file("a/1.jpg", 0);
  EXPECT_THAT(error_of(files.root()), HasSubstr("1 empty, 1 with other names"));
  ASSERT_EQ(::mkfifo((files.root() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of(files.root() / "pipe"), HasSubstr("neither a folder of images nor a manifest"));
}

TEST(DatasetFolder, NumbersLabelsByAnotherFeedsClasses) {
  const DatasetFiles files;
  files.file("dog/1.jpg");
  files.file("ant/1.jpg");
  const std::vector<std::string> train = {"ant", "bee", "cat", "dog"};
  const Scan scan = scan_data(files.root(), &train);
  EXPECT_EQ(scan.classes, train);
  EXPECT_THAT(listing(scan), ElementsAre("0 ant/1.jpg 1", "3 dog/1.jpg 1"));
  EXPECT_THAT(scan.warnings, IsEmpty()) << "that val lacks a class of train is nothing to warn of";
  // The number counts, not the alphabet: the order of the samples follows it.
  const std::vector<std::string> reversed = {"dog", "ant"};
  EXPECT_THAT(listing(scan_data(files.root(), &reversed)), ElementsAre("0 dog/1.jpg 1", "1 ant/1.jpg 1"));
}

TEST(DatasetFolder, NamesAClassThatTheOtherFeedLacks) {
  const DatasetFiles files;
  files.file("dog/1.jpg");
  files.file("yak/1.jpg");
  const std::vector<std::string> train = {"cat", "dog"};
  EXPECT_THAT(error_of(files.root(), &train), AllOf(HasSubstr("class 'yak'"), HasSubstr("classes_from")));
  const DatasetFiles flat;
  flat.file("1.jpg");
  EXPECT_THAT(error_of(flat.root(), &train), HasSubstr("has no classes"));
  const std::vector<std::string> other_flat = {""};
  EXPECT_THAT(listing(scan_data(flat.root(), &other_flat)), ElementsAre("0 1.jpg 1"));
}

// Expected values: xxhsum 0.8.1 -H2 over the bytes, packed by Python's struct "<QQ".
TEST(DatasetFolder, DigestsPathsSizesAndLabels) {
  const DatasetFiles files;
  files.file("cat/1.jpg", 3);
  files.file("cat/2.PNG", 5);
  files.file("dog/1.jpg", 7);
  EXPECT_EQ(dataset_digest(scan_data(files.root())), "07afd78fd613bdc62b8e5aa589ff27a7");
  const DatasetFiles odd;
  odd.file("a\n\xff.jpg", 1);
  EXPECT_EQ(dataset_digest(scan_data(odd.root())), "1417101f6a0f81e73f63b539d1c1bbc3");
}

TEST(DatasetFolder, DigestsRealPhotographsAsAReferenceDoes) {
  const char* given = std::getenv("FEEDRING_SHARED");
  const std::filesystem::path shared = given != nullptr ? given : FEEDRING_SOURCE_DIR "/../shared";
  const std::filesystem::path photos = shared / "data/photos";
  if (!std::filesystem::is_directory(photos)) GTEST_SKIP() << photos << " is absent";
  const Scan scan = scan_data(photos);
  EXPECT_EQ(scan.samples.size(), 200U);
  EXPECT_EQ(scan.classes.size(), 20U);
  EXPECT_EQ(dataset_digest(scan), "72edb18efecc7ff46de2bd8e10b846b5");
}

}  // namespace
}  // namespace feedring
