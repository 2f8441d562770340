# SPDX-License-Identifier: Apache-2.0
"""Few-shot regression from nothing, after TorchMeta's toy data sets."""

from __future__ import annotations

from . import _core
from .arguments import whole_number
from .configuration import Source
from .errors import UsageError
from .loader import OF_FILES, Loader

KINDS = ("sinusoid", "harmonic", "sinusoid_and_line")


class TaskLoader(Loader):
    """Meta-batches of regression tasks: {"train": [x, y], "test": [x, y]}, each (B, shots, 1) and (B, test_shots, 1).

    A task is the same function in every epoch, at points that are drawn anew each time. Functions and ranges are
    TorchMeta's: docs/episodes.md has them.

    Args:
        kind: "sinusoid", "harmonic" or "sinusoid_and_line".
        shots, test_shots: points of each task. Default of test_shots: shots.
        num_tasks: tasks of an epoch, over all ranks. Default: TorchMeta's, 1,000,000, of harmonic 5,000.
        noise_std: standard deviation of the noise on targets; None or 0: none.
        dtype: "float32" or "float64".
        seed: of the order and the points. tasks_seed: of the functions; another one for validation.
        Everything else as of Loader, but for source, transform, columns, as_tuple and how files are read.
    """

    def __init__(self, kind: str, shots: int, test_shots: int | None = None, feed: str = "train", *,
                 num_tasks: int | None = None, noise_std: float | None = None, dtype: str = "float32",
                 tasks_seed: int = 0, **arguments: object) -> None:
        for name in ("source", "transform", "columns", "as_tuple", *OF_FILES):
            if arguments.pop(name, None) is not None:
                raise UsageError(f"{name} has no meaning for tasks: they are made from nothing, and have one form")
        if kind not in KINDS:
            raise UsageError(f"kind={kind!r} is none of {', '.join(map(repr, KINDS))}")
        if dtype not in ("float32", "float64"):
            raise UsageError(f"dtype={dtype!r} is neither 'float32' nor 'float64'")
        shots = whole_number("shots", shots, 1)
        test_shots = whole_number("test_shots", test_shots, 1)
        table = {"kind": kind, "shots": shots, "queries": shots if test_shots is None else test_shots,
                 "noise_std": float(noise_std or 0), "seed": whole_number("tasks_seed", tasks_seed, 0)}
        self._tasks = {"tasks": table, "dtype": dtype}
        if num_tasks is not None:
            self._tasks["samples"] = whole_number("num_tasks", num_tasks, 1)
        arguments.setdefault("batch_size", 1)
        super().__init__(None, feed, **arguments)

    def _make_source(self, source: str | None, feed: str, given: dict) -> Source:
        return Source.without_data(feed, {**self._tasks, **given})

    def _arrays(self, batch: _core.Batch):
        names = ["support_inputs", "support_targets", "query_inputs", "query_targets"]
        x, y, query_x, query_y = self._convert(batch, names, max(batch.valid_rows, 1))
        return {"train": [x, y], "test": [query_x, query_y]}


def sinusoid(shots, shuffle=True, test_shots=None, **more) -> TaskLoader:
    """As torchmeta.toy.helpers.sinusoid takes its arguments; `more` as of TaskLoader. The points of a task are drawn,
    so that shuffle has no effect."""
    whole = more.pop("num_samples_per_task", None)
    if whole is not None:
        shots = whole // 2 if test_shots is None else whole - test_shots
    return TaskLoader("sinusoid", shots, test_shots, **more)
