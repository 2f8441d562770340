# SPDX-License-Identifier: Apache-2.0
# Pictures of a data set of one's own, through feedring's transforms: the pixels of a feed of the same files, whoever
# makes them.
import numpy as np
import pytest
from PIL import Image

import feedring
from own_data import Pairs, Pictures

RANDOM = [{"name": "RandomResizedCrop", "size": [24, 32]}, {"name": "RandomHorizontalFlip"},
          {"name": "ColorJitter", "brightness": 0.4, "hue": 0.1}, {"name": "RandomRotation", "degrees": 20}]
FLOAT = [*RANDOM, {"name": "ToDtype", "dtype": "float32", "scale": True},
         {"name": "Normalize", "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.3, 0.4]}, {"name": "RandomErasing", "p": 0.5}]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Of several sizes; the last one is gray."""
    folder = tmp_path_factory.mktemp("files")
    draw = np.random.default_rng(3)
    for number in range(11):
        smooth = draw.integers(0, 256, (5, 6, 3), np.uint8)
        picture = Image.fromarray(smooth).resize((60 + 7 * number, 90 - 5 * number))
        (picture if number < 10 else picture.convert("L")).save(folder / f"{number:02}.{'jpg' if number % 2 else 'png'}")
    return folder


@pytest.fixture
def loader_over():
    made = []

    def make(dataset, **arguments):
        loader = feedring.DatasetLoader(dataset, **{"batch_size": 4, "num_workers": 2, "timeout": 60, "seed": 8, "backend": "numpy",
                                                    **arguments})
        made.append(loader)
        return loader

    yield make
    for loader in made:
        loader.close()


def paths(files):
    return sorted(map(str, files.iterdir()))


def two_epochs(loader, images, numbers):
    """Picture by (epoch, sample)."""
    found = {}
    for epoch in range(2):
        for batch in loader:
            valid = batch.get("valid", np.ones(len(batch[images]), np.uint8))
            for image, number, counts in zip(batch[images], batch[numbers].tolist(), valid.tolist()):
                if counts:
                    found[epoch, number] = image.tobytes()
    return found


@pytest.fixture(scope="module")
def of_files(files):
    found = {}
    for name, transform in (("random", RANDOM), ("float", FLOAT)):
        with feedring.Loader(files, batch_size=4, transform=transform, num_workers=1, seed=8, timeout=60, backend="numpy") as loader:
            found[name] = two_epochs(loader, "images", "sample_ids")
    assert len(found["random"]) == 22
    return found


@pytest.mark.parametrize("kind", ["pil", "array"])
@pytest.mark.parametrize(("name", "transform"), [("random", RANDOM), ("float", FLOAT)])
def test_pixels_are_those_of_a_feed_of_the_same_files(files, of_files, loader_over, kind, name, transform):
    loader = loader_over(Pictures(paths(files), kind), transform=transform)
    assert two_epochs(loader, "image", "index") == of_files[name]


def test_a_picture_comes_as_a_feed_of_files_has_it(files, loader_over):
    batch = next(iter(loader_over(Pictures(paths(files)), transform=RANDOM)))
    assert batch["image"].shape == (4, 3, 24, 32) and batch["image"].dtype == np.uint8
    assert batch["image"].strides == (3 * 24 * 32, 1, 3 * 32, 3) and not batch["image"].flags.writeable


def test_the_number_of_producers_and_a_kill_change_no_pixel(files, of_files, loader_over, tmp_path):
    for workers in (1, 3):
        dataset = Pictures(paths(files), kills_at=5, marker=str(tmp_path / f"killed{workers}"))
        assert two_epochs(loader_over(dataset, num_workers=workers, transform=RANDOM), "image", "index") == of_files["random"]
        assert (tmp_path / f"killed{workers}").exists()


def test_a_gray_array_becomes_three_equal_channels(files, loader_over):
    gray = Pictures(paths(files)[-1:], "gray")
    image = next(iter(loader_over(gray, transform={"image": {"name": "Resize", "size": [9, 9]}})))["image"][0]
    expected = np.asarray(Image.open(paths(files)[-1]).resize((9, 9), Image.Resampling.BILINEAR))
    assert (image == expected).all()


def test_several_pictures_of_a_sample_have_chances_of_their_own(loader_over):
    crop = {"name": "RandomCrop", "size": 8}
    first, second = next(iter(loader_over(Pairs(), transform={"0": crop, "1": crop}, batch_size=6)))
    assert first.shape == second.shape == (6, 3, 8, 8)
    assert (first != second).any(axis=(1, 2, 3)).any(), "the same data, cropped elsewhere"
    with pytest.raises(feedring.UsageError, match="several pictures, 0, 1: say which, as in transform="):
        loader_over(Pairs(), transform=crop)


def test_what_does_not_fit_is_said(files, loader_over):
    crop = [{"name": "RandomCrop", "size": 8}]
    with pytest.raises(feedring.DataError, match="sample 3.*a picture of 20 x 0 pixels"):
        list(loader_over(Pairs(empty_at=3), transform={"0": crop}, shuffle=False))
    with pytest.raises(feedring.UsageError, match="transform is for pictures, and sample 0 has none"):
        loader_over([{"x": 1}], transform=crop)
    with pytest.raises(feedring.UsageError, match="transform names 'picture', and the samples have image, index"):
        loader_over(Pictures(paths(files), "array"), transform={"picture": crop})
    with pytest.raises(feedring.UsageError, match="index of sample 0 is of type int and no picture"):
        loader_over(Pictures(paths(files), "array"), transform={"index": crop})
    with pytest.raises(feedring.UsageError, match="leave it out of max_shape"):
        loader_over(Pictures(paths(files), "array"), transform=crop, max_shape={"image": (90, 200, 3)})
    with pytest.raises(feedring.UsageError, match="or a picture that a transform follows"):
        loader_over(Pictures(paths(files)))
    with pytest.raises(feedring.UsageError, match=r"transform 1 \(Resize\)"):
        loader_over(Pictures(paths(files)), transform=[{"name": "Resize"}]).attach()
