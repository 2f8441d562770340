# SPDX-License-Identifier: Apache-2.0
# Groups of batches between two steps of the optimizer. 23 samples in batches of 4 make 6 steps.
import pytest

import feedring


def marks(loader):
    return [(loader.group_ends, loader.group_size) for _ in loader]


@pytest.mark.parametrize(("accumulate", "expected"), [
    (1, [(True, 1)] * 6),
    (2, [(False, 2), (True, 2)] * 3),
    (4, [(False, 4), (False, 4), (False, 4), (True, 4), (False, 2), (True, 2)]),
    (9, [(False, 6)] * 5 + [(True, 6)])])
def test_the_last_batch_of_a_group_is_marked(loader_of, accumulate, expected):
    loader = loader_of(backend="numpy", accumulate=accumulate)
    assert marks(loader) == expected
    assert marks(loader) == expected


def saved(loader_of, steps):
    with loader_of(backend="numpy", accumulate=2) as loader:  # 8 samples a group
        iterator = iter(loader)
        for _ in range(steps):
            next(iterator)
        return loader.state_dict()


@pytest.mark.parametrize(("batch_size", "accumulate"), [(4, 2), (2, 4), (8, 1)])
def test_a_group_keeps_its_samples_at_another_batch_size(loader_of, batch_size, accumulate):
    state = saved(loader_of, 2)
    loader = loader_of(backend="numpy", batch_size=batch_size)
    loader.load_state_dict(state)
    assert loader.accumulate == accumulate
    steps = {4: 4, 2: 8, 8: 2}[batch_size]  # what is left of 23 samples behind the first group
    found = marks(loader)
    assert len(found) == steps
    assert [ends for ends, _ in found][:accumulate] == [False] * (accumulate - 1) + [True]


def test_a_group_that_cannot_be_kept_is_refused(loader_of):
    state = saved(loader_of, 2)
    loader = loader_of(backend="numpy", batch_size=3)
    before = loader.state_dict()
    with pytest.raises(feedring.RefusedError, match="8 samples between two steps of the optimizer.* takes 3 at a time"):
        loader.load_state_dict(state)
    assert loader.state_dict() == before


def test_a_state_inside_of_a_group_is_refused_where_it_would_split_a_batch(loader_of):
    state = saved(loader_of, 1)  # at sample 4
    with pytest.raises(feedring.RefusedError, match="sample 4 of the epoch.* inside of a step of 8"):
        loader_of(backend="numpy", batch_size=8).load_state_dict(state)
