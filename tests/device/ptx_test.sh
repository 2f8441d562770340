#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The text of the GPU's kernel that the program carries is what its source says: compiled again where this machine has the
# compiler that made it; where it has another one, only checked to be a program.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
kept=$root/consumers/cuda/finish.ptx.inc
command -v nvcc ptxas >/dev/null || { echo "SKIPPED: there is no nvcc here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$root/consumers/cuda/make_ptx.sh" "$work/finish.ptx.inc"
grep '^// Cuda compilation tools' "$kept" >"$work/made_by"
if grep -qxFf "$work/made_by" "$work/finish.ptx.inc"; then
  diff "$kept" "$work/finish.ptx.inc" || { echo "finish.cu has changed: run consumers/cuda/make_ptx.sh"; exit 1; }
else
  sed '1d;$d' "$kept" >"$work/kept.ptx"
  ptxas -arch=sm_75 "$work/kept.ptx" -o "$work/cubin"
fi
