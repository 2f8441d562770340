# SPDX-License-Identifier: Apache-2.0
# How long batches live, and what happens to who holds many.
import gc
import threading
import warnings

import numpy
import pytest

import feedring
from conftest import SAMPLES


def address(batch):
    return batch["images"].__array_interface__["data"][0]


def test_batches_lie_in_the_slots_of_the_ring(loader_of):
    loader = loader_of(backend="numpy", slots=3)
    addresses = {address(batch) for _ in range(3) for batch in loader}
    assert len(addresses) == 3  # of 18 batches: nothing was copied


def test_a_slot_is_free_when_its_last_array_is_gone(loader_of):
    loader = loader_of(backend="numpy")
    iterator = iter(loader)
    batch = next(iterator)
    row = batch["images"][2, 1]
    feed = loader._feed
    assert feed.held == 1
    del batch
    assert feed.held == 1
    thread = threading.Thread(target=lambda cell: cell.clear(), args=([row],))
    del row
    thread.start()
    thread.join()
    del thread
    gc.collect()
    assert feed.held == 0


def test_a_list_of_all_batches_holds_them_all_and_warns_once(loader_of):
    loader = loader_of(backend="numpy", slots=3)
    with pytest.warns(RuntimeWarning, match="holds the other 2 slots.*raise slots") as caught:
        batches = list(loader)
        batches += list(loader)
    assert len(caught) == 1
    assert len(batches) == 12
    for epoch in (batches[:6], batches[6:]):
        ids = [i for batch in epoch for i in batch["sample_ids"][batch["valid"] == 1].tolist()]
        assert sorted(ids) == list(range(SAMPLES))
    for batch in batches:
        assert batch["images"][:, 0, 0, 0].tolist() == [10 + sample for sample in batch["sample_ids"].tolist()]
        assert batch["images"].strides == batches[0]["images"].strides


def test_a_loop_over_three_slots_needs_no_copy(loader_of):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sum(1 for _ in loader_of(backend="numpy", slots=3)) == 6


def test_on_full_error_says_who_holds_the_slots(loader_of):
    iterator = iter(loader_of(backend="numpy", slots=2, on_full="error"))
    held = [next(iterator), next(iterator)]
    with pytest.raises(feedring.HeldError, match="you hold all 2 slots"):
        next(iterator)
    held.pop()
    assert next(iterator)["valid"].all()  # nothing is lost


def test_arrays_outlive_their_loader(loader_of):
    loader = loader_of(backend="numpy")
    batch = next(iter(loader))
    before = {name: array.copy() for name, array in batch.items()}
    loader.close()
    del loader
    gc.collect()
    for name, array in batch.items():
        assert (array == before[name]).all()


def test_a_loader_can_be_opened_again_while_its_batches_are_held(loader_of):
    first = loader_of(backend="numpy")
    iterator = iter(first)
    held = next(iterator)
    next(iterator)
    before = held["images"].copy()
    first.close()
    second = loader_of(backend="numpy")
    ids = [i for batch in second for i in batch["sample_ids"][batch["valid"] == 1].tolist()]
    assert sorted(ids) == list(range(SAMPLES))  # from the start of epoch 0
    assert second.epoch == 1
    assert (held["images"] == before).all()
    assert ids[:4] == held["sample_ids"].tolist()


def test_two_open_loaders_of_one_feed_are_refused(loader_of):
    loader_of(backend="numpy").attach()
    with pytest.raises(feedring.RefusedError, match="open in another loader of this program; close that one first"):
        loader_of(backend="numpy").attach()


def test_a_closed_loader_says_so(loader_of):
    loader = loader_of(backend="numpy")
    with loader as same:
        assert same is loader
        next(iter(loader))
    loader.close()
    with pytest.raises(feedring.UsageError, match="this loader was closed"):
        iter(loader)


def test_a_second_iterator_ends_the_first(loader_of):
    loader = loader_of(backend="numpy")
    first = iter(loader)
    next(first)
    second = iter(loader)
    with pytest.raises(feedring.UsageError, match="one iterator at a time"):
        next(first)
    assert len(list(numpy.array(batch["labels"]) for batch in second)) == 6
    with pytest.raises(StopIteration):
        next(second)
