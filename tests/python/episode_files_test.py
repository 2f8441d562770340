# SPDX-License-Identifier: Apache-2.0
# Episodes from a file, one by its ordinal, and what an evaluation makes of them.
import json
import math
import os
import signal
import subprocess

import pytest

import feedring
from conftest import children_of
from episode_pictures import PLAIN, content, dumped, flat

PLAN = ("--ways", 5, "--shots", 2, "--queries", 3, "--episodes", 20, "--seed", 4)


@pytest.fixture
def kept(tasks, tmp_path):
    """A file of twenty episodes."""
    file = tmp_path / "kept.jsonl"
    subprocess.run([feedring.command(), "episodes", "export", str(tasks), "-o", str(file), *map(str, PLAN)], check=True,
                   timeout=60)
    return file


def test_a_file_brings_its_episodes_with_their_pixels_in_every_epoch(tasks, episodes_of, kept):
    drawn = [content(batch, 0) for batch in episodes_of(seed=4)]
    loader = episodes_of(ways=None, shots=None, queries=None, tasks_per_epoch=None, episodes={"file": kept}, seed=9,
                         batch_size=2)
    assert len(loader) == 10 and loader.tasks_per_epoch == 20
    for _ in range(2):
        assert [content(batch, row) for batch in loader for row in range(2)] == drawn


def test_a_producer_that_is_replaced_goes_on_with_the_file_that_the_feed_began_with(tasks, episodes_of, kept):
    plan = dumped(tasks, *PLAN)
    loader = episodes_of(ways=None, shots=None, queries=None, tasks_per_epoch=None, episodes={"file": kept})
    iterator = iter(loader)
    seen = [next(iterator)["sample_ids"][0].tolist()]
    kept.unlink()
    pool = next(pid for pid, name in children_of(os.getpid()).items() if name == "feedring")
    for producer in children_of(pool):
        os.kill(producer, signal.SIGKILL)
    seen += [batch["sample_ids"][0].tolist() for batch in iterator]
    assert seen == [flat(plan[i]["support"]) + flat(plan[i]["query"]) for i in range(20)]


def test_a_file_of_other_data_is_refused(pictures, episodes_of, kept):
    loader = episodes_of(pictures, ways=None, shots=None, queries=None, tasks_per_epoch=None, episodes={"file": kept})
    with pytest.raises(feedring.DataError, match="are of a data set with the digest"):
        len(loader)


def test_a_file_takes_the_place_of_what_the_configuration_says(tasks, episodes_of, kept, tmp_path):
    config = tmp_path / "feed.toml"
    config.write_text(f'[feed.test]\ndata = "{tasks}"\nbatch_size = 2\n[feed.test.episodes]\nways = 3\nqueries = 1\n')
    nothing = {"ways": None, "shots": None, "queries": None, "tasks_per_epoch": None}
    loader = episodes_of(str(config), feed="test", **nothing, episodes={"file": str(kept)})
    assert loader.episode(0)["classes"] == json.loads(kept.read_text().splitlines()[1])["classes"]
    loader.close()
    config.write_text(f'[feed.test]\ndata = "{tasks}"\n[feed.test.episodes]\nfile = "kept.jsonl"\n')
    loader = episodes_of(str(config), feed="test", **nothing, num_workers=2)
    assert loader.tasks_per_epoch == 20


def test_any_episode_can_be_asked_for_while_the_loader_iterates(tasks, episodes_of):
    plan = {epoch: dumped(tasks, *PLAN, "--epoch", epoch) for epoch in (0, 3)}
    loader = episodes_of(seed=4)
    iterator = iter(loader)
    first = next(iterator)["ordinal"][0]
    for ordinal in (17, 0, 5):
        episode = loader.episode(ordinal)
        assert episode["epoch"] == 0 and episode["ordinal"] == ordinal
        assert {key: episode[key] for key in ("classes", "support", "query", "label_map")} == {
            key: plan[0][ordinal][key] for key in ("classes", "support", "query", "label_map")}
    assert loader.episode(2, epoch=3)["support"] == plan[3][2]["support"]
    assert [first, *(batch["ordinal"][0] for batch in iterator)] == list(range(20))
    with pytest.raises(feedring.UsageError, match="has the episodes 0 to 19 in an epoch, and no 20"):
        loader.episode(20)
    with pytest.raises(feedring.UsageError, match="no whole number"):
        loader.episode(-1)


