# SPDX-License-Identifier: Apache-2.0
"""Writes archives with Python's own writers into the folder that is named: what archive_test.cpp reads."""
import io
import os
import sys
import tarfile
import zipfile

os.chdir(sys.argv[1])


def content(name):
    """Says whose it is, and packs well."""
    return (name + "\n").encode() * 40


FOLDERS = ["set/b/2.jpg", "set/a/deep/1.PNG", "set/a/3.jpg"]
ASIDE = {"set/note.txt": b"x", "set/a/.hidden.jpg": b"x", "__MACOSX/set/a/3.jpg": b"x", "set/b/empty.jpg": b""}


def write_zip(name, names, aside={}, method=zipfile.ZIP_DEFLATED, **options):
    with zipfile.ZipFile(name, "w", method, **options) as archive:
        archive.writestr("set/", b"")
        for number, each in enumerate(names):
            kind = zipfile.ZIP_STORED if number % 2 and method == zipfile.ZIP_DEFLATED else method
            archive.writestr(each, content(each), kind)
        for each, data in aside.items():
            archive.writestr(each, data)


def patched(source, target, change):
    data = bytearray(open(source, "rb").read())
    change(data)
    open(target, "wb").write(data)


write_zip("folders.zip", FOLDERS, ASIDE)
write_zip("bzip2.zip", FOLDERS, method=zipfile.ZIP_BZIP2)
with zipfile.ZipFile("streamed.zip", "w", zipfile.ZIP_DEFLATED) as archive:  # sizes behind the data
    sink = archive.fp
    sink.seekable = lambda: False
    for each in FOLDERS:
        archive.writestr(each, content(each))
limits = zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT
zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = 50, 1  # each number in its large form
write_zip("zip64.zip", FOLDERS)
zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = limits


def encrypt(data):
    data[data.index(b"PK\1\2", data.index(b"PK\1\2") + 1) + 8] |= 1  # the first entry is the folder's


def inflate_size(data):
    at = data.index(b"PK\1\2", data.index(b"PK\1\2") + 1)
    data[at + 24:at + 28] = (1 << 27).to_bytes(4, "little")


def grow(data):
    at = data.index(b"PK\1\2", data.index(b"PK\1\2") + 1)
    data[at + 24:at + 28] = (len(content(FOLDERS[0])) + 1).to_bytes(4, "little")


def spoil(data):
    at = data.index(b"PK\1\2", data.index(b"PK\1\2") + 1)
    data[at + 16] ^= 1


def spoil_stored(data):
    data[data.index(content(FOLDERS[1]))] ^= 1


patched("folders.zip", "stored-crc.zip", spoil_stored)
patched("folders.zip", "encrypted.zip", encrypt)
patched("folders.zip", "bomb.zip", inflate_size)
patched("folders.zip", "grown.zip", grow)
patched("folders.zip", "crc.zip", spoil)
patched("folders.zip", "prefixed.zip", lambda data: data.__setitem__(slice(0, 0), b"#!/bin/sh\n"))
with zipfile.ZipFile("twins.zip", "w") as archive:
    archive.writestr("a/1.jpg", b"1")
    archive.writestr("a/1.jpg", b"2")
write_zip("splits.zip", ["set/train/a/1.jpg", "set/train/b/1.jpg", "set/test/c/1.jpg"])
write_zip("flat.zip", ["1.jpg", "2.jpg"])
write_zip("slash.zip", ["/1.png", "a/2.png"])


def few(data):  # as writers that know no zip64 leave the count of 65,538 files
    at = data.index(b"PK\5\6")
    data[at + 8:at + 12] = bytes([2, 0, 2, 0])


patched("folders.zip", "count.zip", few)


def write_tar(name, names, kind=tarfile.USTAR_FORMAT, extra=()):
    with tarfile.open(name, "w", format=kind) as archive:
        folder = tarfile.TarInfo("set")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for each in names:
            data = content(each) if isinstance(each, str) else each[1]
            info = tarfile.TarInfo(each if isinstance(each, str) else each[0])
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in extra:
            archive.addfile(info)


link = tarfile.TarInfo("set/a/link.jpg")
link.type, link.linkname = tarfile.SYMTYPE, "3.jpg"
LONG = "set/" + "long" * 40 + "/\u00fc" + "name" * 30 + ".jpg"
write_tar("ustar.tar", ["./" + each for each in FOLDERS], extra=[link])
write_tar("gnu.tar", FOLDERS + [LONG], tarfile.GNU_FORMAT)
write_tar("pax.tar", FOLDERS + [LONG], tarfile.PAX_FORMAT)
for shard in range(2):
    rows = []
    for number in range(3):
        key = f"dir/{shard}{number}"
        rows += [key + ".jpg", (key + ".cls", str(number % 2 * 7).encode() + b"\n"), (key + ".json", b'{"x": 1}')]
    write_tar(f"shard-{shard:02}.tar", rows)
write_tar("unlabelled.tar", ["1.jpg", ("1.cls", b"0"), "2.jpg"])
write_tar("several.tar", ["1.jpg", ("1.cls", b"0"), "1.png"])
write_tar("json.tar", ["1.jpg", ("1.json", b'{"label": "cat"}')])
write_tar("stray.tar", ["set/a/1.jpg", "set/b/2.jpg", ("set/about.json", b'{"label": "cat"}'), ("set/x.cls", b"3")])
write_tar("twins-apart.tar", ["1.png", "2.png", "1.jpg", ("1.cls", b"0"), ("2.cls", b"0")])


def write_global(name, **records):
    """A pax archive whose global header says something of all members, which Python's tarfile believes too."""
    data = content("a/1.jpg")
    with tarfile.open(name, "w", format=tarfile.PAX_FORMAT, pax_headers=records) as archive:
        info = tarfile.TarInfo("b/2.jpg")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    with tarfile.open(name) as archive:
        assert [(member.name, member.size) for member in archive] == [("a/1.jpg", len(data))]


write_global("global-path.tar", path="a/1.jpg", comment="of all")


def write_sparse(name):
    """An old GNU sparse file with one block more of its map, before an image."""
    head = bytearray(tarfile.TarInfo("data.bin").tobuf(tarfile.GNU_FORMAT))
    head[156:157], head[482], head[148:156] = b"S", 1, b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    image = tarfile.TarInfo("a/1.jpg")
    image.size = len(content("a/1.jpg"))
    data = content("a/1.jpg")
    with open(name, "wb") as file:
        file.write(bytes(head) + bytes(512) + image.tobuf(tarfile.GNU_FORMAT) + data + bytes(-len(data) % 512 + 1024))


write_sparse("sparse.tar")
