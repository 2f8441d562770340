// SPDX-License-Identifier: Apache-2.0
// Whole chains, bit for bit against torchvision.transforms.v2 on Pillow images. Needs a Python with torchvision 0.16 or
// newer: FEEDRING_TORCHVISION_PYTHON names it (/usr/bin/python3 by default; Debian 12's is older).
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "producers/transform/pipeline.hpp"

namespace feedring {
namespace {

using nlohmann::json;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Our result from the pixels of a whole image.
std::string made(const Chain& chain, const Choices& choices, Layout layout, Size image, const std::string& rgb) {
  Geometry geometry;
  geometry.start(image);
  geometry.apply(choices);
  EXPECT_EQ(geometry.finish(1'000'000'000), std::nullopt);
  EXPECT_EQ(geometry.size(), chain.output_size());
  const Box need = geometry.stages().front().need;
  const std::size_t row = static_cast<std::size_t>(need.width) * 3;
  std::vector<std::uint8_t> pixels(row * static_cast<std::size_t>(need.height) + kSlack);
  for (std::int32_t y = 0; y < need.height; ++y) {
    const auto at = (static_cast<std::size_t>(need.y + y) * static_cast<std::size_t>(image.width) +
                     static_cast<std::size_t>(need.x)) *
                    3;
    std::copy_n(rgb.begin() + static_cast<std::ptrdiff_t>(at), row,
                pixels.begin() + y * static_cast<std::ptrdiff_t>(row));
  }
  const std::size_t out_row = static_cast<std::size_t>(geometry.size().width) * 3;
  std::vector<std::uint8_t> plain(out_row * static_cast<std::size_t>(geometry.size().height) + kSlack);
  Renderer().render({pixels.data(), {need.width, need.height}, row}, geometry, plain.data(), out_row);
  const Finish finish(chain, chain.slot_dtype(Dtype::kUint8), layout);
  std::string out(finish.bytes_per_image(), '\0');
  if (finish.is_plain()) {
    std::copy_n(plain.begin(), out.size(), out.begin());
  } else {
    finish.run(plain.data(), reinterpret_cast<std::uint8_t*>(out.data()));
    for (const Choice& choice : choices) {
      if (choice.kind != Choice::Kind::kErase || !choice.applied) continue;
      finish.erase(choice.box, choice.values, reinterpret_cast<std::uint8_t*>(out.data()));
    }
  }
  return out;
}

TEST(TransformTorchvision, WholeChainsGiveTheSameBytes) {
  const char* chosen = std::getenv("FEEDRING_TORCHVISION_PYTHON");
  const std::string python = chosen != nullptr ? chosen : "/usr/bin/python3";
  const std::vector<std::string> chains{
      R"([{"name": "Resize", "size": 64}, {"name": "CenterCrop", "size": 56}])",
      R"([{"name": "Resize", "size": 64, "max_size": 70, "interpolation": "bicubic"}, {"name": "CenterCrop", "size": [60, 90]}])",
      R"([{"name": "Resize", "max_size": 50}, {"name": "CenterCrop", "size": 57}])",
      R"([{"name": "Resize", "size": [31, 77], "interpolation": "lanczos"}, {"name": "RandomHorizontalFlip"}])",
      R"([{"name": "RandomResizedCrop", "size": 48}, {"name": "RandomHorizontalFlip"}])",
      R"([{"name": "RandomHorizontalFlip"}, {"name": "RandomResizedCrop", "size": [40, 48], "interpolation": "bicubic"}])",
      R"([{"name": "RandomCrop", "size": 60, "padding": [9, 14], "fill": [10, 200, 30], "pad_if_needed": true},
          {"name": "RandomHorizontalFlip"}, {"name": "CenterCrop", "size": 64}, {"name": "RandomCrop", "size": 50}])",
      R"([{"name": "Resize", "size": 90}, {"name": "RandomCrop", "size": 80, "padding": 4, "fill": 99},
          {"name": "RandomHorizontalFlip"}, {"name": "Resize", "size": [33, 35], "interpolation": "hamming"}])",
      R"([{"name": "Resize", "size": [60, 60], "interpolation": "nearest"}, {"name": "CenterCrop", "size": 41},
          {"name": "Resize", "size": 80, "interpolation": "box"}])",
      R"([{"name": "Pad", "padding": [7, 19, 3, 1], "padding_mode": "symmetric"}, {"name": "RandomVerticalFlip"},
          {"name": "CenterCrop", "size": [100, 60]}, {"name": "RandomCrop", "size": 40, "padding": 6, "padding_mode": "edge"}])",
      R"([{"name": "Pad", "padding": [250, 30], "padding_mode": "reflect"}, {"name": "Resize", "size": [70, 90]},
          {"name": "RandomVerticalFlip"}, {"name": "RandomHorizontalFlip"}, {"name": "Pad", "padding": 3, "fill": [4, 5, 6]},
          {"name": "RandomCrop", "size": 80, "pad_if_needed": true, "padding_mode": "reflect"}])",
      R"([{"name": "RandomResizedCrop", "size": [50, 40]}, {"name": "RandomHorizontalFlip"},
          {"name": "ColorJitter", "brightness": 0.4, "contrast": 0.4, "saturation": 0.2, "hue": 0.1},
          {"name": "RandomGrayscale", "p": 0.3}, {"name": "RandomSolarize", "threshold": 128, "p": 0.5},
          {"name": "RandomVerticalFlip"}])",
      R"([{"name": "ColorJitter", "contrast": [0.5, 1.5], "hue": [-0.5, 0.5]}, {"name": "RandomEqualize"},
          {"name": "RandomResizedCrop", "size": 48, "interpolation": "bicubic"}, {"name": "RandomAutocontrast"},
          {"name": "RandomAdjustSharpness", "sharpness_factor": 2, "p": 0.7}, {"name": "RandomHorizontalFlip"},
          {"name": "RandomCrop", "size": 40}, {"name": "RandomPosterize", "bits": 3}, {"name": "RandomInvert"},
          {"name": "Grayscale", "num_output_channels": 3}])",
      R"([{"name": "Resize", "size": 80}, {"name": "RandomRotation", "degrees": 180, "fill": [9, 8, 7]},
          {"name": "RandomCrop", "size": 64, "pad_if_needed": true}, {"name": "RandomHorizontalFlip"},
          {"name": "RandomAffine", "degrees": [-30, 70], "translate": [0.1, 0.3], "scale": [0.7, 1.3],
           "shear": [-10, 10, -20, 5], "interpolation": "bilinear", "fill": 77},
          {"name": "RandomErasing", "value": [1, 2, 3], "p": 0.8}, {"name": "RandomVerticalFlip"}])",
      R"([{"name": "RandomResizedCrop", "size": [50, 60]}, {"name": "RandAugment", "num_ops": 6, "magnitude": 13},
          {"name": "RandomHorizontalFlip"}])",
      R"([{"name": "RandAugment", "num_ops": 4, "num_magnitude_bins": 10, "interpolation": "bilinear", "fill": [9, 8, 7]},
          {"name": "Resize", "size": [40, 50]}, {"name": "RandAugment", "num_ops": 4}])",
      R"([{"name": "Resize", "size": [60, 66]}, {"name": "TrivialAugmentWide"}, {"name": "TrivialAugmentWide"},
          {"name": "TrivialAugmentWide"}, {"name": "TrivialAugmentWide", "interpolation": "bilinear", "fill": 3}])",
      R"([{"name": "Resize", "size": [60, 66]}, {"name": "AutoAugment"}, {"name": "RandomHorizontalFlip"},
          {"name": "AutoAugment", "fill": 100}, {"name": "RandomVerticalFlip"},
          {"name": "AutoAugment", "policy": "imagenet", "interpolation": "bicubic"}])",
      R"([{"name": "RandomResizedCrop", "size": 48}, {"name": "RandomHorizontalFlip"},
          {"name": "RandomApply", "p": 0.8, "transforms": [
            {"name": "ColorJitter", "brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1},
            {"name": "RandomApply", "transforms": [{"name": "RandomRotation", "degrees": 20},
                                                   {"name": "RandomGrayscale", "p": 0.5}]}]},
          {"name": "RandomSolarize", "threshold": 128}])",
      R"([{"name": "CenterCrop", "size": [50, 60]}, {"name": "ToDtype", "dtype": "float32", "scale": true},
          {"name": "Normalize", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]},
          {"name": "RandomErasing", "p": 1, "value": [0.1, -0.7, 2]}, {"name": "RandomErasing", "p": 1}])",
      R"([{"name": "CenterCrop", "size": [50, 60]}, {"name": "ToDtype", "dtype": "bfloat16", "scale": true},
          {"name": "RandomErasing", "p": 0.9, "value": 0.3}])",
      R"([{"name": "RandomRotation", "degrees": [-90, 45], "expand": true, "interpolation": "bicubic"},
          {"name": "RandomAffine", "degrees": 0, "shear": 20, "center": [3, 4]}, {"name": "CenterCrop", "size": 90},
          {"name": "RandomRotation", "degrees": [90, 90]}, {"name": "RandomErasing", "p": 1},
          {"name": "RandomRotation", "degrees": 10, "center": [0, 10.5], "interpolation": "bilinear"}])",
      R"([{"name": "CenterCrop", "size": 30}, {"name": "ToDtype", "dtype": "float32", "scale": true},
          {"name": "Normalize", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}])",
      R"([{"name": "CenterCrop", "size": 30}, {"name": "ToDtype", "dtype": "float16", "scale": true},
          {"name": "Normalize", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}])",
      R"([{"name": "CenterCrop", "size": 30}, {"name": "ToDtype", "dtype": "bfloat16", "scale": true},
          {"name": "Normalize", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}])",
      R"([{"name": "CenterCrop", "size": 31}, {"name": "ToDtype", "dtype": "float32"},
          {"name": "Normalize", "mean": [127.5], "std": [63.3, 1.7, 0.011]}, {"name": "ToDtype", "dtype": "bfloat16"}])",
      R"([{"name": "CenterCrop", "size": [30, 29]}, {"name": "ToDtype", "dtype": "float32", "scale": true},
          {"name": "Normalize", "mean": [0.5, 0.5, 0.5], "std": [1e-6, 3.0, 1e9]}, {"name": "ToDtype", "dtype": "float16"},
          {"name": "RandomHorizontalFlip"}])"};
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("feedring-torchvision-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::mt19937 generator(11);
  json cases = json::array();
  std::vector<std::string> ours;
  for (const Size image : {Size{97, 71}, Size{64, 130}, Size{23, 19}, Size{200, 50}}) {
    std::string rgb(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) * 3, '\0');
    for (char& value : rgb) value = static_cast<char>(generator());
    const std::string name = std::to_string(image.width) + ".rgb";
    std::ofstream(folder / name, std::ios::binary) << rgb;
    for (const std::string& text : chains) {
      const json transform = json::parse(text);
      const Chain chain = Chain::parse(transform);
      Draw random(3, 0, cases.size(), Stream::kAugment);
      Choices choices;
      if (chain.draw(image, random, choices)) continue;  // smaller than a crop: torchvision raises
      const Layout layout = cases.size() % 2 == 0 ? Layout::kNhwc : Layout::kNchw;
      ours.push_back(made(chain, choices, layout, image, rgb));
      cases.push_back({{"width", image.width},
                       {"height", image.height},
                       {"image", name},
                       {"transform", transform},
                       {"choices", to_json(choices)},
                       {"layout", name_of(layout)}});
    }
  }
  ASSERT_GT(cases.size(), 60U);
  std::ofstream(folder / "cases.json") << cases;
  const std::string command =
      python + " " FEEDRING_SOURCE_DIR "/tests/unit/transform_torchvision.py " + folder.string();
  const int status = std::system(command.c_str());
  const bool missing = WIFEXITED(status) && WEXITSTATUS(status) == 77;
  std::vector<std::string> theirs;
  for (std::size_t i = 0; i < cases.size(); ++i) theirs.push_back(read_file(folder / (std::to_string(i) + ".out")));
  std::filesystem::remove_all(folder);
  if (missing) GTEST_SKIP() << python << " has no torchvision.transforms.v2";
  ASSERT_EQ(status, 0);
  for (std::size_t i = 0; i < cases.size(); ++i) EXPECT_TRUE(ours[i] == theirs[i]) << cases[i];
}

}  // namespace
}  // namespace feedring
