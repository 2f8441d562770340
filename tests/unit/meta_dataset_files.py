# SPDX-License-Identifier: Apache-2.0
"""Writes data sets as Meta-Dataset's converters do, without TensorFlow, into the folder that is named, and wrong ones."""
import json
import os
import struct
import sys

os.chdir(sys.argv[1])


def crc32c(data):
    """Bit by bit, as RFC 3720 has it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283
assert crc32c(bytes(32)) == 0x8A9136AA and crc32c(bytes(range(32))) == 0x46DD794E  # RFC 3720, B.4


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def framed(record):
    length = struct.pack("<Q", len(record))
    return length + masked(length) + record + masked(record)


def varint(number):
    text = b""
    while number > 0x7F:
        text += bytes([number & 0x7F | 0x80])
        number >>= 7
    return text + bytes([number])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def feature(name, kind, values):
    return field(1, field(1, name.encode()) + field(2, field(kind, values)))


def example(image, label, packed=True):
    number = varint(label & 0xFFFFFFFFFFFFFFFF)
    labels = field(1, number) if packed else b"\x08" + number
    return field(1, feature("image", 1, field(1, image)) + feature("label", 3, labels))


def image(number, k):
    return b"\xff\xd8 image %d of class %d " % (k, number) + bytes(range(200))


def keep(folder, name, text):
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/{name}", "wb") as file:
        file.write(text)


def keep_spec(folder, **spec):
    spec = dict(name="made", path="/path/to/records", file_pattern="{}.tfrecords", **spec) if "file_pattern" not in spec else spec
    keep(folder, "dataset_spec.json", json.dumps(spec, indent=2).encode())


def keep_class(folder, number, count, name="{}.tfrecords"):
    keep(folder, name.format(number), b"".join(framed(example(image(number, k), number, k % 2 == 0)) for k in range(count)))


def numbered(values):
    return {str(number): value for number, value in enumerate(values)}


plain = dict(classes_per_split={"TRAIN": 2, "VALID": 1, "TEST": 1}, images_per_class=numbered([3, 1, 2, 2]),
             class_names=numbered(["wren", "pug/dog", "ray", "poppy"]))
keep_spec("plain", **plain)
for number, count in enumerate([3, 1, 2, 2]):
    keep_class("plain", number, count)

keep_spec("letters", superclasses_per_split={"TRAIN": 1, "VALID": 0, "TEST": 1}, classes_per_superclass={"0": 1, "1": 2},
          superclass_names={"0": "Greek", "1": "Latin"}, images_per_class=numbered([1, 1, 1]),
          class_names=numbered(["Greek-character01", "Latin-character01", "Latin-character02"]))
for number in range(3):
    keep_class("letters", number, 1)


def node(name, *children):
    return {"wn_id": name, "words": "", "children_ids": list(children), "parents_ids": []}


keep_spec("graph", split_subgraphs={"TRAIN": [node("n1", "n2", "n3"), node("n2"), node("n3")],
                                    "VALID": [node("n1", "n5"), node("n5")], "TEST": [node("n1", "n4"), node("n4")]},
          class_names_to_ids={}, images_per_class=numbered([1, 1, 1, 1]), class_names=numbered(["n2", "n3", "n5", "n4"]))
for number in range(4):
    keep_class("graph", number, 1)

keep_spec("shards", **plain | dict(images_per_class=numbered([{"train": 12, "test": 1}, 1, 2, 2]),
                                   file_pattern="{}_{}.tfrecords"))
for shard in range(12):  # of one record each: 10 comes behind 9
    keep("shards", f"0_{shard}.tfrecords", framed(example(image(0, shard), 0)))
keep("shards", "0_test.tfrecords", framed(example(image(0, 12), 0)))
for number, count in ((1, 1), (2, 2), (3, 2)):
    keep_class("shards", number, count, "{}_train.tfrecords")

# What is wrong.


def wrong(folder, number=0, text=None, **change):
    keep_spec(folder, **plain | change)
    for other, count in enumerate([3, 1, 2, 2]):
        keep_class(folder, other, count)
    if text is not None:
        keep(folder, f"{number}.tfrecords", text)


good = framed(example(image(1, 0), 1))
wrong("cut", 1, good[:-1])
wrong("head", 1, good[:7])
wrong("length", 1, b"\xff" * 8 + good[8:])
wrong("long", 1, struct.pack("<Q", 1 << 60) + masked(struct.pack("<Q", 1 << 60)) + good[12:])
wrong("bit", 1, good[:60] + bytes([good[60] ^ 1]) + good[61:])
wrong("label", 1, framed(example(image(1, 0), 7)))
wrong("unlabelled", 1, framed(field(1, feature("image", 1, field(1, b"x")))))
wrong("two", 1, framed(field(1, feature("image", 1, field(1, b"x") + field(1, b"y")) + feature("label", 3, b"\x08\x01"))))
wrong("example", 1, framed(b"\xff\xff\xff"))
wrong("empty", 1, framed(example(b"", 1)))
wrong("fewer", 1, b"")
wrong("splits", classes_per_split={"TRAIN": 2, "VALID": 1, "TEST": 2})
wrong("splits2", classes_per_split={"TRAIN": 2, "VALID": 1, "TEST": 0})
wrong("splits3", classes_per_split={"train": 2})
wrong("keys", class_names={"0": "a", "1": "b", "2": "c", "4": "d"})
wrong("keys2", class_names={"0": "a", "1": "b", "2": "c", "x" * 5000: "d"})
wrong("keys3", images_per_class={"0": 3})
wrong("counts", images_per_class=numbered([3, -1, 2, 2]))
wrong("pattern", file_pattern="{}.records")
wrong("gone")
os.remove("gone/2.tfrecords")
keep("text", "dataset_spec.json", b"no JSON")
keep("deep", "dataset_spec.json", b"[" * 200000)
keep("none", "dataset_spec.json", b"{}")
