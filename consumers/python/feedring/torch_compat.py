# SPDX-License-Identifier: Apache-2.0
"""torch.utils.data.DataLoader's face over DatasetLoader, for programs that shall change one import."""

from __future__ import annotations

from .datasets import DatasetLoader
from .errors import UsageError


class DataLoader(DatasetLoader):
    """A map-style data set in batches, with the arguments of torch's DataLoader.

    What is different: under a launcher the samples are dealt out to the ranks without a DistributedSampler, in steps of
    equal number; order and content of an epoch do not depend on the number of workers; `num_workers=0` is one
    producer process. The seed is `generator.initial_seed()`, or `seed`.

    Args:
        sampler: None, a list of indices, or torch's SequentialSampler, RandomSampler without replacement,
            SubsetRandomSampler and DistributedSampler, which are read, not run.
        batch_sampler: a list of lists of indices, all of one length but the last: the batches of all ranks in turn.
        Everything else as in torch, and as of DatasetLoader. What cannot be done is refused.
    """

    def __init__(self, dataset: object, batch_size: int | None = 1, shuffle: bool | None = None, sampler: object = None,
                 batch_sampler: object = None, num_workers: int = 0, collate_fn=None, pin_memory: bool = False,
                 drop_last: bool = False, timeout: float = 0, worker_init_fn=None, multiprocessing_context=None,
                 generator=None, *, prefetch_factor: int | None = None, persistent_workers: bool = False,
                 seed: int | None = None, **arguments: object) -> None:
        if batch_size is None:
            raise UsageError("batch_size=None cannot be honoured: a feed delivers batches")
        if worker_init_fn is not None:
            raise UsageError("worker_init_fn cannot be honoured: producers have no number of their own, and generators "
                             "are seeded for each sample")
        if multiprocessing_context is not None and multiprocessing_context != "spawn":
            raise UsageError("multiprocessing_context cannot be honoured: producers are started afresh, as spawn does")
        if sampler is not None and shuffle:
            raise UsageError("sampler and shuffle=True exclude each other")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise UsageError("batch_sampler excludes batch_size, shuffle, sampler and drop_last")
        if generator is not None and seed is None:
            seed = generator.initial_seed() & 0x7FFFFFFFFFFFFFFF
        order, chosen = _read(sampler)
        if batch_sampler is not None:
            order, batch_size = _flat(batch_sampler)
        chosen.setdefault("shuffle", bool(shuffle))
        chosen.setdefault("seed", seed)
        chosen.setdefault("drop_last", bool(drop_last))
        super().__init__(dataset, batch_size=batch_size, order=order, collate_fn=collate_fn,
                         num_workers=max(num_workers, 1), pin_memory=pin_memory, timeout=timeout,
                         prefetch_factor=prefetch_factor, persistent_workers=persistent_workers or None,
                         **chosen, **arguments)


def _read(sampler: object) -> tuple[list[int] | None, dict]:
    """(order, arguments) that do what the sampler would."""
    if sampler is None:
        return None, {}
    if isinstance(sampler, (list, tuple, range)):
        return [int(index) for index in sampler], {"shuffle": False}
    kind = type(sampler).__name__ if type(sampler).__module__.partition(".")[0] == "torch" else ""
    if kind == "SequentialSampler":
        return None, {"shuffle": False}
    if kind == "RandomSampler" and not sampler.replacement and sampler.num_samples == len(sampler.data_source):
        return None, {"shuffle": True}
    if kind == "SubsetRandomSampler":
        return [int(index) for index in sampler.indices], {"shuffle": True}
    if kind == "DistributedSampler":
        return None, {"shuffle": sampler.shuffle, "seed": sampler.seed, "drop_last": sampler.drop_last,
                      "rank": sampler.rank, "world_size": sampler.num_replicas}
    raise UsageError(f"sampler={type(sampler).__qualname__} cannot be honoured: the order comes from the feed's plan; give a list "
                     "of indices, or shuffle")


def _flat(batches: object) -> tuple[list[int], int]:
    if not isinstance(batches, (list, tuple)) or not batches or not all(isinstance(each, (list, tuple)) for each in batches):
        raise UsageError("batch_sampler cannot be honoured unless it is a list of lists of indices: what it would draw next is "
                         "not known to all ranks")
    sizes = [len(each) for each in batches]
    if set(sizes[:-1]) - {sizes[0]} or not 0 < sizes[-1] <= sizes[0]:
        raise UsageError("batch_sampler cannot be honoured: its batches differ in length")
    return [int(index) for each in batches for index in each], sizes[0]
