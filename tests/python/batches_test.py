# SPDX-License-Identifier: Apache-2.0
# What a loader's batches hold, against the pictures themselves.
import os

import numpy
import pytest

import feedring
from conftest import PLAIN, SAMPLES, SIDE, colour, label


def check(batch):
    """Every row is the picture of its sample."""
    for row, sample in enumerate(batch["sample_ids"].tolist()):
        assert batch["labels"][row] == label(sample)
        assert (batch["images"][row] == numpy.array(colour(sample), "uint8")[:, None, None]).all()


def samples_of(batches):
    return [sample for batch in batches for sample in batch["sample_ids"][batch["valid"] == 1].tolist()]


def test_a_batch_is_a_dict_of_named_arrays(loader_of):
    batch = next(iter(loader_of(backend="numpy")))
    assert {name: (array.shape, array.dtype.name) for name, array in batch.items()} == {
        "images": ((4, 3, SIDE, SIDE), "uint8"),
        "labels": ((4,), "int64"),
        "sample_ids": ((4,), "int64"),
        "valid": ((4,), "uint8"),
    }
    check(batch)


def test_images_are_channels_last_and_for_reading(loader_of):
    images = next(iter(loader_of(backend="numpy")))["images"]
    assert images.strides == (SIDE * SIDE * 3, 1, SIDE * 3, 3)
    assert not images.flags.owndata and not images.flags.writeable


def test_an_epoch_holds_every_sample_once_and_the_next_another_order(loader_of):
    loader = loader_of(backend="numpy")
    epochs = []
    for _ in range(2):
        batches = []
        for batch in loader:
            check(batch)
            batches.append({name: array.copy() for name, array in batch.items()})
        assert len(batches) == len(loader) == 6
        epochs.append(samples_of(batches))
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(SAMPLES))
    assert epochs[0] != epochs[1]


def test_without_shuffle_the_order_is_the_data_sets(loader_of):
    seen = [sample for batch in loader_of(backend="numpy", shuffle=False)
            for sample in batch["sample_ids"][batch["valid"] == 1].tolist()]
    assert seen == list(range(SAMPLES))


def test_the_seed_chooses_the_order(loader_of):
    orders = []
    for seed in (0, 1, 0):
        with loader_of(backend="numpy", seed=seed) as loader:
            orders.append([batch["sample_ids"].tolist() for batch in loader])
    assert orders[0] == orders[2] != orders[1]


def test_drop_last_leaves_the_short_step_out(loader_of):
    loader = loader_of(backend="numpy", drop_last=True)
    assert len(loader) == 5
    assert sum(int(batch["valid"].sum()) for batch in loader) == 20


def test_dicts_of_the_short_step_keep_their_shape_and_say_what_counts(loader_of):
    for batch in loader_of(backend="numpy"):
        last = batch
    assert last["images"].shape[0] == 4
    assert last["valid"].tolist() == [1, 1, 1, 0]


def test_tuples_of_the_short_step_are_narrowed(loader_of):
    rows = [len(labels) for images, labels in loader_of(backend="numpy", as_tuple=True) if len(images) == len(labels)]
    assert rows == [4, 4, 4, 4, 4, 3]


def test_a_rank_without_a_valid_row_gets_one_repeated_sample(loader_of, monkeypatch):
    # Two pictures less than 3 ranks x 7: 23 = 21 + 2, and the last of three ranks has nothing of these two.
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", str(20000 + os.getpid() % 10000))
    loader = loader_of(backend="numpy", batch_size=7, as_tuple=True, columns=["sample_ids", "valid"], rank=2,
                       world_size=3, local_rank=0, local_world_size=1)
    assert [valid.tolist() for _, valid in loader] == [[1] * 7, [0]]


def test_columns_choose_arrays_and_their_order(loader_of):
    ids, labels = next(iter(loader_of(backend="numpy", as_tuple=True, columns=["sample_ids", "labels"])))
    assert [label(sample) for sample in ids.tolist()] == labels.tolist()
    only = next(iter(loader_of(backend="numpy", columns=["labels"], seed=1)))
    assert list(only) == ["labels"]


def test_an_unknown_column_is_named(loader_of):
    with pytest.raises(feedring.UsageError, match="no tensor 'label'; it has: images, labels"):
        next(iter(loader_of(backend="numpy", columns=["label"])))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_floats_arrive_scaled(loader_of, dtype):
    loader = loader_of(backend="numpy", transform=[*PLAIN, {"name": "ToDtype", "dtype": dtype, "scale": True}])
    batch = next(iter(loader))
    assert batch["images"].dtype.name == dtype
    for row, sample in enumerate(batch["sample_ids"].tolist()):
        expected = numpy.array(colour(sample)) / 255
        assert numpy.abs(batch["images"][row].astype("float64") - expected[:, None, None]).max() < 1e-3


def test_bfloat16_says_that_numpy_has_none(loader_of):
    loader = loader_of(backend="numpy", transform=[*PLAIN, {"name": "ToDtype", "dtype": "bfloat16", "scale": True}])
    with pytest.raises(feedring.UsageError, match="bfloat16.*torch"):
        next(iter(loader))


def test_dlpack_gives_the_same_memory(loader_of):
    loader = loader_of(backend="numpy")
    loader.attach()
    view = loader._feed.next().view("images")
    assert view.__dlpack_device__() == (1, 0)
    array = numpy.from_dlpack(view)
    assert array.ctypes.data == view.data_ptr
    assert array.shape == view.shape
    assert (array == numpy.asarray(view)).all()
