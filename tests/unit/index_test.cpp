// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/index.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <feedring/error.hpp>
#include <functional>

#include "dataset_files.hpp"
#include "producers/dataset/index_layout.hpp"

namespace feedring {
namespace {

using dataset::ClassRecord;
using dataset::IndexHeader;
using dataset::SampleRecord;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Three classes, the middle one empty.
Scan small_scan() {
  const DatasetFiles files;
  files.file("ant/1.jpg", 3);
  files.folder("bee");
  files.file("cat/1.jpg", 5);
  files.file("cat/2\n.jpg", 7);
  return scan_data(files.root());
}

/// A sealed memfd of these bytes: what a broken or hostile builder could hand over.
UniqueFd sealed(const std::string& bytes) {
  UniqueFd fd = create_memfd("index-test", bytes.size());
  EXPECT_EQ(::pwrite(fd.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  seal_content(fd.get());
  return fd;
}

std::string bytes_of(int fd) {
  std::string bytes(size_of(fd), '\0');
  EXPECT_EQ(::pread(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return bytes;
}

TEST(Index, OfSamplesWithoutFilesCostsTheSameForAnyNumberOfThem) {
  constexpr std::uint64_t kMany = std::uint64_t{1} << 40;
  const UniqueFd fd = build_nameless_index(kMany, "waves");
  EXPECT_LT(size_of(fd.get()), 4096U);
  const Index index = Index::attach(fd.get());
  EXPECT_TRUE(index.nameless());
  EXPECT_EQ(index.size(), kMany);
  EXPECT_EQ(index.path(kMany - 1), "");
  EXPECT_STREQ(index.path(0).data(), "");
  EXPECT_EQ(index.called(17), "sample 17");
  EXPECT_EQ(index.bytes(17), 0U);
  EXPECT_EQ(index.label(17), 0U);
  EXPECT_EQ(index.class_range(0), (Range{0, kMany}));
  EXPECT_THAT(index.class_names(), ElementsAre(""));
  EXPECT_THROW((void)index.label(kMany), Error);
  EXPECT_THROW((void)index.path(kMany), Error);
  const auto digest = [](std::uint64_t samples, std::string_view identity) {
    return Index::attach(build_nameless_index(samples, identity).get()).digest();
  };
  EXPECT_EQ(index.digest(), digest(kMany, "waves"));
  EXPECT_NE(index.digest(), digest(kMany - 1, "waves"));
  EXPECT_NE(index.digest(), digest(kMany, "tides"));
}

TEST(Index, CarriesAnAttachmentThatIsNoPartOfItsDigest) {
  const Index with = Index::attach(build_nameless_index(3, "waves", std::string_view("a\0b", 3)).get());
  ASSERT_EQ(with.attachment().size(), 3U);
  EXPECT_EQ(std::memcmp(with.attachment().data(), "a\0b", 3), 0);
  const Index without = Index::attach(build_nameless_index(3, "waves").get());
  EXPECT_TRUE(without.attachment().empty());
  EXPECT_EQ(with.digest(), without.digest());
  std::string bytes = bytes_of(build_nameless_index(3, "waves", "abc").get());
  IndexHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.attachment_bytes = ~std::uint64_t{0};
  std::memcpy(bytes.data(), &header, sizeof header);
  EXPECT_THROW(Index::attach(sealed(bytes).get()), Error);
}

TEST(Index, HoldsWhatTheScanFound) {
  const Scan scan = small_scan();
  UniqueFd fd = build_index(scan);
  EXPECT_EQ(size_of(fd.get()), index_bytes(scan));
  const Index index = Index::attach(fd.get());
  fd.reset();  // the mapping lives on
  ASSERT_EQ(index.size(), 3U);
  EXPECT_FALSE(index.nameless());
  EXPECT_EQ(index.path(0), "ant/1.jpg");
  EXPECT_EQ(index.called(0), "ant/1.jpg");
  EXPECT_EQ(index.path(2), "cat/2\n.jpg");
  EXPECT_STREQ(index.path(1).data(), "cat/1.jpg") << "a system call can take it as it is";
  EXPECT_EQ(index.bytes(0), 3U);
  EXPECT_EQ(index.bytes(2), 7U);
  EXPECT_EQ(index.label(0), 0U);
  EXPECT_EQ(index.label(2), 2U);
  EXPECT_THAT(index.class_names(), ElementsAre("ant", "bee", "cat"));
  EXPECT_EQ(index.classes(), 3U);
  EXPECT_EQ(index.class_range(0), (Range{0, 1}));
  EXPECT_EQ(index.class_range(1).size(), 0U);
  EXPECT_EQ(index.class_range(2), (Range{1, 3}));
  EXPECT_EQ(index.root(), scan.root);
  EXPECT_EQ(index.digest(), dataset_digest(scan));
}

TEST(Index, HasOneNamelessClassForAFlatFolder) {
  const DatasetFiles files;
  files.file("1.jpg");
  files.file("2.jpg");
  const UniqueFd fd = build_index(scan_data(files.root()));
  const Index index = Index::attach(fd.get());
  EXPECT_THAT(index.class_names(), ElementsAre(""));
  EXPECT_EQ(index.class_range(0), (Range{0, 2}));
}

TEST(Index, CannotBeChangedByAnybody) {
  const UniqueFd fd = build_index(small_scan());
  EXPECT_EQ(::pwrite(fd.get(), "x", 1, 0), -1);
  EXPECT_EQ(::ftruncate(fd.get(), 0), -1);
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0), MAP_FAILED);
}

TEST(Index, RefusesANumberOutOfRange) {
  const UniqueFd fd = build_index(small_scan());
  const Index index = Index::attach(fd.get());
  for (const std::uint64_t number : {std::uint64_t{3}, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    EXPECT_THROW((void)index.path(number), Error);
    EXPECT_THROW((void)index.bytes(number), Error);
    EXPECT_THROW((void)index.label(number), Error);
    EXPECT_THROW((void)index.class_name(number), Error);
    EXPECT_THROW((void)index.class_range(number), Error);
  }
}

std::string refusal_of(int fd) {
  try {
    (void)Index::attach(fd);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRefused);
    return error.what();
  }
  return "attached";
}

TEST(Index, RefusesMemoryThatIsNotSealed) {
  const std::string good = bytes_of(build_index(small_scan()).get());
  UniqueFd fd = create_memfd("index-test", good.size());
  ASSERT_EQ(::pwrite(fd.get(), good.data(), good.size(), 0), static_cast<ssize_t>(good.size()));
  EXPECT_THAT(refusal_of(fd.get()), HasSubstr("not sealed"));
  seal_size(fd.get());
  EXPECT_THAT(refusal_of(fd.get()), HasSubstr("not sealed")) << "its content could still change";
  seal_content(fd.get());
  EXPECT_EQ(refusal_of(fd.get()), "attached");
}

TEST(Index, RefusesAHeaderThatDoesNotDescribeIt) {
  const std::string good = bytes_of(build_index(small_scan()).get());
  const auto refusal = [&good](const std::function<void(IndexHeader&)>& change) {
    std::string bytes = good;
    IndexHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    change(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    return refusal_of(sealed(bytes).get());
  };
  constexpr std::uint64_t kHuge = ~std::uint64_t{0};
  EXPECT_EQ(refusal([](IndexHeader&) {}), "attached");
  EXPECT_THAT(refusal([](IndexHeader& h) { h.magic ^= 1; }), HasSubstr("no index"));
  EXPECT_THAT(refusal([](IndexHeader& h) { ++h.version; }), HasSubstr("version 4"));
  EXPECT_THAT(refusal([](IndexHeader& h) { ++h.total_bytes; }), HasSubstr("do not lie within"));
  // Counts whose product with the record size wraps around to something small.
  EXPECT_THAT(refusal([](IndexHeader& h) { h.samples = kHuge / sizeof(SampleRecord) + 2; }), HasSubstr("do not lie"));
  EXPECT_THAT(refusal([](IndexHeader& h) { h.classes = (std::uint64_t{1} << 59) + 1; }), HasSubstr("do not lie"));
  EXPECT_THAT(refusal([](IndexHeader& h) { h.samples_at = kHuge; }), HasSubstr("do not lie within"));
  EXPECT_THAT(refusal([](IndexHeader& h) { h.classes_at = h.total_bytes + 1; }), HasSubstr("do not lie within"));
  EXPECT_THAT(refusal([](IndexHeader& h) { h.text_at = kHuge - 3; }), HasSubstr("do not lie within"));
  EXPECT_THAT(refusal([](IndexHeader& h) { ++h.text_bytes; }), HasSubstr("do not lie within"));
  EXPECT_THAT(refusal([](IndexHeader& h) { h.sums = h.samples - 1; }), HasSubstr("weights of other samples"));
  EXPECT_THAT(refusal([](IndexHeader& h) { h.sources = kHuge / sizeof(Source) + 2; }), HasSubstr("do not lie within"));
  EXPECT_THAT(refusal([](IndexHeader& h) { h.drawn = kHuge / 8 + 2; }), HasSubstr("do not lie within"));
  EXPECT_THAT(refusal([](IndexHeader& h) { ++h.drawn_at, h.drawn = 0; }), HasSubstr("do not lie as they should"));
  EXPECT_THAT(refusal_of(sealed(good.substr(0, sizeof(IndexHeader) - 1)).get()), HasSubstr("too short"));
  EXPECT_THAT(refusal_of(sealed(good.substr(0, sizeof(IndexHeader))).get()), HasSubstr("do not lie within"));
  EXPECT_THAT(refusal_of(sealed("").get()), HasSubstr("too short"));
}

// What a draw divides by, and where it looks.
TEST(Index, RefusesTablesThatNothingCanBeDrawnFrom) {
  const Scan scan = small_scan();
  const auto attach = [&scan](const DrawTables& tables) { return refusal_of(build_index(scan, tables).get()); };
  const std::vector<std::uint64_t> members(scan.samples.size(), 0);
  EXPECT_EQ(attach({{}, {{0, 1, 2}, {1, 2, 3}}, members}), "attached");
  EXPECT_THAT(attach({std::vector<std::uint64_t>(scan.samples.size(), 0), {}, {}}),
              HasSubstr("no sample has a weight"));
  EXPECT_THAT(attach({{}, {{0, 0, 1}}, members}), HasSubstr("a source has no samples"));
  EXPECT_THAT(attach({{}, {{0, members.size() + 1, 1}}, members}), HasSubstr("a source has no samples"));
  EXPECT_THAT(attach({{}, {{0, 1, 0}}, members}), HasSubstr("a source has no samples"));
  EXPECT_THAT(attach({{}, {{0, 1, 2}, {1, 2, 2}}, members}), HasSubstr("a source has no samples"));
}

TEST(Index, NeverReadsOutsideWhateverTheRecordsSay) {
  const std::string good = bytes_of(build_index(small_scan()).get());
  IndexHeader header;
  std::memcpy(&header, good.data(), sizeof header);
  const auto poke = [&good](std::uint64_t at, auto value) {
    std::string bytes = good;
    std::memcpy(bytes.data() + at, &value, sizeof value);
    return Index::attach(sealed(bytes).get());
  };
  const std::uint64_t sample = header.samples_at, of_class = header.classes_at;
  for (const std::uint64_t evil : {header.text_bytes, header.text_bytes - 1, header.text_bytes + 1, ~std::uint64_t{0},
                                   ~std::uint64_t{0} - 8, std::uint64_t{1} << 63}) {
    EXPECT_THROW((void)poke(sample + offsetof(SampleRecord, path_begin), evil).path(0), Error) << evil;
    EXPECT_THROW((void)poke(of_class + offsetof(ClassRecord, name_begin), evil).class_name(0), Error) << evil;
    EXPECT_THROW((void)poke(of_class + offsetof(ClassRecord, name_length), evil).class_name(0), Error) << evil;
    EXPECT_THROW((void)poke(of_class + offsetof(ClassRecord, begin), evil).class_range(0), Error) << evil;
    EXPECT_THROW((void)poke(of_class + offsetof(ClassRecord, end), evil).class_range(0), Error) << evil;
    const Index root = poke(offsetof(IndexHeader, root_length), evil);
    if (evil == header.text_bytes - 1) {
      EXPECT_EQ(root.root().size(), evil) << "all of the text: wrong, but within it";
    } else {
      EXPECT_THROW((void)root.root(), Error) << evil;
    }
  }
  EXPECT_THROW((void)poke(sample + offsetof(SampleRecord, path_length), ~std::uint32_t{0}).path(0), Error);
  EXPECT_THROW((void)poke(sample + offsetof(SampleRecord, path_length), std::uint32_t{3}).path(0), Error)
      << "no NUL behind it: a system call would read on";
  EXPECT_THROW((void)poke(sample + offsetof(SampleRecord, label), std::uint32_t{3}).label(0), Error);
}

TEST(Index, AttachesToAMillionSamplesWithinItsLimit) {
  // As large as ImageNet's training set, from a synthetic manifest; the limit is 50 ms, and sanitizers slow nothing
  // down here. The best of twenty, since the machine has other work.
  constexpr std::uint64_t kSamples = 1281167;
  const DatasetFiles files;
  {
    std::string text;
    for (std::uint64_t i = 0; i < kSamples; ++i) {
      char line[96];
      std::snprintf(line, sizeof line, "train/n%08llu/n%08llu_%llu.JPEG\tn%08llu\t%llu\n",
                    static_cast<unsigned long long>(i % 1000), static_cast<unsigned long long>(i % 1000),
                    static_cast<unsigned long long>(i), static_cast<unsigned long long>(i % 1000),
                    static_cast<unsigned long long>(100000 + i % 77777));
      text += line;
    }
    files.text("imagenet.tsv", text);
  }
  using Clock = std::chrono::steady_clock;
  const auto ms = [](Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); };
  const auto start = Clock::now();
  const Scan scan = scan_data(files.root() / "imagenet.tsv");
  const auto scanned = Clock::now();
  const std::string digest = dataset_digest(scan);
  const auto digested = Clock::now();
  const UniqueFd fd = build_index(scan);
  const auto built = Clock::now();
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto before = Clock::now();
    const Index index = Index::attach(fd.get());
    best = std::min(best, ms(Clock::now() - before));
    ASSERT_EQ(index.size(), kSamples);
    ASSERT_EQ(index.classes(), 1000U);
    ASSERT_EQ(index.digest(), digest);
    // Class 999 begins after 1000 classes of 1281 and the first 167 of one more.
    ASSERT_EQ(index.class_range(999), (Range{999 * 1281 + 167, kSamples}));
    ASSERT_EQ(index.path(kSamples - 1), "train/n00000999/n00000999_999999.JPEG");
    ASSERT_EQ(index.bytes(0), 100000U);
  }
  std::printf("scan %.0f ms, digest %.0f ms, build with digest %.0f ms, attach %.2f ms, %llu bytes\n",
              ms(scanned - start), ms(digested - scanned), ms(built - digested), best,
              static_cast<unsigned long long>(size_of(fd.get())));
  EXPECT_LT(best, 50.0);
}

}  // namespace
}  // namespace feedring
