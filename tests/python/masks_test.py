# SPDX-License-Identifier: Apache-2.0
# Masks and further pictures of a sample, against Pillow given what `feedring dump` says of the picture.
import json
import subprocess

import numpy
import pytest
from PIL import Image

import feedring
from feedring._command import command

COUNT = 9
COLUMNS = {"seg": "mask", "right": "image", "age": "float"}
CROP = [{"name": "RandomResizedCrop", "size": [12, 10], "scale": [0.2, 0.9]}, {"name": "RandomHorizontalFlip"},
        {"name": "ColorJitter", "brightness": 0.5}, {"name": "RandomErasing", "p": 1.0, "value": 7}]
TURN = [{"name": "RandomRotation", "degrees": 30, "interpolation": "bilinear", "fill": 9}, {"name": "RandomVerticalFlip"},
        {"name": "Pad", "padding": [3, 1], "padding_mode": "reflect"}, {"name": "RandomCrop", "size": 30, "padding": 2, "fill": 200},
        {"name": "GaussianBlur", "kernel_size": 3}, {"name": "ToDtype", "dtype": "float32", "scale": True},
        {"name": "Normalize", "mean": [0.5, 0.5, 0.5], "std": [0.2, 0.2, 0.2]}]


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    """Pictures, of each a mask (gray and palette PNGs in turn) and another one of the same size."""
    folder = tmp_path_factory.mktemp("street")
    random = numpy.random.default_rng(3)
    rows = ["path,right,seg,age"]
    for number in range(COUNT):
        size = (40 + 2 * number, 50 - number)
        for name in ("left", "right"):
            pixels = random.integers(0, 256, (size[1], size[0], 3)).astype("uint8")
            Image.fromarray(pixels).save(folder / f"{name}{number}.png")
        values = random.integers(0, 21, (size[1] // 4 + 1, size[0] // 4 + 1)).astype("uint8")
        mask = Image.fromarray(values.repeat(4, 0).repeat(4, 1)[:size[1], :size[0]])
        if number % 2:
            mask.putpalette([(37 * i) % 256 for i in range(63)])
            assert mask.mode == "P"
        mask.save(folder / f"seg{number}.png")
        rows.append(f"left{number}.png,right{number}.png,seg{number}.png,{number}")
    file = folder / "list.csv"
    file.write_text("\n".join(rows) + "\n")
    return file


def of_each(manifest, transform, tmp_path, **arguments):
    """Of each sample: its number, what was drawn, its arrays."""
    config = tmp_path / "feed.toml"
    steps = ", ".join("{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in step.items()) + " }"
                      for step in transform)
    config.write_text(f"[feed.train]\ndata = {json.dumps(str(manifest))}\nbatch_size = 3\nseed = 2\ntransform = [ {steps} ]\n"
                      "columns = { seg = \"mask\", right = \"image\", age = \"float\" }\n")
    dumped = subprocess.run([command(), "dump", "-c", config, "--plan", "--json"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    with feedring.Loader(config, num_workers=2, timeout=30, backend="numpy", **arguments) as loader:
        rows = {}
        for batch in loader:
            for row, sample in enumerate(batch["sample_ids"].tolist()):
                rows[sample] = {name: array[row].copy() for name, array in batch.items()}
    assert len(rows) == COUNT
    for line in map(json.loads, dumped.splitlines()):
        number = int(line["path"][4:-4])
        assert rows[line["index"]]["age"] == number
        yield number, line["plan"], rows[line["index"]]


def values_of(manifest, number):
    """The mask's numbers, as Pillow gives them."""
    return Image.fromarray(numpy.asarray(Image.open(manifest.parent / f"seg{number}.png")))


def test_a_mask_is_cropped_and_resized_to_the_nearest_pixel_and_nothing_else(manifest, tmp_path):
    flips = set()
    for number, drawn, row in of_each(manifest, CROP, tmp_path):
        crop, flip = drawn[0]["crop"], drawn[1]["flip"]
        mask = values_of(manifest, number).crop((crop["x"], crop["y"], crop["x"] + crop["width"], crop["y"] + crop["height"]))
        mask = mask.resize((10, 12), Image.NEAREST)
        if flip:
            mask = mask.transpose(Image.FLIP_LEFT_RIGHT)
        assert row["seg"].dtype == numpy.uint8 and (row["seg"] == numpy.asarray(mask)).all()
        flips.add(flip)
    assert flips == {True, False}


def test_a_mask_is_turned_padded_and_filled(manifest, tmp_path):
    for number, drawn, row in of_each(manifest, TURN, tmp_path):
        mask = values_of(manifest, number)
        mask = mask.rotate(drawn[0]["rotate"], Image.NEAREST, fillcolor=9)
        if drawn[1]["vertical_flip"]:
            mask = mask.transpose(Image.FLIP_TOP_BOTTOM)
        values = numpy.pad(numpy.asarray(mask), ((1, 1), (3, 3)), mode="reflect")
        values = numpy.pad(values, 60, constant_values=200)
        crop = drawn[2]["crop"]
        assert (row["seg"] == values[60 + crop["y"]:90 + crop["y"], 60 + crop["x"]:90 + crop["x"]]).all()


def test_further_pictures_have_the_same_choices(manifest, tmp_path):
    for number, drawn, row in of_each(manifest, CROP[:2], tmp_path):
        crop = drawn[0]["crop"]
        for name, path in (("images", "left"), ("right", "right")):
            image = Image.open(manifest.parent / f"{path}{number}.png").convert("RGB")
            image = image.crop((crop["x"], crop["y"], crop["x"] + crop["width"], crop["y"] + crop["height"]))
            image = image.resize((10, 12), Image.BILINEAR)
            if drawn[1]["flip"]:
                image = image.transpose(Image.FLIP_LEFT_RIGHT)
            assert (row[name].transpose(1, 2, 0) == numpy.asarray(image)).all()


def test_shapes_are_those_of_the_picture(manifest):
    with feedring.Loader(manifest, batch_size=2, transform=TURN, column_kinds=COLUMNS, num_workers=1, timeout=30,
                         backend="numpy", as_tuple=True) as loader:
        images, seg, right, age, labels = next(iter(loader))
    assert images.shape == right.shape == (2, 3, 30, 30) and images.dtype == right.dtype == numpy.float32
    assert seg.shape == (2, 30, 30) and seg.dtype == numpy.uint8


@pytest.mark.parametrize("make, why", [
    (lambda size: Image.new("L", (size[0] + 1, size[1])), "its seg bad.png: it has 41 x 50 pixels, and its picture 40 x 50"),
    (lambda size: Image.new("RGB", size), "its seg bad.png: it is no PNG of gray or palette values of at most 8 bits"),
    (lambda size: Image.new("I;16", size), "it is no PNG of gray or palette values"),
])
def test_a_bad_mask_fails_its_sample(manifest, make, why, tmp_path):
    make((40, 50)).save(tmp_path / "bad.png")
    (tmp_path / "left0.png").symlink_to(manifest.parent / "left0.png")
    bad = tmp_path / "bad.csv"
    bad.write_text("path,seg\nleft0.png,bad.png\n")
    with feedring.Loader(bad, batch_size=1, transform=CROP, column_kinds={"seg": "mask"}, num_workers=1, timeout=30,
                         backend="numpy") as loader:
        with pytest.raises(feedring.DataError, match=why):
            next(iter(loader))


def test_what_does_not_go_with_masks_is_said(manifest):
    def attach(**arguments):
        with feedring.Loader(manifest, **{"transform": CROP, "column_kinds": {"seg": "mask"}, "num_workers": 1,
                                          **arguments}) as loader:
            loader.attach()

    with pytest.raises(feedring.UsageError, match="the mask 'seg': RandAugment changes pixels"):
        attach(transform=[*CROP[:1], {"name": "RandAugment"}])
    with pytest.raises(feedring.UsageError, match="Pad fills with a colour"):
        attach(transform=[*CROP[:1], {"name": "Pad", "padding": 1, "fill": [1, 2, 3]}])
    with pytest.raises(feedring.UsageError, match="the column 'seg' of files, which does not go with views"):
        attach(transform=None, views={"a": {"transform": CROP}})
    with pytest.raises(feedring.UsageError, match="does not go with cache"):
        attach(transform=[{"name": "Resize", "size": [8, 8]}], cache="decoded")
    missing = manifest.parent / "missing.csv"
    missing.write_text("path,seg\nleft0.png,seg0.png\nleft1.png,none.png\n")
    with pytest.raises(feedring.DataError, match=r"missing\.csv', line 3: column 'seg': 'none\.png': No such file"):
        feedring.Loader(missing, column_kinds={"seg": "mask"}, transform=CROP, num_workers=1).attach()
