#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deadlock_test.sh BUILD: the posted batch sampler makes three ranks take 4, 4 and 2 steps, which hangs; feedring does not.
set -euo pipefail
source_dir=$(dirname "$(readlink -f "$0")")/../..
build=$(readlink -f "$1")
python=${FEEDRING_TORCH_PYTHON:-${XDG_CACHE_HOME:-$HOME/.cache}/feedring/python-torch/bin/python3}
[[ -x $python ]] || { echo "there is no Python with torch: ./dev test python-torch makes one"; exit 77; }
export PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1
"$python" -c 'import feedring, torch, PIL' 2>/dev/null || { echo "the Python package, torch or Pillow is missing"; exit 77; }
said=$(mktemp)
trap 'rm -f "$said"' EXIT

timeout 300 "$python" "$source_dir/consumers/demo/deadlock.py" --patience 5 | tee "$said"
grep -qx '  steps that the ranks have: 4/4/2' "$said"
grep -qx '  HUNG: nothing moved for 5 s; ended from outside' "$said"
grep -qx '  steps that the ranks have: 4/4/4' "$said"
grep -qx '  done: exit codes 0/0/0' "$said"
