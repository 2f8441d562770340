# SPDX-License-Identifier: Apache-2.0
# Masks against torchvision's functions on tv_tensors.Mask, given what `feedring dump` says was drawn.
import json
import subprocess

import numpy
import pytest
import torch
from PIL import Image

import feedring
from feedring._command import command

tv_tensors = pytest.importorskip("torchvision.tv_tensors")
functional = pytest.importorskip("torchvision.transforms.v2.functional")

STEPS = [{"name": "Pad", "padding": [5, 2], "fill": 255}, {"name": "RandomRotation", "degrees": 25, "fill": 3},
         {"name": "RandomAffine", "degrees": 10, "translate": [0.1, 0.2], "scale": [0.8, 1.2], "shear": 5},
         {"name": "RandomHorizontalFlip"}, {"name": "ColorJitter", "contrast": 0.5},
         {"name": "RandomCrop", "size": [40, 44], "pad_if_needed": True, "fill": 17}, {"name": "RandomVerticalFlip"}]


def by_torchvision(mask, drawn):
    nearest = functional.InterpolationMode.NEAREST
    mask = functional.pad(tv_tensors.Mask(mask), [5, 2], fill=255)
    mask = functional.rotate(mask, drawn[0]["rotate"], nearest, fill=3)
    affine = drawn[1]["affine"]
    mask = functional.affine(mask, affine["angle"], affine["translate"], affine["scale"], affine["shear"], nearest, fill=0)
    if drawn[2]["flip"]:
        mask = functional.horizontal_flip(mask)
    crop = drawn[4]["crop"]
    mask = functional.pad(mask, [60], fill=17)
    mask = functional.crop(mask, 60 + crop["y"], 60 + crop["x"], crop["height"], crop["width"])
    return functional.vertical_flip(mask) if drawn[5]["vertical_flip"] else mask


def test_masks_are_torchvisions(tmp_path):
    random = numpy.random.default_rng(5)
    rows = ["path,seg"]
    for number in range(6):
        size = (44 + 3 * number, 36 + 2 * number)
        Image.new("RGB", size, (number, 0, 0)).save(tmp_path / f"{number}.png")
        values = random.integers(0, 20, (size[1] // 6 + 1, size[0] // 6 + 1)).astype("uint8")
        Image.fromarray(values.repeat(6, 0).repeat(6, 1)[:size[1], :size[0]]).save(tmp_path / f"seg{number}.png")
        rows.append(f"{number}.png,seg{number}.png")
    (tmp_path / "list.csv").write_text("\n".join(rows) + "\n")
    steps = ", ".join("{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in step.items()) + " }" for step in STEPS)
    config = tmp_path / "feed.toml"
    config.write_text("[feed.train]\ndata = \"list.csv\"\nbatch_size = 2\ncolumns = { seg = \"mask\" }\n"
                      f"transform = [ {steps} ]\n")
    dumped = subprocess.run([command(), "dump", "-c", config, "--plan", "--json"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    drawn = {line["index"]: line for line in map(json.loads, dumped.splitlines())}
    different = pixels = 0
    with feedring.Loader(config, num_workers=1, timeout=30) as loader:
        for batch in loader:
            assert batch["seg"].dtype == torch.uint8
            for row, sample in enumerate(batch["sample_ids"].tolist()):
                number = drawn[sample]["path"][0]
                mask = torch.from_numpy(numpy.array(Image.open(tmp_path / f"seg{number}.png")))
                expected = by_torchvision(mask, drawn[sample]["plan"])
                different += int((batch["seg"][row] != expected).sum())
                pixels += expected.numel()
    # Positions are those of Pillow in 16.16 fixed point here and of a grid of float32 there: they differ where a
    # position falls on the border between two pixels.
    assert different <= 0.02 * pixels
