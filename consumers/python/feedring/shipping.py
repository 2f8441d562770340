# SPDX-License-Identifier: Apache-2.0
"""A data set on its way from a rank to the producers: packed once when the pool starts, unpacked once in each of them."""

from __future__ import annotations

import os
import sys

from .errors import UsageError
from .sample_form import SampleForm

producing = False  # this process is a producer


def named(name: str):
    """What `pkg.module:factory` names: called where it can be, and is no data set yet."""
    import importlib

    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise UsageError(f"dataset={name!r} is no import path: write 'package.module:factory'")
    try:
        found = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"dataset={name!r} cannot be imported: {error}") from None
    is_data = hasattr(found, "__getitem__") and not isinstance(found, type)
    return found if is_data else found()


def pack(dataset: object, form: SampleForm, order: list[int] | None) -> tuple[dict, bytes]:
    """(options, attachment) of the feed. `dataset`: an import path, or an object, which is pickled."""
    import pickle

    options = {"path": [entry or os.getcwd() for entry in sys.path]}
    if isinstance(dataset, str):
        options["factory"] = dataset
        return options, pickle.dumps((None, form, order))
    try:
        attachment = pickle.dumps((dataset, form, order))
    except Exception as error:  # whatever the object's own __reduce__ raises
        attachment = _by_value((dataset, form, order), error)
    if b"__main__" in attachment:
        # Of this program's own file. By value where there is a library for it; else that file is imported, as
        # multiprocessing's spawn does, which is why it must guard what it runs.
        try:
            attachment = _by_value((dataset, form, order), None)
        except UsageError:
            main = getattr(sys.modules["__main__"], "__file__", None)
            if main is None:
                raise UsageError("the data set is defined in a notebook or at a prompt: move it into a module, or "
                                 "install cloudpickle") from None
            options["main"] = os.path.abspath(main)
    return options, attachment


def _by_value(what: object, error: Exception | None) -> bytes:
    try:
        import cloudpickle
    except ImportError:
        why = f" ({type(error).__name__}: {error})" if error else ""
        raise UsageError(f"the data set cannot be sent to the producers{why}: name it by import path, "
                         "'package.module:factory', or install cloudpickle") from None
    try:
        return cloudpickle.dumps(what)
    except Exception as failure:
        raise UsageError(f"the data set cannot be sent to the producers ({type(failure).__name__}: {failure}): name it "
                         "by import path, 'package.module:factory'") from None


def unpack(options: dict, attachment: bytes) -> tuple:
    """(dataset, form, order), in a producer."""
    import pickle

    sys.path[:] = options["path"]
    if "main" in options:
        import runpy
        import types

        main = types.ModuleType("__mp_main__")
        main.__dict__.update(runpy.run_path(options["main"], run_name="__mp_main__"))
        sys.modules["__main__"] = sys.modules["__mp_main__"] = main
    dataset, form, order = pickle.loads(attachment)
    return named(options["factory"]) if dataset is None else dataset, form, order
