// SPDX-License-Identifier: Apache-2.0
// Data in archives, written by Python's zipfile and tarfile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <feedring/error.hpp>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "dataset_files.hpp"
#include "producers/dataset/archive_file.hpp"
#include "producers/dataset/index.hpp"
#include "producers/dataset/scan.hpp"

namespace feedring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The archives of archives.py, made once.
const DatasetFiles* archives() {
  static const DatasetFiles files;
  static const std::string command =
      "python3 '" FEEDRING_SOURCE_DIR "/tests/unit/archives.py' '" + files.root().native() + "' 2>/dev/null";
  static const bool made = std::system(command.c_str()) == 0;  // NOLINT: of a test's own words
  return made ? &files : nullptr;
}

/// The bytes of a sample, or why there are none.
std::optional<std::string> read(const Scan& scan, const Sample& sample, std::string& bytes) {
  const Member& member = scan.members.at(sample.member);
  const dataset::ArchiveFile file(std::filesystem::path(scan.root) / scan.archives.at(member.archive).name);
  bytes.assign(sample.bytes, '\0');
  std::optional<std::string> fault;
  const ReadOutcome outcome = read_member(file.fd(), scan.archives.at(member.archive).bytes, member,
                                          reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size(),
                                          Wait::kForStorage, scan.path(sample), fault);
  EXPECT_EQ(outcome == ReadOutcome::kRead, !fault.has_value());
  return fault;
}

class ArchiveData : public testing::Test {
 protected:
  void SetUp() override {
    if (archives() == nullptr) GTEST_SKIP() << "no python3";
  }
  static Scan scan(const std::string& name, const DataChoice& choice = {}) {
    return scan_data(archives()->root() / name, nullptr, NoSamples::kIsAnError, choice);
  }
  /// "class path" of each sample, and whether its bytes are those that were packed.
  static std::vector<std::string> listing(const Scan& scan) {
    std::vector<std::string> lines;
    std::string bytes;
    for (const Sample& sample : scan.samples) {
      std::string path(scan.path(sample));
      EXPECT_EQ(read(scan, sample, bytes), std::nullopt) << path;
      const std::string line = path.substr(path.starts_with("shard-") ? path.find('/') + 1 : 0) + '\n';
      EXPECT_TRUE(bytes.ends_with(line) && bytes.size() == 40 * (bytes.find('\n') + 1)) << path << ": " << bytes;
      lines.push_back(scan.classes[sample.label] + ' ' + path);
    }
    return lines;
  }
  static std::string error_of(const std::string& name, const DataChoice& choice = {}) {
    try {
      (void)scan(name, choice);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kData);
      EXPECT_THAT(error.what(), HasSubstr(name));
      return error.what();
    }
    return "no error";
  }
};

