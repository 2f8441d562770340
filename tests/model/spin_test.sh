#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs Spin on ring.pml. Usage: spin_test.sh [CASE…]: cases of mutants.tsv by name; "law", "mutant" or "large" for all
# of a kind; nothing for law and mutant. One line a case, status 1 if one did not end as the table says, 77 without Spin.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
for tool in spin gcc; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# run_case KIND NAME CONFIGURATION FOUND
run_case() {
  local kind=$1 name=$2 configuration=$3 wanted=$4 found states macro
  local macros=() pan=(-O0 -DCOLLAPSE) depth=100000 hash=22 verdict=ok
  rm -f pan*
  if [[ $kind == mutant ]]; then
    macros+=("-D${name^^}")
  fi
  if [[ $configuration =~ (.*)' RANDOM='([0-9]+) ]]; then
    configuration=${BASH_REMATCH[1]} depth=700 # where depth-first would lose itself in one corner
    pan=(-O1 -DBITSTATE "-DRANDOMIZE=${BASH_REMATCH[2]}")
    hash=30
  fi
  for macro in $configuration; do macros+=("-D$macro"); done
  # A search of up to some million states is over before the compiler would be done optimising it.
  [[ $kind != large ]] || { depth=1000000 pan=(-O1 -DCOLLAPSE); }
  # A macro that the model does not know would leave the law as it is.
  for macro in "${macros[@]}"; do
    macro=${macro#-D}
    grep -qE "^ *#if.*\b${macro%%=*}\b" "$here/ring.pml" || {
      echo "$name: ring.pml has no ${macro%%=*}"
      return 1
    }
  done
  spin -a "${macros[@]}" "$here/ring.pml" >spin.txt 2>&1 || { cat spin.txt; return 1; }
  # MEMLIM is in MiB: a search that needs more ends incomplete, which is not "nothing".
  gcc "${pan[@]}" -w -DSAFETY -DMEMLIM=1000 -o pan pan.c
  ./pan "-m$depth" "-w$hash" >pan.txt 2>&1 || true
  states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.txt)
  found='an incomplete search'
  if grep -q '^pan:1: invalid end state' pan.txt; then
    found=end
  elif grep -q '^pan:1: assertion violated' pan.txt; then
    found=$(sed -n 's/^pan:1: assertion violated.*||\([a-z_]*\)) (at depth.*/\1/p' pan.txt)
  elif grep -q 'errors: 0$' pan.txt &&
    ! grep -qE 'Search not completed|max search depth too small|memory limit' pan.txt; then
    found=nothing
  fi
  [[ $found == "$wanted" ]] || verdict="FAILED, the table says $wanted"
  echo "$kind $name: found $found after ${states:-no} states: $verdict"
  [[ $found == "$wanted" ]] || { tail -n 20 pan.txt; return 1; }
}

(($#)) || set -- law mutant
status=0
for asked; do
  known=0
  while IFS=$'\t' read -r kind name _ configuration found; do
    [[ $kind != '#'* && ($asked == "$kind" || $asked == "$name") ]] || continue
    known=1
    run_case "$kind" "$name" "$configuration" "$found" || status=1
  done <"$here/mutants.tsv"
  ((known)) || { echo "mutants.tsv has no case '$asked'"; status=1; }
done
exit $status
