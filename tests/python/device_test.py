# SPDX-License-Identifier: Apache-2.0
# Loaders whose batches go to a GPU, on the stand-in for the CUDA runtime (tests/device/fake_cudart): its device memory
# is the heap, where the tests look. What torch makes of the capsules is for python-torch on a machine with a GPU.
import ctypes
import gc
import os
import sys
import time
import types

import numpy
import pytest

import feedring
from conftest import PLAIN, SAMPLES, SIDE, colour, label

RUNTIME = os.environ["FEEDRING_FAKE_CUDART"]
CUDA, CPU = (2, 0), (1, 0)
DTYPES = {"uint8": "uint8", "int64": "int64", "float32": "float32"}


class Fake:
    """The stand-in, as the tests set and ask it."""

    def __init__(self, monkeypatch):
        self.cudart = ctypes.CDLL(RUNTIME)
        self.cudart.fake_cudart_count.restype = ctypes.c_long
        self._monkeypatch = monkeypatch

    def set(self, **settings):
        for name, value in settings.items():
            self._monkeypatch.setenv(f"FAKE_CUDART_{name}", str(value))
        self.cudart.fake_cudart_reload()

    def count(self, what):
        return self.cudart.fake_cudart_count(what.encode())

    def make_stream(self):
        stream = ctypes.c_void_p()
        assert self.cudart.cudaStreamCreateWithFlags(ctypes.byref(stream), 1) == 0
        return stream.value

    def wait(self, stream=0):
        assert self.cudart.cudaStreamSynchronize(ctypes.c_void_p(stream)) == 0

    def read(self, view, stream=0):
        """A tensor's values once the stream's work is done."""
        self.wait(stream)
        values = numpy.empty(view.nbytes, "uint8")
        ctypes.memmove(values.ctypes.data, view.data_ptr, view.nbytes)
        values = values.view(DTYPES[view.dtype])
        steps = [step * values.itemsize for step in view.strides]
        return numpy.lib.stride_tricks.as_strided(values, view.shape, steps)


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setenv("FEEDRING_CUDART", RUNTIME)
    it = Fake(monkeypatch)
    it.set()
    yield it
    gc.collect()
    assert it.count("violations") == 0
    for name in [name for name in os.environ if name.startswith("FAKE_CUDART_")]:
        monkeypatch.delenv(name)
    it.cudart.fake_cudart_reload()


@pytest.fixture
def views_of(loader_of, fake):
    """Loaders that hand out the views themselves, which torch would make tensors of."""

    def make(source=None, **arguments):
        loader = loader_of(source, device="cuda:0", backend="numpy", **arguments)
        loader._convert = lambda batch, names, rows: [batch.view(name, rows) for name in names]
        return loader

    return make


def check(fake, batch, stream=0):
    """Every row is the picture of its sample; the numbers of the valid ones."""
    images, labels, ids, valid = (fake.read(batch[name], stream)
                                  for name in ("images", "labels", "sample_ids", "valid"))
    for row, sample in enumerate(ids.tolist()):
        assert labels[row] == label(sample)
        assert (images[row] == numpy.array(colour(sample), "uint8")[:, None, None]).all()
    return ids[valid == 1].tolist()


def eventually(condition):
    for _ in range(500):
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_tensors_are_the_devices_with_shape_and_strides_as_on_the_cpu(views_of, fake):
    batch = next(iter(views_of()))
    assert {name: (view.__dlpack_device__(), view.shape, view.strides, view.dtype) for name, view in batch.items()} == {
        "images": (CUDA, (4, 3, SIDE, SIDE), (SIDE * SIDE * 3, 1, SIDE * 3, 3), "uint8"),
        "labels": (CUDA, (4,), (1,), "int64"),
        "sample_ids": (CUDA, (4,), (1,), "int64"),
        "valid": (CUDA, (4,), (1,), "uint8"),
    }
    check(fake, batch)


@pytest.mark.parametrize("delay", [0, 2000])
def test_epochs_hold_every_sample_and_the_slots_go_back(views_of, fake, delay):
    fake.set(DELAY_US=delay)
    loader = views_of(slots=2)
    for _ in range(3):
        samples = [sample for batch in loader for sample in check(fake, batch)]
        assert sorted(samples) == list(range(SAMPLES))
    assert loader.stats()["batches"] == 18
    assert fake.count("copies") >= 18
    assert eventually(lambda: loader._feed.held == 0)


