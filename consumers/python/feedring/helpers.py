# SPDX-License-Identifier: Apache-2.0
"""Loaders by the names and arguments of TorchMeta's helpers, for data sets in class folders, manifests, packs or archives."""

from __future__ import annotations

import os

from .episodes import EpisodeLoader
from .errors import UsageError

_SPLITS = {"train": ("train",), "val": ("val", "valid", "validation"), "test": ("test",)}
# What feeds read as it lies, behind the name of the split: a manifest, a pack, an archive.
_READ = ("", ".tsv", ".csv", ".jsonl", ".tar", ".zip")
# What has to be imported first: how names end, and what that is.
_IMPORTED = ((".hdf5", "TorchMeta's HDF5"), (".pkl", "a pickle"), (".pickle", "a pickle"), (".npz", "an archive of NumPy arrays"))
_NOT_READ = (".tar.gz", ".tgz")
# The published splits, for a pack of all classes.
_BUILTIN = {"miniimagenet": "miniimagenet_ravi", "omniglot": "omniglot_vinyals"}
_TURNS = {90: "rotate90", 180: "rotate180", 270: "rotate270"}


def miniimagenet(folder, shots, ways, shuffle=True, test_shots=None, seed=None, **more) -> EpisodeLoader:
    """Episodes of mini-ImageNet, as torchmeta.datasets.helpers.miniimagenet takes its arguments, in batches as
    BatchMetaDataLoader gives them: {"train": [x, y], "test": [x, y]}.

    Args:
        folder: has train, val and test, each with a folder a class, or train.tsv, .csv or .jsonl (manifests), train.tar
            (packs of `feedring import`) or train.zip, …, in itself or in a folder called miniimagenet. Or a pack of all
            classes, or a folder with such a pack, miniimagenet.tar: of that the published split is taken.
        shots, ways: samples of each class in "train", and classes.
        test_shots: samples of each class in "test". Default: shots.
        seed: of the episodes. Default: 0.
        meta_train, meta_val, meta_test, or meta_split="train", "val" or "test": which of them, exactly one.
        class_augmentations: turns that make new classes: 90, 180, 270 or the words of `augment` (docs/episodes.md).
        transform: as of EpisodeLoader. Default: resized to 84 x 84.
        batch_size, tasks_per_epoch, num_workers, device, …: as of EpisodeLoader.

    Nothing is downloaded, and download=True means nothing. Raises UsageError where the data are not there, or lie in a
    format that is not read, and what EpisodeLoader raises.
    """
    return _load("miniimagenet", 84, folder, shots, ways, shuffle, test_shots, seed, more)


def tieredimagenet(folder, shots, ways, shuffle=True, test_shots=None, seed=None, **more) -> EpisodeLoader:
    """As miniimagenet(), of tieredImageNet."""
    return _load("tieredimagenet", 84, folder, shots, ways, shuffle, test_shots, seed, more)


def cifar_fs(folder, shots, ways, shuffle=True, test_shots=None, seed=None, **more) -> EpisodeLoader:
    """As miniimagenet(), of CIFAR-FS, 32 x 32."""
    return _load("cifar_fs", 32, folder, shots, ways, shuffle, test_shots, seed, more)


def fc100(folder, shots, ways, shuffle=True, test_shots=None, seed=None, **more) -> EpisodeLoader:
    """As miniimagenet(), of FC100, 32 x 32."""
    return _load("fc100", 32, folder, shots, ways, shuffle, test_shots, seed, more)


def omniglot(folder, shots, ways, shuffle=True, test_shots=None, seed=None, **more) -> EpisodeLoader:
    """As miniimagenet(), of Omniglot, 28 x 28 and three equal channels: of the folders or manifests that
    docs/examples/fewshot/omniglot.py writes. Only the training's classes are also turned by 90, 180 and 270 degrees,
    unless class_augmentations says otherwise; TorchMeta turns those of all splits."""
    if more.get("class_augmentations") is None:
        turned = list(_TURNS) if _split(dict(more)) == "train" else []
        more = {**more, "class_augmentations": turned}
    return _load("omniglot", 28, folder, shots, ways, shuffle, test_shots, seed, more)


