// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/select.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <feedring/error.hpp>
#include <string>
#include <vector>

#include "producers/pool/sample_order.hpp"
#include "tests/unit/dataset_files.hpp"

namespace feedring {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Select : public testing::Test {
 protected:
  /// "class path" of each sample.
  static std::vector<std::string> listing(const Scan& scan) {
    std::vector<std::string> lines;
    for (const Sample& sample : scan.samples) {
      lines.push_back(scan.classes[sample.label] + ' ' + std::string(scan.path(sample)));
    }
    return lines;
  }
  void put(std::initializer_list<const char*> paths) const {
    for (const char* path : paths) files_.file(path);
  }
  [[nodiscard]] FeedSpec spec(const std::string& data) const {
    FeedSpec spec;
    spec.data = files_.root() / data;
    return spec;
  }
  static std::string error_of(const FeedSpec& spec) {
    try {
      (void)draw_tables(scan_samples(spec));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  DatasetFiles files_;
};

TEST_F(Select, FilesByPathOrLastPart) {
  put({"d/a/1.jpg", "d/a/2.jpg", "d/b/1.jpg", "d/b/3.jpg", "d/c/4.jpg"});
  FeedSpec feed = spec("d");
  feed.files = {"1.jpg", "b/3.jpg"};
  EXPECT_THAT(listing(scan_samples(feed)), ElementsAre("a a/1.jpg", "b b/1.jpg", "b b/3.jpg"));
  EXPECT_THAT(scan_samples(feed).classes, ElementsAre("a", "b", "c")) << "numbers stay";
  feed.files = {"a/3.jpg"};
  EXPECT_THAT(error_of(feed), HasSubstr("has no sample 'a/3.jpg', which \"files\" asks for"));
}

TEST_F(Select, LimitAtEvenDistances) {
  put({"d/a/0.jpg", "d/a/1.jpg", "d/a/2.jpg", "d/a/3.jpg", "d/b/4.jpg", "d/b/5.jpg", "d/b/6.jpg"});
  FeedSpec feed = spec("d");
  feed.limit = 3;  // 0, 7 / 3, 14 / 3
  EXPECT_THAT(listing(scan_samples(feed)), ElementsAre("a a/0.jpg", "a a/2.jpg", "b b/4.jpg"));
  feed.limit = 8;
  EXPECT_EQ(scan_samples(feed).samples.size(), 7U);
}

TEST_F(Select, MixesDataSetsFromTheirCommonFolder) {
  put({"x/one/a/1.jpg", "x/one/b/2.jpg", "x/two/b/3.jpg", "x/two/c/4.jpg"});
  files_.text("x/list.csv", "path,label\ntwo/c/4.jpg,a\n");
  FeedSpec feed;
  feed.mix.resize(3);
  feed.mix[0].data = files_.root() / "x/one";
  feed.mix[0].weight = 1.5;
  feed.mix[1].data = files_.root() / "x/two";
  feed.mix[1].classes = {"b"};
  feed.mix[2].data = files_.root() / "x/list.csv";
  feed.mix[2].weight = 0.5;
  const Scan scan = scan_samples(feed);
  EXPECT_EQ(scan.root, files_.root() / "x");
  EXPECT_THAT(listing(scan), ElementsAre("a one/a/1.jpg", "a two/c/4.jpg", "b one/b/2.jpg", "b two/b/3.jpg"));
  EXPECT_THAT(scan.shares, ElementsAre(3, 2, 1));
  const DrawTables tables = draw_tables(scan);
  EXPECT_THAT(tables.members, ElementsAre(0, 2, 3, 1));
  ASSERT_EQ(tables.sources.size(), 3U);
  EXPECT_EQ(tables.sources[1].begin, 2U);
  EXPECT_EQ(tables.sources[1].end, 3U);
  EXPECT_EQ(tables.sources[1].share_end, 5U);
  const Index index = Index::attach(build_index(scan, tables).get());
  EXPECT_THAT(index.drawn(), ElementsAre(0, 2, 3, 1));
  EXPECT_EQ(index.sources()[2].share_end, 6U);
  EXPECT_EQ(index.path(1), "two/c/4.jpg");
}

TEST_F(Select, MixedListsOfNumbersKeepThem) {
  put({"1.jpg", "2.jpg"});
  files_.text("ten.csv", "path,label\n1.jpg,9\n");
  files_.text("two.csv", "path,label\n2.jpg,1\n");
  FeedSpec feed;
  feed.mix.resize(2);
  feed.mix[0].data = files_.root() / "two.csv";
  feed.mix[1].data = files_.root() / "ten.csv";
  const Scan scan = scan_samples(feed);
  EXPECT_EQ(scan.classes.size(), 10U);
  EXPECT_EQ(scan.samples[0].label, 1U);
  EXPECT_EQ(scan.samples[1].label, 9U);
}

TEST_F(Select, SharesByClassLeaveOutWhatHasNone) {
  put({"d/a/1.jpg", "d/b/2.jpg", "d/b/3.jpg", "d/c/4.jpg"});
  FeedSpec feed = spec("d");
  feed.weights.by_class = true;
  EXPECT_THAT(scan_samples(feed).shares, ElementsAre(1, 1, 1));
  feed.weights.classes = {{"b", 2.5}, {"a", 0}};
  const Scan scan = scan_samples(feed);
  EXPECT_THAT(scan.shares, ElementsAre(5, 2)) << "2.5 and 1";
  EXPECT_THAT(draw_tables(scan).members, ElementsAre(1, 2, 3));
  feed.weights.classes = {{"dog", 2}};
  EXPECT_THAT(error_of(feed), HasSubstr("has no class 'dog', which \"weights\" names"));
  feed.weights.classes = {{"a", 0}, {"b", 0}, {"c", 0}};
  EXPECT_THAT(error_of(feed), HasSubstr("no class"));
}

TEST_F(Select, WeightsOfAColumn) {
  put({"1.jpg", "2.jpg", "3.jpg"});
  files_.text("l.csv", "path,Score\n3.jpg,0.5\n1.jpg,2\n2.jpg, 0 \n");
  FeedSpec feed = spec("l.csv");
  const std::string alike = dataset_digest(scan_samples(feed));
  feed.weights.column = "score";
  const Scan scan = scan_samples(feed);
  EXPECT_THAT(scan.warnings, testing::IsEmpty());
  EXPECT_NE(dataset_digest(scan), alike);
  const std::uint64_t whole = std::uint64_t{1} << 32;  // the largest; the others in proportion
  EXPECT_THAT(draw_tables(scan).sums, ElementsAre(whole, whole, whole + whole / 4));
  EXPECT_THAT(Index::attach(build_index(scan, draw_tables(scan)).get()).sums(),
              ElementsAre(whole, whole, whole + whole / 4));

  files_.text("l.jsonl", "{\"path\": \"1.jpg\", \"w\": 1}\n{\"path\": \"2.jpg\", \"w\": 1e0}\n");
  FeedSpec lines = spec("l.jsonl");
  lines.weights.column = "w";
  EXPECT_THAT(draw_tables(scan_samples(lines)).sums, ElementsAre(whole, 2 * whole));
}

TEST_F(Select, WeightsThatAreNoneAreNamedWithTheirLine) {
  put({"1.jpg"});
  for (const char* wrong : {"-1", "nan", "inf", "", "1x", "0x1"}) {
    files_.text("l.csv", "path,w\n1.jpg," + std::string(wrong) + "\n");
    FeedSpec feed = spec("l.csv");
    feed.weights.column = "w";
    EXPECT_THAT(error_of(feed), testing::AllOf(HasSubstr("line 2"), HasSubstr("weight in 'w' is no number from 0 on")))
        << wrong;
  }
  files_.text("l.csv", "path,w\n1.jpg,0\n");
  FeedSpec feed = spec("l.csv");
  feed.weights.column = "w";
  EXPECT_THAT(error_of(feed), HasSubstr("have the weight 0"));
  feed.weights.column = "v";
  EXPECT_THAT(error_of(feed), HasSubstr("no column is called 'v'"));
  files_.text("l.txt", "1.jpg\n");
  feed.data = files_.root() / "l.txt";
  EXPECT_THAT(error_of(feed), HasSubstr("has no column 'v'"));
  feed.data = files_.root();
  EXPECT_THAT(error_of(feed), HasSubstr("has no columns"));
}

TEST(WholeShares, AreAsSmallAsTheyCanBe) {
  EXPECT_THAT(whole_shares({0.7, 0.3}), ElementsAre(7, 3));
  EXPECT_THAT(whole_shares({4, 2}), ElementsAre(2, 1));
  EXPECT_THAT(whole_shares({1e-6, 1e9}), ElementsAre(1, 1'000'000'000'000'000));
}

}  // namespace
}  // namespace feedring
