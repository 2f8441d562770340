#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The checks of this folder can fail: each one is shown a tree with one sin that it must name, and a clean one.
# shellcheck disable=SC2016 # lines of code and of Markdown in single quotes
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
status=0

write() { mkdir -p "$(dirname "$tree/$1")"; printf '%s\n' '// SPDX-License-Identifier: Apache-2.0' "${@:2}" >"$tree/$1"; }
# rejects CHECK FILE LINE…: with these lines in FILE the check fails and names the file; without the file it passes.
rejects() {
  local check=$1 file=$2 said rc=0
  write "$file" "${@:3}"
  said=$("$here/$check" "$tree" 2>&1) || rc=$?
  rm "$tree/$file"
  if ((rc == 77)); then
    echo "$check: $said"
    return
  fi
  [[ $rc -ne 0 && $said == *"$file"* ]] || { echo "$check let pass in $file: ${*:3}"; status=1; }
  "$here/$check" "$tree" || { echo "$check rejects a clean tree"; status=1; }
}

write runtime/fine.hpp '// volatile in a comment is fine' '#include "runtime/fine.hpp"' \
  'inline int read(A& a) { return a.load(std::memory_order_relaxed); }'
rejects tokens.sh runtime/sin.hpp 'volatile int x;'
rejects tokens.sh producers/sin.cpp 'std::atomic_thread_fence(std::memory_order_seq_cst);'
rejects tokens.sh runtime/sin.cpp 'int y = word.load();'
rejects tokens.sh runtime/sin.cpp 'word.compare_exchange_strong(' '    expected, desired);'
rejects tokens.sh runtime/sin.cpp 'word.store(other.load(), std::memory_order_release);'
rejects arrows.sh runtime/sin.hpp '#include "producers/plan/plan.hpp"'
rejects arrows.sh runtime/sin.hpp '#include <jpeglib.h>'
rejects arrows.sh producers/pool/sin.cpp '#include "consumers/feed.hpp"'
rejects arrows.sh producers/pool/sin.cpp '#include <torch/torch.h>'
rejects arrows.sh producers/decode/sin.cpp '#include "producers/transform/resize.hpp"'
rejects arrows.sh consumers/sin.cpp '#include "producers/plan/plan.hpp"'
rejects paths.sh docs/sin.hpp "see /home/someone/x"
rejects links.sh docs/sin.md 'see [there](nowhere.md)'
rejects links.sh docs/sin.md 'see `runtime/nowhere.hpp`'
rejects quotes.sh docs/sin.md '<!-- quoted: runtime/fine.hpp /^inline/,/}/ -->' '```' 'inline int old(A& a) {}' '```'
rejects quotes.sh docs/sin.md '<!-- quoted: runtime/fine.hpp /^nowhere/,/}/ -->' '```' '```'
write runtime/edge.hpp 'a.store(1, std::memory_order_release);  // R1' 'b = a.load(std::memory_order_acquire);  // A1'
row() { printf '| %s | `%s` | %s | %s | it breaks | a test |' "$@"; } # LABEL FILE ORDER PARTNERS
release=$(row R1 runtime/edge.hpp release A1) acquire=$(row A1 runtime/edge.hpp acquire R1)
rejects edges.sh docs/protocol.md "$release" # A1 is missing
rejects edges.sh docs/protocol.md "$release" "$(row A1 runtime/edge.hpp acq_rel R1)"
rejects edges.sh docs/protocol.md "$release" "$(row A1 runtime/fine.hpp acquire R1)"
rejects edges.sh docs/protocol.md "$release" "$(row A1 runtime/edge.hpp acquire A1)"
write docs/protocol.md "$release" "$acquire"
rejects edges.sh runtime/sin.hpp 'a.store(1, std::memory_order_release);'
rejects edges.sh runtime/sin.cpp 'a.compare_exchange_strong(b, 1, std::memory_order_acq_rel,' \
  '                          std::memory_order_relaxed);  // R2'
printf '#!/usr/bin/env bash\nrm %s1\n' '$' >"$tree/sin.sh"
"$here/shell.sh" "$tree" >"$tree/said" 2>&1 && { echo "shell.sh let pass: rm \$1"; status=1; }
rm "$tree/sin.sh"
printf 'int x;\n' >"$tree/runtime/bare.hpp"
if "$here/license.sh" "$tree" >"$tree/said" || ! grep -q runtime/bare.hpp "$tree/said"; then
  echo "license.sh let a file without its line pass"
  status=1
fi
rm "$tree/runtime/bare.hpp"
"$here/license.sh" "$tree" || { echo "license.sh rejects a clean tree"; status=1; }
cp "$here/../../.clang-format" "$tree"
rejects format.sh runtime/sin.hpp 'int   x ;'
exit $status
