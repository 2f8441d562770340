#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dry_run_test.sh BUILD: the kit of bench/gpu.sh is packed and used without a GPU, from another folder than that of the
# build, so that the run on a lent machine fails for no reason that could have been seen here. Shows that it starts, is
# complete and writes what it promises. Its figures mean nothing.
set -euo pipefail
build=$(readlink -f "$1")
source=$(readlink -f "$(dirname "$0")/../..")
[[ -x $build/bench/gpu-bench ]] || { echo "the benchmarks are not built"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

/usr/bin/python3 - "$work/photos" <<'END'
import os, sys
from PIL import Image
os.makedirs(sys.argv[1])
for i in range(48):
    Image.linear_gradient("L").resize((90 + i, 70)).convert("RGB").save(f"{sys.argv[1]}/{i}.jpg")
END
"$source/bench/gpu.sh" pack "$build" "$work/photos" "$work/first"
mv "$work/first" "$work/kit"
kit=$work/kit
[[ $(find "$kit/photos" -name '*.jpg' | wc -l) == 40 ]]

# Nothing but the C library and what a driver brings is asked of the other machine.
while IFS= read -r program; do
  missing=$(env LD_LIBRARY_PATH="$kit/lib" ldd "$program" | awk -v kit="$kit/" \
    '/not found/ || ($2 == "=>" && index($3, kit) != 1) { print $1 }' |
    grep -vE '^(linux-vdso|ld-linux|libc|libm|libdl|libpthread|librt)\.' || true)
  [[ -z $missing ]] || { echo "$program takes from this system: $missing"; exit 1; }
done < <(find "$kit/build" -type f -perm -100)

timeout 200 "$kit/gpu.sh" dry "$kit" "$work/out"
/usr/bin/python3 - "$work/out/gpu.json" <<'END'
import json, sys
got = json.load(open(sys.argv[1]))
assert got["fake"] is True, got["runtime"]
assert got["rows"] == 4 and got["side"] == 32
# By hand: 4 x 32 x 32 x 3 pixels, then labels and ids of 8 bytes, flags and status of 1, each at a multiple of 64.
assert got["bytes_over_the_bus"]["uint8"] < 4 * 32 * 32 * 3 + 5 * 64
assert 3.9 < got["bytes_over_the_bus"]["float32_over_uint8"] < 4
for of in ("slots_gb_per_s", "pinned_gb_per_s", "slots_over_pinned"):
    assert 0 < got["host_to_device"][of]["min"] <= got["host_to_device"][of]["median"] <= got["host_to_device"][of]["max"]
assert got["finish_gb_per_s"]["float32_nchw"] > 0 and got["finish_gb_per_s"]["float16_nhwc"] > 0
steps = got["steps"]
assert steps["resident_ms"]["min"] >= 20, "a step is at least as long as its kernels"
assert steps["fed_ms"]["min"] >= 20
assert steps["host_cpu_us_per_batch"]["median"] > 0
assert steps["staged"] == 0 and steps["device_note"] == "", "the ring is registered while steps are measured"
END

# Without a device and without the stand-in: skipped, by CUDA's own words.
if ! "$build/tests/device_tests" --gtest_filter='Cuda/DeviceConformance.HasANameAndNoFailure/*' 2>/dev/null | grep -q '  OK '; then
  code=0
  timeout 200 "$kit/gpu.sh" run "$kit" "$work/out2" 2>"$work/why" >/dev/null || code=$?
  [[ $code == 77 ]] || { cat "$work/why"; echo "exit code $code, 77 was expected"; exit 1; }
  grep -qE 'cudaError|no CUDA runtime' "$work/why"
fi
