#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles finish.cu to the text that the program carries, finish.ptx.inc, or to the file named. Needs nvcc. The text is
# declared as old as its instructions allow, so that drivers that know no newer PTX take it too; ptxas checks that.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
out=${1:-$here/finish.ptx.inc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=compute_75 -ptx "$here/finish.cu" -o "$work/new.ptx"
sed 's/^\.version .*/.version 6.3/' "$work/new.ptx" >"$work/old.ptx"
for gpu in sm_75 sm_80 sm_90; do ptxas -arch="$gpu" "$work/old.ptx" -o "$work/cubin"; done
{
  echo 'R"PTX('
  cat "$work/old.ptx"
  echo ')PTX"'
} >"$out"