@pytest.mark.parametrize("slots, delay", [(2, 0), (1, 20000)])  # with the one slot still being copied from
def test_held_batches_keep_memory_of_the_device_and_no_slots(views_of, fake, recwarn, slots, delay):
    fake.set(DELAY_US=delay)
    loader = views_of(slots=slots)
    batches = list(loader)
    assert {view.__dlpack_device__() for batch in batches for view in batch.values()} == {CUDA}
    assert len({batch["images"].data_ptr for batch in batches}) == 6
    assert fake.count("memory now") >= 6
    assert sorted(sample for batch in batches for sample in check(fake, batch)) == list(range(SAMPLES))
    assert not recwarn.list
    loader.close()
    assert sorted(sample for batch in batches for sample in check(fake, batch)) == list(range(SAMPLES))
    batches.clear()
    gc.collect()
    assert eventually(lambda: fake.count("memory now") == 0)


def test_capsules_say_the_device_and_keep_the_memory(views_of, fake):
    class Tensor(ctypes.Structure):  # DLTensor of dlpack.h
        _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("id", ctypes.c_int32),
                    ("dimensions", ctypes.c_int32)]

    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    view = next(iter(views_of()))["images"]
    capsule = view.__dlpack__()
    tensor = Tensor.from_address(pointer_of(capsule, b"dltensor"))
    assert (tensor.data, tensor.type, tensor.id, tensor.dimensions) == (view.data_ptr, *CUDA, 4)
    pixels = fake.read(view)
    address, size = view.data_ptr, view.nbytes
    del view
    gc.collect()
    assert ctypes.string_at(address, size) == pixels.transpose(0, 2, 3, 1).tobytes()
    del capsule, tensor


def test_the_consumers_stream_waits_for_the_copy(views_of, fake):
    fake.set(DELAY_US=20000)
    stream = fake.make_stream()
    loader = views_of()
    loader.attach()
    taken = loader._feed.next()
    batch = {name: taken.view(name) for name in taken.names}
    for view in batch.values():
        view.__dlpack__(stream=stream)
    check(fake, batch, stream)


def test_streams_by_dlpacks_numbers(views_of, fake):
    view = next(iter(views_of()))["labels"]
    for stream in (None, 1, -1):
        assert view.__dlpack__(stream=stream, max_version=(1, 0), dl_device=CUDA)
    for stream in (0, 2, -2, "1"):
        with pytest.raises(BufferError, match="stream"):
            view.__dlpack__(stream=stream)
    with pytest.raises(BufferError, match="stays on its device"):
        view.__dlpack__(dl_device=CPU)


def test_batches_are_for_torchs_current_stream_which_is_asked_once_a_batch(views_of, fake, monkeypatch):
    # There is no torch with CUDA where there is no GPU: what is asked of it is played.
    fake.set(DELAY_US=20000)
    stream = fake.make_stream()
    asked = []

    def current_stream(index):
        asked.append(index)
        return types.SimpleNamespace(cuda_stream=stream)

    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(
        backends=types.SimpleNamespace(cuda=types.SimpleNamespace(is_built=lambda: True)),
        cuda=types.SimpleNamespace(current_stream=current_stream)))
    samples = [sample for batch in views_of() for sample in check(fake, batch, stream)]
    assert sorted(samples) == list(range(SAMPLES))
    assert asked == [0] * 7  # six batches, and the end


def test_a_torch_without_cuda_is_named(views_of, fake, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(
        __version__="9.9+cpu", backends=types.SimpleNamespace(cuda=types.SimpleNamespace(is_built=lambda: False))))
    with pytest.raises(feedring.UsageError, match="'cuda:0' needs a torch that was built with CUDA.*9.9.cpu"):
        next(iter(views_of()))


