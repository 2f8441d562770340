#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The shell scripts pass shellcheck.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"
command -v shellcheck >/dev/null || { echo "shellcheck is not installed"; exit 77; }
mapfile -t scripts < <(grep -rlIE --exclude-dir={.git,.cache,'build*'} '^#!.*\bbash$' .)
((${#scripts[@]} == 0)) || shellcheck "${scripts[@]}"
