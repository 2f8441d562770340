#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# own_producer_test.sh BUILD: a stand-alone producer finds an installed feedring, builds without any codec's headers, and
# feeds two ranks.
set -euo pipefail
source_dir=$(dirname "$(readlink -f "$0")")/../..
build=$(readlink -f "$1")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

cmake --install "$build" --prefix "$tree/installed" >/dev/null
[[ -f $tree/installed/include/feedring/producer.hpp ]] || { echo "not installed: producer.hpp"; exit 1; }
# The library shows its own functions, and nothing of the codecs and helpers inside of it.
library=$(find "$tree/installed" -name 'libfeedring_producer.so')
nm -DC --defined-only "$library" >"$tree/symbols"
grep -q 'feedring::run_producer(int, char\*\*,' "$tree/symbols"
! grep -vE 'feedring::(run_producer|SlotTensor::(wrong_type|put)|PictureSpec::of_feed|decode)\(' "$tree/symbols" || exit 1

cmake -S "$source_dir/docs/examples/own_producer" -B "$tree/build" -G Ninja -DCMAKE_PREFIX_PATH="$tree/installed" >/dev/null
cmake --build "$tree/build"
"$tree/installed/bin/feedring" plan -c "$tree/build/feed.toml" --world 2 | tee "$tree/plan"
grep -q '10000' "$tree/plan"
cat >"$tree/waves.cpp" <<'END'
#include <cmath>
#include <cstdio>
#include <feedring/feed.hpp>
int main() {
  auto feed = feedring::Feed::attach({.name = "train"});
  std::uint64_t rows = 0;
  for (feedring::Batch& batch : feed) {
    const feedring::TensorView signal = batch.tensor("signal");
    const auto values = signal.as<float>();
    const auto labels = batch.tensor("labels").as<std::int64_t>();
    for (std::uint32_t row = 0; row < batch.rows(); ++row, ++rows) {
      // sin² + (a quarter of a period later) sin² = 1
      const std::size_t quarter = 16000 / static_cast<std::size_t>(4 * (labels[row] + 1));
      const double a = values[row * 16000], b = values[row * 16000 + quarter];
      if (labels[row] < 4 && std::abs(a * a + b * b - 1) > 1e-3) { std::printf("no wave\n"); return 1; }
    }
  }
  std::printf("rank %u: %llu waves\n", feed.rank(), static_cast<unsigned long long>(rows));
}
END
cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(waves LANGUAGES CXX)
find_package(feedring 0.1 REQUIRED)
add_executable(waves waves.cpp)
target_link_libraries(waves PRIVATE feedring::consumer)
END
cmake -S "$tree" -B "$tree/reader" -G Ninja -DCMAKE_PREFIX_PATH="$tree/installed" >/dev/null
cmake --build "$tree/reader"
"$tree/installed/bin/feedring" run -c "$tree/build/feed.toml" --nproc-per-node 2 -- "$tree/reader/waves" | tee "$tree/said"
# 10000 samples in batches of 64 on 2 ranks: 78 whole steps.
[[ $(grep -c '^rank [01]: 4992 waves' "$tree/said") == 2 ]]
