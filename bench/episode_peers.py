#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tasks a second of other few-shot loaders, 5-way 1-shot 15-query at 84 px, for episodes.py. JSON out.

usage: episode_peers.py torchmeta|learn2learn DATA_DIR PEERS_DIR SECONDS

DATA_DIR has a folder of JPEGs for each class; for what reads no files its size alone counts. Each loader runs in this
process, and with one and two workers, as a DataLoader. `./dev bench episodes` installs them in PEERS_DIR; of learn2learn only the
part that loads data, because the rest wants packages that are long gone.
"""
import importlib.machinery
import json
import pathlib
import sys
import time
import types

import torch

WAYS, SHOTS, QUERIES, SIDE, META_BATCH = 5, 1, 15, 84, 4


def rate(batches, tasks_a_batch, seconds):
    iterator = iter(batches)
    for _ in range(3):
        next(iterator)  # workers have started
    start, count = time.monotonic(), 0
    while time.monotonic() - start < seconds:
        next(iterator)
        count += tasks_a_batch
    return count / (time.monotonic() - start)


def without_downloads():
    """What they import for those, and nothing here needs."""
    for name in ("requests", "tqdm"):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__spec__ = importlib.machinery.ModuleSpec(name, None)
    sys.modules["tqdm"].tqdm = None


def torchmeta(files, seconds):
    without_downloads()
    import torchvision.datasets.utils

    torchvision.datasets.utils._get_confirm_token = torchvision.datasets.utils._save_response_content = None  # once were there
    from PIL import Image
    from torchmeta.transforms import Categorical, ClassSplitter
    from torchmeta.utils.data import BatchMetaDataLoader, ClassDataset, CombinationMetaDataset, Dataset, SubsetTask
    from torchvision.transforms.functional import pil_to_tensor

    SubsetTask.__getitems__ = lambda task, indices: [task[index] for index in indices]  # the current torch demands it

    class OfOneClass(Dataset):
        def __init__(self, index, read, count, target_transform):
            super().__init__(index, target_transform=target_transform)
            self.read, self.count = read, count

        def __len__(self):
            return self.count

        def __getitem__(self, index):
            return self.read(self.index, index), self.target_transform(self.index)

    class Classes(ClassDataset):
        def __init__(self, read):
            super().__init__(meta_train=True)
            self.read = read

        num_classes = len(files)

        def __getitem__(self, index):
            return OfOneClass(index, self.read, len(files[index]), self.get_target_transform(index))

    pictures = random_pictures(files).view(len(files), len(files[0]), 3, SIDE, SIDE)
    ways_to_read = {
        "jpeg": lambda label, number: pil_to_tensor(Image.open(files[label][number]).convert("RGB")),
        "ram": lambda label, number: pictures[label, number],
        "ram_float32": lambda label, number: pictures[label, number].float().div(255),
    }
    found = {}
    for name, read in ways_to_read.items():
        for workers in (0, 1, 2):
            tasks = CombinationMetaDataset(Classes(read), num_classes_per_task=WAYS, target_transform=Categorical(WAYS),
                                           dataset_transform=ClassSplitter(shuffle=True, num_train_per_class=SHOTS, num_test_per_class=QUERIES))
            loader = BatchMetaDataLoader(tasks, batch_size=META_BATCH, num_workers=workers)
            first = next(iter(loader))
            assert first["test"][0].shape == (META_BATCH, WAYS * QUERIES, 3, SIDE, SIDE)
            found[f"{name}_{workers}"] = rate(loader, META_BATCH, seconds)
    return found


def learn2learn(files, seconds):
    without_downloads()
    from learn2learn.data import MetaDataset, Taskset
    from learn2learn.data.transforms import ConsecutiveLabels, FusedNWaysKShots, LoadData, RemapLabels

    labels = torch.arange(len(files)).repeat_interleave(len(files[0]))
    samples = MetaDataset(torch.utils.data.TensorDataset(random_pictures(files), labels))
    tasks = Taskset(samples, num_tasks=-1, task_transforms=[FusedNWaysKShots(samples, n=WAYS, k=SHOTS + QUERIES), LoadData(samples),
                                                                 RemapLabels(samples), ConsecutiveLabels(samples)])
    assert tasks.sample()[0].shape == (WAYS * (SHOTS + QUERIES), 3, SIDE, SIDE)
    found = {"ram_0": rate(tasks, 1, seconds)}
    for workers in (1, 2):
        loader = torch.utils.data.DataLoader(_Endless(tasks), batch_size=None, num_workers=workers)
        found[f"ram_{workers}"] = rate(loader, 1, seconds)
    return found


class _Endless(torch.utils.data.IterableDataset):
    """Its tasks for ever, in workers too."""

    def __init__(self, tasks):
        self.tasks = tasks

    def __iter__(self):
        return iter(self.tasks)


def random_pictures(files):
    return torch.randint(0, 256, (sum(map(len, files)), 3, SIDE, SIDE), dtype=torch.uint8)


def main():
    library, data, peers, seconds = sys.argv[1:5]
    sys.path.insert(0, peers)
    torch.set_num_threads(1)
    files = [sorted(folder.iterdir()) for folder in sorted(pathlib.Path(data).iterdir())]
    print(json.dumps({"torchmeta": torchmeta, "learn2learn": learn2learn}[library](files, float(seconds))))


if __name__ == "__main__":
    main()
