# SPDX-License-Identifier: Apache-2.0
# Batches as torch tensors.
import gc
import os
import pickle
import re
import threading

import pytest
import torch

import feedring
from pictures import PLAIN, SAMPLES, SIDE, colour, label

FAKE_CUDART = os.environ["FEEDRING_FAKE_CUDART"]  # tests/device/fake_cudart


def test_a_batch_is_a_dict_of_tensors(loader_of):
    batch = next(iter(loader_of()))
    assert {name: (tuple(tensor.shape), tensor.dtype) for name, tensor in batch.items()} == {
        "images": ((4, 3, SIDE, SIDE), torch.uint8), "labels": ((4,), torch.int64), "sample_ids": ((4,), torch.int64),
        "valid": ((4,), torch.uint8)}
    assert batch["images"].is_contiguous(memory_format=torch.channels_last)
    for row, sample in enumerate(batch["sample_ids"].tolist()):
        assert batch["labels"][row] == label(sample)
        assert (batch["images"][row] == torch.tensor(colour(sample), dtype=torch.uint8)[:, None, None]).all()


def test_tensors_lie_in_the_slots_and_give_them_back_from_any_thread(loader_of):
    loader = loader_of(slots=3)
    addresses = {batch["images"].data_ptr() for _ in range(3) for batch in loader}
    assert len(addresses) == 3
    gc.collect()
    cell = [next(iter(loader))["images"][1:]]
    assert loader._feed.held == 1
    thread = threading.Thread(target=cell.clear)
    thread.start()
    thread.join()
    assert loader._feed.held == 0


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_floats_arrive_scaled(loader_of, dtype):
    batch = next(iter(loader_of(transform=[*PLAIN, {"name": "ToDtype", "dtype": dtype, "scale": True}])))
    assert batch["images"].dtype == getattr(torch, dtype)
    for row, sample in enumerate(batch["sample_ids"].tolist()):
        expected = torch.tensor(colour(sample))[:, None, None] / 255
        assert (batch["images"][row].float() - expected).abs().max() < 4e-3


def test_holding_all_batches_works(loader_of):
    with pytest.warns(RuntimeWarning, match="slots"):
        batches = list(loader_of(as_tuple=True, columns=["images", "sample_ids"]))
    assert sorted(i for _, ids in batches for i in ids.tolist()) == list(range(SAMPLES))
    for images, ids in batches:
        assert images[:, 0, 0, 0].tolist() == [10 + sample for sample in ids.tolist()]


def test_training_steps_take_the_tensors_as_they_are(loader_of):
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.LazyLinear(3))
    for images, labels in loader_of(as_tuple=True):
        torch.nn.functional.cross_entropy(model(images.float() / 255), labels).backward()


def test_the_generator_of_torch_is_not_advanced(loader_of):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    for _ in loader_of():
        pass
    assert torch.equal(torch.get_rng_state(), before)


def test_pin_memory_warns_where_there_is_nothing_to_pin_for(loader_of):
    if torch.cuda.is_available():
        assert next(iter(loader_of(pin_memory=True)))["images"].is_pinned()
        return
    with pytest.warns(UserWarning, match="pin_memory=True has no effect"):
        next(iter(loader_of(pin_memory=True)))


def test_a_device_is_where_tensors_come(loader_of):
    with loader_of(device="cpu") as loader:
        assert next(iter(loader))["images"].device.type == "cpu"
    if not torch.cuda.is_available():
        with loader_of(device="meta") as loader:  # the one other device that needs no hardware
            assert next(iter(loader))["images"].device.type == "meta"
            assert loader._feed.held == 0
        return
    with torch.cuda.stream(torch.cuda.Stream()):
        loader = loader_of(device="cuda")
        samples = []
        for batch in loader:
            assert {tensor.device.type for tensor in batch.values()} == {"cuda"}
            assert batch["images"].is_contiguous(memory_format=torch.channels_last)
            samples += batch["sample_ids"][batch["valid"] == 1].tolist()
            for row, sample in enumerate(batch["sample_ids"].tolist()):
                expected = torch.tensor(colour(sample), dtype=torch.uint8, device="cuda")[:, None, None]
                assert (batch["images"][row] == expected).all()
    assert sorted(samples) == list(range(SAMPLES))
    loader.attach()
    view = loader._feed.next().view("images")
    assert torch.from_dlpack(view).data_ptr() == view.data_ptr


@pytest.mark.skipif(torch.backends.cuda.is_built(), reason="this torch was built with CUDA")
def test_a_torch_without_cuda_says_so_where_a_gpu_is_found(loader_of, monkeypatch):
    monkeypatch.setenv("FEEDRING_CUDART", FAKE_CUDART)
    with pytest.raises(feedring.UsageError, match=f"torch that was built with CUDA.*{re.escape(torch.__version__)}"):
        next(iter(loader_of(device=torch.device("cuda", 0))))


def test_what_is_no_device_is_a_usage_error(loader_of):
    with pytest.raises(feedring.UsageError, match="device='host-copy' is no device of torch"):
        iter(loader_of(device="host-copy"))


def test_as_iterable_dataset_feeds_a_data_loader(loader_of):
    dataset = loader_of().as_iterable_dataset()
    loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=0)
    assert len(loader) == 6
    dataset.set_epoch(3)
    ids = [i for batch in loader for i in batch["sample_ids"][batch["valid"] == 1].tolist()]
    assert sorted(ids) == list(range(SAMPLES))
    assert dataset.loader.epoch == 4


@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_worker_of_a_data_loader_is_told_why_it_cannot(loader_of):
    dataset = loader_of().as_iterable_dataset()
    loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=1, multiprocessing_context="fork")
    with pytest.raises(feedring.UsageError, match="num_workers=0"):
        next(iter(loader))


def test_the_loader_is_no_data_loader(loader_of):
    # Frameworks re-shard those.
    assert not isinstance(loader_of(), torch.utils.data.DataLoader)


def test_a_state_goes_through_torch_save(loader_of, tmp_path):
    loader = loader_of()
    iterator = iter(loader)
    next(iterator)
    torch.save(loader.state_dict(), tmp_path / "state.pt")
    rest = [batch["sample_ids"].tolist() for batch in iterator]
    loader.load_state_dict(torch.load(tmp_path / "state.pt"))
    assert [batch["sample_ids"].tolist() for batch in loader] == rest


def test_a_process_group_that_says_something_else_is_refused(python, pictures, tmp_path):
    said = python(f"""
import feedring, torch.distributed as dist
dist.init_process_group("gloo", init_method="file://{tmp_path}/store", rank=0, world_size=1)
loader = feedring.Loader({str(pictures)!r}, batch_size=4, num_workers=1)
print(loader.rank, loader.world_size)
loader.close()
try:
    feedring.Loader({str(pictures)!r}, batch_size=4, rank=1, world_size=2, local_rank=1, local_world_size=2).attach()
except feedring.UsageError as error:
    print("rank 0 of 1" in str(error) and "rank 1 of 2" in str(error))
""")
    assert said.split() == ["0", "1", "True"]


def test_an_unused_loader_can_be_pickled_for_spawn(loader_of):
    assert sum(1 for _ in pickle.loads(pickle.dumps(loader_of()))) == 6
