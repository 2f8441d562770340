#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Words that must not stand in the code, and atomic operations in runtime/ that do not spell their memory order.
#  - volatile orders nothing; fences hide races from the race detector, which does not understand them;
#  - a default order (seq_cst) may be right, but then it is written down, so that a reader sees that it was meant.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"
status=0

code() { # FILE: its text without comments, line numbers kept
  awk '{ line = $0
         if (inside) { if (!sub(/^.*\*\//, "", line)) line = ""; else inside = 0 }
         gsub(/\/\*([^*]|\*[^\/])*\*\//, "", line)
         if (sub(/\/\*.*/, "", line)) inside = 1
         sub(/\/\/.*/, "", line); print line }' "$1"
}

while IFS= read -r file; do
  if code "$file" | grep -nE '\bvolatile\b|\batomic_(thread|signal)_fence\b|\bTODO\b' | sed "s|^|$file:|"; then
    status=1
  fi
  [[ $file == runtime/* ]] || continue
  # A statement must name an order as often as it calls an atomic operation.
  code "$file" | awk -v file="$file" '
    { text = text " " $0; if (!start) start = NR }
    /[;{}]/ {
      rest = text; calls = gsub(/(\.|->)(load|store|exchange|fetch_(add|sub|or|and|xor)|compare_exchange_(weak|strong))\(/, "", rest)
      rest = text; orders = gsub(/memory_order/, "", rest)
      if (calls > orders) { print file ":" start ": an atomic operation without its memory order:" text; bad = 1 }
      text = ""; start = 0
    }
    END { exit bad }' || status=1
done < <(find runtime producers consumers -name '*.[ch]pp' 2>/dev/null | LC_ALL=C sort)
exit $status
