# SPDX-License-Identifier: Apache-2.0
"""Writes pickles as few-shot data sets have them, with Python's own writer, into the folder that is named. Needs NumPy."""
import os
import pickle
import sys
from collections import OrderedDict

try:
    import numpy as np
except ImportError:
    sys.exit(77)
from numbered_picture import picture  # not within: where it fails nothing is to be skipped

os.chdir(sys.argv[1])


def keep(name, value, protocol):
    with open(name, "wb") as file:
        pickle.dump(value, file, protocol)


pixels = np.stack([picture(i) for i in range(5)])
large = np.stack([picture(i, (40, 41, 3)) for i in range(3)])  # such bytes stay in the file until they are wanted
for protocol in range(6):
    keep(f"large-{protocol}.pkl", {"data": large, "labels": [7, 7, 3]}, protocol)
    keep(f"cache-{protocol}.pkl", {"image_data": pixels, "class_dict": {"n02": [0, 3], "n01": [1, 2, 4]}}, protocol)
keep("labels-list.pickle", {"data": pixels, "labels": [66, 64, 64, 66, 65]}, 2)
keep("labels-array.pickle", OrderedDict(data=pixels, labels=np.array([66, 64, 64, 66, 65])), 4)
keep("bytes-keys.pickle", {b"data": pixels, b"labels": [np.int64(1), np.int64(0), 0, 0, 0]}, 4)
squares = np.stack([picture(i, (2, 2, 3)) for i in range(3)])
keep("train", {"data": squares.transpose(0, 3, 1, 2).reshape(3, 12), "fine_labels": [1, 0, 1], "coarse_labels": [0, 1, 0],
               "filenames": ["a", "b", "c"]}, 2)
keep("meta", {"fine_label_names": ["ray", "poppy"], "coarse_label_names": ["flowers", "fish"]}, 2)
keep("tiny_images_png.pkl", [np.frombuffer(b"PNG%d" % i, dtype=np.uint8).reshape(-1, 1) for i in range(3)], 4)
keep("tiny_labels.pkl", {"label_specific": np.array([1, 0, 1], np.int32), "label_general": np.array([0, 0, 0], np.int32),
                         "label_specific_str": ["Yorkshire terrier", "pug"], "label_general_str": ["dog"]}, 4)


class Evil:
    def __reduce__(self):
        return os.system, ("touch was_run",)


keep("evil.pkl", {"image_data": Evil(), "class_dict": {}}, 4)
keep("evil2.pkl", {"image_data": Evil(), "class_dict": {}}, 2)
keep("evil1.pkl", {"image_data": Evil(), "class_dict": {}}, 1)
keep("evil0.pkl", {"image_data": Evil(), "class_dict": {}}, 0)
keep("float.pkl", {"data": pixels.astype(np.float32), "labels": [0] * 5}, 4)
keep("big.pkl", {"data": pixels, "labels": np.array([0] * 5, dtype=">i4")}, 4)
keep("few.pkl", {"data": pixels, "labels": [0]}, 4)
keep("other.pkl", {"x": 1}, 4)
# Two keys that are one name; classes of which not all have a name; pictures without pixels; keys that come twice, of which
# Python takes the last; a text that is encoded again and again; names that lead elsewhere when somebody unpacks them.
keep("twice.pkl", {"image_data": pixels[:2], "class_dict": {"a": [0], b"a": [1]}}, 4)
keep("nothing.pkl", {"image_data": pixels[:0], "class_dict": {}}, 4)
keep("flat.pkl", {"data": np.zeros((5, 0, 4, 3), np.uint8), "labels": [0] * 5}, 4)
keep("nul.pkl", {"image_data": pixels[:1], "class_dict": {"a\0b": [0]}}, 4)
keep("up.pkl", {"image_data": pixels[:3], "class_dict": {"../../evil": [0], "/etc": [1], "a/../b": [2]}}, 4)
with open("dupkey.pkl", "wb") as file:
    text = pickle.dumps({"data": pixels[:2], "labels": [0, 1], "lobels": [1, 0]}, 4)
    file.write(text.replace(b"lobels", b"labels"))
