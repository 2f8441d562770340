// SPDX-License-Identifier: Apache-2.0
// TensorFlow's records: checksums by the published vectors, and files with every byte changed.
#include "producers/pack/tf_records.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <feedring/error.hpp>
#include <string>

#include "dataset_files.hpp"
#include "producers/pack/crc32c.hpp"
#include "producers/pack/tf_example.hpp"

namespace feedring {
namespace {

using pack::crc32c;
using pack::masked;
using pack::read_tf_example;
using pack::TfRecords;

std::string little(std::uint64_t number, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::memcpy(text.data(), &number, bytes);
  return text;
}

/// `{"image": "abc", "label": 5}`, encoded by hand. 0a: field 1, of bytes.
const std::string& example() {
  static const std::string text(
      "\x0a\x24"                  // features
      "\x0a\x10"                  //   an entry
      "\x0a\x05image"             //     its name
      "\x12\x07\x0a\x05\x0a\x03"  //     a feature: a list of bytes: "abc"
      "abc"
      "\x0a\x10"                  //   an entry
      "\x0a\x05label"             //     its name
      "\x12\x07\x1a\x05\x0a\x03"  //     a feature: a list of numbers, packed: 5 in three bytes
      "\x85\x80\x00",
      38);
  return text;
}

TEST(TfRecords, HaveTheChecksumsOfTheStandard) {
  // RFC 3720, B.4, and the check value of the catalogue of such checksums.
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
  std::string up, down;
  for (int i = 0; i < 32; ++i) {
    up.push_back(static_cast<char>(i));
    down.push_back(static_cast<char>(31 - i));
  }
  EXPECT_EQ(crc32c(up), 0x46DD794EU);
  EXPECT_EQ(crc32c(down), 0x113FDB5CU);
  // e3069283 turned right by 15 bits is 2507c60d; with a282ead8 it is c78ab0e5.
  EXPECT_EQ(masked(0xE3069283), 0xC78AB0E5U);
}

TEST(TfRecords, AreReadOneByOne) {
  const DatasetFiles files;
  std::string text;
  for (const std::string& record : {std::string("first"), std::string(), std::string(100000, 'x')}) {
    const std::string length = little(record.size(), 8);
    for (const std::string& part :
         {length, little(masked(crc32c(length)), 4), record, little(masked(crc32c(record)), 4)}) {
      text += part;
    }
  }
  files.text("r", text);
  const TfRecords records(files.root() / "r");
  ASSERT_EQ(records.size(), 3U);
  std::string record;
  records.read(2, record);
  EXPECT_EQ(record, std::string(100000, 'x'));
  records.read(1, record);
  EXPECT_EQ(record, "");
  records.read(0, record);
  EXPECT_EQ(record, "first");
}

TEST(TfRecords, AreRefusedWithAnyByteChangedOrMissing) {
  const DatasetFiles files;
  const std::string length = little(example().size(), 8);
  const std::string good =
      length + little(masked(crc32c(length)), 4) + example() + little(masked(crc32c(example())), 4);
  const auto reads = [&](const std::string& text) {
    files.text("r", text);
    try {
      const TfRecords records(files.root() / "r");
      std::string record;
      for (std::uint64_t i = 0; i < records.size(); ++i) records.read(i, record);
      return records.size() == 1 && record == example();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kData);
      return false;
    }
  };
  EXPECT_TRUE(reads(good));
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_FALSE(reads(good.substr(0, i))) << i;
    std::string changed = good;
    changed[i] = static_cast<char>(changed[i] ^ 0x80);
    EXPECT_FALSE(reads(changed)) << i;
  }
}

TEST(TfRecords, HoldExamplesThatStayWithinTheirBytes) {
  const auto whole = read_tf_example(example());
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->image, "abc");
  EXPECT_EQ(whole->label, 5);
  // Wherever it is cut, and whatever a byte becomes: what is read lies within. A copy of its own shows a step too far.
  for (std::size_t i = 0; i < example().size(); ++i) {
    const std::string cut(example(), 0, i);
    EXPECT_EQ(read_tf_example(cut).has_value(), i == 0) << i;
    for (int value = 0; value < 256; ++value) {
      std::string changed(example());
      changed[i] = static_cast<char>(value);
      const std::vector<char> exact(changed.begin(), changed.end());
      const auto read = read_tf_example({exact.data(), exact.size()});
      if (!read || !read->image) continue;
      EXPECT_GE(read->image->data(), exact.data());
      EXPECT_LE(read->image->data() + read->image->size(), exact.data() + exact.size());
    }
  }
}

TEST(TfRecords, HoldExamplesWithOtherFeaturesToo) {
  const auto field = [](char key, const std::string& bytes) {
    return std::string{key, static_cast<char>(bytes.size())} + bytes;
  };
  const std::string floats =
      field('\x0a', field('\x0a', "other") + field('\x12', field('\x12', field('\x0a', "\1\2\3\4"))));
  const std::string plain = field('\x0a', field('\x0a', "label") + field('\x12', field('\x1a', "\x08\x07")));
  const auto read = read_tf_example(field('\x0a', floats + plain));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->label, 7) << "a number that is not packed";
  EXPECT_FALSE(read->image);
  const auto negative = read_tf_example(
      field('\x0a', field('\x0a', field('\x0a', "label") +
                                      field('\x12', field('\x1a', "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")))));
  ASSERT_TRUE(negative);
  EXPECT_EQ(negative->label, -1);
}

}  // namespace
}  // namespace feedring
