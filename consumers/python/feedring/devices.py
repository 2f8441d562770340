# SPDX-License-Identifier: Apache-2.0
"""GPUs by the names that torch gives them, and the stream on which the program works there."""

from __future__ import annotations

import sys

from .errors import UsageError

_CUDA = 2  # DLPack's number


def cuda_name(device: object) -> str:
    """'cuda' or 'cuda:N' where the device is a GPU, to which feedring copies by itself, else ''. It may be a text, a
    torch.device, or, as torch takes it, the number alone."""
    if isinstance(device, int) and not isinstance(device, bool):
        return f"cuda:{device}"
    name = str(device)
    return name if name.partition(":")[0] == "cuda" else ""


def load_torchs_runtime() -> None:
    """Imports torch where it is installed: it brings a CUDA runtime, which is then the one that feedring finds."""
    try:
        import torch  # noqa: F401
    except ImportError:
        pass


def current_stream(device: tuple[int, int]) -> int:
    """Handle of torch's current stream, in this thread, of a device in DLPack's numbers. 0, the default stream, for
    main memory, and as long as nobody has imported torch.

    Raises UsageError where this torch knows no GPUs.
    """
    kind, index = device
    torch = sys.modules.get("torch") if kind == _CUDA else None
    if torch is None:
        return 0
    if not torch.backends.cuda.is_built():
        raise UsageError(f"device='cuda:{index}' needs a torch that was built with CUDA, and torch {torch.__version__} "
                         "was not")
    return torch.cuda.current_stream(index).cuda_stream
