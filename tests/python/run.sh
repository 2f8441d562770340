#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh SUITE PYTHON FILE: one file of tests under pytest; 77 where the interpreter lacks what the suite needs.
set -euo pipefail
suite=$1 python=$2 file=$3
torch=${FEEDRING_TORCH_PYTHON:-${XDG_CACHE_HOME:-$HOME/.cache}/feedring/python-torch/bin/python3}
if [[ $suite == launchers && -x $torch ]]; then
  python=$torch # without it the launchers of C++ programs are left
elif [[ $suite == python-torch || $suite == frameworks ]]; then
  python=$torch
  export PYTHONPATH=$PYTHONPATH:${XDG_CACHE_HOME:-$HOME/.cache}/feedring/frameworks
  [[ -x $python ]] || { echo "there is no Python with torch: ./dev test python-torch makes one"; exit 77; }
fi
for module in pytest numpy PIL; do
  "$python" -c "import $module" 2>/dev/null || { echo "$module is not installed for $python"; exit 77; }
done
export PYTHONDONTWRITEBYTECODE=1
export PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 # what else the machine has must not change what is tested
exec "$python" -m pytest -q -p no:cacheprovider -W error::pytest.PytestUnraisableExceptionWarning "$file"
