# SPDX-License-Identifier: Apache-2.0
"""Pictures within a data set's samples, which feedring's transforms follow: in C++, in the producer, into the slot."""

from __future__ import annotations

from .errors import UsageError
from .transforms import describe

_WHAT = "a PIL image, a uint8 array (H, W, 3) or (H, W), or a uint8 tensor (C, H, W)"


def transforms_of(transform: object, sample: object) -> dict[str, list[dict]]:
    """Which picture of the sample goes through what: paths, joined by dots, and feedring's lists of transforms.

    `transform` is as Loader takes it, for the only picture, or a dict of these by path. Raises UsageError.
    """
    if transform is None:
        return {}
    if isinstance(transform, dict) and not isinstance(transform.get("name"), str):
        return {str(path): describe(each) for path, each in transform.items()}
    found = [path for path, value in _leaves(sample, "") if _is_colour_picture(value)]
    if not found:
        raise UsageError(f"transform is for pictures, and sample 0 has none: {_WHAT}")
    if len(found) > 1:
        raise UsageError(f"sample 0 has several pictures, {', '.join(found)}: say which, as in transform={{{found[0]!r}: …}}")
    return {found[0]: describe(transform)}


def pixels_of(value: object):
    """A contiguous uint8 array (H, W, 3) of a picture. Raises ValueError, as the end of a sentence."""
    import numpy

    if _is_pil(value):
        return numpy.asarray(value.convert("RGB"))
    if _is_tensor(value):
        value = value.detach().cpu().numpy()
        value = value.transpose(1, 2, 0) if value.ndim == 3 else value
    if not isinstance(value, numpy.ndarray) or value.dtype != numpy.uint8:
        raise ValueError(f"is of type {type(value).__name__} and no picture: {_WHAT}")
    if value.ndim == 2:
        value = value[:, :, None]
    if value.ndim != 3 or value.shape[2] not in (1, 3):
        raise ValueError(f"has shape {value.shape} and is no picture: {_WHAT}")
    return numpy.ascontiguousarray(numpy.broadcast_to(value, (*value.shape[:2], 3)))


def _is_pil(value: object) -> bool:
    return any(kind.__module__ == "PIL.Image" and kind.__name__ == "Image" for kind in type(value).__mro__)


def _is_tensor(value: object) -> bool:
    return type(value).__module__.partition(".")[0] in ("torch", "torchvision") and hasattr(value, "detach")


def _is_colour_picture(value: object) -> bool:
    shape = tuple(getattr(value, "shape", ()))
    is_bytes = len(shape) == 3 and str(getattr(value, "dtype", "")).rsplit(".", maxsplit=1)[-1] == "uint8"
    return _is_pil(value) or is_bytes and shape[0 if _is_tensor(value) else 2] == 3


def _leaves(value: object, path: str):
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, (tuple, list)):
        parts = enumerate(value)
    else:
        yield path or "the sample", value
        return
    for key, each in parts:
        yield from _leaves(each, f"{path}.{key}" if path else str(key))
