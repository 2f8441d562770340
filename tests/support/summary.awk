# SPDX-License-Identifier: Apache-2.0
# Reads ctest's JUnit files (build/junit.xml, build/asan/junit.xml …): names what was skipped and why, each test once though
# several trees skip it, names what failed, and ends with one line of totals. Exit status 1 if anything failed or there was nothing to run.

function unescape(text) {
  gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\"", text); gsub(/&apos;/, "'", text)
  gsub(/&amp;/, "\\&", text)
  return text
}
function attribute(line, key) {
  return match(line, " " key "=\"[^\"]*\"") ? unescape(substr(line, RSTART + length(key) + 3, RLENGTH - length(key) - 4)) : ""
}

FNR == 1 {  # "build/asan/junit.xml" is the tree called asan; the plain tree needs no name
  n = split(FILENAME, part, "/")
  tree = part[n - 1] == "build" ? "" : part[n - 1] ": "
}

# Test output is escaped, so a line that starts with a tag is ctest's own.
/^\t<testcase / { test = attribute($0, "name"); name = tree test; status = attribute($0, "status"); message = first = reason = "" }
/^\t\t<skipped / { message = attribute($0, "message") }
/^\t\t<system-out>/ { first = substr($0, index($0, ">") + 1) }
gtest_skip { reason = $0; gtest_skip = 0 }
/: Skipped$/ { gtest_skip = 1 }  # GoogleTest prints the reason on the line after this one
/^\t<\/testcase>/ {
  if (status == "run") ++passed
  else if (status == "notrun" && message ~ /^SKIP_/) {  # skipped by the test itself
    sub(/<\/system-out>$/, "", first)
    if (!seen[test]++) skipped[++skips] = name " (" unescape(reason == "" ? first : reason) ")"
  }
  else if (status == "disabled") { if (!seen[test]++) skipped[++skips] = name " (disabled)" }
  else failed[++failures] = name (status == "notrun" ? " (" message ")" : "")
}

END {
  for (i = 1; i <= skips; ++i) print "skipped: " skipped[i]
  for (i = 1; i <= failures; ++i) print "failed: " failed[i]
  printf "%d passed, %d failed, %d skipped\n", passed, failures, skips
  exit failures > 0 || passed + skips == 0
}
