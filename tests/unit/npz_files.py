# SPDX-License-Identifier: Apache-2.0
"""Writes tieredImageNet's .npz files with NumPy into the folder that is named, and others that are wrong."""
import io
import os
import pickle
import sys
import zipfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)
from numbered_picture import picture  # not within: where it fails nothing is to be skipped

os.chdir(sys.argv[1])


def label(name, **labels):
    with open(f"{name}_labels.pkl", "wb") as file:
        pickle.dump(labels, file, 2)


def keep_version(name, version, images):
    member = io.BytesIO()
    np.lib.format.write_array(member, images, version)
    with zipfile.ZipFile(f"{name}_images.npz", "w") as file:
        file.writestr("images.npy", member.getvalue())


rgb = np.stack([picture(i) for i in range(5)])
bgr = np.ascontiguousarray(rgb[..., ::-1])
specific = dict(label_specific=np.array([2, 0, 0, 2, 1], np.int32), label_general=np.array([1, 1, 1, 1, 0], np.int32),
                label_specific_str=["pug", "wren", "terrier"], label_general_str=["bird", "dog"])
for name in ("stored", "deflated", "version2", "version3", "float", "object", "gray", "fortran", "empty", "records",
             "version4", "head", "shape", "huge", "other", "bit", "deflated_bit", "cut", "gone", "text"):
    label(name, **specific)
np.savez("stored_images.npz", images=bgr)
os.link("stored_images.npz", "stored.npz")
np.savez_compressed("deflated_images.npz", images=bgr, other=np.zeros(3))
keep_version("version2", (2, 0), bgr)
keep_version("version3", (3, 0), bgr)
np.savez("plain_labels_images.npz", images=bgr)
label("plain_labels", labels=[66, 64, 64, 66, 65])
large = np.stack([picture(i, (600, 700, 3)) for i in range(3)])
np.savez_compressed("large_images.npz", images=large[..., ::-1])
label("large", labels=[0, 1, 1])

np.savez("float_images.npz", images=bgr.astype(np.float32))
np.savez("object_images.npz", images=np.array([{}, []], dtype=object))
np.savez("gray_images.npz", images=bgr[..., 0])
np.savez("fortran_images.npz", images=np.asfortranarray(bgr))
np.savez("empty_images.npz", images=bgr[:0])
np.savez("records_images.npz", images=np.zeros(3, dtype=[("a", "u1")]))
np.savez("other_images.npz", pictures=bgr)
np.savez("few_images.npz", images=bgr)
label("few", labels=[1, 2])
np.savez("alone_images.npz", images=bgr)


def changed(name, change):
    member = io.BytesIO()
    np.lib.format.write_array(member, bgr, (1, 0))
    with zipfile.ZipFile(f"{name}_images.npz", "w") as file:
        file.writestr("images.npy", change(member.getvalue()))


changed("version4", lambda text: text[:6] + b"\x04" + text[7:])
changed("head", lambda text: text.replace(b"fortran_order", b"fortran_oddly"))
changed("shape", lambda text: text.replace(b"(5, 2, 4, 3)", b"(6, 2, 4, 3)"))
changed("huge", lambda text: text.replace(b"(5, 2, 4, 3)", b"(1,9999999999,9999999999,3)"))
for name, of in (("bit", "stored"), ("deflated_bit", "deflated")):
    with open(f"{of}_images.npz", "rb") as file:
        text = bytearray(file.read())
    text[200] ^= 1
    with open(f"{name}_images.npz", "wb") as file:
        file.write(text)
with open("stored_images.npz", "rb") as file:
    text = file.read()
with open("cut_images.npz", "wb") as file:
    file.write(text[:-30])
with open("text_images.npz", "wb") as file:
    file.write(b"no zip, " * 100)
