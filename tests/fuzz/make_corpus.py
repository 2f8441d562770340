#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the well-formed part of tests/fuzz/corpus: what fuzzing starts from. Inputs that once failed lie beside it.

Needs Pillow (python3-pil). The files are kept in the repository; run this only to add one.
"""
import io
import json
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

CORPUS = Path(__file__).parent / "corpus"


def keep(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def picture(mode, width, height):
    rng = random.Random(1)
    channels = len(mode) if mode != "1" else 1
    return Image.frombytes(mode, (width, height), bytes(rng.randrange(256) for _ in range(width * height * channels)))


def encoded(image, **options):
    out = io.BytesIO()
    image.save(out, **options)
    return out.getvalue()


def decode():
    rgb = picture("RGB", 19, 13)
    keep("decode", "baseline.jpg", encoded(rgb, format="JPEG", quality=60))
    keep("decode", "sampled.jpg", encoded(rgb, format="JPEG", quality=30, subsampling="4:2:0"))
    keep("decode", "progressive.jpg", encoded(rgb, format="JPEG", quality=30, progressive=True))
    keep("decode", "gray.jpg", encoded(picture("L", 9, 9), format="JPEG"))
    keep("decode", "cmyk.jpg", encoded(picture("CMYK", 9, 9), format="JPEG", quality=30))
    keep("decode", "truncated.jpg", encoded(rgb, format="JPEG", quality=60)[:-60])
    keep("decode", "rgb.png", encoded(picture("RGB", 5, 7), format="PNG"))
    keep("decode", "rgba.png", encoded(picture("RGBA", 5, 7), format="PNG"))
    keep("decode", "palette.png", encoded(picture("RGB", 9, 9).quantize(7), format="PNG"))
    keep("decode", "lossy.webp", encoded(picture("RGBA", 9, 9), format="WEBP", quality=30))
    keep("decode", "lossless.webp", encoded(picture("RGBA", 5, 7), format="WEBP", lossless=True, exact=True))
    gif = picture("RGB", 9, 9).quantize(7)
    keep("decode", "interlaced.gif", encoded(gif, format="GIF", transparency=3, interlace=1))
    frames = dict(save_all=True, append_images=[picture("RGB", 9, 9).quantize(4)], loop=0, duration=40)
    keep("decode", "animation.gif", encoded(gif, format="GIF", **frames))
    keep("decode", "rgb.bmp", encoded(picture("RGB", 5, 7), format="BMP"))
    keep("decode", "palette.bmp", encoded(gif, format="BMP"))
    head = struct.pack("<2sIIIIiiHHIIIIII", b"BM", 96, 0, 70, 40, 5, 4, 1, 8, 1, 0, 0, 0, 4, 0)
    keep("decode", "runs.bmp", head + bytes(range(16)) + bytes([5, 1, 0, 0, 0, 3, 1, 2, 3, 0, 2, 2, 0, 0, 0, 2, 1, 1, 9, 3, 0, 1]))
    fields = struct.pack("<2sIIIIiiHHIIIIIIIII", b"BM", 78, 0, 66, 40, 3, -2, 1, 16, 3, 0, 0, 0, 0, 0, 0xF800, 0x7E0, 0x1F)
    keep("decode", "fields.bmp", fields + bytes(range(16)))
    for compression in ["raw", "tiff_lzw", "packbits", "tiff_adobe_deflate", "jpeg"]:
        keep("decode", compression + ".tif", encoded(picture("RGB", 9, 9), format="TIFF", compression=compression))
    keep("decode", "group4.tif", encoded(picture("L", 19, 9).convert("1"), format="TIFF", compression="group4"))
    keep("decode", "gray16.tif", encoded(Image.frombytes("I;16", (5, 4), bytes(range(40))), format="TIFF"))
    keep("decode", "rgba.tif", encoded(picture("RGBA", 5, 7), format="TIFF", compression="tiff_lzw"))
    keep("decode", "cmyk.tif", encoded(picture("CMYK", 5, 7), format="TIFF"))
    keep("decode", "plain.ppm", "P3 # plain\n2 2 255 1 2 3 4 5 6 7 8 9 10 11 12\n")
    keep("decode", "plain.pbm", "P1\n5 2\n01010 1 1 1 0 0\n")
    keep("decode", "wide.pgm", b"P5 3 2 65535\n" + bytes(range(12)))
    keep("decode", "bits.pbm", b"P4\n10 2\n\xa5\x40\x5a\x80")
    # Pillow writes none that is interlaced: one pixel, Adam7.
    import zlib

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    keep("decode", "interlaced.png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 16, 2, 0, 0, 1)) +
         chunk(b"IDAT", zlib.compress(b"\0" + bytes(range(6)))) + chunk(b"IEND", b""))


def seekjpeg():
    rgb, gray = picture("RGB", 37, 29), picture("L", 21, 18)
    for name, sampling in [("444", "4:4:4"), ("422", "4:2:2"), ("420", "4:2:0")]:
        keep("seekjpeg", name + ".jpg", encoded(rgb, format="JPEG", quality=40, subsampling=sampling))
    # Pillow writes no others; the same blocks are a scan of those, too.
    other = lambda file, height, factors: file.replace(
        b"\xff\xc0\0\x11\x08\0\x1d\0\x25\x03\x01" + file[file.index(b"\xff\xc0") + 11:][:1],
        b"\xff\xc0\0\x11\x08\0" + bytes([height]) + b"\0\x25\x03\x01" + bytes([factors]))
    keep("seekjpeg", "440.jpg", other(encoded(rgb, format="JPEG", quality=30, subsampling="4:2:2"), 29, 0x12))
    keep("seekjpeg", "411.jpg", other(encoded(rgb, format="JPEG", quality=30, subsampling="4:2:0"), 24, 0x41))
    keep("seekjpeg", "gray.jpg", encoded(gray, format="JPEG", quality=98, optimize=True))
    keep("seekjpeg", "long_codes.jpg", encoded(picture("RGB", 40, 40), format="JPEG", quality=75, optimize=True))
    keep("seekjpeg", "flat.jpg", encoded(Image.new("RGB", (64, 40), (9, 200, 90)), format="JPEG", subsampling="4:2:0"))


def sample():
    def both(name, picture_file, mask_file, seed):
        keep("sample", name, picture_file + mask_file + struct.pack("<HH", len(picture_file), seed))

    jpeg = encoded(picture("RGB", 19, 13), format="JPEG", quality=40)
    both("palette", jpeg, encoded(picture("RGB", 19, 13).quantize(7), format="PNG"), 3)
    both("gray", encoded(picture("RGB", 9, 9), format="PNG"), encoded(picture("L", 9, 9), format="PNG"), 4)
    both("gif", encoded(picture("RGB", 9, 9), format="WEBP", quality=30), encoded(picture("RGB", 9, 9).quantize(5), format="GIF"), 5)
    both("two_bits", encoded(picture("RGB", 4, 6), format="BMP"), encoded(picture("RGB", 4, 6).quantize(4), format="PNG", bits=2), 6)
    both("sizes_differ", jpeg, encoded(picture("L", 9, 9), format="PNG"), 7)
    both("colours", jpeg, jpeg, 8)
    both("no_mask", jpeg, b"", 9)


def index():
    one_index("three_classes", [])
    one_index("archives", [b"1.tar\0", b"2.zip\0"])


def one_index(name, archives):
    root, classes, paths = b"/data\0", [b"ant\0", b"bee\0", b"cat\0"], [b"ant/1.jpg\0", b"cat/1.jpg\0", b"cat/2.jpg\0"]
    text, begins = b"", []
    for part in [root, *classes, *paths, *archives]:
        begins.append(len(text))
        text += part
    ranges = [(0, 1), (1, 1), (1, 3)]
    labels = [0, 2, 2]
    members = [struct.pack("<QQ4I", 512 * i, 100 + i, i % 2, i, 7, 0) for i in range(3)] if archives else []
    samples_at, members_at = 160, 160 + 3 * 24
    archives_at = members_at + 32 * len(members)
    classes_at = archives_at + 24 * len(archives)
    text_at = classes_at + 3 * 32
    header = struct.pack("<10Q16s8Q", 0x3158444E49524446, 2, text_at + len(text), 3, samples_at, 3, classes_at, text_at,
                         len(text), len(root) - 1, bytes(range(16)), 0, 0, 0, len(archives), archives_at, members_at, 0, 0)
    body = b"".join(struct.pack("<QQII", begins[4 + i], 100 + i, 9, labels[i]) for i in range(3)) + b"".join(members)
    body += b"".join(struct.pack("<3Q", begins[7 + i], 5, 1 << 20) for i in range(len(archives)))
    body += b"".join(struct.pack("<4Q", begins[1 + i], 3, *ranges[i]) for i in range(3))
    keep("index", name, header + body + text)


def archive():
    """Those of the unit tests, which Python's zipfile and tarfile write."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, CORPUS.parent.parent / "unit" / "archives.py", folder], check=True)
        for name in ["folders.zip", "streamed.zip", "zip64.zip", "ustar.tar", "gnu.tar", "pax.tar", "json.tar"]:
            keep("archive", name, (Path(folder) / name).read_bytes().rstrip(b"\0" if name.endswith("tar") else b""))


