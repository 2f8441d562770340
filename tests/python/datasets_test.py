# SPDX-License-Identifier: Apache-2.0
# Data sets of one's own: what they give comes as it is, whoever makes it, and what cannot be done is said.
import random

import numpy as np
import pytest

import feedring
from feedring.sample_form import SampleForm
from own_data import Chance, Nested, Ragged, Squares, squares


@pytest.fixture
def loader_over(request):
    made = []

    def make(dataset, **arguments):
        loader = feedring.DatasetLoader(dataset, **{"batch_size": 4, "num_workers": 2, "timeout": 60, "backend": "numpy", **arguments})
        made.append(loader)
        return loader

    yield make
    for loader in made:
        loader.close()


def test_every_sample_comes_once_an_epoch_with_what_the_data_set_gives(loader_over):
    loader = loader_over(Squares())
    orders = []
    for _ in range(2):
        order = []
        for batch in loader:
            assert batch["square"].dtype == np.float32 and batch["square"].shape[1:] == (2, 3)
            for row, index in enumerate(batch["index"].tolist()):
                assert (batch["square"][row] == index * index).all()
                assert batch["name"][row] == "ä" * (index % 5)
                order.append(index)
        assert sorted(order) == list(range(23))
        orders.append(order)
    assert orders[0] != orders[1]
    assert len(loader) == 6


def test_a_data_set_is_named_or_sent(loader_over):
    for dataset in (squares(), "own_data:squares", "own_data:Squares"):
        loader = loader_over(dataset, shuffle=False)
        assert [i for batch in loader for i in batch["index"].tolist()] == list(range(23))
        loader.close()


def test_the_nest_of_a_sample_comes_back(loader_over):
    first = next(iter(loader_over(Nested(), shuffle=False, batch_size=3)))
    assert isinstance(first, list) and set(first[0]) == {"a", "b"}
    assert first[0]["a"].dtype == np.int16 and first[0]["a"].tolist() == [0, 1, 2]
    assert first[0]["b"][0].dtype == np.bool_ and first[0]["b"][0].tolist() == [False, True, False]
    assert first[0]["b"][1].dtype == np.float64 and first[0]["b"][1].tolist() == [0, 0.5, 1]
    assert first[1] == [b"", b"x", b"xx"]


def test_ragged_samples_are_padded_and_say_their_size(loader_over):
    padded, sizes = next(iter(loader_over(Ragged(), shuffle=False, batch_size=3, max_shape={"0": (2, 6)})))[0]
    assert padded.shape == (3, 2, 6) and sizes.tolist() == [[2, 1], [2, 2], [2, 3]]
    assert padded[2].tolist() == [[0, 1, 2, 0, 0, 0], [3, 4, 5, 0, 0, 0]]


def test_ragged_samples_without_a_largest_shape_are_an_error_that_names_the_sample(loader_over):
    with pytest.raises(feedring.DataError, match=r"sample 1 of the data set: 0 has shape \(2, 2\).*max_shape"):
        for _ in loader_over(Ragged(), shuffle=False):
            pass


def test_a_collate_function_sees_samples_in_the_data_sets_form(loader_over):
    seen = list(loader_over(Ragged(), shuffle=False, max_shape={"0": (2, 6)}, collate_fn=list, batch_size=2))
    samples = [sample for batch in seen for sample in batch]
    assert len(samples) == 5
    for index, (array, number) in enumerate(samples):
        expected, expected_number = Ragged()[index]
        assert number == expected_number and array.dtype == np.int32 and array.tolist() == expected.tolist()


def test_chance_does_not_depend_on_the_number_of_producers_and_is_new_each_epoch(loader_over):
    epochs = []
    for workers in (1, 3):
        loader = loader_over(Chance(), num_workers=workers, seed=5)
        epochs.append([[list(map(float, row)) for batch in loader for row in zip(*batch)] for _ in range(2)])
        loader.close()
    assert epochs[0] == epochs[1]
    assert sorted(epochs[0][0])[0][1] != sorted(epochs[0][1])[0][1]


def test_no_generator_of_the_program_is_moved(loader_over):
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tolist()
    list(loader_over(Chance()))
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_a_killed_producer_is_replaced_and_its_sample_made_again(loader_over, tmp_path):
    loader = loader_over(Squares(kills_at=7, marker=str(tmp_path / "killed")))
    assert sorted(i for batch in loader for i in batch["index"].tolist()) == list(range(23))
    assert (tmp_path / "killed").exists()


