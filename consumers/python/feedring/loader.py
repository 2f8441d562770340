# SPDX-License-Identifier: Apache-2.0
"""The loader: a feed as torch users expect their DataLoader to behave."""

from __future__ import annotations

import os

from . import _core
from .accumulation import Groups
from .arguments import refuse_what_cannot_be_done, table_of, whole_number
from .configuration import FOLDER_TRANSFORM, ConfigurationFile, Source, contradictions
from .devices import cuda_name, current_stream, load_torchs_runtime
from .errors import ForkedError, RefusedError, UsageError
from .facades import BatchSampler, Samples

_DEADLINE = 120.0  # seconds; FeedOptions::deadline


# Arguments: which files are read, how often and how.
OF_FILES = ("split", "classes", "files", "limit", "weights", "views", "column_kinds", "cache", "accept_damaged",
            "exif_orientation", "background")


class Loader:
    """Batches of a feed, decoded by a pool of processes that all ranks of this node share.

    Iterating gives, for each step of an epoch, a dict of arrays: torch tensors where torch is installed, else read-only
    NumPy arrays.

        images      (B, 3, H, W), uint8 unless the transform says otherwise, with channels_last strides
        labels      (B,) int64, classes numbered as torchvision's ImageFolder numbers them
        sample_ids  (B,) int64, the sample's number in the data set
        valid       (B,) uint8: 1 where the row counts, 0 for repeats that fill the last step, and for failed samples

    They lie in shared memory, without a copy; the slot is given back when the last array over it is gone. They are for
    reading: what you change is yours only after `.clone()`. Each iteration is the next epoch, also after a `break`.

    Args:
        source: a folder of images (one folder per class, or flat), a manifest, or a configuration (`feed.toml`). None:
            the pool that FEEDRING_POOL or the configuration that FEEDRING_CONFIG names.
        feed: the feed of the configuration.
        batch_size: samples per rank and step. Default: the configuration's, or 64.
        shuffle: a new order every epoch. Default: the configuration's, or True.
        drop_last: True leaves out the samples that do not fill a step of all ranks. False shares them out; then tuples
            are narrowed to the valid rows (one repeated sample where this rank has none), dicts keep all B rows and
            `valid`. Default: the configuration's, or False.
        seed: of order and augmentation, from 0 to 2^63 - 1. Default: the configuration's, or 0.
        transform: a list of dicts such as {"name": "Resize", "size": 256}, or torchvision transforms (v1 or v2), which
            are read, not run. Default: the configuration's, or RandomResizedCrop(224), RandomHorizontalFlip.
        views: several pictures of each sample, which is decoded once, in the place of transform: {"global": {"count": 2,
            "transform": …}, "local": {"count": 6, "transform": …}}. Each is an array of its name, (B, count, 3, H, W), or
            (B, 3, H, W) where count is left out.
        device: where torch tensors shall be. None or "cpu": in shared memory. "cuda" or "cuda:N": each batch is copied
            there while the step before runs, and is for torch's current stream. Elsewhere torch copies.
        num_workers: producer processes per rank, summed over the ranks of this node, at most the granted cores, which
            are the default.
        prefetch_factor: batches per worker that are decoded ahead: the ring gets num_workers * prefetch_factor + 1
            slots.
        slots: batches that the ring holds, instead. Default: the configuration's, or 4. With three or more, a loop over
            the loader never needs copies.
        pin_memory: True copies each batch to pinned memory, as torch does, where there is an accelerator.
        persistent_workers: False decodes nothing of the next epoch before it begins. The processes stay in any case.
        timeout: seconds to wait for a batch; 0: 120 s.
        column_kinds: columns of a manifest that go along with each sample, as arrays of their names: {"target": "float[4]",
            "tags": "multi_hot", "species": "class"} (docs/data.md).
        split, classes, files, limit: of the data this split; these classes, by name (or a path to a list of them, or
            "builtin:…"); these files, by path or last part of it (or a path to a list); so many samples at even distances.
        weights: how often samples come: "balanced", each class equally often; a dict from class names to weights, 1 for the
            others; or the name of a manifest's column, as torch's WeightedRandomSampler with replacement.
        samples_per_epoch: an epoch has so many samples; passes over the data go on from one to the next. Default: as many as
            there are.
        cache: "decoded" keeps each picture of a node decoded, in memory that all producers share; the steps of transform up to
            the last crop or resize must then not be random. Default: the configuration's, or "none".
        accept_damaged, exif_orientation, background: True delivers what a damaged file still gives; True turns pictures as their
            EXIF data say; (red, green, blue) is what transparent pictures are blended over (docs/formats.md). Default: the
            configuration's, or False, False and None.
        on_error: what a failed sample becomes, "raise", "replace" or "zero" (docs/configuration.md).
        as_tuple: tuples instead of dicts.
        columns: names of the arrays, in this order. Default: all; of tuples, images (or the views), the columns of
            column_kinds, and labels.
        on_full: "copy" returns a copy, and warns once, when the program holds all other slots; "error" raises HeldError
            when it holds all.
        backend: "torch" or "numpy". Default: torch where it is installed.
        accumulate: batches between two steps of the optimizer: `group_ends` and `group_size` tell where. A state that
            was saved with another number of ranks or batch size changes it, so that as many samples stay between two
            steps, or is refused.
        rank, world_size, local_rank, local_world_size: who this rank is, where the launcher's environment shall not
            say it. It is read when the feed is needed first: by iterating, len(), state_dict(), attach() and the like.
        attach_timeout: seconds to wait for the pool.

    All other arguments of torch's DataLoader are refused, with the reason.

    Raises:
        UsageError: wrong arguments or environment. DataError: a data set that cannot be used. RefusedError: the feed
            has another owner. DeadlineError, NotEnoughMemoryError: no pool came. All are feedring.Error.
    """

    def __init__(self, source: str | os.PathLike | None = None, feed: str = "train", *,
                 batch_size: int | None = None, shuffle: bool | None = None, drop_last: bool | None = None,
                 seed: int | None = None, transform: object = None, views: dict | None = None, column_kinds: dict | None = None, device: object = None,
                 num_workers: int | None = None, prefetch_factor: int | None = None, slots: int | None = None,
                 pin_memory: bool = False, persistent_workers: bool | None = None, timeout: float = 0,
                 split: str | None = None, classes: object = None, files: object = None, limit: int | None = None,
                 weights: object = None, samples_per_epoch: int | None = None,
                 cache: str | None = None, accept_damaged: bool | None = None, exif_orientation: bool | None = None,
                 background: tuple[int, int, int] | None = None, on_error: str | None = None, as_tuple: bool = False, columns: object = None, on_full: str = "copy",
                 backend: str | None = None, accumulate: int = 1,
                 rank: int | None = None, world_size: int | None = None, local_rank: int | None = None,
                 local_world_size: int | None = None, attach_timeout: float = 60,
                 **unsupported: object) -> None:
        refuse_what_cannot_be_done(unsupported, type(self))
        if on_full not in ("copy", "error"):
            raise UsageError(f"on_full={on_full!r} is neither 'copy' nor 'error'")
        if not isinstance(feed, str) or not feed:
            raise UsageError(f"feed={feed!r} is no name of a feed")
        for name, value in (("timeout", timeout), ("attach_timeout", attach_timeout)):
            if not isinstance(value, (int, float)) or not value >= 0:
                raise UsageError(f"{name}={value!r} is no number of seconds")
        if isinstance(columns, str):
            raise UsageError(f"columns={columns!r} is one name: give a list of names")
        given = table_of(batch_size=batch_size, shuffle=shuffle, drop_last=drop_last, seed=seed, transform=transform,
                         views=views, column_kinds=column_kinds, split=split, classes=classes, files=files, limit=limit, weights=weights,
                         samples_per_epoch=samples_per_epoch, cache=cache,
                         accept_damaged=accept_damaged, exif_orientation=exif_orientation, background=background,
                         on_error=on_error, slots=slots, num_workers=num_workers, prefetch_factor=prefetch_factor,
                         persistent_workers=persistent_workers)
        given.update(self._table())
        if source is not None:
            try:
                source = os.fsdecode(source)
            except TypeError:
                raise UsageError(f"a loader reads a folder, a manifest or a configuration, not a "
                                 f"{type(source).__module__}.{type(source).__qualname__}") from None
        self.num_workers = num_workers
        self.pin_memory = bool(pin_memory)
        self.timeout = timeout
        self._source = self._make_source(source, feed, given)
        self._who = {"rank": whole_number("rank", rank, 0), "world_size": whole_number("world_size", world_size, 1),
                     "local_rank": whole_number("local_rank", local_rank, 0),
                     "local_world_size": whole_number("local_world_size", local_world_size, 1)}
        self._attach_timeout = float(attach_timeout)
        self._device = device
        self._backend = backend
        self._as_tuple = bool(as_tuple)
        self._columns = None if columns is None else [str(name) for name in columns]
        self._copy = on_full == "copy"
        self._feed: _core.Feed | None = None
        self._process = 0  # that attached
        self._closed = False
        self._convert = None
        self._turn = 0  # of the iterator that is live
        self._warned = False
        self._groups = Groups(whole_number("accumulate", accumulate, 1) or 1)

    # What kinds of loaders differ in.

    _folder_transform = FOLDER_TRANSFORM  # of a plain folder

    def _table(self) -> dict:
        """Further keys of the feed's table in the configuration."""
        return {}

    def _make_source(self, source: str | None, feed: str, given: dict) -> Source:
        """Where the batches come from."""
        return Source(source, feed, given, self._folder_transform)

    # Attaching.

    def attach(self) -> Loader:
        """Connects to the pool now, so that it decodes while the program prepares; later calls do nothing."""
        self._attached()
        return self

    def _attached(self) -> _core.Feed:
        if self._feed is not None:
            if os.getpid() != self._process:
                raise ForkedError(f"feed '{self._source.feed}': a forked child cannot use the loader of its parent; "
                                  "make a loader in the child, or start it with spawn (in a DataLoader: num_workers=0)")
            return self._feed
        if self._closed:
            raise UsageError(f"feed '{self._source.feed}': this loader was closed")
        from . import ranks

        who = ranks.read(**self._who)
        producers = None if self.num_workers is None else ranks.producers_for(self.num_workers, who)
        if producers is not None:
            self._source.set_producers(producers)
        from ._command import command

        device = cuda_name(self._device)
        if device and self._backend != "numpy":
            load_torchs_runtime()
        with ConfigurationFile(self._source) as file:
            feed = _core.Feed.attach(
                name=self._source.feed, config=file.path, pool_key=file.key,
                command=command() if os.path.exists(command()) else "", **who,
                deadline=float(self.timeout or _DEADLINE), attach_deadline=self._attach_timeout, device=device)
        if os.environ.get("FEEDRING_POOL"):
            self._demand_agreement(feed, producers)
        self._feed = feed
        self._process = os.getpid()
        return feed

    def _demand_agreement(self, feed: _core.Feed, producers: int | None) -> None:
        import json

        running = json.loads(feed.description)
        said = dict(self._source.said)
        said.pop("dtype", None)  # a transform may say it as well
        found = contradictions(said, running)
        if producers is not None and running.get("producers", producers) < producers:
            found.append(f"there are {running['producers']} producers, and num_workers asks for {producers}")
        if found:
            feed.close()
            raise UsageError(f"feed '{self._source.feed}' runs in the pool that FEEDRING_POOL names, and is not what "
                             f"this loader asks for: {'; '.join(found)}; change the one or the other")

    # Iterating.

    def __iter__(self) -> LoaderIterator:
        """Begins the next epoch, or goes on where a state was loaded. Ends the iterator before, if it is still live:
        that one's next() is an error."""
        if self._convert is None:
            from .tensors import choose_backend, converter

            self._convert = converter(choose_backend(self._backend), self._device, self.pin_memory)
        feed = self._attached()
        feed.start_epoch()
        self._turn += 1
        return LoaderIterator(self, feed, self._turn)

    def __len__(self) -> int:
        """Steps of a whole epoch, equal on all ranks, also after a state was loaded."""
        return self._attached().steps_per_epoch

    def _arrays(self, batch: _core.Batch):
        names = self._columns
        if self._as_tuple:
            if names is None:
                names = self._columns = batch.names[:batch.names.index("labels") + 1]
            return tuple(self._convert(batch, names, max(batch.valid_rows, 1)))
        names = names or batch.names
        return dict(zip(names, self._convert(batch, names, batch.rows)))

    def _warn_of_copy(self, feed: _core.Feed) -> None:
        import warnings

        self._warned = True
        warnings.warn(f"feed '{self._source.feed}': the program holds the other {feed.slots - 1} slots of the ring, so "
                      "batches are copied now; let batches go sooner, raise slots, or give on_full=\"error\"",
                      RuntimeWarning, stacklevel=3)

    # Epochs and states.

    def set_epoch(self, epoch: int) -> None:
        """Says which epoch the next iteration runs; nothing where that is next anyway, so that a loaded step stays."""
        self._attached().set_epoch(whole_number("epoch", epoch, 0) or 0)

    @property
    def epoch(self) -> int:
        """Epoch of the batch that comes next."""
        return self._attached().epoch

    @property
    def step(self) -> int:
        """Step of the batch that comes next, within its epoch."""
        return self._attached().step

    def state_dict(self) -> dict:
        """Where the next batch comes from: ints and strings, fit for JSON, equal on all ranks after equal steps. It
        counts batches that were handed out."""
        import json

        state = json.loads(self._attached().state())
        if self.accumulate > 1:
            state["accumulate"] = self.accumulate
        return state

    def load_state_dict(self, state_dict: dict) -> None:
        """Goes on where the state was saved, at any world size and batch size; the next iteration runs the rest of that
        epoch. Raises RefusedError for a state of other data, sampler or transform, UsageError for what is no state."""
        import json

        try:
            text = json.dumps(state_dict)
        except (TypeError, ValueError) as error:
            raise UsageError(f"this is no state of a feed: {error}") from None
        feed = self._attached()
        before = feed.state()
        feed.load_state(text)
        try:
            self._groups = Groups(self._groups.load(state_dict, json.loads(before)["G"]))
        except RefusedError:
            feed.load_state(before)
            raise

    # Accumulating gradients.

    @property
    def accumulate(self) -> int:
        """Batches between two steps of the optimizer."""
        return self._groups.accumulate

    @property
    def group_ends(self) -> bool:
        """Whether the batch that was handed out last is the last one before a step of the optimizer, also where an
        epoch ends with a group that is not full."""
        return self._groups.ends

    @property
    def group_size(self) -> int:
        """Batches of the group that the last batch belongs to: `accumulate`, or fewer in an epoch's last one. Divide
        the loss by it."""
        return self._groups.size

    # What programs look for in a DataLoader.

    @property
    def batch_size(self) -> int:
        """Rows of every array of this rank."""
        return self._attached().batch_size

    @property
    def drop_last(self) -> bool:
        """Whether samples that do not fill a step of all ranks are left out."""
        import json

        return json.loads(self._attached().description)["remainder"] == "drop"

    @property
    def dataset(self) -> Samples:
        """Has a length, the number of samples, and nothing else: samples are not to be had one by one."""
        return Samples(self)

    @property
    def sampler(self) -> Samples:
        """Has set_epoch() and a length."""
        return Samples(self)

    @property
    def batch_sampler(self) -> BatchSampler:
        """Has a sampler with set_epoch(), a batch size and a length."""
        return BatchSampler(self)

    def as_iterable_dataset(self):
        """A torch IterableDataset of whole batches, for code that insists on a DataLoader:
        DataLoader(loader.as_iterable_dataset(), batch_size=None, num_workers=0)."""
        from .adapters import dataset_of

        return dataset_of(self)

    # About the feed.

    @property
    def rank(self) -> int:
        return self._attached().rank

    @property
    def world_size(self) -> int:
        return self._attached().world_size

    @property
    def samples(self) -> int:
        """Samples of the data set."""
        return self._attached().samples

    @property
    def classes(self) -> int:
        """Classes of the data set."""
        return self._attached().classes

    def stats(self) -> dict:
        """Sums since attach: batches, samples, failed, wait_s (seconds spent waiting for batches), futex_calls, staged
        (batches copied to the device from memory that was not pinned)."""
        return self._attached().stats()

    # Ending.

    def close(self) -> None:
        """Gives the ring back, at once or when the last array over it is gone; those stay valid. A pool that ranks
        started ends by itself some seconds after its last rank. May be called again."""
        self._closed = True
        self._turn += 1
        feed, self._feed = self._feed, None
        if feed is not None and os.getpid() == self._process:
            feed.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __getstate__(self) -> dict:
        if self._feed is not None:
            raise UsageError(f"feed '{self._source.feed}': an attached loader cannot be sent to another process; send "
                             "it before its first use, or make one there")
        return dict(self.__dict__)

    def __repr__(self) -> str:
        state = "closed" if self._closed else "attached" if self._feed is not None else "not attached yet"
        return f"<feedring.Loader of feed '{self._source.feed}', {state}>"


class LoaderIterator:
    """One epoch of a loader, or the rest of it."""

    def __init__(self, loader: Loader, feed: _core.Feed, turn: int) -> None:
        self._loader = loader
        self._feed = feed
        self._turn = turn
        self._steps = feed.steps_per_epoch
        self._device = feed.device
        self._ended = False

    def __iter__(self) -> LoaderIterator:
        return self

    def __next__(self):
        """The next batch. Raises DataError for a step that failed, and goes on behind it when called again;
        DeadlineError when none came in time, and may be called again; PoolGoneError, HeldError, ForkedError."""
        loader = self._loader
        if self._ended:
            raise StopIteration
        if self._turn != loader._turn:
            loader._attached()
            raise UsageError(f"feed '{loader._source.feed}': a second iterator was made while this one was live, which "
                             "ended this one; a loader has one iterator at a time")
        batch = self._feed.next(loader._copy, current_stream(self._device))
        if batch is None:
            self._ended = True
            raise StopIteration
        if batch.copied and not loader._warned:
            loader._warn_of_copy(self._feed)
        loader._groups.advance(batch.step, self._steps)
        return loader._arrays(batch)

    def __len__(self) -> int:
        return len(self._loader)
