#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpu_test.sh BUILD: everything that a GPU alone can show, in one run of under ten minutes that needs no network and no
# data: what every device keeps, feeds, the reuse of slots, ranks that are killed, what a batch costs the trainer; the first
# of these under compute-sanitizer too, where that is installed. Without a GPU it says what CUDA says, and is skipped.
set -euo pipefail
build=$(readlink -f "$1")
tests=$build/tests

why=$("$tests/device_tests" --gtest_filter='Cuda/DeviceConformance.HasANameAndNoFailure/*' |
  grep -m1 -E 'cudaError|no CUDA runtime' || true)
if [[ -n $why ]]; then
  echo "$why"
  exit 77
fi
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || true

# A machine with a GPU may be there only once: what fails keeps nothing else from running.
failed=0
try() { # SECONDS COMMAND…
  local code=0
  timeout "$@" || code=$?
  if ((code)); then
    echo "FAILED with exit code $code: ${*:2}"
    failed=1
  fi
}
try 150 "$tests/device_tests" --gtest_filter='Cuda/*' --gtest_brief=1
try 90 "$tests/fault_tests" --gtest_filter='Killed/Devices.*/2' --gtest_brief=1
if command -v compute-sanitizer >/dev/null; then
  try 90 compute-sanitizer --error-exitcode 1 "$tests/device_tests" \
    --gtest_filter='Cuda/DeviceConformance.*:Cuda/DeviceFeed.*' --gtest_brief=1
else
  echo "compute-sanitizer is not installed: not run"
fi
if [[ -x $build/bench/device_bench ]]; then
  try 45 "$build/bench/device_bench"
fi
exit "$failed"
