# SPDX-License-Identifier: Apache-2.0
# Episodes through the ring, against `feedring dump`, which draws them, and Pillow, which knows the pictures.
import json
import os
import signal

import numpy
import pytest
from PIL import Image

import feedring
from conftest import children_of
from episode_pictures import CLASSES, EACH, PLAIN, SIDE, content, dumped, flat, picture, planar


def test_a_batch_holds_what_the_plan_says_with_the_pictures_pixels(tasks, episodes_of):
    plan = dumped(tasks, "--ways", 5, "--shots", 2, "--queries", 3, "--episodes", 20)
    loader = episodes_of(batch_size=2)
    assert len(loader) == 10 and loader.tasks_per_epoch == 20 and loader.layout == "feedring"
    seen = []
    for batch in loader:
        assert {name: (array.shape, array.dtype.name) for name, array in batch.items()} == {
            "support_images": ((2, 10, 3, SIDE, SIDE), "uint8"), "support_labels": ((2, 10), "int64"),
            "support_mask": ((2, 10), "uint8"), "query_images": ((2, 15, 3, SIDE, SIDE), "uint8"),
            "query_labels": ((2, 15), "int64"), "query_mask": ((2, 15), "uint8"), "class_ids": ((2, 5), "int64"),
            "counts": ((2, 5, 2), "int64"), "sample_ids": ((2, 25), "int64"), "ordinal": ((2,), "int64"),
            "valid": ((2,), "uint8")}
        for row, ordinal in enumerate(batch["ordinal"].tolist()):
            line = plan[ordinal]
            seen.append(ordinal)
            assert batch["class_ids"][row].tolist() == line["classes"]
            assert batch["sample_ids"][row].tolist() == flat(line["support"]) + flat(line["query"])
            assert batch["support_labels"][row].tolist() == [label for label in line["label_map"] for _ in range(2)]
            assert batch["query_labels"][row].tolist() == [label for label in line["label_map"] for _ in range(3)]
            assert batch["counts"][row].tolist() == [[2, 3]] * 5
            assert batch["support_mask"][row].all() and batch["query_mask"][row].all() and batch["valid"][row] == 1
            images = [*batch["support_images"][row], *batch["query_images"][row]]
            for image, sample in zip(images, batch["sample_ids"][row].tolist()):
                assert (image == planar(picture(tasks, sample))).all()
    assert seen == list(range(20))


def test_torchmeta_gets_its_dict_of_lists(tasks, episodes_of):
    plan = dumped(tasks, "--ways", 5, "--shots", 2, "--queries", 3, "--episodes", 20)
    ordinal = 0
    for batch in episodes_of(layout="torchmeta", batch_size=4):
        assert list(batch) == ["train", "test"]
        for split, part, each in (("train", "support", 2), ("test", "query", 3)):
            assert isinstance(batch[split], list)
            x, y = batch[split]
            assert (x.shape, x.dtype.name) == ((4, 5 * each, 3, SIDE, SIDE), "float32")
            assert x[0].flags.c_contiguous
            assert (y.shape, y.dtype.name) == ((4, 5 * each), "int64")
            for row in range(4):
                line = plan[ordinal + row]
                assert y[row].tolist() == [label for label in line["label_map"] for _ in range(each)]
                for image, sample in zip(x[row], flat(line[part])):
                    # ToTensor: by 255, in float32.
                    assert (image == planar(picture(tasks, sample)).astype("float32") * numpy.float32(1 / 255)).all()
        ordinal += 4
    assert ordinal == 20


@pytest.mark.parametrize("queries", [2, 3])
def test_learn2learn_gets_one_task_with_the_samples_of_a_class_together(tasks, episodes_of, queries):
    plan = dumped(tasks, "--ways", 5, "--shots", 2, "--queries", queries, "--episodes", 20)
    for ordinal, (x, y) in enumerate(episodes_of(layout="learn2learn", queries=queries)):
        line = plan[ordinal]
        per = 2 + queries
        assert (x.shape, x.dtype.name) == ((5 * per, 3, SIDE, SIDE), "float32")
        assert y.tolist() == [label for label in line["label_map"] for _ in range(per)]
        if queries == 2:
            # As the MAML examples split: every second row is for adaptation.
            support = numpy.arange(5 * 2) * 2
        else:
            # As the ProtoNet examples do: the first shots of each class.
            support = numpy.arange(5).repeat(2) * per + numpy.tile(numpy.arange(2), 5)
        query = numpy.setdiff1d(numpy.arange(5 * per), support)
        for rows, part in ((support, "support"), (query, "query")):
            reds = numpy.rint(x[rows, 0, 0, 0] * 255).astype(int).tolist()
            assert reds == [3 * sample for sample in flat(line[part])]
    assert ordinal == 19
    tasks_of_step = next(iter(episodes_of(layout="learn2learn", batch_size=3)))
    assert isinstance(tasks_of_step, list) and len(tasks_of_step) == 3


