# SPDX-License-Identifier: Apache-2.0
# Episodes whose images the rank's device finishes: to the bytes of those that producers finish.
import json

import numpy
import pytest

from device_test import CUDA, fake  # noqa: F401
from episode_pictures import EACH, SIDE

NORMALIZE = 'transform = [{ name = "RandomResizedCrop", size = [%d, %d] }, { name = "RandomHorizontalFlip" }, ' \
    '{ name = "ToDtype", dtype = "%s", scale = true }, ' \
    '{ name = "Normalize", mean = [0.5, 0.4, 0.3], std = [0.2, 0.3, 0.4] }]'


@pytest.fixture
def by(tasks, tmp_path, episodes_of):
    """Makes the loader of a feed that differs from others in who finishes."""

    def make(who, lines="", episodes="ways = 5\nshots = 2\nqueries = 3", data=None, **arguments):
        config = tmp_path / f"{who}.toml"
        config.write_text(f'[pool]\nproducers = 1\n[feed.train]\ndata = "{data or tasks}"\nbatch_size = 2\n'
                          f'finish = "{who}"\n{lines}\n[feed.train.episodes]\ntasks_per_epoch = 6\n{episodes}\n')
        nothing = {"ways": None, "shots": None, "queries": None, "tasks_per_epoch": None, "transform": None,
                   "num_workers": None}
        return episodes_of(config, **nothing, **arguments)

    return make


def arrays_in(step):
    """Of a step in any layout, in its order."""
    if isinstance(step, dict):
        return [array for value in step.values() for array in arrays_in(value)]
    if isinstance(step, (list, tuple)):
        return [array for value in step for array in arrays_in(value)]
    return [numpy.asarray(step)]


def content(loader):
    return [[(array.shape, array.dtype.name, array.strides, array.tobytes()) for array in arrays_in(step)]
            for step in loader]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("layout", ["feedring", "torchmeta", "learn2learn", "easyfsl"])
def test_without_a_device_the_rank_finishes_to_the_producers_bytes(by, layout, dtype):
    lines = f'episode_layout = "{layout}"\n' + NORMALIZE % (SIDE, SIDE, dtype)
    expected = by("producer", lines)
    loader = by("device", lines)
    assert json.loads(loader.attach()._feed.description)["finish"] == "device"
    assert content(loader) == content(expected)
    assert loader.state_dict()["spec_hash"] == expected.state_dict()["spec_hash"]


@pytest.mark.parametrize("layout", ["torchmeta", "learn2learn", "easyfsl"])
def test_floats_that_a_layout_brings_along_are_finished_too(by, layout):
    lines = f'episode_layout = "{layout}"\ntransform = [{{ name = "Resize", size = [{SIDE}, {SIDE}] }}]'
    ours = content(by("device", lines))
    assert {dtype for step in ours for shape, dtype, *_ in step if len(shape) > 3} == {"float32"}
    assert ours == content(by("producer", lines))


def test_padding_and_failures_are_zeros(by, tasks, tmp_path):
    for sample in range(6 * EACH):
        place = tmp_path / "damaged" / f"c{sample // EACH}"
        place.mkdir(exist_ok=True, parents=True)
        data = (tasks / f"c{sample // EACH}" / f"{sample % EACH}.png").read_bytes()
        (place / f"{sample % EACH}.png").write_bytes(data[:40] if sample % 7 == 4 else data)
    lines = 'on_error = "zero"\nerror_budget = 1.0\n' + NORMALIZE % (SIDE, SIDE, "float32")
    episodes = "ways = [2, 5]\nshots = [1, 3]\nqueries = [1, 4]\nunlabelled = 1\ndistractors = 1"
    loader, expected = (by(who, lines, episodes, tmp_path / "damaged") for who in ("device", "producer"))
    masked = failed = 0
    for ours, theirs in zip(loader, expected, strict=True):
        assert {name: array.tobytes() for name, array in ours.items()} == {
            name: array.tobytes() for name, array in theirs.items()}
        for kind in ("support", "query", "unlabelled"):
            zeros = ours[f"{kind}_mask"] == 0
            masked += int(zeros.sum())
            assert not ours[f"{kind}_images"][zeros].any() and ours[f"{kind}_images"][~zeros].any()
        failed += int(((ours["sample_ids"] % 7 == 4) & (ours["sample_ids"] >= 0)).sum())
    assert masked > 0 and failed > 0


def test_pictures_that_are_kept_are_finished_too(by):
    lines = f'cache = "decoded"\nepisode_layout = "torchmeta"\ntransform = [{{ name = "Resize", size = [{SIDE}, {SIDE}] }}]'
    loader, expected = by("device", lines), by("producer", lines)
    for _ in range(2):
        assert content(loader) == content(expected)


def test_one_by_its_ordinal_is_finished_too(by):
    loader = by("device", NORMALIZE % (SIDE, SIDE, "float32"))
    for number, batch in enumerate(loader):
        alone = loader.episode(2 * number + 1, 0, images=True)
        for name in ("support_images", "query_images", "sample_ids"):
            assert alone[name].tobytes() == batch[name][1].tobytes()


def test_on_a_gpu_each_tensor_of_images_is_finished_there(by, fake):  # noqa: F811
    lines = NORMALIZE % (SIDE, SIDE, "float32")
    expected = list(by("producer", lines))
    loader = by("device", lines, device="cuda:0")
    loader._convert = lambda batch, names, rows: [batch.view(name, rows) for name in names]
    for ours, theirs in zip(loader, expected, strict=True):
        assert {view.__dlpack_device__() for view in ours.values()} == {CUDA}
        for name in ("support_images", "query_images"):
            assert ours[name].dtype == "float32"
            assert (fake.read(ours[name]) == theirs[name]).all()
        assert (fake.read(ours["query_labels"]) == theirs["query_labels"]).all()
