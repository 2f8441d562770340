# SPDX-License-Identifier: Apache-2.0
# Every loop of docs/moving.md runs as it stands there, and gets what it says it gets.
import re
from pathlib import Path

import pytest
import torch
from PIL import Image

TEXT = (Path(__file__).parents[2] / "docs" / "moving.md").read_text()
LOOPS = [block for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL) if "import feedring" in block]


@pytest.fixture(scope="module")
def miniimagenet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for split in ("train", "test"):
        for number in range(6):
            place = folder / "miniimagenet" / split / f"n{number}"
            place.mkdir(parents=True)
            for each in range(16):
                Image.new("RGB", (90, 70), (40 * number, 10 * each, 200)).save(place / f"{each}.png")
    return folder


@pytest.mark.parametrize("number", range(3))
def test_a_loop_of_the_page_trains(miniimagenet, monkeypatch, number):
    monkeypatch.chdir(miniimagenet)
    steps = []

    def step(support, labels, query, wanted):
        for images, of in ((support, labels), (query, wanted)):
            assert images.dtype == torch.float32 and images.shape[-3:] == (3, 84, 84)
            assert images.is_contiguous() and 0 <= images.min() and images.max() <= 1
            assert of.dtype == torch.int64 and of.shape == images.shape[:-3]
            assert torch.nn.functional.one_hot(of, 5).sum(dim=-2).unique().numel() == 1, "as many of each class"
        steps.append((support.shape, query.shape))

    names = {"step": step, "torch": torch}
    exec(compile(LOOPS[number], "docs/moving.md", "exec"), names)
    names["loader"].close()
    assert len(set(steps)) == 1
    expected = {0: ((4, 5, 3, 84, 84), (4, 75, 3, 84, 84), 250), 1: ((5, 3, 84, 84), (5, 3, 84, 84), 200),
                2: ((5, 3, 84, 84), (75, 3, 84, 84), 60)}[number]
    assert (*map(tuple, steps[0]), len(steps)) == expected


def test_there_are_three_loops():
    assert len(LOOPS) == 3