def manifest():
    keep("manifest", "paths", "../fd/0\n")
    keep("manifest", "names", "a/1.jpg\tant\t10\nb/1.jpg\tbee\t20\na/2.jpg\tant\t0\n")
    keep("manifest", "numbers", "1.jpg\t0\t10\n2.jpg\t7\t20\n3.jpg\t2\t30")
    keep("manifest", "crlf", "1.jpg\t0\t10\r\n")
    keep("manifest", "csv", "\ufeffpath,label,split,bytes,note\r\n1.jpg,ant,train,9,\r\n\r\n\"2,\"\"3\"\"\n.jpg\",y/bee,val,8,z\n")
    keep("manifest", "superclass", "filename\tsuperclass\tlabel\tbytes\n1.jpg\tx\tant\t9\n")
    keep("manifest", "jsonl", '{"path": "1.jpg", "label": 3, "bytes": 9, "split": "train"}\n{"file_name": "2", "label": 4, "bytes": 1}\n')
    columns = "path,label,bytes,mask,before,box,tags,place,weight\n"
    keep("manifest", "columns", columns + "1.jpg,ant,9,0,0,1 2.5,a b,x,0.5\n2.jpg,bee,8,0,0,3 -4,,y,2\n")
    sample = {"path": "1", "label": "ant", "bytes": 9, "mask": "0", "before": "0", "box": [1, 2.5], "tags": ["a"], "place": "x", "weight": 1}
    keep("manifest", "columns.jsonl", compact(sample) + "\n" + compact({**sample, "path": "2", "tags": []}) + "\n")


