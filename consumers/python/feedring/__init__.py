# SPDX-License-Identifier: Apache-2.0
"""feedring feeds distributed PyTorch training with images, decoded by a pool of processes into shared memory.

    import feedring

    with feedring.Loader("photos/train", batch_size=64) as loader:
        for epoch in range(10):
            for batch in loader:
                step(batch["images"], batch["labels"])   # (64, 3, 224, 224) uint8, (64,) int64

Needs neither torch nor NumPy to be imported; batches are torch tensors where torch is installed, else NumPy arrays.
"""

from ._command import command, main
from ._core import __version__
from .datasets import DatasetLoader
from .decoding import decode
from .episodes import EpisodeLoader
from .errors import (DataError, DeadlineError, Error, ForkedError, HeldError, InternalError, NotEnoughMemoryError,
                     PoolGoneError, RefusedError, UsageError)
from .evaluation import Evaluation, Summary, evaluate, paired_difference
from .helpers import cifar_fs, fc100, miniimagenet, omniglot, tieredimagenet
from .loader import Loader
from .tasks import TaskLoader, sinusoid

__all__ = ["DataError", "DatasetLoader", "DeadlineError", "EpisodeLoader", "Error", "Evaluation", "ForkedError",
           "HeldError", "InternalError", "Loader", "NotEnoughMemoryError", "PoolGoneError", "RefusedError",
           "Summary", "TaskLoader", "UsageError", "__version__", "cifar_fs", "command", "decode", "evaluate", "main",
           "miniimagenet", "omniglot", "paired_difference", "sinusoid", "tieredimagenet"]