def test_ranks_can_ask_for_episodes_of_others(tasks, episodes_of, monkeypatch):
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", "1")
    loader = episodes_of(seed=4, rank=1, world_size=2, local_rank=0, local_world_size=1)
    assert loader.episode(0)["query"] == dumped(tasks, *PLAN)[0]["query"], "rank 0 has the even ones"


def test_a_feed_of_samples_has_no_episodes(pictures):
    with feedring.EpisodeLoader(pictures, transform=PLAIN, num_workers=1) as loader:
        with pytest.raises(feedring.UsageError, match="delivers samples and no episodes"):
            loader.episode(0)


def test_the_numbers_of_an_evaluation_are_those_of_a_hand_calculation():
    evaluation = feedring.Evaluation()
    evaluation.add([2, 0, 1, 3, 0], [0.6, 0.2, 0.4, 0.8, 9.0], [1, 1, 1, 1, 0])  # the last one is padding
    assert len(evaluation) == 4 and evaluation.values == [0.2, 0.4, 0.6, 0.8]
    summary = evaluation.summary()
    assert summary.episodes == 4 and summary.mean == pytest.approx(0.5)
    assert summary.deviation == pytest.approx(math.sqrt(0.2 / 3))  # 0.09 + 0.01 + 0.01 + 0.09
    assert summary.half_width == pytest.approx(0.98 * math.sqrt(0.2 / 3))
    assert str(evaluation) == "50.00 ± 25.30 (4 episodes)"
    other = feedring.Evaluation()
    for ordinal, value in enumerate([0.1, 0.3, 0.4, 0.8]):
        other.add(ordinal, value)
    difference = feedring.paired_difference(evaluation, other)  # 0.1, 0.1, 0.2, 0
    assert difference.mean == pytest.approx(0.1)
    assert difference.deviation == pytest.approx(math.sqrt(0.02 / 3))


def test_an_evaluation_refuses_what_would_be_wrong():
    evaluation = feedring.Evaluation()
    evaluation.add(3, 0.5)
    with pytest.raises(feedring.UsageError, match="has the result 0.5 already"):
        evaluation.add(3, 0.25)
    with pytest.raises(feedring.UsageError, match="no finite number"):
        evaluation.add(4, float("nan"))
    with pytest.raises(feedring.UsageError, match="2 ordinals, 1 values"):
        evaluation.add([1, 2], [0.5])
    with pytest.raises(feedring.UsageError, match="no episode"):
        feedring.Evaluation().summary()


def test_evaluate_counts_each_episode_once_though_the_last_step_is_filled_up(tasks, episodes_of):
    loader = episodes_of(batch_size=8)  # 20 episodes, three steps of 8
    assert len(loader) == 3
    evaluation = feedring.evaluate(loader, lambda episode: float(episode["sample_ids"].sum()))
    plan = dumped(tasks, *PLAN[:-2])
    assert evaluation.results == {
        ordinal: float(sum(flat(line["support"]) + flat(line["query"]))) for ordinal, line in plan.items()}
    with pytest.raises(feedring.UsageError, match="4 of 20 episodes fill no step"):
        feedring.evaluate(episodes_of(batch_size=8, drop_last=True), len)
    with pytest.raises(feedring.UsageError, match="layout='easyfsl'"):
        feedring.evaluate(episodes_of(layout="easyfsl"), len)


def test_a_loader_of_one_rank_goes_to_any_episode_with_its_pixels(episodes_of):
    drawn = {int(batch["ordinal"][0]): content(batch, 0) for batch in episodes_of(seed=4)}
    one = episodes_of(seed=4, batch_size=1, rank=0, world_size=1, local_rank=0, local_world_size=1)
    for ordinal in (17, 3):
        one.load_state_dict({**one.state_dict(), "next_ordinal": ordinal})
        batch = next(iter(one))
        assert (batch["ordinal"][0], content(batch, 0)) == (ordinal, drawn[ordinal])