TEST_F(ArchiveData, AreSortedIntoClassesByFolder) {
  const auto expected = ElementsAre("a set/a/3.jpg", "a set/a/deep/1.PNG", "b set/b/2.jpg");
  const Scan folders = scan("folders.zip");
  EXPECT_THAT(listing(folders), expected);
  EXPECT_EQ(folders.skipped_as(Skip::kStray), 1U);
  EXPECT_EQ(folders.skipped_as(Skip::kHidden), 2U);
  EXPECT_EQ(folders.skipped_as(Skip::kEmpty), 1U);
  for (const char* name : {"streamed.zip", "zip64.zip"}) EXPECT_THAT(listing(scan(name)), expected) << name;
  const Scan ustar = scan("ustar.tar");
  EXPECT_EQ(ustar.skipped_as(Skip::kNoFile), 1U) << "a link";
  EXPECT_EQ(ustar.classes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(ustar.path(ustar.samples[0]), "set/a/3.jpg") << "without ./";
  const std::string repeated = [] {
    std::string text;
    for (int i = 0; i < 40; ++i) text += "long";
    return text;
  }();
  for (const char* name : {"gnu.tar", "pax.tar"}) {
    const Scan of = scan(name);
    EXPECT_EQ(of.classes, (std::vector<std::string>{"a", "b", repeated})) << name;
    EXPECT_EQ(listing(of).size(), 4U) << name;
  }
  EXPECT_THAT(listing(scan("global-path.tar")), ElementsAre("a a/1.jpg")) << "what is said of all members";
}

TEST_F(ArchiveData, AreChosenFromLikeFolders) {
  EXPECT_THAT(listing(scan("folders.zip", {"", {"b"}})), ElementsAre("b set/b/2.jpg"));
  EXPECT_THAT(listing(scan("folders.zip", {"", {}, 2})),
              ElementsAre("set/a set/a/3.jpg", "set/a set/a/deep/1.PNG", "set/b set/b/2.jpg"));
  EXPECT_THAT(listing(scan("splits.zip", {"train", {}})), ElementsAre("a set/train/a/1.jpg", "b set/train/b/1.jpg"));
  EXPECT_THAT(listing(scan("splits.zip", {"test", {}})), ElementsAre("c set/test/c/1.jpg"));
  EXPECT_THAT(listing(scan("splits.zip", {"", {}, 2})).back(), "train/b set/train/b/1.jpg");
  EXPECT_THAT(error_of("splits.zip", {"val", {}}), HasSubstr("no image lies in 'set/val/'"));
  EXPECT_THAT(listing(scan("flat.zip")), ElementsAre(" 1.jpg", " 2.jpg"));
  EXPECT_THAT(listing(scan("slash.zip")), ElementsAre(" /1.png", "a a/2.png"));
  EXPECT_EQ(scan("count.zip").samples.size(), scan("folders.zip").samples.size()) << "whatever its count says";
  EXPECT_THAT(listing(scan("sparse.tar")), ElementsAre("a a/1.jpg")) << "what is sparse has a longer header";
}

TEST_F(ArchiveData, OfWebDatasetHaveLabelsBesideTheImages) {
  const auto expected =
      ElementsAre("0 shard-00.tar/dir/00.jpg", "0 shard-00.tar/dir/02.jpg", "0 shard-01.tar/dir/10.jpg",
                  "0 shard-01.tar/dir/12.jpg", "7 shard-00.tar/dir/01.jpg", "7 shard-01.tar/dir/11.jpg");
  EXPECT_THAT(listing(scan("shard-{00..01}.tar")), expected);
  EXPECT_THAT(listing(scan("shard-*.tar")), expected);
  EXPECT_EQ(scan("shard-00.tar").samples.size(), 3U);
  EXPECT_EQ(scan("json.tar").classes, (std::vector<std::string>{"cat"}));
  EXPECT_THAT(listing(scan("stray.tar")), ElementsAre("a set/a/1.jpg", "b set/b/2.jpg"))
      << "labels that stand beside no image say nothing";
  EXPECT_THAT(error_of("unlabelled.tar"), HasSubstr("'2.jpg' has no label"));
  EXPECT_THAT(error_of("several.tar"), HasSubstr("has several images"));
  EXPECT_THAT(error_of("twins-apart.tar"), HasSubstr("has several images")) << "another stands between them";
  const DatasetFiles folder;
  for (const char* name : {"shard-00.tar", "shard-01.tar"}) {
    std::filesystem::copy(archives()->root() / name, folder.root() / name);
  }
  EXPECT_THAT(listing(scan_data(folder.root())), expected) << "a folder of nothing but archives";
}

TEST_F(ArchiveData, AreRefusedByNameWhereTheyCannotBeRead) {
  EXPECT_THAT(error_of("encrypted.zip"), HasSubstr("'set/b/2.jpg' is encrypted"));
  EXPECT_THAT(error_of("bzip2.zip"), HasSubstr("'set/b/2.jpg' is compressed by method 12"));
  EXPECT_THAT(error_of("bomb.zip"), HasSubstr("bytes become 134217728, which cannot be"));
  EXPECT_THAT(error_of("prefixed.zip"), HasSubstr("damaged"));
  EXPECT_THAT(error_of("twins.zip"), HasSubstr("twins"));
}

TEST_F(ArchiveData, WhoseBytesAreWrongAreFoundOutWhenRead) {
  for (const auto& [name, why] : {std::pair("grown.zip", "does not unpack to the size"),
                                  std::pair("crc.zip", "to other bytes than the zip's checksum")}) {
    const Scan damaged = scan(name);
    std::string bytes;
    EXPECT_THAT(read(damaged, damaged.samples.back(), bytes).value_or(""), HasSubstr(why)) << name;
    EXPECT_EQ(read(damaged, damaged.samples.front(), bytes), std::nullopt) << name;
  }
  const Scan stored = scan("stored-crc.zip");
  std::string bytes;
  EXPECT_THAT(read(stored, stored.samples.at(1), bytes).value_or(""),
              HasSubstr("has other bytes than the zip's checksum"));
  EXPECT_EQ(read(stored, stored.samples.back(), bytes), std::nullopt);
}

// Whatever is missing or changed: an error, a fault, or the bytes; never anything else. The sanitizers look on.
TEST_F(ArchiveData, MayBeCutShortAnywhere) {
  for (const char* name : {"folders.zip", "zip64.zip", "pax.tar", "gnu.tar", "shard-00.tar"}) {
    std::ifstream stream(archives()->root() / name, std::ios::binary);
    const std::string whole(std::istreambuf_iterator<char>(stream), {});
    const DatasetFiles files;
    const std::string copy = std::string("copy") + std::filesystem::path(name).extension().native();
    for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 300) {
      std::string bytes = whole.substr(0, length);
      for (const bool changed : {false, true}) {
        if (changed) {
          bytes = whole;
          bytes[length] = static_cast<char>(~bytes[length]);
        }
        files.text(copy, bytes);
        try {
          const Scan scan = scan_data(files.root() / copy);
          std::string read_bytes;
          for (const Sample& sample : scan.samples) (void)read(scan, sample, read_bytes);
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::kData) << error.what();
        }
      }
    }
  }
}

TEST_F(ArchiveData, AreInTheIndex) {
  const Scan found = scan("shard-*.tar");
  const UniqueFd fd = build_index(found);
  const Index index = Index::attach(fd.get());
  ASSERT_EQ(index.archives(), 2U);
  EXPECT_EQ(index.archive(1), "shard-01.tar");
  EXPECT_EQ(index.archive_bytes(1), std::filesystem::file_size(archives()->root() / "shard-01.tar"));
  EXPECT_EQ(index.root(), archives()->root().native());
  for (std::uint64_t i = 0; i < index.size(); ++i) {
    const Member& expected = found.members.at(found.samples[i].member);
    EXPECT_EQ(index.member(i).offset, expected.offset);
    EXPECT_EQ(index.member(i).archive, expected.archive);
    EXPECT_EQ(index.path(i), found.path(found.samples[i]));
  }
  EXPECT_THROW((void)index.member(index.size()), Error);
  EXPECT_THROW((void)index.archive(2), Error);
  EXPECT_EQ(index_bytes(found), size_of(fd.get()));
}

}  // namespace
}  // namespace feedring
