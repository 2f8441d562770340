#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pythons_test.sh BUILD: the Python package for every other Python of this machine from 3.9 on (FEEDRING_PYTHONS: a list
# of interpreters with colons between them; else python3.9 … python3.14 in PATH and pyenv's), and suite python with each.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "$(readlink -f "$0")")/../.."
cache=${XDG_CACHE_HOME:-$HOME/.cache}/feedring

found=()
if [[ -n ${FEEDRING_PYTHONS:-} ]]; then
  IFS=: read -ra found <<<"$FEEDRING_PYTHONS"
else
  for minor in {9..14}; do
    for python in "$(type -P "python3.$minor" || true)" "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$minor".*/bin/python; do
      [[ -x $python && $python != */shims/* ]] && found+=("$python")
    done
  done
fi

tried=0
for python in "${found[@]}"; do
  version=$("$python" -c 'import platform; print(platform.python_version())')
  [[ $version != "$(/usr/bin/python3 -c 'import platform; print(platform.python_version())')" ]] || continue # suite python has it
  environment=$cache/pythons/$version
  if [[ ! -e $environment/.ready ]]; then
    rm -rf "$environment"
    "$python" -m venv "$environment"
    "$environment/bin/pip" install -q --no-cache-dir 'nanobind>=2.4,<3' typing_extensions numpy pillow pytest ||
      { echo "skipped: Python $version: pip cannot install what it needs"; continue; }
    touch "$environment/.ready"
  fi
  tree=$build-$version # beside build/: as deep, so that the compiler cache has what does not depend on the Python
  cmake --preset dev -B "$tree" -DPython_EXECUTABLE="$environment/bin/python" >/dev/null
  cmake --build "$tree" --target feedring_package >"$tree/build.log" 2>&1 || { tail -n 30 "$tree/build.log"; exit 1; }
  echo "Python $version:"
  for file in tests/python/*_test.py; do
    FEEDRING_CANARIES=1 PYTHONPATH=$tree/python:tests/python FEEDRING_BUILD=$tree FEEDRING_SOURCE=$PWD \
      FEEDRING_FAKE_CUDART=$build/tests/fake_cudart/libfake_cudart.so.13 tests/python/run.sh python "$environment/bin/python" "$file"
  done
  tried=$((tried + 1))
done
((tried)) || { echo "there is no other Python here, or none that pip serves: FEEDRING_PYTHONS names some"; exit 77; }
