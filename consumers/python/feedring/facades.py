# SPDX-License-Identifier: Apache-2.0
"""What frameworks reach for through a DataLoader: its sampler's set_epoch(), and lengths."""

from __future__ import annotations


class Samples:
    """The samples of a loader as a sampler or a data set is asked about them."""

    def __init__(self, loader) -> None:
        self._loader = loader

    def set_epoch(self, epoch: int) -> None:
        """As Loader.set_epoch()."""
        self._loader.set_epoch(epoch)

    def __len__(self) -> int:
        """Samples of the whole data set, over all ranks."""
        return self._loader.samples


class BatchSampler:
    """The steps of a loader as a batch sampler is asked about them."""

    def __init__(self, loader) -> None:
        self._loader = loader
        self.sampler = Samples(loader)

    @property
    def batch_size(self) -> int:
        return self._loader.batch_size

    @property
    def drop_last(self) -> bool:
        return self._loader.drop_last

    def set_epoch(self, epoch: int) -> None:
        """As Loader.set_epoch()."""
        self._loader.set_epoch(epoch)

    def __len__(self) -> int:
        """Steps of an epoch."""
        return len(self._loader)
