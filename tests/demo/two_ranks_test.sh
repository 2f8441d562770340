#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# two_ranks_test.sh BUILD: the whole program. Two ranks with averaged gradients learn letters from pictures that one pool
# decodes; the trainer itself fails unless the loss fell and every sample of every epoch was seen exactly once.
set -euo pipefail
source_dir=$(dirname "$(readlink -f "$0")")/../..
build=$(readlink -f "$1")
[[ -x $build/bin/feedring-demo ]] || { echo "built without LibTorch"; exit 77; }
/usr/bin/python3 -c 'import PIL' 2>/dev/null || { echo "python3-pil is not installed"; exit 77; }
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

"$source_dir/consumers/demo/demo.sh" "$build/bin" "$tree" -- --epochs 2 --seconds 1000 | tee "$tree/said"
[[ $(tail -n1 "$tree/said") == "2 ranks, 10400 pictures in "*", each sample seen exactly once in each of 2 epochs" ]]
