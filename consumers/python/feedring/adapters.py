# SPDX-License-Identifier: Apache-2.0
"""A loader in the shape of a torch IterableDataset. Imports torch; nothing else of the package does at import."""

from __future__ import annotations

from torch.utils.data import IterableDataset

from .errors import UsageError


class LoaderDataset(IterableDataset):
    """Whole batches of a loader: DataLoader(this, batch_size=None, num_workers=0)."""

    def __init__(self, loader) -> None:
        super().__init__()
        self.loader = loader

    def set_epoch(self, epoch: int) -> None:
        """As Loader.set_epoch()."""
        self.loader.set_epoch(epoch)

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self):
        from torch.utils.data import get_worker_info

        if get_worker_info() is not None:
            raise UsageError("a loader cannot be read in a worker of a DataLoader: give num_workers=0, the decoding "
                             "goes on in feedring's own processes")
        return iter(self.loader)


def dataset_of(loader) -> LoaderDataset:
    """The loader as an IterableDataset."""
    return LoaderDataset(loader)
