# SPDX-License-Identifier: Apache-2.0
# Several views of each picture: against Pillow given what `feedring dump` says of them, and against one view alone.
import json
import subprocess

import numpy
import pytest
from PIL import Image

import feedring
from feedring._command import command

CROP = [{"name": "RandomResizedCrop", "size": [12, 10]}, {"name": "RandomHorizontalFlip"}]
SMALL = [{"name": "RandomResizedCrop", "size": 6, "scale": [0.05, 0.3]}]
VIEWS = {"global": {"count": 2, "transform": CROP}, "local": {"count": 3, "transform": SMALL},
         "whole": {"transform": [{"name": "Resize", "size": [8, 8]}]}}


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Eleven JPEGs of noise over a ramp, of two classes."""
    folder = tmp_path_factory.mktemp("photos")
    random = numpy.random.default_rng(1)
    for number in range(11):
        size = (40 + 3 * number, 61 - 2 * number)
        ramp = numpy.add.outer(numpy.arange(size[1]), numpy.arange(size[0]))[..., None] * [1, 2, 3]
        pixels = (ramp + random.integers(0, 60, (size[1], size[0], 3))) % 256
        of_class = folder / ("a" if number < 6 else "b")
        of_class.mkdir(exist_ok=True)
        Image.fromarray(pixels.astype("uint8")).save(of_class / f"{number:02}.jpg", quality=92)
    return folder


def loader_of(photos, **arguments):
    return feedring.Loader(photos, **{"batch_size": 4, "views": VIEWS, "num_workers": 1, "timeout": 30,
                                      "backend": "numpy", "seed": 3, **arguments})


def rows_of(loader, names=tuple(VIEWS)):
    """Of an epoch, by sample: its arrays."""
    rows = {}
    for batch in loader:
        for row, sample in enumerate(batch["sample_ids"].tolist()):
            if batch["valid"][row]:
                rows[sample] = {name: batch[name][row].copy() for name in names}
    return rows


def by_pillow(image, choices, size):
    """What RandomResizedCrop and a flip make of it, given their choices."""
    crop = choices[0]["crop"]
    image = image.crop((crop["x"], crop["y"], crop["x"] + crop["width"], crop["y"] + crop["height"]))
    image = image.resize(size, Image.BILINEAR)
    if len(choices) > 1 and choices[1]["flip"]:
        image = image.transpose(Image.FLIP_LEFT_RIGHT)
    return numpy.asarray(image).transpose(2, 0, 1)


def test_each_view_is_what_pillow_makes_with_the_same_choices(photos, tmp_path):
    text = ", ".join(f"{name} = {{ " + (f"count = {view['count']}, " if "count" in view else "") + "transform = ["
                     + ", ".join("{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in step.items()) + " }"
                                 for step in view["transform"]) + "] }" for name, view in VIEWS.items())
    config = tmp_path / "feed.toml"
    config.write_text(f"[feed.train]\ndata = {json.dumps(str(photos))}\nbatch_size = 4\nseed = 3\n"
                      f"remainder = \"pad\"\nviews = {{ {text} }}\n")
    dumped = subprocess.run([command(), "dump", "-c", config, "--plan", "--json"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    with feedring.Loader(config, num_workers=1, timeout=30, backend="numpy") as loader:
        rows = rows_of(loader)
    assert len(rows) == 11
    drawn = set()
    for line in map(json.loads, dumped.splitlines()):
        image = Image.open(photos / line["path"]).convert("RGB")
        row, drew = rows[line["index"]], [view["drawn"] for view in line["plan"]]
        assert [view["view"] for view in line["plan"]] == ["global"] * 2 + ["local"] * 3 + ["whole"]
        for view in range(2):
            assert (row["global"][view] == by_pillow(image, drew[view], (10, 12))).all()
        for view in range(3):
            assert (row["local"][view] == by_pillow(image, drew[2 + view], (6, 6))).all()
        assert (row["whole"] == numpy.asarray(image.resize((8, 8), Image.BILINEAR)).transpose(2, 0, 1)).all()
        drawn.update(json.dumps(choices) for choices in drew[:5])
    assert len(drawn) == 11 * 5, "each view has random numbers of its own"


def test_shapes_and_strides_are_those_of_pictures_with_an_axis_more(photos):
    with loader_of(photos, drop_last=True) as loader:
        batch = next(iter(loader))
    assert {name: (array.shape, array.dtype.name) for name, array in batch.items()} == {
        "global": ((4, 2, 3, 12, 10), "uint8"), "local": ((4, 3, 3, 6, 6), "uint8"), "whole": ((4, 3, 8, 8), "uint8"),
        "labels": ((4,), "int64"), "sample_ids": ((4,), "int64"), "valid": ((4,), "uint8")}
    assert batch["global"].strides == (720, 360, 1, 30, 3)


def test_the_first_view_is_that_of_a_loader_with_its_transform(photos):
    with loader_of(photos, views=None, transform=CROP) as loader:
        alone = rows_of(loader, ["images"])
    with loader_of(photos) as loader:
        views = rows_of(loader)
    for sample, row in alone.items():
        assert (row["images"] == views[sample]["global"][0]).all()


def test_tuples_hold_the_views_and_the_labels(photos):
    with loader_of(photos, as_tuple=True) as loader:
        shapes = [tuple(array.shape for array in batch) for batch in loader]
    assert shapes[0] == ((4, 2, 3, 12, 10), (4, 3, 3, 6, 6), (4, 3, 8, 8), (4,))
    assert shapes[-1][0] == (3, 2, 3, 12, 10)


def test_the_bytes_are_the_same_on_any_number_of_producers_and_after_a_resume(photos):
    with loader_of(photos) as loader:
        once = rows_of(loader)
    with loader_of(photos, num_workers=2, batch_size=3, slots=2) as loader:
        batches = iter(loader)
        next(batches)
        state = loader.state_dict()
    with loader_of(photos, batch_size=2) as loader:
        loader.load_state_dict(state)
        rest = rows_of(loader)
    assert len(rest) == 8
    for sample, row in rest.items():
        assert all((row[name] == once[sample][name]).all() for name in VIEWS)


def test_what_does_not_go_with_views_is_said(photos):
    with pytest.raises(feedring.UsageError, match="views say their transforms"):
        loader_of(photos, transform=CROP)
    with pytest.raises(feedring.UsageError, match="is no dict of views"):
        loader_of(photos, views=[CROP])
    with pytest.raises(feedring.UsageError, match="keeps one picture of each sample"):
        with loader_of(photos, cache="decoded") as loader:
            loader.attach()
    with pytest.raises(feedring.UsageError, match="views has no meaning for episodes"):
        feedring.EpisodeLoader(photos, views=VIEWS)
