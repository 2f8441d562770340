# SPDX-License-Identifier: Apache-2.0
# Where a loader stands: epochs, breaks, states.
import json

import pytest

import feedring
from conftest import PLAIN, SAMPLES


def ids(batches):
    return [i for batch in batches for i in batch["sample_ids"][batch["valid"] == 1].tolist()]


def test_a_break_is_followed_by_the_next_epoch(loader_of):
    loader = loader_of(backend="numpy")
    for _ in loader:
        break
    assert (loader.epoch, loader.step) == (0, 1)
    assert sorted(ids(loader)) == list(range(SAMPLES))
    assert loader.epoch == 2


@pytest.mark.parametrize("through", [lambda loader: loader, lambda loader: loader.sampler,
                                     lambda loader: loader.batch_sampler.sampler])
def test_set_epoch_pins_the_next_iteration(loader_of, through):
    with loader_of(backend="numpy") as loader:
        epochs = [ids(loader) for _ in range(3)]
    loader = loader_of(backend="numpy")
    through(loader).set_epoch(2)
    assert ids(loader) == epochs[2]
    through(loader).set_epoch(1)
    through(loader).set_epoch(1)
    assert ids(loader) == epochs[1]


def test_a_state_goes_through_json_and_on_in_the_middle_of_an_epoch(loader_of):
    with loader_of(backend="numpy") as loader:
        iterator = iter(loader)
        head = ids([next(iterator), next(iterator)])
        text = json.dumps(loader.state_dict())
        rest = ids(iterator)
        following = ids(loader)
    assert sorted(head + rest) == list(range(SAMPLES))
    loader = loader_of(backend="numpy")
    loader.load_state_dict(json.loads(text))
    assert len(loader) == 6
    loader.set_epoch(0)  # what frameworks call before they iterate; the loaded step stays
    assert ids(loader) == rest
    assert ids(loader) == following


def test_a_state_loads_at_another_batch_size(loader_of):
    with loader_of(backend="numpy") as loader:
        iterator = iter(loader)
        head = ids([next(iterator), next(iterator)])
        state = loader.state_dict()
    with loader_of(backend="numpy", batch_size=3, slots=5) as loader:
        loader.load_state_dict(state)
        rest = ids(loader)
    assert len(rest) == SAMPLES - 8
    assert sorted(head + rest) == list(range(SAMPLES))


def test_a_state_after_the_last_step_is_the_next_epochs_start(loader_of):
    loader = loader_of(backend="numpy")
    fresh = loader.state_dict()
    assert (fresh["epoch"], fresh["next_ordinal"]) == (0, 0)
    for _ in loader:
        pass
    state = loader.state_dict()
    assert (state["epoch"], state["next_ordinal"]) == (1, 0)
    assert all(isinstance(value, (int, str)) for value in state.values())


def test_a_state_of_something_else_is_refused(loader_of):
    loader = loader_of(backend="numpy")
    state = loader.state_dict()
    with pytest.raises(feedring.RefusedError, match="another sampler or transform"):
        other = loader_of(backend="numpy", transform=[*PLAIN, {"name": "RandomHorizontalFlip"}])
        other.load_state_dict(state)
    for wrong in ({}, {"epoch": 1}, [1], {"a": object()}):
        with pytest.raises(feedring.UsageError, match="no state of a feed"):
            loader.load_state_dict(wrong)
    assert ids(loader)[:1]  # still usable


def test_lengths_are_those_of_a_data_loader(loader_of):
    loader = loader_of(backend="numpy")
    assert len(loader) == len(loader.batch_sampler) == len(iter(loader)) == 6
    assert len(loader.dataset) == len(loader.sampler) == loader.samples == SAMPLES
    assert (loader.batch_size, loader.batch_sampler.batch_size, loader.drop_last, loader.classes) == (4, 4, False, 3)
