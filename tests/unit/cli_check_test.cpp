// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/jpeg_writer.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/png_writer.hpp"
#include "tests/support/program.hpp"
#include "tests/support/shared_data.hpp"
#include "tests/unit/dataset_files.hpp"

namespace feedring {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_command;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string jpeg(int width, int height) {
  test::JpegShape shape;
  shape.width = width;
  shape.height = height;
  const std::vector<std::uint8_t> bytes = test::write_jpeg(shape);
  return {bytes.begin(), bytes.end()};
}

/// The design's definition of the digest, over (path, size, label).
std::string digest_of(const std::vector<std::tuple<std::string, std::uint64_t, std::uint64_t>>& samples) {
  std::string bytes;
  for (const auto& [path, size, label] : samples) {
    bytes += path + '\0';
    for (const std::uint64_t number : {size, label}) {
      for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(number >> shift);
    }
  }
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  std::array<char, 33> text{};
  std::snprintf(text.data(), text.size(), "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text.data();
}

/// All lines but the last by path; each checked against the schema.
std::map<std::string, json> files_of(const Finished& finished) {
  static const json schema = test::schema_of("check");
  std::map<std::string, json> files;
  for (const json& line : finished.lines()) {
    EXPECT_EQ(test::schema_error(schema, line), "");
    if (line.contains("path")) files[line["path"]] = line;
  }
  return files;
}

TEST(Check, TellsOfEachFileAndSumsUp) {
  const DatasetFiles files;
  const std::string good = jpeg(20, 10);
  const std::string cut = jpeg(64, 64).substr(0, 700);
  files.text("ant/good.jpg", good);
  files.text("ant/cut.JPG", cut);
  files.text("bee/web.jpeg", "<html>not found</html>");
  files.text("bee/empty.png", "");
  files.text("bee/notes.txt", "x");
  files.text(".cache/deep/old.jpg", good);
  files.text("bee/.hidden.jpg", good);
  const Finished finished = run_command({"check", files.root().native(), "--json"});
  EXPECT_EQ(finished.code, 1);
  const auto by_path = files_of(finished);
  EXPECT_EQ(by_path.size(), 7U);
  EXPECT_EQ(
      by_path.at("ant/good.jpg"), json::parse(R"({"path": "ant/good.jpg", "ok": true, "reason": null, "format": "JPEG",
      "width": 20, "height": 10, "bytes": )" + std::to_string(good.size()) +
                                              "}"));
  const json broken = by_path.at("ant/cut.JPG");
  EXPECT_EQ(broken["ok"], false);
  EXPECT_THAT(broken["reason"].get<std::string>(), HasSubstr("truncated"));
  EXPECT_EQ(broken["width"], 64);
  EXPECT_EQ(broken["bytes"], 700);
  EXPECT_EQ(by_path.at("bee/web.jpeg")["format"], nullptr);
  for (const char* path : {"bee/empty.png", "bee/notes.txt", ".cache/deep/old.jpg", "bee/.hidden.jpg"}) {
    EXPECT_EQ(by_path.at(path)["ok"], false) << path;
    EXPECT_THAT(by_path.at(path)["reason"].get<std::string>(), StartsWith("skipped: ")) << path;
  }
  EXPECT_EQ(by_path.at("bee/empty.png")["bytes"], 0);
  const std::string digest =
      digest_of({{"ant/cut.JPG", 700, 0}, {"ant/good.jpg", good.size(), 0}, {"bee/web.jpeg", 22, 1}});
  EXPECT_EQ(finished.lines().back(), json::parse(R"({"summary": {"files": 7, "ok": 1, "failed": 2, "skipped": 4,
      "dataset_digest": ")" + digest + "\"}}"));
}

TEST(Check, EndsWithZeroWhenNothingFailed) {
  const DatasetFiles files;
  files.text("1.jpg", jpeg(8, 8));
  files.text("empty.jpg", "");
  const Finished finished = run_command({"check", files.root().native(), "--json"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.lines().back()["summary"]["skipped"], 1);
}

TEST(Check, ListsAFolderWithoutImages) {
  const DatasetFiles files;
  for (const char* path : {"notes.txt", "deep/er/data.csv", ".git/config"}) files.text(path, "x");
  files.text("deep/empty.jpg", "");
  const Finished finished = run_command({"check", files.root().native(), "--json"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  const auto by_path = files_of(finished);
  for (const char* path : {"notes.txt", "deep/er/data.csv", "deep/empty.jpg", ".git/config"})
    EXPECT_THAT(by_path.at(path)["reason"].get<std::string>(), StartsWith("skipped: ")) << path;
  EXPECT_EQ(finished.lines().back(), json::parse(R"({"summary": {"files": 4, "ok": 0, "failed": 0, "skipped": 4,
      "dataset_digest": ")" + digest_of({}) + "\"}}"));
}

TEST(Check, TakesAnEmptyFolderButNoneThatIsNotThere) {
  const DatasetFiles files;
  const Finished empty = run_command({"check", files.root().native(), "--json"});
  EXPECT_EQ(empty.code, 0) << empty.err;
  EXPECT_EQ(files_of(empty).size(), 0U);
  EXPECT_EQ(empty.lines().back()["summary"]["files"], 0);
  EXPECT_EQ(run_command({"check", (files.root() / "none").native()}).code, 3);
  EXPECT_EQ(run_command({"dump", files.root().native()}).code, 3) << "there is nothing to feed";
}

TEST(Check, ReadsAsTextToo) {
  const DatasetFiles files;
  files.text("1.jpg", jpeg(8, 8));
  files.text("2.jpg", "<html>");
  const Finished finished = run_command({"check", files.root().native()});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.out, StartsWith("2.jpg: "));
  EXPECT_THAT(finished.out, HasSubstr("\n2 files: 1 ok, 1 failed, 0 skipped; data set "));
}

TEST(Check, TakesOneFile) {
  const DatasetFiles files;
  const std::string good = jpeg(20, 10);
  files.text("good.jpg", good);
  files.text("noname", good);
  files.text("empty.jpg", "");
  const std::string root = files.root().native() + '/';
  Finished finished = run_command({"check", root + "good.jpg", "--json"});
  EXPECT_EQ(finished.code, 0);
  ASSERT_EQ(finished.lines().size(), 2U);
  EXPECT_EQ(files_of(finished).at(root + "good.jpg")["width"], 20);
  EXPECT_EQ(finished.lines()[1]["summary"]["dataset_digest"], digest_of({{"good.jpg", good.size(), 0}}));
  EXPECT_EQ(run_command({"check", root + "noname", "--json"}).code, 0) << "an image whatever it is called";
  finished = run_command({"check", root + "empty.jpg", "--json"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.lines()[0]["reason"], "skipped: empty file");
  EXPECT_EQ(run_command({"check", root + "none.jpg", "--json"}).code, 3);
}

TEST(Check, TakesAManifest) {
  const DatasetFiles files;
  const std::string good = jpeg(20, 10);
  files.text("a.jpg", good);
  files.text("b.jpg", "<html>");
  files.text("list.tsv", "b.jpg\tdog\na.jpg\tcat\n");
  const Finished finished = run_command({"check", (files.root() / "list.tsv").native(), "--json"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_EQ(files_of(finished).at("a.jpg")["ok"], true);
  EXPECT_EQ(finished.lines().back()["summary"]["dataset_digest"],
            digest_of({{"a.jpg", good.size(), 0}, {"b.jpg", 6, 1}}));
}

TEST(Check, OpensTheMasksAndFurtherImagesThatRowsName) {
  const DatasetFiles files;
  const auto gray = [&](const char* name, std::uint32_t width, std::uint32_t height) {
    const std::vector<std::uint8_t> bytes = test::write_png(width, height, 0, 8, false, 1).file;
    files.text(name, std::string(bytes.begin(), bytes.end()));
  };
  for (const char* name : {"1.jpg", "2.jpg", "3.jpg", "right1.jpg", "seg3.jpg"}) files.text(name, jpeg(20, 10));
  files.text("4.jpg", "no picture");
  files.text("right2.jpg", jpeg(64, 64).substr(0, 700));
  gray("seg1.png", 20, 10);
  gray("seg2.png", 10, 10);
  files.text("all.csv",
             "path,right,age,seg\n1.jpg,right1.jpg,1,seg1.png\n2.jpg,right2.jpg,2,seg2.png\n"
             "3.jpg,right1.jpg,3,seg3.jpg\n4.jpg,right1.jpg,4,seg1.png\n");
  files.text("feed.toml",
             "[feed.train]\ndata = \"all.csv\"\ncolumns = { right = \"image\", age = \"float\", seg = \"mask\" }\n"
             "transform = [ { name = \"Resize\", size = [8, 8] } ]\n");
  const Finished finished = run_command({"check", "-c", files.root().native() + "/feed.toml", "--json"});
  EXPECT_EQ(finished.code, 1) << finished.err;
  std::vector<std::string> order;
  std::map<std::string, std::string> reasons;
  for (const json& line : finished.lines()) {
    if (!line.contains("path")) continue;
    order.push_back(line["path"]);
    if (line["ok"] == false) reasons[order.back()] = line["reason"];
    EXPECT_EQ(line.contains("column"), line["path"].get<std::string>().size() > 5) << line;
  }
  EXPECT_THAT(order, testing::ElementsAre("1.jpg", "right1.jpg", "seg1.png", "2.jpg", "right2.jpg", "seg2.png", "3.jpg",
                                          "right1.jpg", "seg3.jpg", "4.jpg", "right1.jpg", "seg1.png"));
  EXPECT_EQ(reasons.size(), 4U);
  EXPECT_THAT(reasons["right2.jpg"], AllOf(StartsWith("right of 2.jpg (sample 1): "), HasSubstr("truncated")));
  EXPECT_EQ(reasons["seg2.png"], "seg of 2.jpg (sample 1): it has 10 x 10 pixels, and its picture 20 x 10");
  EXPECT_THAT(reasons["seg3.jpg"], StartsWith("seg of 3.jpg (sample 2): "));
  EXPECT_THAT(reasons["4.jpg"], HasSubstr("no known image format")) << "a mask is not measured by what has no size";
  const json of_column = files_of(finished).at("seg2.png");
  EXPECT_EQ(of_column["column"], "seg");
  EXPECT_EQ(of_column["index"], 1);
  EXPECT_EQ(of_column["width"], 10);
  const json summary = finished.lines().back()["summary"];
  EXPECT_EQ(summary["files"], 12);
  EXPECT_EQ(summary["failed"], 4);
  EXPECT_THAT(run_command({"check", "-c", files.root().native() + "/feed.toml"}).out,
              HasSubstr("\nseg2.png: seg of 2.jpg (sample 1): it has 10 x 10 pixels, and its picture 20 x 10\n"));
}

TEST(Check, ReadsPicturesAsTheFeedDoes) {
  const DatasetFiles files;
  files.text("a/cut.jpg", jpeg(64, 64).substr(0, 700));
  files.text("a/whole.jpg", jpeg(20, 10));
  const auto reasons = [&](const std::string& keys) {
    files.text("feed.toml",
               "[feed.train]\ndata = \".\"\ntransform = [ { name = \"Resize\", size = [8, 8] } ]\n" + keys);
    const Finished finished = run_command({"check", "-c", files.root().native() + "/feed.toml", "--json"});
    std::map<std::string, json> all;
    for (const auto& [path, line] : files_of(finished)) all[path] = line["reason"];
    return all;
  };
  EXPECT_THAT(reasons("")["a/cut.jpg"].get<std::string>(), HasSubstr("truncated"));
  EXPECT_EQ(reasons("accept_damaged = true\n")["a/cut.jpg"], nullptr);
  auto small = reasons("accept_damaged = true\nmax_pixels = 200\n");
  EXPECT_EQ(small["a/whole.jpg"], nullptr) << "20 x 10 pixels are 200";
  EXPECT_THAT(small["a/cut.jpg"].get<std::string>(), HasSubstr("64"));
}

TEST(Check, GivesTheBytesOfANameThatIsNotUtf8) {
  const DatasetFiles files;
  files.text("caf\xE9.jpg", jpeg(8, 8));
  const Finished finished = run_command({"check", files.root().native(), "--json"});
  EXPECT_EQ(finished.code, 0);
  const json line = finished.lines().front();
  EXPECT_EQ(test::schema_error(test::schema_of("check"), line), "");
  EXPECT_EQ(line["path"], "caf\xEF\xBF\xBD.jpg");
  EXPECT_EQ(line["path_hex"], "636166e92e6a7067");
}

TEST(Check, SaysTheSameWithAnyNumberOfThreads) {
  const DatasetFiles files;
  for (int i = 0; i < 40; ++i) files.text(std::to_string(i) + ".jpg", i % 3 == 0 ? "<html>" : jpeg(8 + i, 8));
  const Finished one = run_command({"check", files.root().native(), "--json", "--threads", "1"});
  const Finished many = run_command({"check", files.root().native(), "--json", "--threads", "7"});
  EXPECT_EQ(one.code, 1);
  EXPECT_EQ(one.out, many.out);
}

TEST(Check, NamesAFileThatCannotBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root can read every file";
  const DatasetFiles files;
  files.text("1.jpg", jpeg(8, 8));
  std::filesystem::permissions(files.root() / "1.jpg", std::filesystem::perms::none);
  const Finished finished = run_command({"check", files.root().native(), "--json"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_EQ(finished.lines()[0]["reason"], "cannot be opened: Permission denied");
}

// needs.md names what is right about each of these files.
TEST(Check, JudgesTheFixtures) {
  FEEDRING_NEEDS_SHARED_DATA(data);
  const Finished finished = run_command({"check", (data / "fixtures").native(), "--json"});
  EXPECT_EQ(finished.code, 1);
  const auto files = files_of(finished);
  for (const char* bad : {"truncated_half.jpg", "truncated_header.jpg", "not_an_image.jpg", "bomb_60000.png",
                          "bomb_65500.jpg", "png_badcrc.png", "png_trunc.png"}) {
    EXPECT_EQ(files.at(bad)["ok"], false) << bad;
    EXPECT_THAT(files.at(bad)["reason"].get<std::string>(), testing::Not(StartsWith("skipped"))) << bad;
  }
  for (const char* fine : {"ok.jpg", "cmyk_red.jpg", "gray16.png", "pal_trns_big.png", "progressive.jpg",
                           "png_named.JPEG", "trailing_garbage.jpg", "bitrot.jpg", "one_pixel.png"}) {
    EXPECT_EQ(files.at(fine)["ok"], true) << fine;
  }
  EXPECT_EQ(files.at("png_named.JPEG")["format"], "PNG");
  EXPECT_EQ(files.at("pal_trns_big.png")["width"], 300);
  EXPECT_EQ(files.at("zero.jpg")["reason"], "skipped: empty file");
}

TEST(Check, SaysBeforehandWhatEpisodesWouldLack) {
  const DatasetFiles files;
  for (const char* name : {"data/a/1.jpg", "data/a/2.jpg", "data/a/3.jpg", "data/b/1.jpg", "data/b/2.jpg"})
    files.text(name, jpeg(8, 8));
  const std::string data = (files.root() / "data").native();
  EXPECT_EQ(run_command({"check", data, "--ways", "2", "--shots", "1", "--queries", "1"}).code, 0);
  const Finished small = run_command({"check", data, "--ways", "2", "--shots", "1", "--queries", "2"});
  EXPECT_EQ(small.code, 3);
  EXPECT_THAT(small.err, HasSubstr("\"b\" (2)"));
  files.text("feed.toml",
             "[feed.train]\ndata = \"data\"\nepisodes = { ways = 2, shots = 2, queries = 1 }\n"
             "[feed.flat]\ndata = \"data\"\n");
  const std::string config = (files.root() / "feed.toml").native();
  EXPECT_EQ(run_command({"check", "-c", config}).code, 3);
  const Finished flat = run_command({"check", "-c", config, "--feed", "flat", "--json"});
  EXPECT_EQ(flat.code, 0) << flat.err;
  EXPECT_EQ(flat.lines().back()["summary"]["ok"], 5);
}

// The manifest says what Pillow 9 and libjpeg-turbo 2 made of each file; what both call valid must decode here.
TEST(Check, SurvivesTheNastyFiles) {
  FEEDRING_NEEDS_SHARED_DATA(data);
  const Finished finished = run_command({"check", (data / "nasty").native(), "--json"});
  EXPECT_EQ(finished.code, 1) << finished.err;
  const auto files = files_of(finished);
  const json summary = finished.lines().back()["summary"];
  EXPECT_EQ(summary["files"], files.size());
  EXPECT_EQ(summary["ok"].get<int>() + summary["failed"].get<int>() + summary["skipped"].get<int>(), summary["files"]);
  std::size_t regular = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data / "nasty"))
    regular += entry.is_regular_file();
  EXPECT_EQ(files.size(), regular) << "a line each";
  std::ifstream manifest(data / "nasty/manifest.tsv");
  std::size_t valid = 0;
  for (std::string line; std::getline(manifest, line);) {
    const std::size_t second = line.rfind('\t');
    const std::string verdict = line.substr(0, second);
    if (verdict != "jpeg\tvalid" && verdict != "png\tvalid") continue;
    const json& file = files.at(line.substr(second + 1));
    if (file["format"] == nullptr) continue;  // skipped: called .mpo, .apng, …
    ++valid;
    EXPECT_EQ(file["ok"], true) << file;
  }
  EXPECT_GT(valid, 1000U);
}

}  // namespace
}  // namespace feedring