def test_easyfsl_gets_five_values_and_the_class_of_each_label(tasks, episodes_of):
    plan = dumped(tasks, "--ways", 5, "--shots", 2, "--queries", 3, "--episodes", 20)
    for ordinal, task in enumerate(episodes_of(layout="easyfsl")):
        support, support_labels, query, query_labels, true_class_ids = task
        assert (support.shape, query.shape) == ((10, 3, SIDE, SIDE), (15, 3, SIDE, SIDE))
        assert support.dtype == query.dtype == numpy.float32
        assert isinstance(true_class_ids, list) and all(type(each) is int for each in true_class_ids)
        samples = flat(plan[ordinal]["support"]), flat(plan[ordinal]["query"])
        for labels, of in zip((support_labels, query_labels), samples):
            assert [true_class_ids[label] for label in labels.tolist()] == [sample // EACH for sample in of]


def test_augmented_classes_are_turned_as_pillow_turns(tasks, episodes_of):
    how = {0: None, 1: Image.ROTATE_90, 2: Image.ROTATE_180, 3: Image.ROTATE_270, 4: Image.FLIP_LEFT_RIGHT,
           5: Image.FLIP_TOP_BOTTOM}
    seen = set()
    augment = ["rotate90", "rotate180", "rotate270", "hflip", "vflip"]
    for batch in episodes_of(episodes={"augment": augment}, queries=1, tasks_per_epoch=40):
        samples = batch["sample_ids"][0].tolist()
        for place, number in enumerate(batch["class_ids"][0].tolist()):
            turn, base = divmod(number, CLASSES)
            for image, sample in zip(batch["support_images"][0][2 * place:], samples[2 * place:2 * place + 2]):
                assert sample // EACH == base
                expected = picture(tasks, sample)
                if how[turn] is not None:
                    expected = expected.transpose(how[turn])
                assert (image == planar(expected)).all(), turn
            seen.add(turn)
    assert seen == set(how)


def test_every_world_size_with_the_same_global_batch_has_the_same_tasks_at_each_step(episodes_of, monkeypatch):
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", "1")
    by_world = []
    for world in (1, 2, 8):
        steps = None
        for rank in range(world):
            loader = episodes_of(batch_size=8 // world, rank=rank, world_size=world, local_rank=rank,
                                 local_world_size=world, tasks_per_epoch=32)
            mine = [{int(ordinal): content(batch, row) for row, ordinal in enumerate(batch["ordinal"])}
                    for _ in range(2) for batch in loader]
            assert len(mine) == 8
            if steps is None:
                steps = [{} for _ in mine]
            for step, tasks in zip(steps, mine):
                assert not step.keys() & tasks.keys(), "two ranks have one task"
                step.update(tasks)
        by_world.append(steps)
    assert all(sorted(step) == list(range(8 * (t % 4), 8 * (t % 4) + 8)) for t, step in enumerate(by_world[0]))
    assert by_world[0] == by_world[1] == by_world[2]
    assert by_world[0][0] != by_world[0][4], "the second epoch has other episodes"


def test_a_state_goes_on_with_the_next_episode_at_another_batch_size(episodes_of):
    whole = [content(batch, 0) for batch in episodes_of()]
    first = episodes_of(batch_size=4)
    iterator = iter(first)
    for _ in range(3):
        next(iterator)
    state = json.loads(json.dumps(first.state_dict()))
    del iterator
    first.close()
    second = episodes_of(batch_size=2)
    second.load_state_dict(state)
    rest = [content(batch, row) for batch in second for row in range(2)]
    assert rest == whole[12:]


def test_set_epoch_chooses_the_episodes_unless_they_are_fixed(episodes_of):
    loader = episodes_of()
    loader.set_epoch(5)
    five = [content(batch, 0) for batch in loader]
    assert [content(batch, 0) for batch in loader] != five
    loader.set_epoch(5)
    assert [content(batch, 0) for batch in loader] == five
    fixed = episodes_of(episodes={"fixed": True})
    once = [content(batch, 0) for batch in fixed]
    assert [content(batch, 0) for batch in fixed] == once


def pools():
    return {pid for pid, name in children_of(os.getpid()).items() if name == "feedring"}


def test_a_killed_producer_changes_no_byte(episodes_of):
    expected = [content(batch, 0) for batch in episodes_of(tasks_per_epoch=300)]
    before = pools()
    loader = episodes_of(tasks_per_epoch=300, num_workers=2, local_world_size=1).attach()
    (pool,) = pools() - before
    got = []
    killed = 0
    for batch in loader:
        got.append(content(batch, 0))
        if len(got) % 60 == 0:
            producers = [pid for pid, name in children_of(pool).items() if name == "feedring-prod"]
            if producers:
                os.kill(producers[0], signal.SIGKILL)
                killed += 1
    assert killed >= 3
    assert got == expected


def test_what_varies_is_padded_and_masked(tasks, episodes_of):
    plan = []
    for batch in episodes_of(ways=(2, 5), shots=(1, 3), queries=(1, 4), tasks_per_epoch=30):
        ways = int((batch["class_ids"][0] >= 0).sum())
        counts = batch["counts"][0]
        assert counts[ways:].sum() == 0 and (counts[:ways] > 0).all()
        shots, queries = (int(total) for total in counts.sum(axis=0))
        plan.append((ways, shots, queries))
        for part, total, room in (("support", shots, 15), ("query", queries, 20)):
            assert batch[f"{part}_mask"][0].tolist() == [1] * total + [0] * (room - total)
            assert (batch[f"{part}_labels"][0][total:] == -100).all(), "which torch's losses leave out"
            assert not batch[f"{part}_images"][0][total:].any()
        ids = batch["sample_ids"][0]
        assert (ids[shots:15] == -1).all() and (ids[15 + queries:] == -1).all()
        real = ids[ids >= 0]
        assert len(set(real.tolist())) == len(real) == shots + queries
    assert len(set(plan)) > 5


def test_a_damaged_picture_is_masked_or_replaced_or_raised(tmp_path, tasks, episodes_of):
    for sample in range(6 * EACH):
        place = tmp_path / f"c{sample // EACH}"
        place.mkdir(exist_ok=True)
        data = (tasks / f"c{sample // EACH}" / f"{sample % EACH}.png").read_bytes()
        (place / f"{sample % EACH}.png").write_bytes(data[:40] if sample == 4 else data)
    seen = 0
    for batch in episodes_of(tmp_path, on_error="zero", episodes={"label_map": "identity"}, tasks_per_epoch=10):
        ids = batch["sample_ids"][0]
        mask = numpy.concatenate([batch["support_mask"][0], batch["query_mask"][0]])
        labels = numpy.concatenate([batch["support_labels"][0], batch["query_labels"][0]])
        assert ((mask == 0) == (ids == 4)).all()
        assert ((labels == -100) == (ids == 4)).all()
        seen += int((ids == 4).sum())
    assert seen > 0
    for batch in episodes_of(tmp_path, on_error="replace", tasks_per_epoch=10):
        ids = batch["sample_ids"][0].tolist()
        assert 4 not in ids and len(set(ids)) == 25, "a substitute is none that the episode has already"
        assert batch["support_mask"].all() and batch["query_mask"].all()
    with pytest.raises(feedring.DataError, match=r"c0/4\.png"):
        for batch in episodes_of(tmp_path, tasks_per_epoch=10):
            pass


def test_a_configurations_episodes_are_the_loaders_unless_it_says_more(tmp_path, tasks, episodes_of):
    (tmp_path / "feed.toml").write_text(f'''[feed.train]
data = "{tasks}"
transform = [{{ name = "Resize", size = [{SIDE}, {SIDE}] }}]
episode_layout = "torchmeta"
[feed.train.episodes]
ways = 3
shots = 1
queries = 2
tasks_per_epoch = 7
''')
    nothing = {"ways": None, "shots": None, "queries": None, "tasks_per_epoch": None, "transform": None}
    loader = episodes_of(tmp_path / "feed.toml", **nothing)
    assert len(loader) == 7
    assert next(iter(loader))["train"][0].shape == (1, 3, 3, SIDE, SIDE)
    loader = episodes_of(tmp_path / "feed.toml", **{**nothing, "ways": 4}, layout="easyfsl")
    assert next(iter(loader))[0].shape == (4, 3, SIDE, SIDE)


def test_what_cannot_be_is_refused_with_the_reason(tasks, episodes_of):
    with pytest.raises(feedring.UsageError, match="shuffle has no meaning"):
        feedring.EpisodeLoader(tasks, shuffle=True)
    with pytest.raises(feedring.UsageError, match="'torchmeta'"):
        feedring.EpisodeLoader(tasks, layout="torchmetta")
    with pytest.raises(feedring.DataError, match="at most .*queries = 7"):
        len(episodes_of(queries=12))
    with pytest.raises(feedring.UsageError, match="has masks"):
        len(episodes_of(ways=(2, 3), layout="torchmeta"))


@pytest.mark.parametrize(("given", "meant"), [("shot", "shots"), ("way", "ways"), ("tasks_per_epochs", "tasks_per_epoch"),
                                              ("batch_sise", "batch_size")])
def test_a_mistyped_argument_is_told_by_the_class_that_was_called(tasks, given, meant):
    with pytest.raises(TypeError, match=rf"^EpisodeLoader\(\) got .* '{given}'; did you mean {meant}\?$"):
        feedring.EpisodeLoader(tasks, ways=5, **{given: 1})