def test_a_sample_that_raises_is_an_error_with_its_words_or_follows_the_policy(loader_over):
    with pytest.raises(feedring.DataError, match="sample 5.*RuntimeError: cannot make 5"):
        list(loader_over(Squares(fails_at=5), shuffle=False))
    loader = loader_over(Squares(fails_at=5), shuffle=False, on_error="replace")
    order = [i for batch in loader for i in batch["index"].tolist()]
    assert len(order) == 23 and 5 not in order


def test_a_state_is_resumed(loader_over):
    loader = loader_over(Squares())
    steps = iter(loader)
    first = [i for _ in range(2) for i in next(steps)["index"].tolist()]
    state = loader.state_dict()
    loader.close()
    again = loader_over(Squares(), num_workers=1)
    again.load_state_dict(state)
    assert sorted(first + [i for batch in again for i in batch["index"].tolist()]) == list(range(23))


def test_an_order_of_ones_own_is_kept(loader_over):
    assert [i for batch in loader_over(Squares(), order=[5, 3, 5, 0]) for i in batch["index"].tolist()] == [5, 3, 5, 0]


def test_a_data_set_of_the_program_itself_is_sent_where_its_file_is_guarded(python, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import feedring
class Here:
    def __len__(self): return 6
    def __getitem__(self, index): return {"x": index}
if __name__ == "__main__":
    with feedring.DatasetLoader(Here(), batch_size=2, num_workers=1, shuffle=False, timeout=60, backend="numpy") as loader:
        print([batch["x"].tolist() for batch in loader])
""")
    import subprocess
    import sys

    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=90)
    assert done.stdout == "[[0, 1], [2, 3], [4, 5]]\n", done.stderr
    program.write_text(program.read_text().replace('if __name__ == "__main__":', "if True:"))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=90)
    try:
        import cloudpickle  # noqa: F401
    except ImportError:
        assert done.returncode != 0 and 'put that under if __name__ == "__main__":' in done.stderr


def test_what_is_no_map_style_data_set_is_refused_by_name():
    class IterableDataset:
        def __iter__(self):
            return iter(())

    class Stream(IterableDataset):
        pass

    with pytest.raises(feedring.UsageError, match="Stream is an IterableDataset"):
        feedring.DatasetLoader(Stream())
    with pytest.raises(feedring.UsageError, match="builtins.int is no data set: it has no __len__"):
        feedring.DatasetLoader(3)
    with pytest.raises(feedring.UsageError, match="the data set is empty"):
        feedring.DatasetLoader([])
    with pytest.raises(feedring.UsageError, match="'own_data:nothing' cannot be imported"):
        feedring.DatasetLoader("own_data:nothing")
    with pytest.raises(feedring.UsageError, match="write 'package.module:factory'"):
        feedring.DatasetLoader("own_data")
    with pytest.raises(feedring.UsageError, match="columns has no meaning"):
        feedring.DatasetLoader([1], columns=["value"])


def test_a_pool_of_other_feeds_is_refused(monkeypatch):
    monkeypatch.setenv("FEEDRING_POOL", "somewhere")
    with pytest.raises(feedring.UsageError, match="without `feedring run`"):
        feedring.DatasetLoader([1])


@pytest.mark.parametrize("sample, words", [
    ({"x": object()}, "x of sample 0 is a builtins.object"),
    ({"x": np.zeros((2, 0))}, "which holds nothing"),
    ({1: 2}, "keys are str"),
    ({"x": np.array(["a"])}, "x of sample 0 has elements of type"),
    ([np.int64(i) for i in range(14)], "becomes 14 tensors, and a batch holds 13"),
    ({}, "sample 0 of the data set is empty"),
])
def test_what_cannot_be_a_tensor_is_named(sample, words):
    with pytest.raises(feedring.UsageError, match=words):
        SampleForm.of(sample)


def test_leaves_get_names_that_a_batch_can_hold():
    form = SampleForm.of({"valid": 1, "a_name_of_more_than_eighteen_letters": 2, "text": "x"}, {"text": 7})
    assert [tensor["name"] for tensor in form.tensors()] == ["value0", "value1", "text", "text_size"]
    with pytest.raises(feedring.UsageError, match="max_shape names 'y', and the samples have x"):
        SampleForm.of({"x": 1}, {"y": 3})
