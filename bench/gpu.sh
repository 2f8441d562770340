#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What only a GPU can show, on a machine that has nothing but a GPU and its driver:
#
#   gpu.sh pack BUILD PHOTOS KIT   gathers here what must be carried: programs, the libraries that they need and Debian's
#                                  or another system may lack, 40 photos, this script and the tests'. Under 64 MB, or it says so
#   KIT/gpu.sh run KIT OUT         there: measures into OUT/gpu.json, then runs the tests of the GPU; under ten minutes.
#                                  77 where CUDA has no device, and CUDA's reason
#   KIT/gpu.sh dry KIT OUT         here: the same without a GPU, small, on the tests' stand-in for libcudart. Its figures
#                                  mean nothing, "fake" in the JSON says so
#
# The machine there needs bash, coreutils and a glibc as new as the one here; no package, no network, no Python, no nvcc.
set -euo pipefail

# Libraries of the C library itself are the machine's: its driver was made for them.
glibc='/(ld-linux[^/]*|libc|libm|libdl|libpthread|librt|libresolv)\.so[^/]*$'

pack() {
  local build photos kit=$3 file files=() count megabytes
  build=$(readlink -f "$1")
  photos=$(readlink -f "$2")
  rm -rf "$kit"
  mkdir -p "$kit"/{lib,cuda,photos}
  for file in bin/feedring libexec/feedring/feedring-producer libexec/feedring/feedring-drain bench/gpu-bench bench/device_bench \
    tests/device_tests tests/fault_tests tests/fault_trainer tests/fake_cudart/libfake_cudart.so.13; do
    if [[ ! -e $build/$file ]]; then
      echo "gpu.sh: $file is not built: left out" >&2
      continue
    fi
    mkdir -p "$kit/build/${file%/*}"
    strip -g -o "$kit/build/$file" "$build/$file"
    files+=("$build/$file")
  done
  ldd "${files[@]}" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | grep -vE "$glibc" | sort -u | xargs -d '\n' cp -Lt "$kit/lib"
  # For a machine whose driver came without the runtime: NVIDIA lets programs bring it.
  file=$(ldconfig -p | awk '/libcudart\.so\.[0-9]+ / && !found { found = $NF } END { print found }')
  [[ -z $file ]] || cp -L "$file" "$kit/cuda/"
  # Small ones first: ImageNet's size, and a kit that travels.
  find "$photos" -type f -iname '*.jp*g' -size -400k | sort | awk '{ a[NR] = $0 } END { n = NR < 40 ? NR : 40; for (i = 0; i < n; i++) print a[1 + int(i * NR / n)] }' >"$kit/files"
  count=0
  while IFS= read -r file; do
    count=$((count + 1))
    cp -L "$file" "$kit/photos/$count.jpg"
  done <"$kit/files"
  rm "$kit/files"
  ((count)) || { echo "gpu.sh: no JPEGs below $photos" >&2; exit 2; }
  # Each 128 times, so that an epoch has steps; a file that was read before is in the page cache, as on any training run.
  for _ in {1..128}; do for ((file = 1; file <= count; file++)); do printf 'photos/%d.jpg\t%d\n' "$file" $((file % 10)); done; done >"$kit/photos.tsv"
  cp "$(readlink -f "$0")" "$kit/gpu.sh"
  cp "$(dirname "$(readlink -f "$0")")/../tests/gpu/gpu_test.sh" "$kit/"
  echo "$build" >"$kit/built-at"
  megabytes=$(du -sm "$kit" | cut -f1)
  echo "gpu.sh: $kit holds $megabytes MB, $count photos"
  ((megabytes < 64)) || { echo "gpu.sh: more than the 64 MB that travel" >&2; exit 1; }
}

prepare() {
  kit=$(readlink -f "$1")
  mkdir -p "$2"
  out=$(readlink -f "$2")
  export LD_LIBRARY_PATH=$kit/lib
  if ! ldconfig -p 2>/dev/null | grep 'libcudart\.so\.' >/dev/null; then LD_LIBRARY_PATH+=:$kit/cuda; fi
  if ! "$kit/build/bin/feedring" --version >"$out/version.txt" 2>&1; then
    echo "gpu.sh: the programs do not start here: $(head -n1 "$out/version.txt")" >&2
    exit 1
  fi
}

# measure ROWS SIDE ARGUMENTS…: the pool, then the figures.
measure() {
  local rows=$1 side=$2 address=feedring-gpu-bench/$$
  shift 2
  cat >"$kit/feed.toml" <<END
[feed.train]
data = "photos.tsv"
batch_size = $rows
slots = 6
finish = "device"
layout = "NHWC"
transform = [
  { name = "RandomResizedCrop", size = $side },
  { name = "RandomHorizontalFlip" },
  { name = "ToDtype", dtype = "float16", scale = true },
  { name = "Normalize", mean = [0.485, 0.456, 0.406], std = [0.229, 0.224, 0.225] },
]
END
  FEEDRING_LOG=warn timeout 60 "$kit/build/bin/feedring" start -c "$kit/feed.toml" --address "$address" --ranks 1 --grace 60 >/dev/null || return 1
  # shellcheck disable=SC2064 # this address, not that of later
  trap "timeout 20 '$kit/build/bin/feedring' stop --pool '$address' >/dev/null 2>&1 || true" EXIT
  timeout 170 "$kit/build/bench/gpu-bench" --pool "$address" --out "$out/gpu.json" --rows "$rows" --side "$side" "$@"
}

case ${1:-} in
  pack) pack "${@:2:3}" ;;
  run)
    prepare "${@:2:2}"
    nvidia-smi --query-gpu=name,driver_version,pcie.link.gen.current,pcie.link.width.current --format=csv,noheader 2>/dev/null |
      tee "$out/machine.txt" || true
    code=0
    measure 256 224 || code=$?
    ((code != 77)) || exit 77
    # Whatever came of the figures, the machine may be there only once.
    if ((code)); then echo "gpu.sh: the figures failed with exit code $code"; else cat "$out/gpu.json"; fi
    # The tests know each other by the paths at which they were built.
    built=$(<"$kit/built-at")
    mkdir -p "$built"
    for part in bin libexec bench tests; do [[ -e $built/$part ]] || ln -s "$kit/build/$part" "$built/$part"; done
    timeout 380 "$kit/gpu_test.sh" "$kit/build" 2>&1 | tee "$out/tests.log" || code=$?
    exit "$code"
    ;;
  dry)
    prepare "${@:2:2}"
    measure 4 32 --runtime "$kit/build/tests/fake_cudart/libfake_cudart.so.13" --rounds 3 --steps 4 --copies 2 --step-ms 20 --launches 4
    cat "$out/gpu.json"
    ;;
  *)
    sed -n '4,11s/^# *//p' "$0" >&2
    exit 2
    ;;
esac
