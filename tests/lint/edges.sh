#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every edge of docs/protocol.md is labelled at an access in runtime/, and every label there stands in the table.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"
[[ -f docs/protocol.md ]] || exit 0
table=$(grep -oP '^\| \K[RW]\d [→–] [AW]\d' docs/protocol.md | sed 's/W1 – W4/W1 W2 W3 W4/' | grep -oE '[RAW][0-9]' | sort -u)
# A label counts at the end of a line that calls an atomic operation or ends such a call.
code=$(grep -hE 'memory_order_.*// ([RAW][0-9] ?)+$' runtime/*.hpp |
  grep -oE '([RAW][0-9] ?)+$' | grep -oE '[RAW][0-9]' | sort -u || true)
diff <(echo "$table") <(echo "$code") || { echo "docs/protocol.md (<) and the labels in runtime/ (>) differ"; exit 1; }
