# SPDX-License-Identifier: Apache-2.0
# Data sets for tests, where producers can import them.
import os
import random
import signal
import time

import numpy as np


class Squares:
    """Samples that can be worked out: index, its square in an array, a text of its length."""

    def __init__(self, count=23, fails_at=None, kills_at=None, marker=None):
        self.count, self.fails_at, self.kills_at, self.marker = count, fails_at, kills_at, marker

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index == self.fails_at:
            raise RuntimeError(f"cannot make {index}")
        if index == self.kills_at and not os.path.exists(self.marker):
            open(self.marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"index": index, "square": np.full((2, 3), index * index, np.float32), "name": "ä" * (index % 5)}


def squares():
    return Squares()


class Nested:
    def __len__(self):
        return 7

    def __getitem__(self, index):
        return ({"a": np.int16(index), "b": [bool(index % 2), index / 2]}, b"x" * index)


class Ragged:
    def __len__(self):
        return 5

    def __getitem__(self, index):
        return np.arange(2 * (index + 1), dtype=np.int32).reshape(2, index + 1), index


class Chance:
    """What the global generators give."""

    def __len__(self):
        return 16

    def __getitem__(self, index):
        time.sleep(0.001)
        return index, random.random(), float(np.random.random())
