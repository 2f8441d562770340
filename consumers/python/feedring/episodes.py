# SPDX-License-Identifier: Apache-2.0
"""Few-shot episodes, in the shape of the library that a training was written for."""

from __future__ import annotations

import os

from . import _core
from .arguments import whole_number
from .errors import UsageError
from .loader import Loader
from .tensors import arrays_of, choose_backend

LAYOUTS = ("feedring", "torchmeta", "learn2learn", "easyfsl")

# What a batch says of each of its rows: an episode that was asked for is that one, and counts.
_NOT_OF_ONE = ("ordinal", "valid", "status")


class EpisodeLoader(Loader):
    """Meta-batches of episodes: N classes ("ways"), K labelled samples of each ("shots"), Q queries of each.

    What iterating gives is fixed by `layout`; B is `batch_size`, the episodes of this rank and step.

        "feedring"     a dict of arrays: support_images (B, N*K, 3, H, W), support_labels (B, N*K), support_mask,
                       query_images (B, N*Q, 3, H, W), query_labels (B, N*Q), query_mask, class_ids (B, N),
                       counts (B, N, 2), sample_ids (B, N*(K+Q)), ordinal (B,), valid (B,). Images are uint8 unless
                       the transform says otherwise; docs/episodes.md has all of it
        "torchmeta"    {"train": [x, y], "test": [x, y]}: x float32 (B, N*K, 3, H, W) from 0 to 1, y int64 (B, N*K)
        "learn2learn"  (X, y): X float32 (N*(K+Q), 3, H, W), y int64 (N*(K+Q),), the samples of a class together; as
                       many shots as queries alternate, else the shots come first. With batch_size > 1 a list of these
        "easyfsl"      (support_images, support_labels, query_images, query_labels, true_class_ids): true_class_ids is a
                       list of ints, the class of each label. With batch_size > 1 a list of these

    The last three are narrowed to the episodes that count, but never to none: see `valid`. Each iteration is the next
    epoch; all ranks take the same number of steps, and with an equal number of episodes a step over all ranks, each
    step has the same episodes at every world size.

    Args:
        source, feed: as of Loader. A folder's images are resized to 84 x 84, unless `transform` says otherwise.
        ways, shots, queries: numbers, or pairs (lowest, highest) in the layout "feedring". Default: the
            configuration's, or 5, 1 and 15.
        tasks_per_epoch: episodes of an epoch over all ranks. Default: the configuration's, or 1000.
        layout: see above. Default: the configuration's, or "feedring".
        batch_size: episodes per rank and step. Default: the configuration's, or 1.
        dtype: of the images, "uint8", "float32", "float16" or "bfloat16". Default: the layout's.
        episodes: further keys of [feed.NAME.episodes], such as {"label_map": "sorted", "fixed": True}; or
            {"file": "test.jsonl"} for the episodes of a file that `feedring episodes export` wrote.
        Everything else as of Loader, but for shuffle, columns, as_tuple, views and column_kinds, which episodes do not have.

    Raises what Loader raises, and DataError, with the classes that are too small, where the data cannot give such
    episodes.
    """

    def __init__(self, source=None, feed: str = "train", *, ways=None, shots=None, queries=None,
                 tasks_per_epoch: int | None = None, layout: str | None = None, dtype: str | None = None,
                 episodes: dict | None = None, **arguments: object) -> None:
        for name in ("shuffle", "columns", "as_tuple", "views", "column_kinds"):
            if arguments.pop(name, None) is not None:
                raise UsageError(f"{name} has no meaning for episodes: they are drawn, and the layout says what a "
                                 "batch is")
        if layout is not None and layout not in LAYOUTS:
            raise UsageError(f"layout={layout!r} is none of {', '.join(map(repr, LAYOUTS))}")
        table = dict(episodes or {})
        for name, value in (("ways", ways), ("shots", shots), ("queries", queries)):
            if value is not None:
                table[name] = _count(name, value)
        for name in ("only", "file"):
            if isinstance(table.get(name), (str, os.PathLike)):
                table[name] = os.path.abspath(os.fsdecode(table[name]))
        if tasks_per_epoch is not None:
            table["tasks_per_epoch"] = whole_number("tasks_per_epoch", tasks_per_epoch, 1)
        given = {"episodes": table or None, "episode_layout": layout, "dtype": dtype}
        self._given = {key: value for key, value in given.items() if value is not None}
        self._pack = None
        self._pictures = None  # episodes with their pixels, once one was asked for
        super().__init__(source, feed, **arguments)

    _folder_transform = [{"name": "Resize", "size": [84, 84]}]  # TorchMeta's of mini-ImageNet

    def _table(self) -> dict:
        return self._given

    @property
    def layout(self) -> str:
        """What a batch looks like."""
        return self._description()["episode_layout"]

    @property
    def tasks_per_epoch(self) -> int:
        """Episodes of an epoch, over all ranks."""
        return self._attached().ordinals

    def episode(self, ordinal: int, epoch: int | None = None, images: bool = False) -> dict:
        """Which classes and samples an episode has, whichever rank it falls to; the iteration stays where it is.

        A dict of lists: classes (N numbers, as class_ids), support and query (for each of them, positions of samples in
        the data set, as sample_ids), label_map (the label of each), and ordinal and epoch. With `unlabelled`,
        distractors and unlabelled as well. The pool works it out, without pixels.

        With `images`, also the arrays that a batch of this loader's layout has for it, without the axis of episodes:
        support_images (N*K, 3, H, W), support_labels, …; with "learn2learn" images and labels. Every byte is that of the
        batch, random steps of the transform included. This process reads and decodes the files; the arrays are yours.

        Args:
            ordinal: 0 to tasks_per_epoch - 1.
            epoch: default: that of the batch that comes next.
            images: as above.

        Raises:
            UsageError: no such episode. With `images` DataError, with its `path`, where a file fails and on_error is
                "raise". PoolGoneError, DeadlineError: the pool does not answer.
        """
        import json

        self._description()
        feed = self._attached()
        epoch = feed.epoch if epoch is None else whole_number("epoch", epoch, 0)
        ordinal = whole_number("ordinal", ordinal, 0)
        if ordinal is None:
            raise UsageError("ordinal=None is no whole number from 0 on")
        episode = json.loads(feed.episode(epoch, ordinal))
        if images:
            if self._pictures is None:
                from ._producer import EpisodePictures

                self._pictures = EpisodePictures(feed.pool, self._source.feed)
            made = self._pictures.make(json.loads(feed.state())["seed"], epoch, ordinal)
            episode.update(arrays_of(*made, choose_backend(self._backend), self._device, _NOT_OF_ONE))
        return episode

    def close(self) -> None:
        self._pictures = None
        super().close()

    def _description(self) -> dict:
        import json

        description = json.loads(self._attached().description)
        if "episodes" not in description:
            raise UsageError(f"feed '{self._source.feed}' delivers samples and no episodes: give ways, or a table "
                             f"[feed.{self._source.feed}.episodes], or use feedring.Loader")
        return description

    def __iter__(self):
        self._pack = _PACKERS[self.layout]
        return super().__iter__()

    def _arrays(self, batch: _core.Batch):
        if self._pack is None:
            return super()._arrays(batch)
        return self._pack(lambda *names: self._convert(batch, list(names), max(batch.valid_rows, 1)))


def _count(name: str, value: object):
    if isinstance(value, (list, tuple)):
        return [whole_number(name, number, 1) for number in value]
    return whole_number(name, value, 1)


def _torchmeta(arrays):
    x, y, query_x, query_y = arrays("support_images", "support_labels", "query_images", "query_labels")
    return {"train": [x, y], "test": [query_x, query_y]}


def _learn2learn(arrays):
    tasks = list(zip(*arrays("images", "labels")))
    return tasks[0] if len(tasks) == 1 else tasks


def _easyfsl(arrays):
    columns = arrays("support_images", "support_labels", "query_images", "query_labels", "class_ids")
    tasks = [(*task[:4], task[4].tolist()) for task in zip(*columns)]
    return tasks[0] if len(tasks) == 1 else tasks


_PACKERS = {"feedring": None, "torchmeta": _torchmeta, "learn2learn": _learn2learn, "easyfsl": _easyfsl}
