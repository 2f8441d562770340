#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No file names a place that exists on one machine only.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"
! grep -rnIE --exclude-dir={.git,.cache,'build*',lint} '(^|[^A-Za-z0-9_.}/-])/(work|home|root|Users|tmp)/[A-Za-z0-9_.]' .
