#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every source file names its licence in its first three lines.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"
status=0
while IFS= read -r file; do
  head -n3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || { echo "$file: no SPDX line"; status=1; }
done < <(find . \( -name .git -o -name .cache -o -name 'build*' -type d \) -prune -o -type f \
  \( -name '*.[ch]pp' -o -name '*.[ch]' -o -name CMakeLists.txt -o -name '*.cmake' -o -name '*.cmake.in' -o -name '*.sh' \
  -o -name '*.awk' -o -name '*.py' -o -name '*.pml' -o -perm -u+x -o -name '.clang-*' \) -print)
exit $status
