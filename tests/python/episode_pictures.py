# SPDX-License-Identifier: Apache-2.0
# What the tests of episodes share: small pictures that can be told apart, loaders of them, and what the command says.
import json
import subprocess

import numpy
import pytest
from PIL import Image

import feedring

SIDE, CLASSES, EACH = 6, 8, 9
PLAIN = [{"name": "Resize", "size": [SIDE, SIDE]}]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    """Eight classes of nine pictures, none of which looks like another, or like itself when it is turned."""
    folder = tmp_path_factory.mktemp("tasks")
    for sample in range(CLASSES * EACH):
        y, x = numpy.mgrid[0:SIDE, 0:SIDE]
        pixels = numpy.stack([numpy.full_like(x, 3 * sample), 40 * x, 40 * y], axis=2).astype("uint8")
        place = folder / f"c{sample // EACH}"
        place.mkdir(exist_ok=True)
        Image.fromarray(pixels).save(place / f"{sample % EACH}.png")
    return folder


def picture(folder, sample):
    return Image.open(folder / f"c{sample // EACH}" / f"{sample % EACH}.png").convert("RGB")


def planar(image):
    return numpy.asarray(image).transpose(2, 0, 1)


def dumped(folder, *arguments):
    """By ordinal, as the command lists them."""
    done = subprocess.run([feedring.command(), "dump", str(folder), "--json", *map(str, arguments)], text=True,
                          timeout=60, stdout=subprocess.PIPE, check=True)
    return {line["ordinal"]: line for line in map(json.loads, done.stdout.splitlines())}


@pytest.fixture
def episodes_of(tasks):
    """Makes loaders of episodes, on one producer, and closes them."""
    made = []

    def make(source=None, **arguments):
        defaults = {"ways": 5, "shots": 2, "queries": 3, "tasks_per_epoch": 20, "transform": PLAIN, "num_workers": 1,
                    "timeout": 30, "backend": "numpy"}
        loader = feedring.EpisodeLoader(source or tasks, **{**defaults, **arguments})
        made.append(loader)
        return loader

    yield make
    for loader in made:
        loader.close()


def flat(lists):
    return [each for part in lists for each in part]


def content(batch, row):
    names = ("class_ids", "sample_ids", "support_labels", "query_labels", "support_images", "query_images")
    return tuple(batch[name][row].tobytes() for name in names)
