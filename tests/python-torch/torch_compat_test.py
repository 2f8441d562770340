# SPDX-License-Identifier: Apache-2.0
# The drop-in for torch's DataLoader, beside torch's own.
import pytest
import torch
from PIL import Image
from torch.utils.data import (BatchSampler, DataLoader, DistributedSampler, RandomSampler, SequentialSampler, Subset,
                              SubsetRandomSampler, TensorDataset)
from torchvision import transforms

import feedring
from feedring import torch_compat
from own_data import Pictures


@pytest.fixture
def fed():
    made = []

    def make(dataset, *positional, **arguments):
        loader = torch_compat.DataLoader(dataset, *positional, **{"num_workers": 1, "timeout": 90, **arguments})
        made.append(loader)
        return loader

    yield make
    for loader in made:
        loader.close()


def data(count=11):
    return TensorDataset(torch.arange(3 * count).reshape(count, 3).float(), torch.arange(count),
                         torch.arange(count).to(torch.bfloat16))


def same(ours, theirs):
    ours, theirs = list(ours), list(theirs)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        assert type(a) is type(b) and len(a) == len(b)
        for x, y in zip(a, b):
            assert x.dtype == y.dtype and torch.equal(x, y)


@pytest.mark.parametrize("arguments", [{"batch_size": 4}, {"batch_size": 4, "drop_last": True}])  # each starts a pool, that imports torch
def test_batches_without_shuffling_are_those_of_torch(fed, arguments):
    same(fed(data(), **arguments), DataLoader(data(), **arguments))


def test_shuffled_batches_hold_each_sample_once_in_a_new_order(fed):
    loader = fed(data(), batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(3))
    epochs = [[i for batch in loader for i in batch[1].tolist()] for _ in range(2)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(11)) and epochs[0] != epochs[1]


def test_samplers_are_read(fed):
    same(fed(data(), batch_size=4, sampler=SequentialSampler(data())), DataLoader(data(), batch_size=4))
    same(fed(data(), batch_size=2, sampler=[4, 4, 1]), DataLoader(data(), batch_size=2, sampler=[4, 4, 1]))
    same(fed(data(), batch_sampler=[[1, 2], [3, 0], [5]]), DataLoader(data(), batch_sampler=[[1, 2], [3, 0], [5]]))
    before = torch.get_rng_state()
    for sampler in (RandomSampler(data()), SubsetRandomSampler([2, 3, 5])):
        loader = fed(data(), batch_size=4, sampler=sampler)
        assert sorted(i for batch in loader for i in batch[1].tolist()) == sorted(getattr(sampler, "indices", range(11)))
    assert torch.equal(torch.get_rng_state(), before)


def test_samplers_that_cannot_be_read_are_refused():
    for sampler in (RandomSampler(data(), replacement=True), RandomSampler(data(), num_samples=5)):
        with pytest.raises(feedring.UsageError, match="sampler=RandomSampler cannot be honoured"):
            torch_compat.DataLoader(data(), sampler=sampler)
    with pytest.raises(feedring.UsageError, match="batch_sampler cannot be honoured unless it is a list"):
        torch_compat.DataLoader(data(), batch_sampler=BatchSampler(RandomSampler(data()), 4, False))


def test_a_distributed_sampler_says_who_the_rank_is(fed, monkeypatch):
    monkeypatch.setenv("MASTER_ADDR", "localhost")  # by which the ranks of a job find their pool, as torch's own do
    monkeypatch.setenv("MASTER_PORT", "29555")
    ids = []
    for rank in range(2):
        sampler = DistributedSampler(data(12), num_replicas=2, rank=rank, shuffle=True, seed=4)
        loader = fed(data(12), batch_size=3, sampler=sampler, local_rank=rank, local_world_size=2)
        ids += [i for batch in loader for i in batch[1].tolist()]
        loader.close()
    assert sorted(ids) == list(range(12))


@pytest.mark.parametrize("kind", ["pil", "tensor"])
def test_transforms_of_torchvision_follow_in_the_producers(fed, tmp_path, kind):
    for number in range(9):
        noise = torch.randint(0, 256, (20 + number, 30, 3), dtype=torch.uint8)
        Image.fromarray(noise.numpy()).save(tmp_path / f"{number}.png")
    steps = transforms.Compose([transforms.RandomResizedCrop(16), transforms.RandomHorizontalFlip(), transforms.ToTensor()])
    with feedring.Loader(tmp_path, batch_size=4, transform=steps, shuffle=False, seed=3, num_workers=1, timeout=60) as loader:
        expected = torch.cat([batch["images"][batch["valid"].bool()] for batch in loader])
    assert expected.dtype == torch.float32 and expected.shape == (9, 3, 16, 16)
    found = fed(Pictures(sorted(map(str, tmp_path.iterdir())), kind), batch_size=4, transform=steps, seed=3)
    batches = [(batch["image"].clone(), batch["index"].tolist()) for batch in found]
    assert [number for _, numbers in batches for number in numbers] == list(range(9))
    assert torch.equal(torch.cat([images for images, _ in batches]), expected)


def test_subsets_of_one_length_are_not_taken_for_each_other(fed):
    for indices in ([0, 1, 2, 3], [4, 5, 6, 7]):
        assert [i for batch in fed(Subset(data(), indices), batch_size=2) for i in batch[1].tolist()] == indices


@pytest.mark.parametrize("arguments, words", [
    ({"batch_size": None}, "batch_size=None"), ({"worker_init_fn": print}, "worker_init_fn"),
    ({"multiprocessing_context": "fork"}, "multiprocessing_context"),
    ({"sampler": [1], "shuffle": True}, "exclude each other"),
    ({"batch_sampler": [[1]], "drop_last": True}, "batch_sampler excludes")])
def test_what_cannot_be_done_is_refused(arguments, words):
    with pytest.raises(feedring.UsageError, match=words):
        torch_compat.DataLoader(data(), **arguments)
