# SPDX-License-Identifier: Apache-2.0
"""Single pictures with the pixels of a loader, without a pool."""

from __future__ import annotations

import functools
import json
import os

from .arguments import table_of_pictures, whole_number
from .configuration import ConfigurationFile, Source
from .errors import DataError, UsageError
from .tensors import arrays_of, choose_backend


def decode(picture, transform: object = None, *, config: str | os.PathLike | None = None, feed: str = "",
           view: str = "", number: int = 0, accept_damaged: bool | None = None, exif_orientation: bool | None = None,
           background: tuple[int, int, int] | None = None, seed: int = 0, epoch: int = 0, ordinal: int = 0,
           backend: str | None = None):
    """The pixels of a picture, byte for byte those that a loader delivers for it: (3, H, W), as a torch tensor where torch
    is installed, else as a NumPy array. They lie channels last, as in a batch (but for a configuration's layout = "NCHW"),
    and are yours.

    For inference and serving, which shall see what training saw. Any thread may call it; others run meanwhile.

    Args:
        picture: a file's path, or its bytes (anything with a buffer).
        transform: as of Loader. None: the whole picture at its own size, as 8 bit RGB.
        config, feed: in the place of transform and the three below: as this feed of a configuration (`feed.toml`) has it, by
            default its first.
        view, number: of a feed with views: which view, by default the first, and which picture of its count.
        accept_damaged, exif_orientation, background: as of Loader.
        seed, epoch, ordinal: whose random choices the transform makes: those of a loader with this seed for the sample at
            this place of this epoch. The default is always the same.
        backend: "torch" or "numpy".

    Raises:
        DataError: no picture, or a damaged one; its `path` where it was given. UsageError: wrong arguments.
    """
    given = table_of_pictures(transform=transform, accept_damaged=accept_damaged, exif_orientation=exif_orientation,
                              background=background)
    if config is not None and given:
        raise UsageError(f"config says how pictures are made: leave out {', '.join(given)}")
    if config is None and (feed or view):
        raise UsageError("feed and view are of a configuration: give config")
    path = None
    if isinstance(picture, (str, os.PathLike)):
        path = os.fsdecode(picture)
        try:
            with open(path, "rb") as file:
                picture = file.read()
        except OSError as error:
            raise DataError(f"{path}: {error.strerror}", path=path) from error
    if config is None:
        spec = _spec_of(json.dumps(given))
    else:
        config = os.fsdecode(config)
        spec = _spec_in(config, _version(config), feed, view)
    try:
        made = spec.decode(
            picture, seed=whole_number("seed", seed, 0), epoch=whole_number("epoch", epoch, 0),
            ordinal=whole_number("ordinal", ordinal, 0), number=whole_number("number", number, 0))
    except DataError as error:
        reason = str(error) if config is not None else str(error).partition("': ")[2]  # of a feed that nobody knows
        raise DataError(f"{path or 'the picture'}: {reason}", path=path) from None
    return _array(*made, choose_backend(backend))


@functools.lru_cache(maxsize=32)
def _spec_of(table: str):
    from ._producer import PictureSpec

    # Its data are not looked at.
    with ConfigurationFile(Source.without_data("picture", {"data": "/", **json.loads(table)})) as file:
        return PictureSpec.of_feed(file.path)


@functools.lru_cache(maxsize=32)
def _spec_in(config: str, version: tuple, feed: str, view: str):
    from ._producer import PictureSpec

    return PictureSpec.of_feed(config, feed, view)


def _version(config: str) -> tuple:
    try:
        info = os.stat(config)
    except OSError:
        return ()  # of_feed says why
    return info.st_mtime_ns, info.st_size


def _array(pixels: bytearray, dtype: str, shape: tuple[int, int, int], planar: bool, backend: str):
    if planar:
        _, height, width = shape
        strides = (height * width, width, 1)
    else:
        height, width, _ = shape
        strides = (1, 3 * width, 3)
    tensor = ("picture", dtype, (3, height, width), strides, 0)
    return arrays_of(pixels, [tensor], backend)["picture"]
