#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh BIN CACHE [DIR] [-- OPTION…]: trains the demo's classifier on two ranks, fed by one pool of producers. BIN holds
# feedring and feedring-demo. The pictures are letters, rendered once into CACHE, or DIR: a folder with one folder per
# class, or with train/ (and val/ or test/) of that kind. OPTIONs go to feedring-demo.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
bin=$1 cache=$2
shift 2
mkdir -p "$cache"

if (($#)) && [[ $1 != -- ]]; then
  [[ -d $1 ]] || { echo "demo: $1 is not a folder" >&2; exit 2; }
  train=$(readlink -f "$1") val=
  if [[ -d $train/train ]]; then
    for name in val valid test; do [[ ! -d $train/$name ]] || { val=$train/$name; break; }; done
    train=$train/train
  fi
  shift
  size=96 scale='[0.35, 1.0]' flip=', { name = "RandomHorizontalFlip" }' on_error=zero
else
  # The version in the name: letters rendered by another version of the script are not these.
  letters=$cache/letters-$(sha256sum "$here/make_letters.py" | cut -c1-12)
  if [[ ! -d $letters ]]; then
    echo "demo: rendering 6240 letters of the installed fonts into $letters" >&2
    rm -rf "$letters.part"
    /usr/bin/python3 "$here/make_letters.py" "$letters.part"
    mv "$letters.part" "$letters"
  fi
  train=$letters/train val=$letters/val
  size=48 scale='[0.6, 1.0]' flip='' on_error=raise
fi

config=$cache/demo.toml
{
  cat <<END
# Written by ./dev demo. Two feeds over one pool of producers.
[feed.train]
data = "$train"
batch_size = 32
remainder = "pad"  # the last batch of an epoch is filled up, so that every picture is seen
on_error = "$on_error"
transform = [ { name = "RandomResizedCrop", size = $size, scale = $scale }$flip ]
END
  [[ -z $val ]] || cat <<END

[feed.val]
data = "$val"
classes_from = "train"
batch_size = 32
shuffle = false
repeat = false
remainder = "pad"
on_error = "$on_error"
transform = [ { name = "Resize", size = $size }, { name = "CenterCrop", size = $size } ]
END
} >"$config"

[[ ${1:-} != -- ]] || shift
export OMP_NUM_THREADS=1
exec "$bin/feedring" run -c "$config" --nproc-per-node 2 -- "$bin/feedring-demo" --train train ${val:+--val val} "$@"
