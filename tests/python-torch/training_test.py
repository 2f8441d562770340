# SPDX-License-Identifier: Apache-2.0
# What trainings do with a batch, each a sentence of docs/python.md.
import pytest
import torch

from pictures import SAMPLES, label


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                               torch.nn.Linear(4, 3))


def test_autocast_takes_float_batches_as_they_are(loader_of):
    net = model()
    for batch in loader_of(transform=[{"name": "Resize", "size": [8, 8]}, {"name": "ToDtype", "dtype": "float32", "scale": True}]):
        with torch.autocast("cpu", torch.bfloat16):
            scores = net(batch["images"])
        assert scores.dtype == torch.bfloat16
        torch.nn.functional.cross_entropy(scores.float(), batch["labels"]).backward()
    assert all(parameter.grad.isfinite().all() for parameter in net.parameters())


def test_images_are_channels_last_so_that_such_a_model_copies_nothing(loader_of):
    images = next(iter(loader_of()))["images"]
    assert images.is_contiguous(memory_format=torch.channels_last)
    assert images.contiguous(memory_format=torch.channels_last).data_ptr() == images.data_ptr()


def test_a_compiled_model_is_compiled_once_over_all_epochs(loader_of):
    from torch._dynamo.testing import CompileCounter

    torch._dynamo.reset()
    counter = CompileCounter()
    net = torch.compile(model(), backend=counter, dynamic=False)
    loader = loader_of()  # dicts keep their shape, in the short step too
    for _ in range(3):
        for batch in loader:
            net(batch["images"].float())
    assert counter.frame_count == 1


def test_accumulated_gradients_are_those_of_one_large_batch(loader_of):
    whole, parts = model().double(), model().double()
    large = next(iter(loader_of(batch_size=8, shuffle=False)))
    torch.nn.functional.cross_entropy(whole(large["images"].double()), large["labels"]).backward()
    large = None
    loader = loader_of(batch_size=4, shuffle=False, accumulate=2)
    for batch in loader:
        loss = torch.nn.functional.cross_entropy(parts(batch["images"].double()), batch["labels"])
        (loss / loader.group_size).backward()
        if loader.group_ends:
            break
    for a, b in zip(whole.parameters(), parts.parameters()):
        assert torch.allclose(a.grad, b.grad, atol=1e-12, rtol=0)


@pytest.mark.parametrize("batch_size", [4, 7, 64])
def test_an_evaluation_of_padded_batches_counts_each_sample_once(loader_of, batch_size):
    right = counted = 0
    for images, labels, ids, valid in loader_of(batch_size=batch_size, as_tuple=True,
                                                columns=["images", "labels", "sample_ids", "valid"]):
        prediction = torch.where(ids % 2 == 0, labels, -1)  # right for every second sample
        right += ((prediction == labels) & valid.bool()).sum().item()
        counted += valid.sum().item()
        assert labels[valid.bool()].tolist() == [label(i) for i in ids[valid.bool()].tolist()]
    assert (right, counted) == ((SAMPLES + 1) // 2, SAMPLES)
