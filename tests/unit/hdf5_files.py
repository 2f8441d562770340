# SPDX-License-Identifier: Apache-2.0
"""Writes TorchMeta's HDF5 files and lists of classes with h5py, as its download() does, into the folder that is named, and
others that are wrong."""
import json
import os
import sys

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)
from numbered_picture import picture  # not within: where it fails nothing is to be skipped

os.chdir(sys.argv[1])


def keep_json(name, value):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "w") as file:
        json.dump(value, file)


def pictures(*numbers, shape=(2, 4, 3)):
    return np.stack([picture(number, shape) for number in numbers])


def files(group, name, contents):
    dataset = group.create_dataset(name, (len(contents),), dtype=h5py.special_dtype(vlen=np.uint8))
    for i, content in enumerate(contents):
        dataset[i] = np.frombuffer(content, np.uint8)
    return dataset


os.makedirs("miniimagenet")
with h5py.File("miniimagenet/train_data.hdf5", "w") as f:
    group = f.create_group("datasets")
    group.create_dataset("n02", data=pictures(0, 3))
    group.create_dataset("n01", data=pictures(1, 2, 4))
keep_json("miniimagenet/train_labels.json", ["n01", "n02"])
with h5py.File("miniimagenet/val_data.hdf5", "w") as f:  # no list beside it
    f.create_group("datasets").create_dataset("n03", data=pictures(5))

os.makedirs("tieredimagenet")
with h5py.File("tieredimagenet/val_data.hdf5", "w") as f:
    group = f.create_group("datasets")
    for name, general, content in (("pug", "dog", [b"\x89PNG one", b"\x89PNG two"]), ("wren", "bird", [b"\x89PNG"])):
        dataset = files(group, name, content)
        dataset.attrs["label_general"] = general
        dataset.attrs["label_specific"] = name
keep_json("tieredimagenet/val_labels.json", ["wren", "pug"])

os.makedirs("omniglot")
with h5py.File("omniglot/data.hdf5", "w") as f:
    for name, characters in (("images_background", ["Greek/character01", "Latin/character02"]),
                             ("images_evaluation", ["ULOG/character01"])):
        group = f.create_group(name)
        for i, character in enumerate(characters):
            dataset = group.create_dataset(character, (3, 5, 7), dtype="uint8")
            for k, number in enumerate((2, 0, 1)):  # the order of a folder's files is anything
                dataset[k] = 255 - picture(number + i, (5, 7))
keep_json("omniglot/train_labels.json", [["images_background", "Greek", "character01"],
                                         ["images_background", "Latin", "character02"]])
keep_json("omniglot/vinyals_train_labels.json", [["images_background", "Latin", "character02"],
                                                 ["images_evaluation", "ULOG", "character01"]])

os.makedirs("cifar100")
with h5py.File("cifar100/data.hdf5", "w") as f:
    for coarse, fine, number in (("fish", "ray", 1), ("fish", "shark", 2), ("flowers", "poppy", 3)):
        f.require_group(coarse).create_dataset(fine, data=pictures(number, number + 1, shape=(2, 2, 3)))
keep_json("cifar100/fc100/train_labels.json", [["flowers", "poppy"], ["fish", "ray"]])
keep_json("cifar100/cifar-fs/train_labels.json", [["fish", "shark"]])
keep_json("cifar100/fine_names.json", {"fish": ["ray", "shark"], "flowers": ["poppy"]})

os.makedirs("doublemnist")
with h5py.File("doublemnist/test_data.hdf5", "w") as f:  # compressed, in pieces
    files(f.create_group("datasets"), "07", [b"\x89PNG 07", b"\x89PNG 7"])
    f["datasets"].create_dataset("99", data=pictures(1, 2), chunks=(1, 2, 4, 3), compression="gzip")
keep_json("doublemnist/test_labels.json", ["07", "99"])

# What is wrong.
os.makedirs("wrong")
with open("wrong/text.hdf5", "w") as f:
    f.write("no HDF5")
with h5py.File("wrong/float.hdf5", "w") as f:
    f.create_dataset("datasets/a", data=np.zeros((3, 4)))
with h5py.File("wrong/floats.hdf5", "w") as f:
    f.create_dataset("datasets/a", data=np.zeros((3, 4, 4, 3), np.float32))
with h5py.File("wrong/channels.hdf5", "w") as f:
    f.create_dataset("datasets/a", data=np.zeros((3, 4, 4, 2), np.uint8))
with h5py.File("wrong/nothing.hdf5", "w") as f:
    f.create_group("datasets")
with h5py.File("wrong/links.hdf5", "w") as f:  # to another file: not followed
    f["datasets/mine"] = pictures(1)
    f["datasets/other"] = h5py.ExternalLink("/etc/passwd", "/")
    f["datasets/again"] = h5py.SoftLink("/datasets/mine")
with h5py.File("wrong/external.hdf5", "w") as f:  # its bytes would be those of another file
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_external(b"/etc/passwd", 0, 48)
    group = f.create_group("datasets")
    h5py.h5d.create(group.id, b"a", h5py.h5t.NATIVE_UINT8, h5py.h5s.create_simple((2, 2, 4, 3)), plan)
layout = h5py.VirtualLayout((2, 2, 4, 3), "u1")
layout[:] = h5py.VirtualSource("../miniimagenet/train_data.hdf5", "datasets/n02", (2, 2, 4, 3))
with h5py.File("wrong/virtual.hdf5", "w") as f:
    f.create_virtual_dataset("datasets/a", layout)
with h5py.File("wrong/circle.hdf5", "w") as f:  # a group that holds itself
    f["datasets/circle"] = f["datasets"] if "datasets" in f else f.create_group("datasets")
with h5py.File("wrong/test_data.hdf5", "w") as f:
    f.create_dataset("datasets/a", data=pictures(1))
keep_json("wrong/test_labels.json", ["a", "b"])
keep_json("badlist/test_labels.json", {"a": 1})
with h5py.File("badlist/test_data.hdf5", "w") as f:
    f.create_dataset("datasets/a", data=pictures(1))