def _load(name, size, folder, shots, ways, shuffle, test_shots, seed, more) -> EpisodeLoader:
    if shuffle is not True:
        raise UsageError(f"shuffle={shuffle!r} cannot be honoured: the samples of an episode are drawn")
    for key, why in (("target_transform", "labels are 0 to ways - 1, as Categorical makes them"),
                     ("dataset_transform", "shots and test_shots split each class"),
                     ("num_classes_per_task", "ways says it")):
        if more.pop(key, None) is not None:
            raise UsageError(f"{key} cannot be honoured: {why}; leave it out")
    more.pop("download", None)
    split = _split(more)
    episodes = dict(more.pop("episodes", None) or {})
    turned = _words(more.pop("class_augmentations", None))
    if turned:
        episodes["augment"] = turned
    source, classes = _find(name, os.fsdecode(folder), split)
    return EpisodeLoader(source, split,
                         **{**classes, "ways": ways, "shots": shots, "queries": shots if test_shots is None else test_shots,
                            "seed": seed, "layout": "torchmeta", "episodes": episodes,
                            "transform": [{"name": "Resize", "size": [size, size]}],
                            **{key: value for key, value in more.items() if value is not None}})


def _split(more: dict) -> str:
    """Takes what says it out of the arguments."""
    said = [split for split in _SPLITS if more.pop("meta_" + split, False)]
    named = more.pop("meta_split", None)
    if named is not None:
        said.append(named)
    if len(said) != 1 or said[0] not in _SPLITS:
        raise UsageError("give exactly one of meta_train=True, meta_val=True, meta_test=True and meta_split=\"train\", "
                         "\"val\" or \"test\"")
    return said[0]


def _words(augmentations) -> list[str]:
    """Of words, angles and objects that have an angle, in lists or not."""
    if augmentations is None:
        return []
    if not isinstance(augmentations, (list, tuple)):
        angle = getattr(augmentations, "angle", augmentations)
        if not isinstance(angle, str) and angle not in _TURNS:
            raise UsageError(f"class_augmentations has {augmentations!r}, which is none of 90, 180, 270, \"hflip\" and "
                             "\"vflip\"")
        return [_TURNS.get(angle, angle)]
    words = [word for each in augmentations for word in _words(each)]
    return list(dict.fromkeys(words))


def _find(name: str, folder: str, split: str) -> tuple[str, dict]:
    """The data, and which of their classes."""
    published = {"classes": f"builtin:{_BUILTIN.get(name, name)}/{split}"}
    if os.path.isfile(folder) and folder.endswith(".tar"):
        return folder, published
    places = [os.path.join(folder, name), folder]
    for place in places:
        for called in _SPLITS[split]:
            for ending in _READ:
                found = os.path.join(place, called + ending)
                if os.path.isfile(found) if ending else os.path.isdir(found):
                    return found, {}
    for place in (folder, places[0]):
        if os.path.isfile(os.path.join(place, name + ".tar")):
            return os.path.join(place, name + ".tar"), published
    instead = f"make folders {{}}/CLASS of images, a manifest {split}.tsv, or a pack {split}.tar"
    for place in filter(os.path.isdir, places):
        for entry in sorted(os.listdir(place)):
            path = os.path.join(place, entry)
            for ending, what in _IMPORTED:
                if entry.endswith(ending):
                    raise UsageError(f"{path} is {what}, which is not read as it lies: make a pack of it first, "
                                     f"`feedring import {path} {os.path.join(place, split)}.tar`")
            if entry.endswith(_NOT_READ):
                raise UsageError(f"{path} is a compressed tar archive, which is not read: unpack it, or "
                                 + instead.format(os.path.join(place, split)))
    raise UsageError(f"there is no {name} for {split} in {folder}: neither a folder nor an archive or manifest called {split} "
                     f"is in it or in its folder {name}, nor a pack {name}.tar; {instead.format(split)}; nothing is downloaded")