def config():
    keep("config", "tasks", "[feed.train]\ntasks = { kind = \"harmonic\", shots = 3, noise_std = 0.5 }\ndtype = \"float64\"\n")
    keep("config", "own_samples", """[pool]
producer = ["./waves", "--fast"]
[feed.train]
samples = 1000
tensors = [ { name = "signal", dtype = "float32", shape = [2, 160] }, { name = "labels", dtype = "int64" } ]
options = { cycles = [1, 2.5] }
""")
    keep("config", "all_keys", """[pool]
producers = 2
ranks = 2
memory_limit = "8 GiB"
seek_index = "2 GiB"
failures = "failed.jsonl"
[feed.train]
data = "photos"
batch_size = 4
slots = 2
seed = 7
shuffle = true
remainder = "pad"
on_error = "replace"
error_budget = 0.01
dtype = "float32"
layout = "NCHW"
cache = "decoded"
repeat = false
auto_epoch = true
shard = "none"
max_pixels = 1000
item_deadline_s = 2.5
transform = [
  { name = "RandomResizedCrop", size = [8, 9], scale = [0.1, 1.0], ratio = [0.75, 1.3] },
  { name = "Pad", padding = [1, 2, 3, 4], padding_mode = "reflect" },
  { name = "RandomCrop", size = 7, padding = 2, pad_if_needed = true, fill = [1, 2, 3], padding_mode = "constant" },
  { name = "RandomHorizontalFlip", p = 0.5 },
  { name = "RandomVerticalFlip", p = 0.25 },
  { name = "ColorJitter", brightness = 0.4, contrast = [0.5, 1.5], saturation = 0.1, hue = 0.1 },
  { name = "Grayscale", num_output_channels = 3 },
  { name = "RandomGrayscale", p = 0.1 },
  { name = "RandomSolarize", threshold = 128, p = 0.5 },
  { name = "RandomPosterize", bits = 4 },
  { name = "RandomAdjustSharpness", sharpness_factor = 1.5 },
  { name = "RandomEqualize" },
  { name = "RandomApply", p = 0.8, transforms = [ { name = "RandomInvert" }, { name = "RandomAutocontrast", p = 1 } ] },
  { name = "RandAugment", num_ops = 2, magnitude = 9, num_magnitude_bins = 31, interpolation = "bilinear", fill = 3 },
  { name = "TrivialAugmentWide" },
  { name = "AutoAugment", policy = "imagenet" },
  { name = "GaussianBlur", kernel_size = [3, 5], sigma = 0.5 },
  { name = "RandomRotation", degrees = [-5, 30], interpolation = "bilinear", center = [1, 2], fill = 3 },
  { name = "RandomAffine", degrees = 10, translate = [0.1, 0.2], scale = [0.5, 2], shear = [-5, 5, 0, 1] },
  { name = "ToDtype", dtype = "float32", scale = true },
  { name = "Normalize", mean = [0.4, 0.5, 0.6], std = [0.2, 0.2, 0.2] },
  { name = "RandomErasing", p = 0.3, value = [0.1, 0, -1] },
]
[feed.val]
data = "more"
classes_from = "train"
transform = [ { name = "Resize", size = 12, interpolation = "bicubic" }, { name = "CenterCrop", size = 8 } ]
""")
    keep("config", "odd_toml", "feed.\"a b\".data='''\nx'''\nd=1979-05-27T07:32:00Z\nf=[inf,-nan,0x1F,1e5,{a.b=[[]]}]\n")
    keep("config", "episodes", """[feed.train]
data = "x"
[feed.train.episodes]
ways = [2, 3]
shots = 4
queries = [5, 6]
query_split = "uniform"
label_map = "sorted"
within_superclass = true
class_weights = { "a/x" = 2, "a/y" = 0.5 }
mixture = { "a/" = 3, "b/" = 1.5 }
only = ["a/x", "a/y", "b/z"]
augment = ["rotate90", "vflip"]
unlabelled = 7
distractors = 1
small_classes = "skip"
tasks_per_epoch = 800
fixed = true
[feed.test]
data = "x"
episodes = { ways = 2, query_split = "weighted", query_weights = [1, 2.5], classes = "enumerate", binding = "tuple", only = "../names" }
""")
    keep("config", "views_and_columns", """[feed.dino]
data = "list.csv"
views.global = { count = 2, transform = [ { name = "RandomResizedCrop", size = 16 }, { name = "RandomHorizontalFlip" } ] }
views.local = { transform = [ { name = "RandomResizedCrop", size = 8, scale = [0.05, 0.4] } ] }
[feed.segments]
data = "list.csv"
columns = { mask = "mask", before = "image", box = "float[4]", tags = "multi_hot", place = "class", age = "float" }
transform = [ { name = "RandomCrop", size = 8, padding = 2 }, { name = "RandomRotation", degrees = 5 } ]
""")
    keep("config", "misspelt", "[feed.train]\ndata = \"x\"\nbatchsize = 3\n")


