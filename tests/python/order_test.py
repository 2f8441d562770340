# SPDX-License-Identifier: Apache-2.0
# Which samples a loader gives, and how often, against what `feedring dump` says of the same feed.
import collections
import json
import subprocess

import pytest

import feedring


def rows(batches, name="sample_ids"):
    return [i for batch in batches for i in batch[name][batch["valid"] == 1].tolist()]


def dumped(*arguments):
    said = subprocess.run([feedring.command(), "dump", "--json", *map(str, arguments)], stdout=subprocess.PIPE, check=True, text=True)
    return [json.loads(line)["index"] for line in said.stdout.splitlines() if json.loads(line)["valid"]]


@pytest.fixture
def two_sets(tmp_path, pictures):
    """The pictures of the test's folder, and a copy of one class of it elsewhere."""
    import shutil

    classes = sorted(path for path in pictures.iterdir() if path.is_dir())
    shutil.copytree(classes[0], tmp_path / "other" / classes[0].name)
    (tmp_path / "feed.toml").write_text(f"""
[feed.train]
mix = [ {{ data = "{pictures}", weight = 3 }}, {{ data = "other" }} ]
batch_size = 4
samples_per_epoch = 16
transform = [ {{ name = "Resize", size = [8, 8] }} ]
""")
    return tmp_path / "feed.toml"


def test_mixed_data_sets_keep_their_shares_and_go_on_over_epochs(two_sets):
    with feedring.Loader(two_sets, backend="numpy") as loader:
        assert len(loader) == 4
        for epoch in range(3):
            assert rows(loader) == dumped("-c", two_sets, "--epoch", epoch)


def test_a_state_of_mixed_data_goes_on_in_the_middle(two_sets):
    with feedring.Loader(two_sets, backend="numpy") as loader:
        iterator = iter(loader)
        next(iterator)
        state = loader.state_dict()
        rest = rows(iterator)
    with feedring.Loader(two_sets, backend="numpy", batch_size=2, slots=5) as loader:
        loader.load_state_dict(state)
        assert rows(loader) == rest
    with feedring.Loader(two_sets, backend="numpy", samples_per_epoch=20) as loader:
        with pytest.raises(feedring.Error):  # another order
            loader.load_state_dict(state)


def test_balanced_classes_come_equally_often(loader_of):
    with loader_of(backend="numpy", weights="balanced", samples_per_epoch=42, limit=5) as loader:
        labels = rows(loader, "labels")
        assert len(labels) == 42
        assert len(set(collections.Counter(labels).values())) == 1
        labels = rows(loader, "labels")
        assert len(set(collections.Counter(labels).values())) == 1


def test_weights_of_classes_are_kept(loader_of, pictures):
    first, second = sorted(path.name for path in pictures.iterdir() if path.is_dir())[:2]
    with loader_of(backend="numpy", classes=[first, second], weights={first: 3}, samples_per_epoch=40) as loader:
        assert collections.Counter(rows(loader, "labels")) == {0: 30, 1: 10}


def test_wrong_weights_are_a_sentence(loader_of):
    with pytest.raises(feedring.UsageError, match="weights of samples belong into a column"):
        loader_of(weights=[1.0, 2.0])
    with pytest.raises(feedring.UsageError, match="shuffle = false"):
        len(loader_of(weights="balanced", shuffle=False))


def test_own_samples_have_epochs_of_any_length():
    with feedring.DatasetLoader(list(range(6)), batch_size=4, num_workers=1, samples_per_epoch=8, timeout=60,
                                backend="numpy") as loader:
        assert len(loader) == 2
        seen = collections.Counter(i for _ in range(3) for batch in loader for i in batch.tolist())
    assert seen == dict.fromkeys(range(6), 4)  # 24 draws are four passes
