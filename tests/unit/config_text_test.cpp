// SPDX-License-Identifier: Apache-2.0
// Suggestions, amounts of memory, and bytes in JSON.
#include <gtest/gtest.h>

#include "producers/config/byte_size.hpp"
#include "producers/config/json_text.hpp"
#include "producers/config/suggest.hpp"

namespace feedring {
namespace {

TEST(EditDistance, CountsEditsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);  // Levenshtein's textbook pair
  EXPECT_EQ(edit_distance("trian", "train"), 1U);
  EXPECT_EQ(edit_distance("Batch_Size", "batch_size"), 0U);
}

TEST(DidYouMean, NamesTheNearestOnlyWhenItIsNear) {
  EXPECT_EQ(did_you_mean("bach_size", {"slots", "batch_size"}), "; did you mean \"batch_size\"?");
  EXPECT_EQ(nearest("bach_size", {"slots", "batch_size"}), "batch_size");
  EXPECT_EQ(nearest("colour", {"slots", "seed"}), "");
  EXPECT_EQ(did_you_mean("sed", {"seed", "shard"}), "; did you mean \"seed\"?");
  EXPECT_EQ(did_you_mean("colour", {"slots", "seed"}), "");
  EXPECT_EQ(did_you_mean(std::string(1000, 'x'), {"seed"}), "");
  EXPECT_EQ(did_you_mean("seed", {}), "");
}

TEST(AnyOfWords, ReadsAsASentence) {
  EXPECT_EQ(any_of_words({"drop"}), "\"drop\"");
  EXPECT_EQ(any_of_words({"drop", "pad"}), "\"drop\" or \"pad\"");
  EXPECT_EQ(any_of_words({"drop", "pad", "exact"}), "\"drop\", \"pad\" or \"exact\"");
}

TEST(ByteSize, KnowsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_byte_size("8 GiB"), 8589934592U);
  EXPECT_EQ(parse_byte_size("8gib"), 8589934592U);
  EXPECT_EQ(parse_byte_size("1.5 GiB"), 1610612736U);
  EXPECT_EQ(parse_byte_size("64 kB"), 64000U);
  EXPECT_EQ(parse_byte_size("500 MB"), 500000000U);
  EXPECT_EQ(parse_byte_size("2TiB"), 2199023255552U);
  EXPECT_EQ(parse_byte_size("1048576"), 1048576U);
  EXPECT_EQ(parse_byte_size("12 B"), 12U);
}

TEST(ByteSize, RefusesWhatIsNoAmount) {
  for (const char* text : {"", " ", "GiB", "-1 GiB", "8 G", "8 GiB x", "8 Gi B", "0", "0.1 B", "1e3", "0x10", "inf",
                           "nan", "9999999999 TiB", "8,5 GiB", "8 GiB "}) {
    EXPECT_EQ(parse_byte_size(text), std::nullopt) << text;
  }
}

// Unicode 15, table 3-8 and its neighbours: the expected replacement counts are the standard's own examples.
TEST(Utf8, FindsEveryIllFormedSequence) {
  EXPECT_TRUE(is_utf8("") && is_utf8("a") && is_utf8("é") && is_utf8("€") && is_utf8("😀"));
  EXPECT_TRUE(is_utf8("\xEF\xBF\xBF") && is_utf8("\xF4\x8F\xBF\xBF"));
  for (const char* bytes : {"\x80", "\xC0\xAF", "\xC1\xBF", "\xC3", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                            "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE2\x82", "\xF0\x9F\x98"}) {
    EXPECT_FALSE(is_utf8(bytes)) << testing::PrintToString(std::string(bytes));
  }
}

TEST(Utf8, ReplacesMaximalPartsAsTheStandardShows) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(to_utf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), r + r + r + r + r + r + r + r + "A");    // table 3-8
  EXPECT_EQ(to_utf8("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), r + r + r + r + r + r + r + r + "A");    // table 3-9
  EXPECT_EQ(to_utf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), r + r + r + r + r + "A" + r + r + "B");  // table 3-10
  EXPECT_EQ(to_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), r + r + r + r + "A");                    // table 3-11
}

TEST(JsonBytes, KeepNamesThatAreUtf8AsTheyAre) {
  nlohmann::ordered_json object;
  put_bytes(object, "path", "été/\"a\\b\n.jpg");
  EXPECT_EQ(object.dump(), R"({"path":"été/\"a\\b\n.jpg"})");
}

TEST(JsonBytes, GiveOtherNamesTwice) {
  nlohmann::ordered_json object;
  put_bytes(object, "path", "caf\xE9.jpg");
  EXPECT_EQ(object.dump(), "{\"path\":\"caf\xEF\xBF\xBD.jpg\",\"path_hex\":\"636166e92e6a7067\"}");
  const auto strict = nlohmann::json::parse(object.dump());
  EXPECT_EQ(get_bytes(strict, "path"), "caf\xE9.jpg");
}

TEST(JsonBytes, RefuseMalformedForms) {
  using nlohmann::json;
  EXPECT_EQ(get_bytes(json::parse(R"({"path":"a"})"), "path"), "a");
  EXPECT_EQ(get_bytes(json::parse(R"({})"), "path"), std::nullopt);
  EXPECT_EQ(get_bytes(json::parse(R"({"path":1})"), "path"), std::nullopt);
  EXPECT_EQ(get_bytes(json::parse(R"({"path":"a","path_hex":"6"})"), "path"), std::nullopt);
  EXPECT_EQ(get_bytes(json::parse(R"({"path":"a","path_hex":"6g"})"), "path"), std::nullopt);
  EXPECT_EQ(get_bytes(json::parse(R"({"path":"a","path_hex":7})"), "path"), std::nullopt);
}

}  // namespace
}  // namespace feedring
