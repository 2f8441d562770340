# SPDX-License-Identifier: Apache-2.0
"""Batches of a data set of the user's own, whose samples Python makes."""

from __future__ import annotations

import os
import sys

from . import _core, shipping
from .configuration import Source
from .errors import UsageError
from .loader import OF_FILES, Loader
from .picture_leaves import transforms_of
from .sample_form import SampleForm


class DatasetLoader(Loader):
    """Batches of a map-style data set: anything with `len()` and `[index]`, as torch's Dataset has.

    The data set is sent once to producer processes, which call it and write what it gives into the rank's slots; a
    producer that dies is replaced, and its samples are made again. Every sample has the form of sample 0: a nest of
    dicts, tuples and lists, whose leaves are arrays, numbers, bools, str or bytes. A batch has that form, with a row for
    each sample: arrays without a copy, of text a list, of what is ragged a pair (padded array, sizes); tuples become
    lists, as torch's default_collate makes them. The last batch of an epoch is shorter where samples are short.

    Python's, NumPy's and torch's global generators are seeded for each sample from (seed, epoch, its place there), so
    that a sample does not depend on how many producers there are.

    Args:
        dataset: the object, which is pickled, or its import path: "package.module:factory". One that is large in memory
            is better named than sent. An IterableDataset is refused: it has no order to deal out.
        max_shape: for leaves whose shape differs: {"image": (3, 500, 500), "caption": 2000}; a nest's keys and indices
            are joined by dots, as in "0.boxes". Text has at most 1024 bytes unless it is named here.
        transform: as of Loader, for the one picture of each sample (a PIL image, a uint8 array (H, W, 3) or (H, W), a uint8 tensor
            (C, H, W)); of several, a dict by path: {"image": …}. Producers run it in C++ and write its result into the slot:
            (3, H, W) with channels_last strides, with the pixels and the random choices of a Loader over the same pictures.
        collate_fn: called in this process with the list of a step's samples, each in the data set's form, as views.
        order: a list of indices, to be delivered as it stands; shuffle is then False unless it is given.
        samples, like: its length, and a sample that stands for all in the place of sample 0: with both, a data set that is
            named is not made in this process to be asked.
        Everything else as of Loader, but for source, columns, as_tuple and how files are read.

    Raises what Loader raises. A data set that raises fails the sample: DataError, or as on_error says.
    """

    def __init__(self, dataset: object, feed: str = "train", *, max_shape: dict | None = None, transform: object = None,
                 collate_fn=None, order: list[int] | None = None, samples: int | None = None, like: object = None,
                 **arguments: object) -> None:
        for name in ("source", "columns", "as_tuple", *OF_FILES):
            if arguments.pop(name, None) is not None:
                raise UsageError(f"{name} has no meaning for a data set of one's own: it gives what a batch holds")
        if os.environ.get("FEEDRING_POOL"):
            raise UsageError("FEEDRING_POOL names a pool with feeds of its own; a data set in Python has its own pool: "
                             "start this program without `feedring run`")
        if shipping.producing:
            raise UsageError("a producer imports this program to find its data set, and it starts training: put that "
                             "under if __name__ == \"__main__\":")
        self._collate_batch = collate_fn
        made = dataset
        if isinstance(dataset, str) and (samples is None or like is None):
            made = shipping.named(dataset)
        if not isinstance(dataset, str) or made is not dataset:
            _demand_map_style(made)
        with _Untouched():
            first = made[0] if like is None else like
            self._form = SampleForm.of(first, max_shape, transforms_of(transform, first))
        count = len(order) if order is not None else samples if samples is not None else len(made)
        if count < 1:
            raise UsageError("the data set is empty")
        options, attachment = shipping.pack(dataset, self._form, order)
        self._own = {"samples": count, "tensors": self._form.tensors(), "options": options}
        self._attachment = attachment
        if order is not None:
            arguments.setdefault("shuffle", False)
        arguments.setdefault("drop_last", False)
        super().__init__(None, feed, **arguments)

    def _make_source(self, source: str | None, feed: str, given: dict) -> Source:
        # This package, wherever the program found it.
        where = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        producer = [sys.executable, "-c", f"import sys; sys.path.insert(0, {where!r}); import feedring.producing as program; "
                                          "program.main()"]
        return Source.without_data(feed, {**self._own, **given}, producer, self._attachment)

    def _arrays(self, batch: _core.Batch):
        names = [tensor["name"] for tensor in self._own["tensors"]]
        arrays = self._convert(batch, names, max(batch.valid_rows, 1))
        if self._collate_batch is not None:
            return self._collate_batch(self._form.samples(arrays))
        return self._form.read(arrays)


def _demand_map_style(dataset: object) -> None:
    if any(kind.__name__ == "IterableDataset" for kind in type(dataset).__mro__):
        raise UsageError(f"{type(dataset).__qualname__} is an IterableDataset, which has no order to deal out to ranks: "
                         "give a data set with len() and [index]")
    for name in ("__len__", "__getitem__"):
        if not hasattr(dataset, name):
            raise UsageError(f"{type(dataset).__module__}.{type(dataset).__qualname__} is no data set: it has no {name}")
    if len(dataset) < 1:
        raise UsageError("the data set is empty")


class _Untouched:
    """Within it, the generators that a data set draws from; behind it, as they were."""

    def __enter__(self) -> None:
        import random

        self._python = random.getstate()
        self._numpy = sys.modules["numpy"].random.get_state() if "numpy" in sys.modules else None
        self._torch = sys.modules["torch"].get_rng_state() if "torch" in sys.modules else None

    def __exit__(self, *exc: object) -> None:
        sys.modules["random"].setstate(self._python)
        if self._numpy is not None:
            sys.modules["numpy"].random.set_state(self._numpy)
        if self._torch is not None:
            sys.modules["torch"].set_rng_state(self._torch)
