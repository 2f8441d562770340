// SPDX-License-Identifier: Apache-2.0
// Columns of a manifest that go along with each sample: from text to the bytes of a slot, and what is said of bad ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <feedring/error.hpp>
#include <map>
#include <string>
#include <vector>

#include "producers/dataset/column_table.hpp"
#include "producers/dataset/index.hpp"
#include "producers/dataset/scan.hpp"
#include "tests/unit/dataset_files.hpp"

namespace feedring {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<ColumnSpec> three_columns() {
  return {*column_of("box", "float[3]"), *column_of("Tags", "multi_hot"), *column_of("kind", "class")};
}

class Columns : public testing::Test {
 protected:
  Columns() {
    for (const char* path : {"1.jpg", "2.jpg", "3.jpg"}) files_.file(path);
  }
  [[nodiscard]] Scan scan(const std::string& name, const std::string& text,
                          const std::vector<ColumnSpec>& columns = three_columns()) const {
    files_.text(name, text);
    return scan_data(files_.root() / name, nullptr, NoSamples::kIsAnError, {"", {}, 1, columns});
  }
  [[nodiscard]] std::string error_of(const std::string& name, const std::string& text,
                                     const std::vector<ColumnSpec>& columns = three_columns()) const {
    try {
      (void)scan(name, text, columns);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kData);
      return error.what();
    }
    return "";
  }

  DatasetFiles files_;
};

/// A row of three_columns() with three tags.
struct Row {
  std::vector<float> box = std::vector<float>(3);
  std::string tags;
  std::int64_t kind = -1;
};
Row row_of(std::span<const std::byte> bytes) {
  Row row;
  EXPECT_EQ(bytes.size(), 12U + 3 + 8);
  std::memcpy(row.box.data(), bytes.data(), 12);
  for (int i = 0; i < 3; ++i)
    row.tags += static_cast<char>('0' + static_cast<int>(bytes[12 + static_cast<std::size_t>(i)]));
  std::memcpy(&row.kind, bytes.data() + 15, 8);
  return row;
}

void expect_three_rows(const Scan& scan) {
  const UniqueFd fd = build_index(scan);
  const Index index = Index::attach(fd.get());
  EXPECT_EQ(index.digest(), dataset_digest(scan));
  const ColumnTable table(index);
  ASSERT_EQ(table.columns().size(), 3U);
  EXPECT_EQ(table.columns()[1].name, "Tags");
  EXPECT_THAT(table.columns()[1].classes, ElementsAre("dog", "red car", "sky")) << "in bytewise order";
  EXPECT_THAT(table.columns()[2].classes, ElementsAre("in", "out"));
  std::map<std::string, Row> rows;
  for (std::uint64_t i = 0; i < index.size(); ++i) rows[std::string(index.path(i))] = row_of(table.row(i));
  EXPECT_THAT(rows["1.jpg"].box, ElementsAre(0.5F, -2.0F, 300.0F));
  EXPECT_EQ(rows["1.jpg"].tags, "011");
  EXPECT_EQ(rows["1.jpg"].kind, 1);
  EXPECT_THAT(rows["2.jpg"].box, ElementsAre(1.0F, 2.0F, 3.0F));
  EXPECT_EQ(rows["2.jpg"].tags, "000") << "none";
  EXPECT_EQ(rows["2.jpg"].kind, 0);
  EXPECT_THAT(rows["3.jpg"].box, ElementsAre(0.1F, 1e-3F, 0.0F));
  EXPECT_EQ(rows["3.jpg"].tags, "110");
  EXPECT_EQ(rows["3.jpg"].kind, 0);
}

TEST_F(Columns, OfATableBecomeTheBytesOfASlot) {
  // The samples are sorted by label and path; the values go with them.
  expect_three_rows(scan("list.csv",
                         "path,TAGS,box,label,kind\n"
                         "3.jpg,dog|red car,0.1 1e-3 0,a,in\n"
                         "2.jpg,,1;2;3,b,in\n"
                         "1.jpg, sky | red car,\"0.5, -2, +3e2\",b, out \n"));
}

TEST_F(Columns, OfJsonLinesAreTheSame) {
  expect_three_rows(
      scan("list.jsonl",
           R"({"path": "3.jpg", "Tags": ["dog", "red car"], "box": [0.1, 1e-3, 0], "label": "a", "kind": "in"})"
           "\n"
           R"({"path": "2.jpg", "Tags": [], "box": [1, 2, 3], "label": "b", "kind": "in"})"
           "\n"
           R"({"path": "1.jpg", "Tags": ["sky", "red car"], "box": [0.5, -2, 300.0], "label": "b", "kind": "out"})"
           "\n"));
}

