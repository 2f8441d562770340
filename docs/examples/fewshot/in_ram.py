# SPDX-License-Identifier: Apache-2.0
# A loader as one writes it by hand: all pictures in RAM, decoded by Pillow, episodes drawn by Python's generator, one
# process. It is here to compare with: the same model learns as well from feedring, and no better.
import json
import os
import random

import numpy
import torch
from PIL import Image

TURNS = {"rotate90": Image.ROTATE_90, "rotate180": Image.ROTATE_180, "rotate270": Image.ROTATE_270}


class EpisodesInRam:
    """Batches with the arrays of feedring's that a training needs, of drawn episodes, or of those of a file."""

    def __init__(self, folder, split, sizes, turned, episodes, batch_size, seed, file=None):
        with open(os.path.join(folder, split + ".tsv")) as manifest:
            rows = sorted((line.rstrip("\n").split("\t") for line in manifest), key=lambda row: (row[1], row[0]))
        names = sorted({name for _, name in rows})
        self.members = [[i for i, (_, name) in enumerate(rows) if name == each] for each in names]
        self.pictures = []  # by turn, then by sample
        for turn in (None, *turned):
            self.pictures.append([self._picture(os.path.join(folder, path), turn) for path, _ in rows])
        self.sizes, self.episodes, self.batch_size = sizes, episodes, batch_size
        self.seed = seed
        self.file = file

    @staticmethod
    def _picture(path, turn):
        picture = Image.open(path).convert("RGB")
        if turn:
            picture = picture.transpose(TURNS[turn])
        return torch.from_numpy(numpy.asarray(picture.resize((28, 28), Image.BILINEAR)).transpose(2, 0, 1).copy())

    def __len__(self):
        return sum(1 for _ in self._plans()) // self.batch_size

    def _plans(self):
        return self._kept() if self.file else self._drawn()

    def _drawn(self):
        ways, shots, queries = (self.sizes[name] for name in ("ways", "shots", "queries"))
        draw = random.Random(self.seed).sample
        for _ in range(self.episodes):
            classes = draw(range(len(self.members) * len(self.pictures)), ways)
            samples = [draw(self.members[c % len(self.members)], shots + queries) for c in classes]
            yield {"classes": classes, "support": [each[:shots] for each in samples],
                   "query": [each[shots:] for each in samples], "label_map": draw(range(ways), ways)}

    def _kept(self):
        with open(self.file) as file:
            yield from (line for line in map(json.loads, file) if "classes" in line)

    def __iter__(self):
        rows = []
        for plan in self._plans():
            row = {"valid": torch.tensor(True)}
            for part in ("support", "query"):
                places = [(c, sample, label) for c, samples, label in zip(plan["classes"], plan[part], plan["label_map"])
                          for sample in samples]
                row[part + "_images"] = torch.stack([self.pictures[c // len(self.members)][sample] for c, sample, _ in places])
                row[part + "_labels"] = torch.tensor([label for _, _, label in places])
            rows.append(row)
            if len(rows) == self.batch_size:
                yield {name: torch.stack([each[name] for each in rows]) for name in rows[0]}
                rows = []

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass
