#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The mutants of mutants.toml, as source trees and as tests.

usage: mutate.py cmake SOURCE_DIR            a call of model_test(kind name setting caught) for each test
       mutate.py make SOURCE_DIR NAME DIR    writes world.cpp and the mutant's changed files below DIR
"""
import pathlib
import shutil
import sys
import tomllib

WORLD = "tests/model/world.cpp"


def read(source):
    with open(source / "tests/model/mutants.toml", "rb") as file:
        return tomllib.load(file)


def make(source, name, target):
    mutant = next(m for m in read(source)["mutant"] if m["name"] == name)
    shutil.rmtree(target, ignore_errors=True)
    texts = {WORLD: (source / WORLD).read_text()}
    for change in mutant["change"]:
        text = texts.setdefault(change["file"], (source / change["file"]).read_text())
        if text.count(change["from"]) != 1:
            sys.exit(f"mutate.py: {name}: {text.count(change['from'])} places in {change['file']} are "
                     f"{change['from']!r} where there must be one; mutants.toml must follow the source")
        texts[change["file"]] = text.replace(change["from"], change["to"])
    for file, text in texts.items():
        path = target / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main():
    source = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "make":
        make(source, sys.argv[3], pathlib.Path(sys.argv[4]))
        return
    table = read(source)
    for kind in ("honest", "long"):
        for one in table[kind]:
            print(f'model_test({kind} {one["name"]} "{one["setting"]}" "")')
    settings = {one["setting"] for one in table["honest"]}
    for mutant in table["mutant"]:
        if ("caught" in mutant) == ("harmless" in mutant) or mutant["setting"] not in settings:
            sys.exit(f"mutate.py: {mutant['name']}: needs either `caught` or `harmless`, and the setting of an [[honest]]")
        print(f'model_test(mutant {mutant["name"]} "{mutant["setting"]}" "{mutant.get("caught", "")}")')


if __name__ == "__main__":
    main()
