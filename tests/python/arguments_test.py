# SPDX-License-Identifier: Apache-2.0
# Arguments: honoured or refused, never ignored.
import json
import os
import subprocess

import pytest

import feedring
from conftest import PLAIN, SAMPLES
from feedring.configuration import Source


def description(loader):
    return json.loads(loader.attach()._feed.description)


@pytest.mark.parametrize("argument", [
    {"sampler": [1]}, {"batch_sampler": [[1]]}, {"collate_fn": list}, {"worker_init_fn": print}, {"generator": 1},
    {"multiprocessing_context": "spawn"}, {"pin_memory_device": "cuda:0"}, {"in_order": False}, {"num_workers": 0}])
def test_what_cannot_be_honoured_is_refused_by_name(pictures, argument):
    with pytest.raises(feedring.UsageError, match=f"{next(iter(argument))}.* cannot be honoured: "):
        feedring.Loader(pictures, **argument)


@pytest.mark.parametrize("argument", [
    {"batch_size": 0}, {"batch_size": 2.5}, {"batch_size": True}, {"seed": -1}, {"shuffle": 1}, {"drop_last": "no"},
    {"on_full": "wait"}, {"on_error": "skip"}, {"timeout": -1}, {"columns": "images"}, {"slots": 0}, {"feed": 64},
    {"prefetch_factor": 2, "slots": 3}, {"num_workers": 1.5}, {"cache": "jpeg"}, {"accept_damaged": 1},
    {"exif_orientation": "yes"}, {"background": 255}, {"background": (0, 0, 256)}, {"background": (0, 0)}])
def test_wrong_values_are_named(pictures, argument):
    with pytest.raises(feedring.UsageError, match=next(iter(argument))):
        feedring.Loader(pictures, **argument)


def test_defaults_that_say_nothing_are_taken(pictures):
    feedring.Loader(pictures, sampler=None, collate_fn=None, generator=None, pin_memory_device="", in_order=True)


def test_a_misspelt_argument_is_a_type_error_with_a_hint(pictures):
    with pytest.raises(TypeError, match="'num_worker'; did you mean num_workers"):
        feedring.Loader(pictures, num_worker=2)


def test_something_that_is_no_path_is_named():
    with pytest.raises(feedring.UsageError, match="not a builtins.list"):
        feedring.Loader([1, 2, 3])


def test_num_workers_are_producers_and_prefetch_factor_slots(loader_of):
    cores = len(os.sched_getaffinity(0))
    with loader_of(num_workers=1, prefetch_factor=6) as loader:
        found = description(loader)
        assert (found["producers"], found["slots"]) == (1, 7)
    found = description(loader_of(num_workers=cores + 100))
    assert found["producers"] <= cores  # and at least the quota of a container


def test_other_arguments_arrive(loader_of):
    found = description(loader_of(shuffle=False, drop_last=True, seed=7, persistent_workers=False, on_error="zero"))
    assert {key: found[key] for key in ("batch_size", "shuffle", "remainder", "seed", "repeat", "on_error")} == {
        "batch_size": 4, "shuffle": False, "remainder": "drop", "seed": 7, "repeat": False, "on_error": "zero"}


def test_pin_memory_and_devices_need_torch(loader_of):
    for argument in ({"pin_memory": True}, {"device": "cuda:0"}):
        with loader_of(backend="numpy", **argument) as loader, pytest.raises(feedring.UsageError, match="needs torch"):
            iter(loader)


@pytest.fixture
def configuration(pictures, tmp_path):
    (tmp_path / "pictures").symlink_to(pictures)
    path = tmp_path / "feed.toml"
    path.write_text("""
[pool]
producers = 1
[feed.train]
data = "pictures"
batch_size = 4
seed = 11
transform = [ { name = "Resize", size = [8, 8] } ]
[feed.val]
data = "pictures"
classes_from = "train"
batch_size = 5
shuffle = false
repeat = false
remainder = "pad"
transform = [ { name = "Resize", size = [8, 8] } ]
""")
    return path


def test_a_configuration_stands_as_it_is(loader_of, configuration):
    found = description(loader_of(configuration, feed="val"))
    assert (found["batch_size"], found["shuffle"], found["producers"]) == (5, False, 1)


def test_arguments_win_over_a_configuration_and_the_rest_stays(loader_of, configuration):
    found = description(loader_of(configuration, feed="val", batch_size=3, num_workers=1))
    assert (found["batch_size"], found["shuffle"], found["repeat"], found["classes_from"]) == (3, False, False, "train")


def test_an_unknown_feed_is_named(loader_of, configuration):
    with pytest.raises(feedring.UsageError, match="describes no feed 'test'; it describes: train, val"):
        loader_of(configuration, feed="test")


def test_a_mistake_in_a_configuration_is_told_in_the_commands_words(loader_of, configuration):
    configuration.write_text(configuration.read_text().replace("seed = 11", "sed = 11"))
    words = r'feed.toml:7: unknown key "sed" in \[feed.train\]; did you mean "seed"'
    with pytest.raises(feedring.UsageError, match=words):
        loader_of(configuration).attach()


def test_a_made_up_configuration_is_read_back_as_it_was_said(tmp_path):
    tomllib = pytest.importorskip("tomllib")
    said = {"data": str(tmp_path), "seed": 3, "error_budget": 0.125, "shuffle": False,
            "transform": [{"name": "a \"quoted\" \x7f \\ ü", "size": [1, 2.5], "flag": True}]}
    source = Source(str(tmp_path), "odd.name", said)
    source.set_producers(2)
    assert tomllib.loads(source.text()) == {"pool": {"producers": 2},
                                            "feed": {"odd.name": {**said, "remainder": "pad"}}}


@pytest.fixture
def running_pool(configuration, monkeypatch):
    said = subprocess.run([feedring.command(), "start", "-c", configuration, "--grace", "20"], check=True, text=True,
                          stdout=subprocess.PIPE, timeout=30).stdout
    address = said.strip().split("=", 1)[1]
    monkeypatch.setenv("FEEDRING_POOL", address)
    yield configuration
    subprocess.run([feedring.command(), "stop", "--pool", address], check=True, timeout=30)


def test_a_running_pool_is_joined(running_pool, loader_of):
    for source in (None, running_pool):
        with feedring.Loader(source, "val", backend="numpy", batch_size=5, drop_last=False) as loader:
            assert sum(int(batch["valid"].sum()) for batch in loader) == SAMPLES


@pytest.mark.parametrize(("argument", "words"), [
    ({"batch_size": 8}, "batch_size is 4 there and 8 here"),
    ({"shuffle": False}, "shuffle is true there and false here"),
    ({"background": (1, 2, 3)}, r"background is none there and \[1, 2, 3\] here"),
    ({"cache": "decoded"}, 'cache is "none" there and "decoded" here'),
    ({"num_workers": 2}, "there are 1 producers, and num_workers asks for 2"),
    ({"transform": [*PLAIN, {"name": "RandomHorizontalFlip"}]}, "transform is .* there and .* here")])
def test_a_running_pool_that_is_something_else_is_refused(running_pool, argument, words):
    if "num_workers" in argument and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core: num_workers=2 asks for one producer")
    with pytest.raises(feedring.UsageError, match=words):
        feedring.Loader(None, **argument).attach()


def test_a_running_pool_of_other_data_is_refused(running_pool, tmp_path):
    with pytest.raises(feedring.UsageError, match="data is .* there and .* here"):
        feedring.Loader(tmp_path).attach()
