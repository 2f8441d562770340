# SPDX-License-Identifier: Apache-2.0
# One episode by its ordinal, with its pixels: against the batch that carries it, and Pillow.
import numpy
import pytest

import feedring
from episode_pictures import EACH, PLAIN, SIDE, flat, picture, planar

FLIPS = [{"name": "RandomResizedCrop", "size": [SIDE, SIDE]}, {"name": "RandomHorizontalFlip"},
         {"name": "RandomVerticalFlip"}, {"name": "ColorJitter", "brightness": 0.5, "hue": 0.2}]
NORMALIZED = [*PLAIN, {"name": "ToDtype", "dtype": "float32", "scale": True},
              {"name": "Normalize", "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.3, 0.4]}]


def by_ordinal(loader, layout):
    """What the batches of an epoch hold of each episode, by the names that it has alone."""
    episodes = []
    for batch in loader:
        if layout == "feedring":
            found = [{name: array[row].copy() for name, array in batch.items()} for row in range(len(batch["ordinal"]))]
        elif layout == "torchmeta":
            (x, y), (query_x, query_y) = batch["train"], batch["test"]
            found = [dict(zip(("support_images", "support_labels", "query_images", "query_labels"),
                              (each.copy() for each in row))) for row in zip(x, y, query_x, query_y)]
        elif layout == "learn2learn":
            found = [{"images": x.copy(), "labels": y.copy()} for x, y in (batch if isinstance(batch, list) else [batch])]
        else:
            names = ("support_images", "support_labels", "query_images", "query_labels", "class_ids")
            found = [dict(zip(names, map(numpy.array, task))) for task in (batch if isinstance(batch, list) else [batch])]
        episodes += found
    return episodes


def equal(alone, batch):
    """Whether the arrays are those of the batch, byte for byte and in the same order in memory."""
    for name, array in batch.items():
        if name in ("ordinal", "valid"):
            continue
        assert (alone[name].shape, alone[name].dtype) == (array.shape, array.dtype), name
        assert alone[name].tobytes() == array.tobytes(), name
    return True


@pytest.mark.parametrize("transform", [PLAIN, NORMALIZED, FLIPS], ids=["plain", "normalized", "random"])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("layout", ["feedring", "torchmeta", "learn2learn", "easyfsl"])
def test_its_bytes_are_those_of_the_batch_with_that_ordinal(episodes_of, layout, dtype, transform):
    if transform is NORMALIZED:
        if dtype == "uint8":
            pytest.skip("Normalize makes floats")
        dtype = None
    loader = episodes_of(layout=layout, dtype=dtype, transform=transform, batch_size=2, tasks_per_epoch=6)
    for epoch in range(2):
        batches = by_ordinal(loader, layout)
        assert len(batches) == 6
        for ordinal in (5, 0, 3):
            alone = loader.episode(ordinal, epoch, images=True)
            assert (alone["ordinal"], alone["epoch"]) == (ordinal, epoch)
            assert equal(alone, batches[ordinal])
            images = alone["images" if layout == "learn2learn" else "support_images"]
            strides = images[0].strides
            assert strides == (1 * images.itemsize, 3 * SIDE * images.itemsize, 3 * images.itemsize) if (
                layout == "feedring") else images.flags.c_contiguous


def test_its_pixels_are_the_files_and_its_numbers_the_plans(tasks, episodes_of):
    loader = episodes_of()
    alone = loader.episode(7, images=True)
    plan = loader.episode(7)
    assert {name: alone[name] for name in plan} == plan
    assert alone["class_ids"].tolist() == plan["classes"]
    assert alone["sample_ids"].tolist() == flat(plan["support"]) + flat(plan["query"])
    assert alone["support_labels"].tolist() == [label for label in plan["label_map"] for _ in range(2)]
    for image, sample in zip([*alone["support_images"], *alone["query_images"]], alone["sample_ids"].tolist()):
        assert (image == planar(picture(tasks, sample))).all()
    alone["support_images"][:] = 0  # they are the caller's
    assert loader.episode(7, images=True)["support_images"].any()
    assert set(alone) == {*plan, "class_ids", "counts", "sample_ids", "support_images", "support_labels", "support_mask",
                          "query_images", "query_labels", "query_mask"}


def test_the_iteration_stays_where_it_is(episodes_of):
    before = episodes_of()
    expected = [batch["sample_ids"].tolist() for batch in before]
    before.close()
    loader = episodes_of()
    got = []
    for batch in loader:
        loader.episode(19 - len(got), images=True)
        got.append(batch["sample_ids"].tolist())
    assert got == expected


def test_fixed_episodes_are_the_same_in_every_epoch(episodes_of):
    loader = episodes_of(episodes={"fixed": True}, transform=FLIPS)
    first = loader.episode(4, 0, images=True)
    later = loader.episode(4, 3, images=True)
    assert first["sample_ids"].tolist() == later["sample_ids"].tolist()
    batches = by_ordinal(loader, "feedring")
    assert equal(first, batches[4])
    assert equal(later, [by_ordinal(loader, "feedring") for _ in range(3)][-1][4])


def test_a_loaded_seed_counts(episodes_of):
    other = episodes_of(seed=11, transform=FLIPS)
    state = other.state_dict()
    expected = other.episode(2, images=True)
    other.close()
    loader = episodes_of(seed=3, transform=FLIPS)
    assert loader.episode(2, images=True)["sample_ids"].tolist() != expected["sample_ids"].tolist()
    loader.load_state_dict(state)
    assert equal(loader.episode(2, images=True), {name: array for name, array in expected.items()
                                                  if isinstance(array, numpy.ndarray)})


def test_what_varies_turns_and_is_unlabelled_is_as_in_the_batch(episodes_of):
    loader = episodes_of(ways=(2, 5), shots=(1, 3), queries=(1, 2), tasks_per_epoch=8, transform=FLIPS,
                         episodes={"augment": ["rotate90", "hflip"], "unlabelled": 2, "distractors": 1})
    for ordinal, batch in enumerate(by_ordinal(loader, "feedring")):
        assert equal(loader.episode(ordinal, 0, images=True), batch)


def test_episodes_of_a_file_and_kept_pictures_are_as_in_the_batch(tmp_path, tasks, episodes_of):
    import subprocess

    listed = tmp_path / "listed.jsonl"
    subprocess.run([feedring.command(), "episodes", "export", str(tasks), "--ways", "3", "--shots", "1", "--queries", "2",
                    "--episodes", "5", "--seed", "9", "-o", str(listed)], check=True, timeout=60)
    none = {"ways": None, "shots": None, "queries": None, "tasks_per_epoch": None}
    loader = episodes_of(**none, episodes={"file": str(listed)}, cache="decoded")
    for ordinal, batch in enumerate(by_ordinal(loader, "feedring")):
        assert equal(loader.episode(ordinal, images=True), batch)


def test_a_damaged_picture_is_what_on_error_says(tmp_path, tasks, episodes_of):
    for sample in range(6 * EACH):
        place = tmp_path / f"c{sample // EACH}"
        place.mkdir(exist_ok=True)
        data = (tasks / f"c{sample // EACH}" / f"{sample % EACH}.png").read_bytes()
        (place / f"{sample % EACH}.png").write_bytes(data[:40] if sample == 4 else data)
    for on_error in ("zero", "replace"):
        loader = episodes_of(tmp_path, on_error=on_error, tasks_per_epoch=10)
        hit = 0
        for ordinal, batch in enumerate(by_ordinal(loader, "feedring")):
            alone = loader.episode(ordinal, 0, images=True)
            assert equal(alone, batch)
            hit += 4 in flat(alone["support"]) + flat(alone["query"])
        assert hit > 0
    loader = episodes_of(tmp_path, tasks_per_epoch=10)
    with pytest.raises(feedring.DataError, match="1 of 25 images of episode .* failed, the first: c0/4.png") as caught:
        for ordinal in range(10):
            loader.episode(ordinal, images=True)
    assert caught.value.path == "c0/4.png" and caught.value.index == 4


def test_what_cannot_be_is_refused(tasks, episodes_of):
    loader = episodes_of()
    for ordinal, epoch in [(None, 0), (2**64, 0), (0, 2**64), (-1, 0), (1.5, 0)]:
        with pytest.raises(feedring.UsageError, match="no whole number|64 bits"):
            loader.episode(ordinal, epoch, images=True)
    with pytest.raises(feedring.UsageError, match="has the episodes 0 to 19"):
        loader.episode(20, images=True)
    assert loader.episode(19, images=True)["ordinal"] == 19
    loader.close()
    with pytest.raises(feedring.UsageError, match="was closed"):
        loader.episode(0, images=True)
    halves = episodes_of(dtype="bfloat16", layout="torchmeta")
    with pytest.raises(feedring.UsageError, match="bfloat16"):
        halves.episode(0, images=True)
