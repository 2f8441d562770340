# SPDX-License-Identifier: Apache-2.0
"""The form of a data set's samples: which tensors they become in the ring, and how a batch of them gets their form back.

A sample is a nest of dicts, tuples and lists whose leaves are arrays (NumPy, torch), numbers, bools, str or bytes. Every
sample must have the form of sample 0. Needs NumPy; torch only where samples hold its tensors.
"""

from __future__ import annotations

import sys

from .errors import UsageError
from .picture_leaves import pixels_of

TEXT_BYTES = 1024  # of a str or bytes, unless max_shape says otherwise
_RESERVED = ("sample_ids", "valid", "status")
_LONGEST_NAME = 23
_MOST_TENSORS = 13
_DTYPES = ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bool")


class Leaf:
    """One value of every sample.

    `path` leads to it through the nest. `kind` is array, number, text, bytes or picture. `ragged`: its size differs from sample to
    sample, up to `shape`, and a second tensor says which it is. `transform`: of a picture, what producers do to it.
    """

    def __init__(self, path: list, kind: str, dtype: str, shape: list[int], ragged: bool, transform: list[dict] | None = None,
                 name: str = "") -> None:
        self.path, self.kind, self.dtype, self.shape, self.ragged, self.name = path, kind, dtype, shape, ragged, name
        self.transform = transform

    @property
    def called(self) -> str:
        return ".".join(map(str, self.path)) or "the sample"

    def tensors(self) -> list[dict]:
        """As a feed's configuration has them."""
        if self.kind == "picture":
            return [{"name": self.name, "transform": self.transform}]
        storage = "uint8" if self.kind in ("text", "bytes") else self.dtype
        made = [{"name": self.name, "dtype": storage, "shape": self.shape}]
        if self.ragged:
            made.append({"name": f"{self.name[:_LONGEST_NAME - 5]}_size", "dtype": "int64", "shape": [len(self.shape)]})
        return made

    def write(self, value: object, views: list) -> None:
        """Into zeroed memory: of the tensor, and of its size where it is ragged. Raises ValueError."""
        import numpy

        if self.kind == "picture":
            try:
                pixels = pixels_of(value)
            except ValueError as error:
                raise ValueError(f"{self.called} {error}") from None
            views[0].put(pixels, *pixels.shape[:2])
            return
        if self.kind in ("text", "bytes"):
            array = numpy.frombuffer(self._as_bytes(value), numpy.uint8)
        else:
            array = _as_array(value)
            if str(array.dtype) != _storage(self.dtype):
                raise ValueError(f"{self.called} is {array.dtype}, and {self.dtype} in sample 0")
        place = numpy.frombuffer(views[0], numpy.uint8 if self.kind in ("text", "bytes") else array.dtype)
        place = place.reshape(self.shape)
        if not self.ragged:
            if list(array.shape) != self.shape:
                raise ValueError(f"{self.called} has shape {tuple(array.shape)}, and {tuple(self.shape)} in sample 0; "
                                 f"where shapes differ, give max_shape={{{self.called!r}: …}}")
            place[...] = array
            return
        if array.ndim != len(self.shape) or any(a > most for a, most in zip(array.shape, self.shape)):
            raise ValueError(f"{self.called} has shape {tuple(array.shape)}, which does not fit into "
                             f"{tuple(self.shape)}; give max_shape={{{self.called!r}: …}}")
        place[tuple(slice(length) for length in array.shape)] = array
        numpy.frombuffer(views[1], numpy.int64)[...] = array.shape

    def read(self, arrays: list):
        """The batch's value: an array; of ragged ones (array, sizes); of texts a list."""
        if self.kind in ("text", "bytes"):
            return self.rows(arrays)
        return tuple(arrays) if self.ragged else arrays[0]

    def rows(self, arrays: list) -> list:
        """The values of the batch's samples, each as the data set gave it."""
        if not self.ragged:
            return arrays[0].tolist() if self.kind == "number" else list(arrays[0])
        rows = [row[tuple(map(slice, size))] for row, size in zip(arrays[0], arrays[1].tolist())]
        if self.kind == "array":
            return rows
        rows = [(row.cpu().numpy() if hasattr(row, "cpu") else row).tobytes() for row in rows]
        return [row.decode() for row in rows] if self.kind == "text" else rows

    def _as_bytes(self, value: object) -> bytes:
        if self.kind == "text" and isinstance(value, str):
            return value.encode()
        if self.kind == "bytes" and isinstance(value, bytes):
            return value
        raise ValueError(f"{self.called} is of type {type(value).__name__}, and {self.kind} in sample 0")


