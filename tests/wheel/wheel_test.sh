#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel_test.sh BUILD: a wheel as people get it, in an environment that has nothing else: it brings the libraries that it
# needs, carries the command, its stubs and its helpers, and feeds a loop.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
cache=${XDG_CACHE_HOME:-$HOME/.cache}/feedring
[[ -x $cache/python/bin/auditwheel ]] || { echo "auditwheel is not installed in $cache/python"; exit 77; }
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

wheel=$(./dev wheel)
[[ $wheel == *-manylinux_*.whl ]] || { echo "not repaired: $wheel"; exit 1; }
"$cache/python/bin/auditwheel" show "$wheel"

/usr/bin/python3 -m venv "$tree/venv"
"$tree/venv/bin/pip" install -q --no-index --no-deps "$wheel"
cd "$tree"
package=$(venv/bin/python -c 'import feedring, os; print(os.path.dirname(feedring.__file__))')
[[ $package == "$tree"/venv/* ]] || { echo "another feedring was imported: $package"; exit 1; }
for file in py.typed _core.pyi bin/feedring libexec/feedring/feedring-producer; do
  [[ -e $package/$file ]] || { echo "missing in the wheel: $file"; exit 1; }
done

# Every library comes from the wheel, or is one of the C and C++ run times and zlib, which every system has (PEP 600).
while IFS= read -r file; do
  ldd "$file" | awk -v file="$file" '
    /=>/ && $3 !~ /venv/ && $1 !~ /^lib(c|m|z|stdc\+\+|gcc_s|pthread|dl|rt)\.so/ { print file ": " $0; bad = 1 }
    END { exit bad }'
done < <(find "$package" "${package}.libs" -type f \( -name '*.so*' -o -name 'feedring' -o -name 'feedring-producer' \))

/usr/bin/python3 - <<'END'
import os, struct, zlib
def png(path, colour):
    row = b"\0" + bytes(colour) * 8
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(row * 8)) + chunk(b"IEND", b""))
for name in ("ant", "bee"):
    os.makedirs(f"pictures/{name}")
    for number in range(4):
        png(f"pictures/{name}/{number}.png", (number, 100, 200))
END
[[ $(venv/bin/feedring --version) == "feedring "* ]]
venv/bin/feedring check pictures >/dev/null
# No NumPy here: the buffer protocol alone.
venv/bin/python - <<'END'
import feedring
with feedring.Loader("pictures", batch_size=8, shuffle=False, transform=[{"name": "Resize", "size": [8, 8]}]) as loader:
    try:
        next(iter(loader))
    except feedring.UsageError as error:
        assert "pip install numpy" in str(error), error
    batch = loader.attach()._feed.next()
    assert memoryview(batch.view("labels")).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert memoryview(batch.view("images")).tolist()[3][0][0][0] == 3
print("fed")
END
# With NumPy, which the environment that builds wheels has.
env -u PYTHONPATH "$cache/python/bin/python" - "$package/.." <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import feedring
plain = [{"name": "Resize", "size": [8, 8]}]
with feedring.Loader("pictures", batch_size=4, transform=plain, backend="numpy") as loader:
    assert sorted(i for batch in loader for i in batch["sample_ids"].tolist()) == list(range(8))
# Producers in Python, with the package where only this program knows it.
with feedring.DatasetLoader(list(range(10)), batch_size=5, num_workers=1, shuffle=False, timeout=60, backend="numpy") as loader:
    assert [batch.tolist() for batch in loader] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
print("fed NumPy arrays")
END
