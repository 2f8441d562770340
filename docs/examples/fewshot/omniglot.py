# SPDX-License-Identifier: Apache-2.0
# Omniglot as feedring reads it: python omniglot.py omniglot_small1.zip DIR
#
# Unpacks an archive of Omniglot (ALPHABET/characterNN/NNNN_NN.png somewhere below its top), with white ink on black as
# few-shot papers have it, and writes two manifests whose classes are called ALPHABET/characterNN, so that the alphabet
# is the superclass: DIR/train.tsv of all alphabets but those of --test, and DIR/test.tsv of those.
import argparse
import io
import os
import re
import zipfile

from PIL import Image, ImageOps

DRAWING = re.compile(r"(?:.*/)?([^/]+)/(character\d+)/([^/]+\.png)")


def unpack(archive, folder, test):
    """Returns the names of the alphabets."""
    lines = {"train": [], "test": []}
    alphabets = set()
    with zipfile.ZipFile(archive) as drawings:
        for name in sorted(drawings.namelist()):
            found = DRAWING.fullmatch(name)
            if not found:
                continue
            alphabet, character, file = found.groups()
            place = os.path.join(alphabet, character, file)
            os.makedirs(os.path.dirname(os.path.join(folder, place)), exist_ok=True)
            picture = Image.open(io.BytesIO(drawings.read(name))).convert("L")
            ImageOps.invert(picture).save(os.path.join(folder, place))
            lines["test" if alphabet in test else "train"].append(f"{place}\t{alphabet}/{character}\n")
            alphabets.add(alphabet)
    missing = set(test) - alphabets
    if missing or not lines["train"]:
        raise SystemExit(f"{archive} has the alphabets {', '.join(sorted(alphabets)) or 'none'}: --test names "
                         f"{', '.join(sorted(missing)) or 'all of them'}")
    for split, each in lines.items():
        with open(os.path.join(folder, split + ".tsv"), "w") as manifest:
            manifest.writelines(each)
    return sorted(alphabets)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("archive")
    parser.add_argument("folder")
    parser.add_argument("--test", nargs="+", default=["Balinese", "Early_Aramaic"], help="alphabets to test on")
    options = parser.parse_args()
    print(*unpack(options.archive, options.folder, options.test))
