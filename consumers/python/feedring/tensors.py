# SPDX-License-Identifier: Apache-2.0
"""From a batch's memory to the user's arrays: torch tensors or NumPy arrays, without a copy."""

from __future__ import annotations

import math

from .devices import cuda_name
from .errors import UsageError

BACKENDS = ("torch", "numpy")


def choose_backend(name: str | None) -> str:
    """'torch' where it is installed, else 'numpy', unless one is named."""
    if name is not None and name not in BACKENDS:
        raise UsageError(f"backend={name!r} is neither 'torch' nor 'numpy'")
    import importlib.util

    if name is None:
        name = "torch" if importlib.util.find_spec("torch") else "numpy"
    if importlib.util.find_spec(name) is None:
        raise UsageError(f"batches as {name} arrays need the package {name}: pip install {name}")
    return name


class Torch:
    """torch tensors over a batch where it lies, in main memory or on a GPU; on other devices, copies."""

    def __init__(self, device: object, pin_memory: bool) -> None:
        import torch
        from torch.utils.dlpack import from_dlpack

        self._from_dlpack = from_dlpack
        self._device = None if device is None or cuda_name(device) else _device_of(device)
        if self._device is not None and self._device.type == "cpu":
            self._device = None
        self._pin = pin_memory and self._device is None and not cuda_name(device)
        if self._pin and not torch.cuda.is_available():
            import warnings

            warnings.warn("pin_memory=True has no effect: torch sees no accelerator for which memory could be pinned",
                          stacklevel=3)
            self._pin = False

    def __call__(self, batch, names: list[str], rows: int) -> list:
        tensors = list(map(self._from_dlpack, batch.capsules(names, rows)))
        if self._device is not None:
            return [tensor.to(self._device) for tensor in tensors]
        if self._pin:
            return [tensor.pin_memory() for tensor in tensors]
        return tensors


def _device_of(name: object):
    import torch

    try:
        return torch.device(name)
    except (RuntimeError, TypeError) as error:
        raise UsageError(f"device={name!r} is no device of torch: {error}") from None


def arrays_of(memory: bytearray, tensors: list, backend: str, device: object = None, without: tuple = ()) -> dict:
    """Arrays over memory that nobody else has, by name, but for the names in `without`; each tensor is (name, element type,
    shape, strides in elements, offset in bytes). With torch on this device."""
    arrays = {}
    for name, dtype, shape, strides, offset in tensors:
        if name in without:
            continue
        arrays[name] = (_torch_array if backend == "torch" else _numpy_array)(memory, dtype, shape, strides, offset)
        if backend == "torch" and device is not None:
            arrays[name] = arrays[name].to(_device_of(device))
    return arrays


def _torch_array(memory, dtype, shape, strides, offset):
    import torch

    flat = torch.frombuffer(memory, dtype=getattr(torch, dtype), offset=offset, count=math.prod(shape))
    return flat.as_strided(shape, strides)


def _numpy_array(memory, dtype, shape, strides, offset):
    import numpy

    if dtype == "bfloat16":
        raise UsageError("NumPy has no bfloat16: give backend=\"torch\", or another dtype")
    itemsize = numpy.dtype(dtype).itemsize
    return numpy.ndarray(shape, dtype, memory, offset, [itemsize * stride for stride in strides])


class Numpy:
    """Read-only NumPy arrays."""

    def __init__(self, device: object, pin_memory: bool) -> None:
        import numpy

        if device is not None and str(device) != "cpu":
            raise UsageError(f"device={str(device)!r} needs torch: NumPy arrays are in main memory")
        if pin_memory:
            raise UsageError("pin_memory=True needs torch: it is for its copies to an accelerator")
        self._asarray = numpy.asarray

    def __call__(self, batch, names: list[str], rows: int) -> list:
        try:
            # By way of a memoryview: of an object whose buffer is refused, NumPy makes an array of objects.
            return [self._asarray(memoryview(batch.view(name, rows))) for name in names]
        except BufferError as error:
            raise UsageError(f"this feed's images cannot become NumPy arrays: {error}") from error


def converter(backend: str, device: object, pin_memory: bool):
    """What makes a list of arrays of (batch, names, rows)."""
    return (Torch if backend == "torch" else Numpy)(device, pin_memory)
