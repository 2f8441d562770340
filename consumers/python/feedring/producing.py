# SPDX-License-Identifier: Apache-2.0
"""The program of a producer in Python, which a pool starts for a DatasetLoader."""

from __future__ import annotations

import json
import os
import random
import sys

from . import shipping


def _seed(bits: int) -> None:
    """The generators that data sets use, so that a sample does not depend on which process makes it."""
    random.seed(bits)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(bits & 0xFFFFFFFF)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(bits & 0x7FFFFFFFFFFFFFFF)


def make(name: str, samples: int, options: str, attachment: bytes):
    """What makes the samples of a feed: a function of (sample, epoch, ordinal, random bits, views)."""
    dataset, form, order = shipping.unpack(json.loads(options), attachment)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)  # there is a process for each core already

    def fill(sample: int, epoch: int, ordinal: int, bits: int, views: list) -> None:
        _seed(bits)
        index = order[sample] if order is not None else sample
        try:
            form.write(dataset[index], views)
        except ValueError as error:
            raise ValueError(f"sample {index} of the data set: {error}") from None

    return fill


def main() -> None:
    from . import _producer

    os.environ.pop("FEEDRING_POOL", None)  # a data set is no rank
    shipping.producing = True
    sys.exit(_producer.run(["feedring producer", *sys.argv[1:]], make))