TEST_F(Columns, OfNumbersAreTheNumbersThemselves) {
  const Scan numbers = scan("list.csv", "path,at,hot\n1.jpg,7,3|0\n2.jpg,2,1\n",
                            {*column_of("at", "class"), *column_of("hot", "multi_hot")});
  EXPECT_EQ(numbers.values.row_bytes, 8U + 4);
  const std::string_view row = numbers.values.row(numbers.samples[0].row);
  EXPECT_EQ(row.substr(0, 8), std::string_view("\7\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(row.substr(8), std::string_view("\1\0\0\1", 4));
}

TEST_F(Columns, AreNumberedAsOthersWhereTheseAreGiven) {
  std::vector<ColumnSpec> columns{*column_of("kind", "class")};
  columns[0].classes = {"in", "never", "out"};
  const Scan numbered = scan("list.csv", "path,kind\n1.jpg,out\n2.jpg,in\n", columns);
  EXPECT_EQ(numbered.values.row(numbered.samples[0].row)[0], 2);
  EXPECT_EQ(numbered.values.columns[0].classes.size(), 3U);
  EXPECT_THAT(error_of("list.csv", "path,kind\n1.jpg,new\n", columns), HasSubstr("'new'"));
}

TEST_F(Columns, ChangeTheDigest) {
  const std::vector<ColumnSpec> one{*column_of("at", "float")};
  const std::string digest = dataset_digest(scan("list.csv", "path,at\n1.jpg,1\n", one));
  EXPECT_EQ(dataset_digest(scan("list.csv", "path,at\n1.jpg,1.0\n", one)), digest);
  EXPECT_NE(dataset_digest(scan("list.csv", "path,at\n1.jpg,2\n", one)), digest);
}

TEST_F(Columns, ThatAreBadAreNamedWithFileAndLine) {
  const auto of = [this](const std::string& fields) {
    return error_of("list.csv", "path,box,Tags,kind\n1.jpg,1 2 3,sky,in\n2.jpg," + fields + "\n");
  };
  EXPECT_THAT(of("1 2,sky,in"), HasSubstr("list.csv', line 3: column 'box': 2 numbers where it has 3"));
  EXPECT_THAT(of("1 2 three,sky,in"), HasSubstr("list.csv', line 3: column 'box': 'three' is no finite number"));
  EXPECT_THAT(of("1 2 nan,sky,in"), HasSubstr("'nan' is no finite number"));
  EXPECT_THAT(of("1 2 1e39,sky,in"), HasSubstr("'1e39' does not fit float32"));
  EXPECT_THAT(of("1 2 3,sky,"), HasSubstr("column 'kind': one name, or number, is a class"));
  EXPECT_THAT(of("1 2 3,17,in"), HasSubstr("column 'Tags': '17' is a number, but the first one is a name"));
  EXPECT_THAT(error_of("list.csv", "path,box,kind\n1.jpg,1 2 3,in\n"),
              HasSubstr("list.csv', line 1: no column is called 'Tags', which the feed's columns name"));
  EXPECT_THAT(error_of("list.csv", "path,box,Tags,kind\n1.jpg,1 2 3,,in\n"), HasSubstr("has 0 different names"));
  EXPECT_THAT(error_of("list.jsonl", "{\"path\": \"1.jpg\", \"box\": [1, 2, 3], \"kind\": \"in\"}\n"),
              HasSubstr("list.jsonl', line 1: no value of 'Tags'"));
  EXPECT_THAT(error_of("list.jsonl", "{\"path\": \"1.jpg\", \"box\": [1, [2], 3], \"Tags\": [], \"kind\": \"in\"}\n"),
              HasSubstr("column 'box': [2] is neither a text nor a number"));
  EXPECT_THAT(error_of("list.tsv", "1.jpg\ta\n"), HasSubstr("without a head line"));
  files_.file("folder/a/1.jpg");
  try {
    (void)scan_data(files_.root() / "folder", nullptr, NoSamples::kIsAnError, {"", {}, 1, three_columns()});
    ADD_FAILURE() << "a folder has no columns";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no column 'box': columns are those of a table"));
  }
}

TEST(ColumnSpecs, AreWhatTheirTextsSay) {
  EXPECT_EQ(column_of("a", "float")->length, std::nullopt);
  EXPECT_EQ(column_of("a", "float[12]")->length, 12U);
  for (const char* kind : {"class", "float", "float[1]", "multi_hot"}) EXPECT_EQ(kind_of(*column_of("a", kind)), kind);
  for (const char* wrong : {"", "int", "float[]", "float[0]", "float[-1]", "float[2", "float[2]x", "float[1048577]"})
    EXPECT_FALSE(column_of("a", wrong)) << wrong;
}

}  // namespace
}  // namespace feedring
