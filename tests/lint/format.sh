#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All C++ files are as clang-format would write them (./dev format does).
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
cd "${1:-$here/../..}"
command -v clang-format >/dev/null || { echo "clang-format is not installed"; exit 77; }
"$here/sources" | xargs -d '\n' -r clang-format --dry-run -Werror
