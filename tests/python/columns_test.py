# SPDX-License-Identifier: Apache-2.0
# Columns of a manifest as arrays of a batch.
import json

import numpy
import pytest

import feedring
from conftest import PLAIN, colour

TARGETS = [[0.5, -1.25], [3, 4e-3], [0.1, 7], [-0.0, 1e20], [2, 2], [9, 8], [6, 1 / 3]]
TAGS = [["sky", "car"], [], ["dog"], ["car"], ["dog", "sky", "car"], ["sky"], []]
NAMES = ["car", "dog", "sky"]
KINDS = ["in", "out", "in", "in", "out", "out", "in"]
COLUMNS = {"target": "float[2]", "tags": "multi_hot", "age": "float", "kind": "class"}


@pytest.fixture(params=["csv", "jsonl"])
def manifest(request, pictures, tmp_path):
    """Seven of the pictures, whose numbers in the data set are those of their rows."""
    (tmp_path / "data").symlink_to(pictures)
    file = tmp_path / f"list.{request.param}"
    rows = [{"path": f"data/ant/{number}.png", "label": "ant", "target": TARGETS[number], "tags": TAGS[number],
             "age": 10 * number, "kind": KINDS[number]} for number in range(7)]
    if request.param == "jsonl":
        file.write_text("\n".join(map(json.dumps, reversed(rows))) + "\n")
    else:
        lines = [f"{row['path']},{row['kind']},ant,{' '.join(map(repr, row['target']))},{'|'.join(row['tags'])},{row['age']}"
                 for row in reversed(rows)]
        file.write_text("path,kind,label,target,tags,age\n" + "\n".join(lines) + "\n")
    return file


def expect_rows(batch):
    for row, sample in enumerate(batch["sample_ids"].tolist()):
        assert (batch["images"][row] == numpy.array(colour(sample), "uint8")[:, None, None]).all()
        assert (batch["target"][row] == numpy.array(TARGETS[sample], "float32")).all()
        assert batch["tags"][row].tolist() == [int(name in TAGS[sample]) for name in NAMES]
        assert batch["age"][row] == 10 * sample
        assert batch["kind"][row] == (KINDS[sample] == "out")


def test_each_is_an_array_of_its_name(manifest, loader_of):
    seen = 0
    for batch in loader_of(manifest, column_kinds=COLUMNS, backend="numpy", batch_size=3, num_workers=2, drop_last=True):
        assert {name: (array.shape, array.dtype.name) for name, array in batch.items()} == {
            "images": ((3, 3, 8, 8), "uint8"), "target": ((3, 2), "float32"), "tags": ((3, 3), "uint8"),
            "age": ((3,), "float32"), "kind": ((3,), "int64"), "labels": ((3,), "int64"), "sample_ids": ((3,), "int64"),
            "valid": ((3,), "uint8")}
        expect_rows(batch)
        seen += 1
    assert seen == 2


def test_tuples_have_them_before_the_labels(manifest, loader_of):
    images, target, labels = next(iter(loader_of(manifest, column_kinds={"target": "float[2]"}, backend="numpy",
                                                 as_tuple=True)))
    assert target.shape == (4, 2) and labels.tolist() == [0] * 4


def test_a_configuration_says_them_and_another_feed_numbers_them_alike(manifest, tmp_path):
    few = tmp_path / "few.jsonl"
    few.write_text(json.dumps({"path": "data/ant/1.png", "label": "ant", "kind": "out", "tags": ["sky"]}) + "\n")
    config = tmp_path / "feed.toml"
    config.write_text(f"""
[feed.train]
data = "{manifest.name}"
columns = {{ tags = "multi_hot", kind = "class" }}
transform = [ {{ name = "Resize", size = [8, 8] }} ]
[feed.val]
data = "few.jsonl"
classes_from = "train"
remainder = "pad"
columns = {{ kind = "class", tags = "multi_hot" }}
transform = [ {{ name = "Resize", size = [8, 8] }} ]
""")
    with feedring.Loader(config, "val", batch_size=1, num_workers=1, backend="numpy", timeout=30) as loader:
        batch = next(iter(loader))
        assert batch["kind"].tolist() == [1] and batch["tags"].tolist() == [[0, 0, 1]]


def test_views_have_them_too(manifest, loader_of):
    views = {"small": {"count": 2, "transform": PLAIN}}
    batch = next(iter(loader_of(manifest, transform=None, views=views, column_kinds={"age": "float"}, backend="numpy")))
    assert list(batch) == ["small", "age", "labels", "sample_ids", "valid"]
    assert batch["age"].tolist() == [10.0 * sample for sample in batch["sample_ids"].tolist()]


def test_what_is_wrong_is_said(manifest, loader_of, tmp_path):
    with pytest.raises(feedring.DataError, match=r"list\.\w+', line \d: column 'target': 2 numbers where it has 3"):
        loader_of(manifest, column_kinds={"target": "float[3]"}).attach()
    with pytest.raises(feedring.UsageError, match="target is a string|expected \"class\", \"float\""):
        loader_of(manifest, column_kinds={"target": "text"}).attach()
    with pytest.raises(feedring.DataError, match="'hue', which the feed's columns name"):
        loader_of(manifest, column_kinds={"hue": "float"}).attach()
    with pytest.raises(feedring.UsageError, match="is no dict such as"):
        loader_of(manifest, column_kinds=["target"])