class SampleForm:
    """The leaves of a data set's samples, and the nest that they hang in."""

    def __init__(self, nest: object, leaves: list[Leaf]) -> None:
        self.nest = nest  # dicts, ("tuple", …), ("list", …), and numbers of leaves
        self.leaves = leaves

    @classmethod
    def of(cls, sample: object, max_shape: dict | None = None, transforms: dict[str, list[dict]] | None = None) -> SampleForm:
        """That of `sample`. For a leaf's path, joined by dots, `max_shape` has the largest shape (of text: the most bytes),
        and `transforms` what a picture goes through. Raises UsageError for what cannot be a tensor."""
        leaves: list[Leaf] = []
        transforms = transforms or {}
        most = {name: [size] if isinstance(size, int) else list(size) for name, size in (max_shape or {}).items()}
        nest = _walk(sample, [], most, transforms, leaves)
        for argument, named in (("max_shape", most), ("transform", transforms)):
            unknown = set(named) - {leaf.called for leaf in leaves}
            if unknown:
                raise UsageError(f"{argument} names {sorted(unknown)[0]!r}, and the samples have "
                                 f"{', '.join(leaf.called for leaf in leaves)}")
        if not leaves:
            raise UsageError("sample 0 of the data set is empty: there is nothing to make a batch of")
        taken = set(_RESERVED)
        for number, leaf in enumerate(leaves):
            name = leaf.called if leaf.path else "value"
            if len(name.encode()) > _LONGEST_NAME - 5 or name in taken:
                name = f"value{number}"
            leaf.name = name
            taken.update(tensor["name"] for tensor in leaf.tensors())
        form = cls(nest, leaves)
        if len(form.tensors()) > _MOST_TENSORS:
            raise UsageError(f"a sample becomes {len(form.tensors())} tensors, and a batch holds {_MOST_TENSORS}: put "
                             "numbers together into arrays")
        return form

    def tensors(self) -> list[dict]:
        """As a feed's configuration has them."""
        return [tensor for leaf in self.leaves for tensor in leaf.tensors()]

    def write(self, sample: object, views: list) -> None:
        """Writes the sample into zeroed memory, a view for each of tensors(). Raises ValueError where it has another
        form."""
        for leaf, own in self._each(views):
            leaf.write(_at(sample, leaf.path), own)
        _demand_no_more(sample, self.nest, "the sample")

    def read(self, arrays: list):
        """A batch in the samples' form, from an array for each of tensors(). Tuples become lists, as torch's
        default_collate makes them."""
        return _hang(self.nest, [leaf.read(own) for leaf, own in self._each(arrays)], list)

    def samples(self, arrays: list) -> list:
        """The samples of a batch, each in the form in which the data set gave it."""
        columns = [leaf.rows(own) for leaf, own in self._each(arrays)]
        return [_hang(self.nest, row, tuple) for row in zip(*columns)]

    def _each(self, arrays: list):
        at = 0
        for leaf in self.leaves:
            count = 2 if leaf.ragged else 1
            yield leaf, arrays[at:at + count]
            at += count


def _walk(value: object, path: list, most: dict, transforms: dict, leaves: list[Leaf]):
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise UsageError(f"a dict in sample 0 has the key {key!r}: keys are str")
        return {key: _walk(each, [*path, key], most, transforms, leaves) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return (kind, *[_walk(each, [*path, number], most, transforms, leaves) for number, each in enumerate(value)])
    called = ".".join(map(str, path)) or "the sample"
    shape = most.get(called)
    if called in transforms:
        if shape is not None:
            raise UsageError(f"{called} has a transform, which says its size: leave it out of max_shape")
        try:
            pixels_of(value)
        except ValueError as error:
            raise UsageError(f"{called} of sample 0 {error}") from None
        leaf = Leaf(path, "picture", "", [], False, transforms[called])
    elif isinstance(value, (str, bytes)):
        leaf = Leaf(path, "text" if isinstance(value, str) else "bytes", "uint8", shape or [TEXT_BYTES], True)
    else:
        try:
            array = _as_array(value)
        except ValueError as error:
            raise UsageError(f"{called} of sample 0 {error}: let the data set give arrays, numbers or text, or "
                             "a picture that a transform follows") from None
        if not all(array.shape) and shape is None:
            raise UsageError(f"{called} of sample 0 has shape {tuple(array.shape)}, which holds nothing: give "
                             f"max_shape={{{called!r}: …}}")
        kind = "number" if isinstance(value, (bool, int, float)) else "array"
        leaf = Leaf(path, kind, _dtype_of(value, array), shape or list(array.shape), shape is not None)
    leaves.append(leaf)
    return len(leaves) - 1


def _as_array(value: object):
    """NumPy's view of a leaf. Raises ValueError, as the end of a sentence."""
    import numpy

    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        torch = sys.modules["torch"]
        value = value.detach().cpu()
        return (value.view(torch.int16) if value.dtype == torch.bfloat16 else value).numpy()
    if isinstance(value, (bool, int, float)):  # torch's default_collate makes these of them
        return numpy.asarray(value, "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float64")
    if not isinstance(value, (numpy.ndarray, numpy.generic)):
        raise ValueError(f"is a {type(value).__module__}.{type(value).__qualname__}")
    array = numpy.asarray(value)
    if str(array.dtype) not in _DTYPES:
        raise ValueError(f"has elements of type {array.dtype}")
    return array


def _dtype_of(value: object, array) -> str:
    return "bfloat16" if str(getattr(value, "dtype", "")) == "torch.bfloat16" else str(array.dtype)


def _storage(dtype: str) -> str:
    return "int16" if dtype == "bfloat16" else dtype


def _at(sample: object, path: list):
    for step in path:
        try:
            sample = sample[step]
        except (KeyError, IndexError, TypeError):
            raise ValueError(f"it has no {'.'.join(map(str, path))}, and sample 0 has") from None
    return sample


def _demand_no_more(sample: object, nest: object, called: str) -> None:
    if isinstance(nest, int):
        return
    parts = nest if isinstance(nest, dict) else dict(enumerate(nest[1:]))
    if len(sample) != len(parts):
        raise ValueError(f"{called} has {len(sample)} parts, and {len(parts)} in sample 0")
    for key, each in parts.items():
        _demand_no_more(sample[key], each, str(key))


def _hang(nest: object, values: list, pair: type):
    if isinstance(nest, int):
        return values[nest]
    if isinstance(nest, dict):
        return {key: _hang(each, values, pair) for key, each in nest.items()}
    return (pair if nest[0] == "tuple" else list)(_hang(each, values, pair) for each in nest[1:])
