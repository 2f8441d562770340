# SPDX-License-Identifier: Apache-2.0
# TorchMeta's helpers by name.
import pathlib
import subprocess
import sys
import types

import numpy
import pytest
from PIL import Image

import feedring

HERE = {"num_workers": 1, "timeout": 30, "backend": "numpy", "tasks_per_epoch": 4, "batch_size": 2}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Splits of six classes of five pictures, whose red says their split and class."""
    folder = tmp_path_factory.mktemp("data")
    for number, split in enumerate(("train", "validation", "test")):
        for of in range(6):
            place = folder / "miniimagenet" / split / f"n{of}"
            place.mkdir(parents=True)
            for each in range(5):
                Image.new("RGB", (20, 16), (80 * number + 10 * of, each, 0)).save(place / f"{each}.png")
    return folder


def reds(x):
    return set(numpy.rint(x[:, :, 0].mean((2, 3)) * 255).astype(int).ravel().tolist())


def test_miniimagenet_gives_torchmetas_batches_of_the_split(data):
    for arguments, first in (({"meta_train": True}, 0), ({"meta_split": "val"}, 80), ({"meta_test": True}, 160)):
        with feedring.miniimagenet(data, 1, 3, test_shots=2, download=True, **arguments, **HERE) as loader:
            assert len(loader) == 2 and loader.layout == "torchmeta"
            for batch in loader:
                (x, y), (test_x, test_y) = batch["train"], batch["test"]
                assert x.shape == (2, 3, 3, 84, 84) and test_x.shape == (2, 6, 3, 84, 84)
                assert sorted(y[0].tolist()) == [0, 1, 2] and sorted(test_y[0].tolist()) == [0, 0, 1, 1, 2, 2]
                assert reds(x) <= {first + 10 * of for of in range(6)}


def test_test_shots_are_as_many_as_shots_and_the_seed_is_the_feeds(data):
    seen = []
    for seed in (1, 1, 2):
        with feedring.miniimagenet(str(data / "miniimagenet"), 2, 3, seed=seed, meta_split="train", **HERE) as loader:
            batch = next(iter(loader))
            assert batch["test"][0].shape == (2, 6, 3, 84, 84)
            seen.append(batch["train"][0].tobytes())
    assert seen[0] == seen[1] != seen[2]


def test_omniglot_turns_the_trainings_classes_only(data, tmp_path):
    (tmp_path / "omniglot").symlink_to(data / "miniimagenet")
    for split, classes in (("train", 24), ("test", 6)):
        with feedring.omniglot(tmp_path, 1, 2, test_shots=1, meta_split=split, layout="feedring",
                               **{**HERE, "tasks_per_epoch": 60}) as loader:
            seen = {number for batch in loader for number in batch["class_ids"].ravel().tolist()}
            assert max(seen) < classes and (len(seen) > 6) == (split == "train")
            assert next(iter(loader))["support_images"].shape[-2:] == (28, 28)
    turned = types.SimpleNamespace(angle=180)
    with feedring.omniglot(tmp_path, 1, 2, test_shots=1, meta_test=True, class_augmentations=[[turned], 90], **HERE) as loader:
        assert loader._description()["episodes"]["augment"] == ["rotate180", "rotate90"]


def test_packs_and_manifests_are_read_where_they_lie(data, tmp_path):
    place = data / "miniimagenet"
    command = [sys.executable, "-m", "feedring", "import"]
    subprocess.run([*command, place / "train", tmp_path / "train.tar"], check=True, stdout=subprocess.DEVNULL)
    names = sorted(path.name for path in (place / "test").iterdir())
    (tmp_path / "images").symlink_to(place / "test")
    with open(tmp_path / "test.csv", "w") as file:
        print("filename,label", *(f"images/{of}/{each}.png,{of}" for of in names for each in range(5)), sep="\n", file=file)
    for split, first in (("train", 0), ("test", 160)):
        with feedring.miniimagenet(tmp_path, 1, 3, meta_split=split, **HERE) as loader:
            assert reds(next(iter(loader))["train"][0]) <= {first + 10 * of for of in range(6)}


def test_the_published_split_is_taken_from_a_pack_of_all_classes(tmp_path):
    everything = {}
    lists = pathlib.Path(__file__).parents[2] / "producers" / "config" / "classes" / "cifar_fs"
    for split in ("train", "val", "test"):
        for line in (lists / f"{split}.txt").read_text().splitlines():
            if not line.startswith("#"):
                everything[line] = split
    assert len(everything) == 100
    reds_of = {"train": 10, "val": 100, "test": 200}
    for name, split in everything.items():
        (tmp_path / "all" / name).mkdir(parents=True)
        for each in range(2):
            Image.new("RGB", (8, 8), (reds_of[split], each, 0)).save(tmp_path / "all" / name / f"{each}.png")
    (tmp_path / "cifar_fs").mkdir()
    pack = tmp_path / "cifar_fs" / "cifar_fs.tar"
    subprocess.run([sys.executable, "-m", "feedring", "import", tmp_path / "all", pack, "--class-depth", "2"], check=True,
                   stdout=subprocess.DEVNULL)
    for split, red in reds_of.items():
        for folder in (tmp_path, pack):
            with feedring.cifar_fs(folder, 1, 5, meta_split=split, **HERE) as loader:
                assert reds(next(iter(loader))["train"][0]) == {red}


@pytest.mark.parametrize("file, what", [("train_data.hdf5", "TorchMeta's HDF5"), ("mini-imagenet-cache-train.pkl", "a pickle"),
                                        ("train_images.npz", "an archive of NumPy arrays")])
def test_a_format_that_has_to_be_imported_is_an_error_that_says_how(tmp_path, file, what):
    (tmp_path / file).touch()
    with pytest.raises(feedring.UsageError, match=f"{file} is {what}, .* `feedring import .*{file} .*train.tar`"):
        feedring.miniimagenet(tmp_path, 1, 5, meta_train=True)


def test_a_format_that_is_not_read_is_an_error_that_says_so(tmp_path):
    (tmp_path / "images.tar.gz").touch()
    with pytest.raises(feedring.UsageError, match="images.tar.gz is a compressed tar archive, .*train/CLASS"):
        feedring.miniimagenet(tmp_path, 1, 5, meta_train=True)


def test_what_cannot_be_had_is_refused(data, tmp_path):
    with pytest.raises(feedring.UsageError, match="there is no cifar_fs for test in .*; nothing is downloaded"):
        feedring.cifar_fs(tmp_path, 1, 5, meta_test=True)
    for arguments in ({}, {"meta_train": True, "meta_test": True}, {"meta_split": "all"}):
        with pytest.raises(feedring.UsageError, match="exactly one of"):
            feedring.miniimagenet(data, 1, 5, **arguments)
    for arguments, match in (({"shuffle": False}, "shuffle=False"), ({"target_transform": len}, "target_transform"),
                             ({"class_augmentations": [45]}, "has 45, which is none of")):
        with pytest.raises(feedring.UsageError, match=match):
            feedring.miniimagenet(data, 1, 5, meta_train=True, **arguments)
    with pytest.raises(TypeError, match="unexpected keyword argument 'sampels'"):
        feedring.miniimagenet(data, 1, 5, meta_train=True, sampels=3)
