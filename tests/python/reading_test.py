# SPDX-License-Identifier: Apache-2.0
# How pictures in files are read, where that is a choice: a loader's arguments reach the producers.
import json

import numpy as np
import pytest
from PIL import Image, ImageFile, ImageOps

import feedring
from pictures import SAMPLES, SIDE, colour

HALVES = np.zeros((SIDE, SIDE, 3), np.uint8)
HALVES[:, :SIDE // 2] = (250, 0, 0)
SAME_SIZE = [{"name": "Resize", "size": [SIDE, SIDE]}]


def only_picture(folder, **arguments):
    with feedring.Loader(folder, batch_size=1, transform=SAME_SIZE, num_workers=1, timeout=30, backend="numpy", **arguments) as loader:
        return next(iter(loader))["images"][0].transpose(1, 2, 0).copy()


def test_exif_orientation_turns_a_picture(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(HALVES).save(tmp_path / "a.png", exif=exif)
    upright = np.asarray(ImageOps.exif_transpose(Image.open(tmp_path / "a.png")))
    assert (only_picture(tmp_path) == HALVES).all()
    assert (only_picture(tmp_path, exif_orientation=False) == HALVES).all()
    turned = only_picture(tmp_path, exif_orientation=True)
    assert (turned == upright).all() and (turned != HALVES).any()


def test_a_background_shows_through_what_is_transparent(tmp_path):
    alpha = np.full((SIDE, SIDE, 1), 255, np.uint8)
    alpha[:2] = 0
    Image.fromarray(np.concatenate([HALVES, alpha], axis=2)).save(tmp_path / "a.png")
    assert (only_picture(tmp_path) == HALVES).all()
    blended = only_picture(tmp_path, background=(1, 2, 3))
    assert (blended[:2] == (1, 2, 3)).all() and (blended[2:] == HALVES[2:]).all()


def test_damaged_files_are_delivered_where_they_are_accepted(tmp_path, monkeypatch):
    noise = np.random.default_rng(5).integers(0, 256, (64, SIDE, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / "a.jpg", quality=95)
    whole = (tmp_path / "a.jpg").read_bytes()
    (tmp_path / "a.jpg").write_bytes(whole[:len(whole) * 2 // 3])
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    expected = np.asarray(Image.open(tmp_path / "a.jpg").convert("RGB").crop((0, 0, SIDE, SIDE)))
    crop = [{"name": "RandomCrop", "size": [64, SIDE]}]
    with pytest.raises(feedring.DataError, match="a.jpg"):
        only_picture(tmp_path)
    with feedring.Loader(tmp_path, batch_size=1, transform=crop, num_workers=1, timeout=30, backend="numpy", accept_damaged=True) as loader:
        found = next(iter(loader))["images"][0].transpose(1, 2, 0)
        assert (found[:SIDE] == expected).all()


def test_a_cache_keeps_each_picture_and_changes_none(loader_of):
    loader = loader_of(backend="numpy", cache="decoded")
    for _ in range(2):
        samples = []
        for batch in loader:
            for image, sample, valid in zip(batch["images"], batch["sample_ids"].tolist(), batch["valid"].tolist()):
                assert (image.transpose(1, 2, 0) == colour(sample)).all()
                samples += [sample] * valid
        assert sorted(samples) == list(range(SAMPLES))
    assert json.loads(loader._feed.description)["cache"] == "decoded"


def test_a_random_crop_cannot_be_kept(pictures):
    with pytest.raises(feedring.UsageError, match='cache = "decoded".*RandomResizedCrop'):
        feedring.Loader(pictures, cache="decoded").attach()


def test_what_has_no_files_has_none_of_these_arguments():
    for argument in ({"cache": "decoded"}, {"accept_damaged": True}, {"exif_orientation": True}, {"background": (0, 0, 0)}):
        name = next(iter(argument))
        with pytest.raises(feedring.UsageError, match=f"{name} has no meaning for a data set of one's own"):
            feedring.DatasetLoader([1], **argument)
        with pytest.raises(feedring.UsageError, match=f"{name} has no meaning for tasks"):
            feedring.TaskLoader("sinusoid", 5, **argument)
