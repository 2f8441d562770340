# SPDX-License-Identifier: Apache-2.0
"""What few-shot papers report: a mean over episodes, with its interval."""

from __future__ import annotations

from typing import Callable, NamedTuple

from . import _core
from .errors import UsageError


class Summary(NamedTuple):
    """Over M episodes; the 95 % interval is mean ± half_width. As text: "86.12 ± 0.62 (600 episodes)", in percent.

    With one episode, deviation and half_width are NaN: one value says nothing about their spread.
    """

    episodes: int
    mean: float
    deviation: float  # of the sample: sqrt(sum (x - mean)^2 / (M - 1))
    half_width: float  # 1.96 * deviation / sqrt(M)

    def __str__(self) -> str:
        return f"{100 * self.mean:.2f} ± {100 * self.half_width:.2f} ({self.episodes} episodes)"


class Evaluation:
    """One number for each episode, such as the accuracy over its queries, kept by ordinal and summed in that order: what
    ranks have gathered is equal, to the last bit, to what one rank would have."""

    def __init__(self) -> None:
        self._results = _core.Evaluation()

    def add(self, ordinal, value, valid=True) -> None:
        """The result of an episode; or of several, from batch["ordinal"], one value each, and batch["valid"].

        What is not valid is padding, and left out. Raises UsageError for a value that is not finite, and where the
        ordinal has another value already: ranks then evaluated different models or episodes.
        """
        ordinals, values, counts = _list(ordinal), _list(value), _list(valid)
        if len(counts) == 1:
            counts *= len(ordinals)
        if not len(ordinals) == len(values) == len(counts):
            raise UsageError(f"there are {len(ordinals)} ordinals, {len(values)} values and {len(counts)} of valid: "
                             "give as many of each")
        for number, result, good in zip(ordinals, values, counts):
            if good:
                self._results.add(int(number), float(result))

    def gather(self, group=None) -> Evaluation:
        """Of all ranks of a group of torch.distributed, on each of them. A collective: all ranks call it."""
        import torch.distributed as distributed

        parts = [None] * distributed.get_world_size(group)
        distributed.all_gather_object(parts, self.results, group=group)
        whole = Evaluation()
        for part in parts:
            whole.add(list(part), list(part.values()))
        return whole

    @property
    def results(self) -> dict[int, float]:
        """By ordinal, in their order."""
        return self._results.results()

    @property
    def values(self) -> list[float]:
        """In the order of the ordinals."""
        return list(self.results.values())

    def summary(self) -> Summary:
        """Raises UsageError where there is no episode."""
        return Summary(*self._results.summary())

    def __len__(self) -> int:
        return len(self.results)

    def __str__(self) -> str:
        return str(self.summary()) if len(self) else "no episode"


def paired_difference(a: Evaluation, b: Evaluation) -> Summary:
    """Of a - b, episode by episode: its interval is narrower than those of a and b, since what makes an episode hard is
    hard for both. Raises UsageError where they are not of the same episodes."""
    return Summary(*_core.paired_difference(a._results, b._results))


def evaluate(loader, accuracy: Callable[[dict], float], group=None) -> Evaluation:
    """Runs an epoch of a loader of episodes in the layout "feedring", and calls `accuracy` with each episode that counts:
    a dict of its arrays, without the axis of the batch. Under torch.distributed, of all ranks together, on each of them.

    Raises UsageError where the epoch would leave episodes out, since a mean over some of them is not what it says.
    """
    if loader.layout != "feedring":
        raise UsageError(f"an evaluation needs the ordinals of its episodes, which layout={loader.layout!r} does not "
                         "have: take \"feedring\"")
    left_out = loader.tasks_per_epoch % (loader.world_size * loader.batch_size)
    if left_out and loader.drop_last:
        raise UsageError(f"{left_out} of {loader.tasks_per_epoch} episodes fill no step of all ranks and would be left "
                         "out: give drop_last=False, or remainder = \"pad\" in the configuration")
    mine = Evaluation()
    for batch in loader:
        for row, counts in enumerate(_list(batch["valid"])):
            if counts:
                mine.add(batch["ordinal"][row], accuracy({name: array[row] for name, array in batch.items()}))
    if loader.world_size == 1:
        return mine
    return mine.gather(group)


def _list(value) -> list:
    """Of a number, a list, or an array of any kind with one axis or none."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, (list, tuple)) else [value]
