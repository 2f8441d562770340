#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes follow the arrows of CONTRIBUTING.md: runtime <- producers, runtime <- consumers; no codec, Torch or CUDA in
# runtime; no Torch, CUDA or OpenMP in producers; and the layers inside producers.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"
status=0

# may FOLDER REGEX: quoted includes of our own tree in FOLDER must match REGEX.
may() {
  [[ -d $1 ]] || return 0
  ! grep -rnE --include='*.[ch]pp' '^ *# *include "(runtime|producers|consumers|bench|tests)/' "$1" |
    grep -vE "include \"$2" || status=1
}
# never FOLDER REGEX: nothing in FOLDER includes a header that matches REGEX.
never() {
  [[ -d $1 ]] || return 0
  ! grep -rnE --include='*.[ch]pp' "^ *# *include [<\"]($2)" "$1" || status=1
}

may runtime 'runtime/'
may consumers '(runtime|consumers)/'
may producers/decode '(runtime|producers/decode)/'
may producers/plan '(runtime|producers/plan)/'
may producers/transform '(runtime|producers/(decode|plan|config|transform))/'
may producers/dataset '(runtime|producers/dataset)/'
may producers/config '(runtime|producers/config)/|producers/plan/episode_(spec|list).hpp|producers/dataset/column_spec.hpp'
may producers/pack '(runtime|producers/(dataset|pack))/'
may producers/hdf5 '(producers/(pack/hdf5_pipe.hpp|hdf5))'
may producers/pool '(runtime|producers/(decode|plan|transform|dataset|config|pool))/'
may producers/cli '(runtime|producers)/'
never runtime 'jpeglib|spng|png\.h|webp|tiff|gif_lib|archive|hdf5|H5|torch|ATen|c10|cuda|omp\.h|hwy'
for folder in decode transform dataset plan config pool pack cli python; do never "producers/$folder" 'hdf5\.h|H5'; done
never producers 'torch|ATen|c10|cuda|omp\.h'
exit $status