objects = np.empty(3, dtype=object)
for i in range(3):
    objects[i] = np.frombuffer(b"PNG%d" % i, dtype=np.uint8).reshape(-1, 1)
keep("objects_images_png.pkl", list(objects), 4)
keep("objects_labels.pkl", {"label_specific": np.array([5, 0, 5], np.int32), "label_specific_str": ["pug"]}, 4)
call = b"c_codecs\nencode\nq\x01X\xe8\x03\0\0" + b"x" * 1000 + b"X\x06\0\0\0latin1\x86q\x02R"
with open("bomb.pkl", "wb") as file:
    file.write(b"\x80\x02](" + call + b"h\x01h\x02R" * 10000 + b"e.")


# As Python 2 wrote protocol 0: texts are its literals.
def by_python2(name, pixels, labels):
    literal = repr(pixels.tobytes())[1:]
    shape = "".join(f"I{length}\n" for length in pixels.shape)
    lines = (f"(dp0\nS'data'\np1\ncnumpy.core.multiarray\n_reconstruct\np2\n(cnumpy\nndarray\np3\n(I0\ntp4\nS'b'\np5\n"
             f"tp6\nRp7\n(I1\n({shape}tp8\ncnumpy\ndtype\np9\n(S'u1'\np10\nI0\nI1\ntp11\nRp12\n(I3\nS'|'\np13\nNNNI-1\n"
             f"I-1\nI0\ntp14\nbI00\nS{literal}\np15\ntp16\nbsS'labels'\np17\n(lp18\n"
             + "".join(f"I{label}\na" if label < 8 else f"L{label}L\na" for label in labels) + "s.")
    text = lines.encode("latin1")
    read = pickle.loads(text, encoding="latin1")
    assert (read["data"] == pixels).all() and read["labels"] == labels
    with open(name, "wb") as file:
        file.write(text)


by_python2("python2-0.pickle", pixels, [4, 9, 9, 4, 7])
by_python2("python2-large.pickle", large, [9, 9, 4])
# Texts with each kind of escape, as keys of class_dict, which this Python's own reader reads too.
names = [rb"S'o\'n\x65\101\0\n\q\\'", rb'S"it\"s"', b"Vb\\u0103\\x\\\\u0041\xe9\\U0001f600"]
head = pickle.dumps({"image_data": pixels[:3]}, 0)
assert head.endswith(b"s.")
text = head[:-1] + b"Vclass_dict\n(d" + b"".join(name + b"\n(lI%d\nas" % i for i, name in enumerate(names)) + b"s."
read = pickle.loads(text, encoding="latin1")
assert list(read["class_dict"]) == ["o'neA\0\n\\q\\", 'it"s', "b\u0103\\x\\\\u0041\xe9\U0001f600"]
with open("escapes.pkl", "wb") as file:
    file.write(text.replace(rb"\0\n\q", rb"\7\n\q"))
for name, text in {
    "inst.pkl": b"(S'touch was_run'\nios\nsystem\n.",
    "obj.pkl": b"(cos\nsystem\nS'touch was_run'\no.",
    "persid.pkl": b"Psomething\n.",
    "newobj.pkl": b"\x80\x02cos\nsystem\n)\x81.",
    "ext.pkl": b"\x80\x02\x82\x01.",
    "number.pkl": b"Ixyz\n.",
    "long.pkl": b"L" + b"9" * 30 + b"L\n.",
    "open.pkl": b"S'x\n.",
    "cut.pkl": b"S'x",
    "hex.pkl": b"S'\\xg0'\n.",
    "half.pkl": b"V\\ud83d\n.",
    "beyond.pkl": b"V\\U00110000\n.",
    "recall.pkl": b"g7\n.",
    "name.pkl": b"c" + b"n" * 100000 + b"\n.",
    "dtype.pkl": b"cnumpy\ndtype\n(V" + b"d" * 3000 + b"\ntR.",
}.items():
    with open(name, "wb") as file:
        file.write(text)
keep("long_class.pkl", {"image_data": pixels[:1], "class_dict": {"c" * 4000: [7]}}, 4)
