#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hello_feed_test.sh BUILD: a stand-alone project finds an installed feedring, builds, and reads every picture once on two
# ranks, fed by the installed command.
set -euo pipefail
source_dir=$(dirname "$(readlink -f "$0")")/../..
build=$(readlink -f "$1")
/usr/bin/python3 -c 'import PIL' 2>/dev/null || { echo "python3-pil is not installed"; exit 77; }
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

cmake --install "$build" --prefix "$tree/installed" >/dev/null
for file in bin/feedring libexec/feedring/feedring-producer include/feedring/feed.hpp include/feedring/error.hpp; do
  [[ -f $tree/installed/$file ]] || { echo "not installed: $file"; exit 1; }
done
# Nothing of the source tree may be needed any more.
! grep -rn "$(readlink -f "$source_dir")" "$tree/installed/lib" --include='*.cmake' || exit 1

cmake -S "$source_dir/docs/examples/hello_feed" -B "$tree/build" -G Ninja -DCMAKE_PREFIX_PATH="$tree/installed" >/dev/null
cmake --build "$tree/build"
"$source_dir/consumers/demo/make_letters.py" "$tree/letters" --train 8 --val 0
"$tree/installed/bin/feedring" run --data "$tree/letters/train" --nproc-per-node 2 -- "$tree/build/hello_feed" | tee "$tree/said"
# 26 letters, 8 pictures each; the usual batch of 64 on 2 ranks makes one whole step of 128, the rest is dropped.
[[ $(grep -c '^rank [01] of 2: 64 images, mean brightness' "$tree/said") == 2 ]]
