#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# decode_test.sh BUILD: with an installed feedring, a rank decodes each file that it gets by itself, and finds in the slot
# what feedring::decode gives for the same seed, epoch and ordinal.
set -euo pipefail
build=$(readlink -f "$1")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

cmake --install "$build" --prefix "$tree/installed" >/dev/null
/usr/bin/python3 - "$tree" <<'END'
import pathlib, random, sys
from PIL import Image
tree, draw = pathlib.Path(sys.argv[1]), random.Random(3)
for number in range(12):
    folder = tree / "data" / "ab"[number % 2]
    folder.mkdir(parents=True, exist_ok=True)
    small = Image.frombytes("RGB", (9, 7), draw.randbytes(189))
    image = small.resize((90 + number, 70 - number), Image.Resampling.BICUBIC)
    image.save(folder / f"{number:02}.{'png' if number % 3 == 0 else 'jpg'}", **({} if number % 3 == 0 else {"quality": 90}))
END
cat >"$tree/feed.toml" <<'END'
[pool]
producers = 2
[feed.train]
data = "data"
batch_size = 4
seed = 5
transform = [ { name = "RandomResizedCrop", size = 32 }, { name = "RandomHorizontalFlip" }, { name = "ColorJitter", brightness = 0.3 },
  { name = "ToDtype", dtype = "float32", scale = true }, { name = "Normalize", mean = [0.5, 0.5, 0.5], std = [0.25, 0.25, 0.25] } ]
[feed.val]
data = "data"
shuffle = false
batch_size = 4
layout = "NCHW"
transform = [ { name = "Resize", size = 36 }, { name = "CenterCrop", size = 32 } ]
END
cat >"$tree/main.cpp" <<'END'
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <feedring/decode.hpp>
#include <feedring/error.hpp>
#include <feedring/feed.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
namespace fs = std::filesystem;
std::vector<std::byte> bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}
// Rows that are, to the byte, what decode() gives.
int same(const char* name, std::uint64_t seed, const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "data"))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  const auto how = feedring::PictureSpec::of_feed(folder / "feed.toml", name);
  auto feed = feedring::Feed::attach({.name = name});
  int rows = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (feedring::Batch& batch : feed) {
      const auto images = batch.tensor("images");
      const auto ids = batch.tensor("sample_ids").as<std::int64_t>();
      for (std::uint32_t row = 0; row < batch.rows(); ++row) {
        const auto picture = feedring::decode(bytes_of(files[static_cast<std::size_t>(ids[row])]), how,
                                              {seed, batch.epoch(), batch.first_ordinal() + row});
        const auto* slot = static_cast<const std::byte*>(images.data) + row * picture.bytes.size();
        rows += picture.dtype == images.dtype && std::equal(picture.bytes.begin(), picture.bytes.end(), slot);
      }
    }
  }
  return rows;
}
int main(int, char** argv) {
  const fs::path folder = argv[1];
  std::printf("train %d, val %d\n", same("train", 5, folder), same("val", 0, folder));
  try {
    const auto how = feedring::PictureSpec::of_feed(folder / "feed.toml");
    (void)feedring::decode(std::as_bytes(std::span("no picture", 10)), how);
  } catch (const feedring::Error& error) { std::printf("%s\n", error.what()); }
  try {
    (void)feedring::PictureSpec::of_feed(folder / "feed.toml", "vla");
  } catch (const feedring::Error& error) { std::printf("%s\n", error.what()); }
}
END
cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(same LANGUAGES CXX)
find_package(feedring 0.1 REQUIRED)
add_executable(same main.cpp)
target_link_libraries(same PRIVATE feedring::consumer feedring::producer)
END
cmake -S "$tree" -B "$tree/build" -G Ninja -DCMAKE_PREFIX_PATH="$tree/installed" >/dev/null
cmake --build "$tree/build"
"$tree/installed/bin/feedring" run -c "$tree/feed.toml" --nproc-per-node 1 -- "$tree/build/same" "$tree" | tee "$tree/said"
grep -q '^train 24, val 24$' "$tree/said"
grep -q "^the picture for feed 'train': no known image format" "$tree/said"
grep -q '^there is no feed "vla" in .*feed.toml; did you mean "val"?$' "$tree/said"