def episode_files():
    first = {"feedring_episodes": 1, "dataset_digest": "d1", "seed": 0, "epoch": 0,
             "episodes": {"ways": [2, 2], "shots": [1, 1], "queries": [1, 1]}}
    plain = {"ordinal": 0, "classes": [4, 1], "support": [[16], [5]], "query": [[18], [7]], "label_map": [1, 0]}
    more = {**first, "episodes": {"ways": [1, 3], "shots": [1, 2], "queries": [1, 1], "unlabelled": 1, "distractors": 1,
                                  "query_split": "uniform", "augment": ["rotate90"]}}
    varied = {"ordinal": 1, "classes": [7, 1], "support": [[5, 4], [6]], "query": [[], [7, 4]], "label_map": [0, 1],
              "distractors": [2], "unlabelled": [[7], [5], [8]]}
    keep("episode_file", "plain", "".join(compact(line) + "\n" for line in [first, plain, {**plain, "ordinal": 1}]))
    keep("episode_file", "varied", "".join(compact(line) + "\n" for line in [more, {**varied, "ordinal": 0}, varied]))


ATTACH = {"op": "attach", "feed": "train", "rank": 1, "local_rank": 1, "world": 4, "local_world": 2}
FEED = {"name": "train", "data": "/data", "batch_size": 4, "slots": 3, "seed": 5, "shuffle": True, "remainder": "pad",
        "on_error": "replace", "error_budget": 0.01, "dtype": "uint8", "layout": "NHWC", "finish": "producer", "cache": "decoded", "repeat": True,
        "auto_epoch": True, "shard": "rank", "max_pixels": 1000, "item_deadline_s": 30.0, "accept_damaged": False, "exif_orientation": True, "background": [1, 2, 3],
        "transform": [{"name": "RandomResizedCrop", "size": 8}, {"name": "RandomHorizontalFlip"}]}
