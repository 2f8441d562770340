# SPDX-License-Identifier: Apache-2.0
"""torch's DataLoader arguments, each honoured or refused. docs/python.md has the table."""

from __future__ import annotations

import os

from .errors import UsageError

# Given to a DataLoader, these are code or objects of the caller's process; a pool of decoders cannot run them.
_REFUSED = {
    "sampler": "the order comes from the feed's plan; shuffle, seed, weights and samples_per_epoch choose it",
    "batch_sampler": "the order comes from the feed's plan; batch_size, shuffle, seed and drop_last choose it",
    "collate_fn": "batches are decoded where they are used, nothing is collated; change the batch that you get",
    "worker_init_fn": "no Python runs in the producers",
    "multiprocessing_context": "producers are processes of a pool, not children of this one",
    "generator": "no generator of the program is read or advanced; give seed=",
}


def refuse_what_cannot_be_done(arguments: dict, kind: type) -> None:
    """Raises UsageError for an argument of torch.utils.data.DataLoader that a feed cannot honour, TypeError for one
    that nobody knows; `kind` is the class that was called."""
    for name, why in _REFUSED.items():
        if arguments.pop(name, None) is not None:
            raise UsageError(f"{name} cannot be honoured: {why}")
    if arguments.pop("pin_memory_device", ""):
        raise UsageError("pin_memory_device cannot be honoured: pinned memory is the current device's; give device=")
    if arguments.pop("in_order", True) is not True:
        raise UsageError("in_order=False cannot be honoured: batches come in the plan's order, and resuming needs it")
    if arguments:
        import difflib
        import inspect

        name = next(iter(arguments))
        known = [p for each in kind.__mro__[:-1] for p in inspect.signature(each).parameters]
        near = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise TypeError(f"{kind.__name__}() got an unexpected keyword argument '{name}'{hint}")


def whole_number(name: str, value: object, least: int) -> int | None:
    """`value` as int, None for None. Raises UsageError for anything but a whole number from `least` on, of 64 bits."""
    if value is None:
        return None
    try:
        number = value.__index__()
    except AttributeError:
        number = None
    if number is None or isinstance(value, bool) or number < least:
        raise UsageError(f"{name}={value!r} is no whole number from {least} on")
    if number >= 2**64:
        raise UsageError(f"{name}={value!r} is more than 64 bits hold")
    return number


def table_of(*, batch_size: object, shuffle: object, drop_last: object, seed: object, transform: object, views: object, column_kinds: object, split: object,
             classes: object, files: object, limit: object, weights: object, samples_per_epoch: object, cache: object,
             accept_damaged: object, exif_orientation: object, background: object, on_error: object, slots: object, num_workers: object, prefetch_factor: object,
             persistent_workers: object) -> dict:
    """What the arguments say of the feed, as keys of its table in the configuration; what is None is left out."""
    table = {"batch_size": whole_number("batch_size", batch_size, 1), "seed": whole_number("seed", seed, 0),
             "slots": whole_number("slots", slots, 1), "limit": whole_number("limit", limit, 1),
             "samples_per_epoch": whole_number("samples_per_epoch", samples_per_epoch, 1), "split": split,
             "classes": _names(classes), "files": _names(files), "weights": _weights(weights)}
    _demand_flags(shuffle=shuffle, drop_last=drop_last, persistent_workers=persistent_workers)
    table["shuffle"] = shuffle
    if drop_last is not None:
        table["remainder"] = "drop" if drop_last else "pad"
    if persistent_workers is not None:
        # The processes stay in any case; without, they leave the next epoch alone until it begins.
        table["repeat"] = persistent_workers
    if cache not in (None, "none", "decoded"):
        raise UsageError(f"cache={cache!r} is neither 'none' nor 'decoded'")
    table["cache"] = cache
    if on_error is not None:
        if on_error not in ("raise", "replace", "zero"):
            raise UsageError(f"on_error={on_error!r} is none of 'raise', 'replace' and 'zero'")
        table["on_error"] = on_error
    if whole_number("num_workers", num_workers, 0) == 0:
        raise UsageError("num_workers=0 cannot be honoured: nothing is decoded in the training process; leave it out "
                         "for as many producers as there are cores")
    if prefetch_factor is not None:
        if slots is not None:
            raise UsageError("prefetch_factor and slots say the same: leave one out")
        # As torch counts: batches a worker has ahead; and one that the program holds.
        table["slots"] = whole_number("prefetch_factor", prefetch_factor, 1) * (num_workers or 1) + 1
    table.update(table_of_pictures(transform=transform, accept_damaged=accept_damaged,
                                   exif_orientation=exif_orientation, background=background))
    if views is not None:
        if transform is not None:
            raise UsageError("views say their transforms: leave out transform")
        table["views"] = _views(views)
    if column_kinds is not None:
        if not isinstance(column_kinds, dict) or not all(isinstance(kind, str) for kind in column_kinds.values()):
            raise UsageError(f"column_kinds={column_kinds!r} is no dict such as {{\"target\": \"float[4]\"}}")
        table["columns"] = {str(name): kind for name, kind in column_kinds.items()}
    return {key: value for key, value in table.items() if value is not None}


def table_of_pictures(*, transform: object, accept_damaged: object, exif_orientation: object, background: object) -> dict:
    """The same of how single pictures are made."""
    _demand_flags(accept_damaged=accept_damaged, exif_orientation=exif_orientation)
    table = {"accept_damaged": accept_damaged, "exif_orientation": exif_orientation}
    if background is not None:
        table["background"] = _colour(background)
    if transform is not None:
        from .transforms import describe

        table["transform"] = describe(transform)
    return {key: value for key, value in table.items() if value is not None}


def _demand_flags(**flags: object) -> None:
    for name, value in flags.items():
        if value is not None and not isinstance(value, bool):
            raise UsageError(f"{name}={value!r} is neither True nor False")


def _views(views: object) -> dict:
    from .transforms import describe

    if not isinstance(views, dict) or not all(isinstance(view, dict) and "transform" in view for view in views.values()):
        raise UsageError(f"views={views!r} is no dict of views such as {{\"global\": {{\"count\": 2, \"transform\": […]}}}}")
    return {str(name): {**view, "transform": describe(view["transform"])} for name, view in views.items()}


def _names(names: object) -> object:
    """A list of names as a list; a path to one as it stands, but absolute, since a pool may run elsewhere."""
    if names is None or isinstance(names, (str, os.PathLike)):
        path = None if names is None else os.fsdecode(names)
        return path if path is None or path.startswith("builtin:") else os.path.abspath(path)
    return [str(name) for name in names]


def _weights(weights: object) -> object:
    if weights is None or isinstance(weights, str):
        return weights
    try:
        return {str(name): float(weight) for name, weight in dict(weights).items()}
    except (TypeError, ValueError):
        raise UsageError('weights is "balanced", the name of a column, or a dict from names of classes to numbers; weights '
                         "of samples belong into a column of a manifest") from None


def _colour(background: object) -> list[int]:
    try:
        colour = [whole_number("background", value, 0) for value in background]
    except TypeError:
        colour = []
    if len(colour) != 3 or any(value is None or value > 255 for value in colour):
        raise UsageError(f"background={background!r} is not red, green and blue from 0 to 255")
    return colour
