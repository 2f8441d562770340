#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The edge table of docs/protocol.md and the code say the same: every access in runtime/ whose order is stronger than
# relaxed ends with its label (// R1), and file, label and order stand in the table; what stands there is in the code;
# and pairs are mutual.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"
page=docs/protocol.md
[[ -f $page ]] || exit 0
status=0

# LABEL FILE ORDER of each labelled access; NONE FILE LINE for one that lacks its label.
code() {
  # shellcheck disable=SC2016 # awk's dollars
  find runtime -name '*.[ch]pp' | LC_ALL=C sort | xargs -d '\n' -r awk '
    FNR == 1 { statement = "" }
    { label = ""; line = $0
      if (match(line, /\/\/ [RAW][0-9]+( [RAW][0-9]+)*$/)) label = substr(line, RSTART + 3)
      sub(/\/\/.*/, "", line)
      statement = statement " " line }
    line ~ /[;{}]/ || label != "" {
      order = "none"
      if (match(statement, /memory_order_[a-z_]+/)) order = substr(statement, RSTART + 13, RLENGTH - 13)
      count = split(label, labels, " ")
      for (i = 1; i <= count; ++i) print labels[i], FILENAME, order
      if (count == 0 && order !~ /^(none|relaxed)$/) print "NONE", FILENAME, FNR
      if (line ~ /[;{}]/) statement = "" }'
}
# LABEL FILE ORDER PARTNERS of each row.
table() {
  awk -F' *[|] *' '$2 ~ /^[RAW][0-9]+$/ && $3 ~ /^`/ { gsub(/`/, "", $3); gsub(/,? /, ",", $5); print $2, $3, $4, $5 }' "$page"
}

while read -r _ file line; do
  echo "$file:$line: an access that orders others has no label; see the table in $page"
  status=1
done < <(code | grep '^NONE' || true)
while read -r label file order; do
  echo "$file: $label ($order) is not in the table of $page"
  status=1
done < <(comm -23 <(code | grep -v '^NONE' | LC_ALL=C sort -u) <(table | cut -d' ' -f1-3 | LC_ALL=C sort -u) || true)
while read -r label file order; do
  echo "$page: $label ($order) is not in $file"
  status=1
done < <(comm -13 <(code | grep -v '^NONE' | LC_ALL=C sort -u) <(table | cut -d' ' -f1-3 | LC_ALL=C sort -u) || true)
while read -r label partner; do
  table | awk -v label="$label" -v partner="$partner" \
    '$1 == partner && ("," $4 ",") ~ ("," label ",") { found = 1 } END { exit !found }' ||
    { echo "$page: $label pairs with $partner, but not the other way round"; status=1; }
done < <(table | awk '{ n = split($4, partners, ","); for (i = 1; i <= n; ++i) print $1, partners[i] }')
exit $status
