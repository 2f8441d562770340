# SPDX-License-Identifier: Apache-2.0
# Data sets for tests, where producers can import them.
import os
import random
import signal
import time

import numpy as np
from PIL import Image


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


class Pictures:
    """What ImageFolder gives of the files, as a PIL image, an array or a tensor."""

    def __init__(self, files, kind="pil", kills_at=None, marker=None):
        self.files, self.kind, self.kills_at, self.marker = files, kind, kills_at, marker

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        if index == self.kills_at and not os.path.exists(self.marker):
            open(self.marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        picture = Image.open(self.files[index])
        if self.kind != "pil":
            picture = np.asarray(picture if self.kind == "gray" else picture.convert("RGB"))
        if self.kind == "tensor":
            import torch

            picture = torch.from_numpy(picture.copy()).permute(2, 0, 1)
        return {"image": picture, "index": index}


class Pairs:
    """Two pictures a sample, of which the first may be empty."""

    def __init__(self, empty_at=None):
        self.empty_at = empty_at

    def __len__(self):
        return 6

    def __getitem__(self, index):
        side = 0 if index == self.empty_at else 20
        colours = np.arange(side * 20 * 3, dtype=np.uint8).reshape(side, 20, 3)
        return colours, np.arange(1200, dtype=np.uint8).reshape(20, 20, 3)
