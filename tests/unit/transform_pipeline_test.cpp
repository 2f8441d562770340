// SPDX-License-Identifier: Apache-2.0
// Files of photographs to slots, against Pillow doing the same steps with the same choices.
#include "producers/transform/pipeline.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/shared_data.hpp"

namespace feedring {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

using test::read_file;

// Every seventh of the photographs.
std::vector<fs::path> some_photographs(const fs::path& data) {
  std::vector<fs::path> all;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(data / "photos")) {
    if (entry.is_regular_file()) all.push_back(entry.path());
  }
  std::sort(all.begin(), all.end());
  std::vector<fs::path> some;
  for (std::size_t i = 0; i < all.size(); i += 7) some.push_back(all[i]);
  return some;
}

constexpr const char* kScript = R"(
import json, pathlib, sys
from PIL import Image
folder = pathlib.Path(sys.argv[1])
for number, case in enumerate(json.loads((folder / 'cases.json').read_text())):
    image = Image.open(case['path']).convert('RGB')
    for step in case['steps']:
        if 'crop' in step:
            x, y, w, h = step['crop']
            image = image.crop((x, y, x + w, y + h))
        elif 'resize' in step:
            image = image.resize(step['resize'], getattr(Image.Resampling, step['filter'].upper()))
        else:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    (folder / f'{number}.out').write_bytes(image.tobytes())
)";

// Runs Pillow over `cases`; an empty list where it is missing.
std::vector<std::vector<std::uint8_t>> by_pillow(const json& cases) {
  const fs::path folder = fs::temp_directory_path() / ("feedring-pipeline-" + std::to_string(getpid()));
  fs::create_directory(folder);
  std::ofstream(folder / "cases.json") << cases;
  std::ofstream(folder / "script.py") << kScript;
  const std::string command =
      "/usr/bin/python3 " + (folder / "script.py").string() + " " + folder.string() + " 2> /dev/null";
  std::vector<std::vector<std::uint8_t>> results;
  if (std::system(command.c_str()) == 0) {
    for (std::size_t i = 0; i < cases.size(); ++i) results.push_back(read_file(folder / (std::to_string(i) + ".out")));
  }
  fs::remove_all(folder);
  return results;
}

json steps_of(const Choices& choices) {
  json steps = json::array();
  for (const Choice& choice : choices) {
    if (choice.kind == Choice::Kind::kCrop) {
      steps.push_back({{"crop", {choice.box.x, choice.box.y, choice.box.width, choice.box.height}}});
    } else if (choice.kind == Choice::Kind::kResize) {
      steps.push_back({{"resize", {choice.size.width, choice.size.height}}, {"filter", name_of(choice.filter)}});
    } else if (choice.applied) {
      steps.push_back({{"flip", true}});
    }
  }
  return steps;
}

TEST(TransformPipeline, MakesOfPhotographsWhatPillowMakesOfThem) {
  FEEDRING_NEEDS_SHARED_DATA(data);
  const std::vector<fs::path> paths = some_photographs(data);
  const char* chains[] = {
      R"([{"name": "RandomResizedCrop", "size": 224}, {"name": "RandomHorizontalFlip"}])",
      R"([{"name": "Resize", "size": 256, "interpolation": "bicubic"}, {"name": "CenterCrop", "size": 224}])",
      R"([{"name": "RandomCrop", "size": 96, "pad_if_needed": true}, {"name": "RandomHorizontalFlip"}])"};
  json cases = json::array();
  std::vector<std::vector<std::uint8_t>> ours;
  Decoder decoder;
  for (const char* text : chains) {
    const Chain chain = Chain::parse(json::parse(text));
    Pipeline pipeline(chain, Dtype::kUint8, Layout::kNhwc);
    for (const fs::path& path : paths) {
      const std::vector<std::uint8_t> bytes = read_file(path);
      Draw random(0, 1, cases.size(), Stream::kAugment);
      std::vector<std::uint8_t> out(pipeline.bytes_per_image());
      const Fault fault = pipeline.run(bytes, decoder, random, 100'000'000, out.data());
      ASSERT_EQ(fault, std::nullopt) << path;
      ours.push_back(std::move(out));
      ImageInfo info;
      ASSERT_EQ(decoder.probe(bytes, 100'000'000, info), std::nullopt);
      Draw again(0, 1, cases.size(), Stream::kAugment);
      Choices choices;
      ASSERT_EQ(chain.draw(info.size, again, choices), std::nullopt);
      cases.push_back({{"path", path.string()}, {"steps", steps_of(choices)}});
    }
  }
  const std::vector<std::vector<std::uint8_t>> theirs = by_pillow(cases);
  if (theirs.empty()) GTEST_SKIP() << "/usr/bin/python3 has no Pillow (package python3-pil)";
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_TRUE(ours[i] == theirs[i]) << cases[i];
}

TEST(TransformPipeline, TakesNoPageFaultsOnceWarm) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes page faults of its own";
#endif
  FEEDRING_NEEDS_SHARED_DATA(data);
  std::vector<std::vector<std::uint8_t>> files;
  for (const fs::path& path : some_photographs(data)) files.push_back(read_file(path));
  const Chain chain = Chain::parse(json::parse(R"([{"name": "RandomResizedCrop", "size": 224},
      {"name": "RandomHorizontalFlip"}, {"name": "ToDtype", "dtype": "float16", "scale": true}])"));
  Pipeline pipeline(chain, Dtype::kFloat16, Layout::kNchw);
  Decoder decoder;
  std::vector<std::uint8_t> out(pipeline.bytes_per_image());
  const auto run_all = [&] {
    for (std::size_t i = 0; i < files.size(); ++i) {
      Draw random(0, 0, i, Stream::kAugment);
      EXPECT_EQ(pipeline.run(files[i], decoder, random, 100'000'000, out.data()), std::nullopt);
    }
  };
  run_all();
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_THREAD, &before);
  run_all();
  getrusage(RUSAGE_THREAD, &after);
  EXPECT_LE(after.ru_minflt - before.ru_minflt, 1) << "in " << files.size() << " samples";
}

TEST(TransformPipeline, AFaultSaysWhatIsWrongWithTheSample) {
  const Chain chain = Chain::parse(json::parse(R"([{"name": "RandomCrop", "size": 5000}])"));
  Pipeline pipeline(chain, Dtype::kUint8, Layout::kNhwc);
  Decoder decoder;
  Draw random(0, 0, 0, Stream::kAugment);
  std::vector<std::uint8_t> out(pipeline.bytes_per_image());
  const std::vector<std::uint8_t> garbage(100, 7);
  EXPECT_TRUE(pipeline.run(garbage, decoder, random, 1000, out.data()));
  FEEDRING_NEEDS_SHARED_DATA(data);
  const std::vector<fs::path> paths = some_photographs(data);
  const std::vector<std::uint8_t> bytes = read_file(paths[0]);
  const Fault small = pipeline.run(bytes, decoder, random, 100'000'000, out.data());
  ASSERT_TRUE(small);
  EXPECT_NE(small->find("pad_if_needed"), std::string::npos) << *small;
  EXPECT_TRUE(pipeline.run(bytes, decoder, random, 1000, out.data())) << "more than max_pixels";
}

}  // namespace
}  // namespace feedring
