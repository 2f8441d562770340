#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the pages link to or name as a file of the tree exists.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"
status=0
while IFS= read -r page; do
  folder=$(dirname "$page")
  while IFS= read -r target; do
    [[ -e $folder/$target ]] || { echo "$page: there is no $target"; status=1; }
  done < <(grep -oP '\]\(\K[^)#\s]+(?=[)#])' "$page" | grep -vE '^[a-z]+:' || true)
  # shellcheck disable=SC2016 # these are the backticks of Markdown
  while IFS= read -r target; do
    [[ -e $target ]] || { echo "$page: there is no $target"; status=1; }
  done < <(grep -oP '`\K(runtime|producers|consumers|docs|tests|bench|cmake)/[\w./+-]+\.\w+(?=`)' "$page" || true)
done < <(find . -name '*.md' -not -path './build*' -not -path './.git/*')
exit $status