REPLY = {"ok": True, "feed": FEED, "samples": 23, "ordinals": 23, "classes": 7, "digest": "d1", "spec_hash": "5e", "restarted": False}
STATE = {"version": 1, "seed": 5, "epoch": 2, "next_ordinal": 8, "spec_hash": "5e", "dataset_digest": "d1", "G": 12}
FAILURE = {"op": "failure", "feed": "train", "epoch": 1, "ordinal": 2, "index": 3, "path": "a/1.jpg", "bytes": 10,
           "reason": "truncated", "outcome": 2, "ring": 0, "slot": 1, "turn": 2, "row": 3}


def messages():
    keep("control_request", "attach_twice", "\0".join([compact(ATTACH)] * 2))
    keep("control_request", "ranks_disagree", "\0".join(
        compact({**ATTACH, **more}) for more in [{}, {"local_rank": 0, "rank": 0}, {"local_rank": 0, "world": 5}]))
    keep("control_request", "status", '{"op":"status"}\0{"op":"status","from":1}')
    keep("control_request", "unknown", '{"op":"fetch"}\0{"op":7}\0[1]')
    keep("attach_reply", "reply", compact(REPLY) + "\0" + compact(STATE))
    keep("attach_reply", "refusal", compact({"ok": False, "kind": 4, "error": "local rank 0 is owned by process 7"}))
    keep("producer_channel", "feed", compact({"op": "feed", "number": 0, "spec": FEED}))
    keep("producer_channel", "failure", "\0".join(compact({**FAILURE, "row": row}) for row in [0, 0, 1]))


# Of ring_consumer.cpp and ring_producer.cpp: each action is a byte and what it takes.
def rings():
    scribble = lambda where, value, kind: struct.pack("<BHQB", 0, where, value, kind)
    attach, done, failed, wait, let_go = b"\x04", b"\x03\x01", b"\x03\x04", b"\x09", b"\x08"
    keep("ring_consumer", "batches", attach + (done + wait + let_go) * 4)
    keep("ring_consumer", "held", attach + done + wait + wait + b"\x03\x02" + wait)
    keep("ring_consumer", "raised", attach + failed + wait + wait + let_go)
    keep("ring_consumer", "seek_and_restart",
         attach + done + b"\x05\x02\x00\x01" + done + wait + attach + b"\x06\x03" + wait + b"\x07" + done + wait)
    for kind in range(4):
        keep("ring_consumer", f"scribble_{kind}",
             attach + scribble(3 + kind, 0xFFFFFFFFFFFFFFFF, kind) + done + wait + scribble(1, 34, kind) + wait + attach + wait)
    offer = lambda slot, first, valid: struct.pack("<BBBBBBB", slot, 2, 1, 1, first, valid, 1)
    work = b"\x00\x07"
    keep("ring_producer", "offers", offer(0, 0, 3) + work + offer(1, 3, 2) + work)
    keep("ring_producer", "outside", offer(0, 60, 4) + work + offer(1, 30, 3) + work)
    keep("ring_producer", "stale", offer(0, 0, 3) + b"\x00\x03\x02" + work)
    keep("ring_producer", "scribble",
         offer(0, 0, 3) + struct.pack("<BBHQ", 0, 1, 9, 0xFFFFFFFFFFFFFFFF) + work + struct.pack("<BBHQ", 0, 0, 5, 1) + b"\x00\x04")


for write in [decode, seekjpeg, sample, index, archive, manifest, config, episode_files, messages, rings]:
    write()