def test_the_device_finishes_where_the_configuration_says_so(views_of, fake, pictures, tmp_path):
    path = tmp_path / "feed.toml"
    path.write_text(f"""
[pool]
producers = 1
[feed.train]
data = "{pictures}"
batch_size = 4
finish = "device"
dtype = "float32"
layout = "NCHW"
transform = [{{ name = "Resize", size = [{SIDE}, {SIDE}] }}, {{ name = "ToDtype", dtype = "float32", scale = true }}]
""")
    batch = next(iter(views_of(path)))
    assert (batch["images"].dtype, batch["images"].strides) == ("float32", (3 * SIDE * SIDE, SIDE * SIDE, SIDE, 1))
    images, ids = fake.read(batch["images"]), fake.read(batch["sample_ids"])
    for row, sample in enumerate(ids.tolist()):
        expected = numpy.array(colour(sample), "float32") / numpy.float32(255)
        assert numpy.abs(images[row] - expected[:, None, None]).max() < 1e-6


def test_the_cpu_cannot_read_them(views_of, fake):
    with pytest.raises(BufferError, match="lies on a device"):
        memoryview(next(iter(views_of()))["images"])


def test_a_number_and_a_name_without_one_are_devices_as_in_torch(loader_of, fake):
    for device in (0, "cuda"):
        with loader_of(device=device, backend="numpy") as loader:
            assert loader.attach()._feed.device == CUDA
    for device in (None, "cpu"):
        with loader_of(device=device, backend="numpy") as loader:
            assert loader.attach()._feed.device == CPU
            assert next(iter(loader))["images"].shape[0] == 4


@pytest.mark.parametrize("devices, error", [(-1, "cudaErrorInsufficientDriver"), (0, "cudaErrorNoDevice")])
def test_no_driver_and_no_device_are_errors_in_cudas_words(views_of, fake, devices, error):
    fake.set(DEVICES=devices)
    with pytest.raises(feedring.RefusedError, match=f"^{error}"):
        views_of().attach()


def test_a_gpu_that_is_not_there_and_a_name_that_is_none(loader_of, fake):
    with pytest.raises(feedring.UsageError, match="there is no cuda:3: this process sees 1 CUDA device"):
        loader_of(device="cuda:3", backend="numpy").attach()
    with pytest.raises(feedring.UsageError, match="'cuda:x' is no CUDA device"):
        loader_of(device="cuda:x", backend="numpy").attach()


def test_a_runtime_that_cannot_be_loaded_is_named(loader_of, monkeypatch, tmp_path):
    monkeypatch.setenv("FEEDRING_CUDART", str(tmp_path / "libcudart.so"))
    with pytest.raises(feedring.RefusedError, match=f"CUDA runtime cannot be loaded: {tmp_path}"):
        loader_of(device="cuda:0", backend="numpy").attach()


def test_no_room_on_the_device_says_what_to_do_and_can_be_tried_again(views_of, fake):
    loader = views_of()
    batch_bytes = 4 * (3 * SIDE * SIDE + 8 + 8 + 1)
    fake.set(ROOM=8 * batch_bytes)
    iterator = iter(loader)
    held = []
    with pytest.raises(feedring.NotEnoughMemoryError, match="cudaErrorMemoryAllocation.*let batches"):
        for _ in range(100):
            held.append(next(iterator))
            if len(held) == 6:
                iterator = iter(loader)
    fake.wait()
    samples = check(fake, held[-1])
    held.clear()
    gc.collect()
    assert samples and check(fake, next(iter(loader)))


def test_what_a_failed_copy_says_comes_out_of_next(views_of, fake, python, pictures):
    # In a process of its own: nothing works on a device that has failed.
    said = python(f"""
import feedring
loader = feedring.Loader({str(pictures)!r}, batch_size=4, num_workers=1, transform={PLAIN!r}, device="cuda:0",
                         backend="numpy", timeout=5).attach()
try:
    for _ in range(20):
        loader._feed.next()
except feedring.InternalError as error:
    print("cudaErrorIllegalAddress" in str(error))
""", FAKE_CUDART_FAIL_COPY="2")
    assert said.split() == ["True"]


def test_another_device_is_refused_while_batches_of_the_first_live(loader_of, views_of, fake):
    first = views_of()
    batch = next(iter(first))
    first.close()
    with pytest.raises(feedring.RefusedError, match="still held, on another device"):
        loader_of(backend="numpy").attach()
    check(fake, batch)
    del batch
    gc.collect()
    assert next(iter(loader_of(backend="numpy")))["images"].shape[0] == 4
