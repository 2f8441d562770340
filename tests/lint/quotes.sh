#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a page quotes of the code is what the code says now. A quote is a fenced block behind the line
#   <!-- quoted: FILE /FROM/,/TO/ -->
# and holds the lines of FILE from the first that matches FROM to the next that matches TO, without the "// " before
# them. usage: quotes.sh [ROOT]; with WRITE=1 it puts the quotes right instead of complaining.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"
stale=0
while IFS= read -r page; do
  fresh=$(awk '
    skipping && /^```$/ { skipping = 0 }
    !skipping { print }
    /^<!-- quoted: .* -->$/ {
      split($0, part, " ")
      range = $0; sub(/^<!-- quoted: [^ ]+ /, "", range); sub(/ -->$/, "", range)
      getline; print # the fence
      command = "sed -n \x27" range "p\x27 " part[3] " | sed -E \x27s|^// ?||\x27"
      lines = 0
      while ((command | getline line) > 0) { print line; lines++ }
      close(command)
      if (!lines) print "(nothing in " part[3] " matches " range ")"
      skipping = 1
    }' "$page")
  if [[ $fresh == "$(<"$page")" ]]; then continue; fi
  if [[ ${WRITE:-} ]]; then
    printf '%s\n' "$fresh" >"$page"
  else
    echo "$page: a quote is not what the code says any more; WRITE=1 tests/lint/quotes.sh puts it right:"
    diff <(printf '%s\n' "$fresh") "$page" | head -20
    stale=1
  fi
done < <(grep -lr --include='*.md' '^<!-- quoted: ' README.md CONTRIBUTING.md docs bench producers consumers runtime tests 2>/dev/null || true)
exit $stale
