# SPDX-License-Identifier: Apache-2.0
"""Which rank this process is: arguments, the launcher's environment, or torch.distributed where it is initialised."""

from __future__ import annotations

import sys

from . import _core
from .errors import UsageError


def read(rank: int | None, world_size: int | None, local_rank: int | None, local_world_size: int | None) -> dict:
    """Arguments for Feed.attach(). Reads the environment now.

    Raises UsageError where torch.distributed is initialised and says something else: ranks that all take themselves for
    rank 0 of 1 would train on the same samples.
    """
    said = {"rank": rank, "world_size": world_size, "local_rank": local_rank, "local_world_size": local_world_size}
    group = _process_group()
    if group is None:
        return said
    known = _core.launch(**said)
    if not known["from_environment"] and rank is None and world_size is None:
        said["rank"], said["world_size"] = group
    elif (known["rank"], known["world_size"]) != group:
        raise UsageError(f"torch.distributed says that this is rank {group[0]} of {group[1]}, and arguments and "
                         f"environment ({known['launcher']}) say rank {known['rank']} of {known['world_size']}: pass "
                         "rank=, world_size=, local_rank= and local_world_size=")
    return said


def _process_group() -> tuple[int, int] | None:
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()


def producers_for(num_workers: int, said: dict) -> int:
    """Producers of a node for `num_workers` a rank: their sum over the local ranks, at most the granted cores."""
    launch = _core.launch(**said)
    local = launch["local_world_size"]
    if local is None:
        raise UsageError("num_workers is counted for all ranks of this node, and nobody says how many there are: set "
                         "LOCAL_WORLD_SIZE, or pass local_world_size=, or leave num_workers out")
    return max(1, min(num_workers * local, _core.granted_cores()))
