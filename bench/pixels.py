#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JPEG -> RandomResizedCrop(224) -> flip -> a rank's slot, beside a loop that only decodes and, where PYTHON has torch and
torchvision, DataLoaders with Pillow (float32, normalised) and with torchvision's decode_jpeg (uint8). One producer, one
worker, one process each. All sides in every round, in turn; ratios of one round, then medians. Beside them the resizes
of resize_bench, against Debian's Pillow and against that of PILLOW.

usage: pixels.py BUILD_DIR PHOTO_DIR [--rounds 7] [--seconds 3] [--python PYTHON] [--pillow PYTHON] [--out FILE.json]
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

from whole_path import machine, run, spread

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
REPEATS = 10  # how often each file is listed, so that a first epoch is long enough to be measured
BATCH = 64


# ---- the DataLoader side: this file again, in a Python that has torch

class Pictures:
    """What the DataLoader of torch's tutorials does with a file."""

    def __init__(self, files, kind):
        import torch
        from torchvision.transforms import v2

        self.files, self.kind = files, kind
        common = [v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip()]
        if kind == "pil":
            common += [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
        self.transform = v2.Compose(common)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        if self.kind == "pil":
            from PIL import Image

            with Image.open(self.files[index]) as image:
                return self.transform(image.convert("RGB"))
        from torchvision.io import ImageReadMode, decode_jpeg, read_file

        return self.transform(decode_jpeg(read_file(self.files[index]), mode=ImageReadMode.RGB))


def cpu_of_tree():
    """Seconds of this process and of the workers that live."""
    ticks = os.sysconf("SC_CLK_TCK")
    own = resource.getrusage(resource.RUSAGE_SELF)
    seconds = own.ru_utime + own.ru_stime
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        for child in file.read().split():
            with open(f"/proc/{child}/stat") as stat:
                fields = stat.read().rpartition(")")[2].split()
            seconds += (int(fields[11]) + int(fields[12])) / ticks
    return seconds


def loader_side(kind, photos, seconds):
    import torch
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)
    files = jpegs(photos) * 1000
    loader = DataLoader(Pictures(files, kind), BATCH, shuffle=True, num_workers=1)
    batches = iter(loader)
    for _ in range(3):  # the workers' imports
        next(batches)
    cpu, begin, images = cpu_of_tree(), time.monotonic(), 0
    while time.monotonic() - begin < seconds:
        images += len(next(batches))
    wall = time.monotonic() - begin
    print(json.dumps({"images": images, "images_per_s": images / wall, "cpu_ms_per_image": (cpu_of_tree() - cpu) * 1e3 / images,
                      "torch": torch.__version__}))
    os._exit(0)  # not an epoch's end: the worker has much left to do


# ---- the feedring side

def jpegs(folder):
    return sorted(str(path) for path in pathlib.Path(folder).rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))


def configuration(folder, name, data, finish, seek_index):
    steps = '{ name = "RandomResizedCrop", size = 224 }, { name = "RandomHorizontalFlip" }'
    if finish == "float":
        steps += f', {{ name = "ToDtype", dtype = "float32", scale = true }}, {{ name = "Normalize", mean = {MEAN}, std = {STD} }}'
    file = folder / f"{name}.toml"
    file.write_text(f"[pool]\nproducers = 1\nranks = 1\nseek_index = {seek_index}\n[feed.train]\ndata = {json.dumps(str(data))}\n"
                    f"batch_size = {BATCH}\ntransform = [ {steps} ]\n")
    return str(file)


def resizes(build, python):
    """resize_bench's ratios: Pillow's processor time over ours."""
    command = [os.path.join(build, "bench", "resize_bench"), "--benchmark_format=json"]
    environment = dict(os.environ, FEEDRING_PILLOW_PYTHON=python)
    said = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment).stdout)
    return {one["name"]: {key: one[key] for key in one if key in ("label", "feedring_us", "pillow_us", "ratio", "ratio_worst",
                                                                  "over_memcpy", "over_memcpy_worst")}
            for one in said["benchmarks"] if "ratio" in one or "over_memcpy" in one}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("photos")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--python", help="has torch and torchvision")
    parser.add_argument("--pillow", help="has another Pillow to compare resizes with, such as pillow-simd")
    parser.add_argument("--out")
    parser.add_argument("--side", choices=["pil", "torchvision"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.photos = os.path.abspath(arguments.photos)  # configurations lie elsewhere
    if arguments.side:
        loader_side(arguments.side, arguments.photos, arguments.seconds)
    bare = os.path.join(arguments.build, "bench", "bare_decode")
    feedring = os.path.join(arguments.build, "bin", "feedring")
    seconds = str(arguments.seconds)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        listed = folder / "listed.tsv"
        # As another sample each time, so that none of them finds an index that another made.
        listed.write_text("".join(f"{os.path.relpath(file, folder)}\t0\n" for file in jpegs(arguments.photos) * REPEATS))

        def ours(name, data, finish, seek_index, length):
            file = configuration(folder, name, data, finish, seek_index)
            return lambda: run([feedring, "bench", "-c", file, *length, "--json"])

        def theirs(kind):
            return lambda: run([arguments.python, __file__, arguments.build, arguments.photos, "--side", kind, "--seconds", seconds])

        once, long = ["--epochs", "1"], ["--seconds", seconds]
        sides = {
            "bare": lambda: run([bare, arguments.photos, "1", seconds]),
            "first": ours("first", listed, "uint8", "true", once),
            "first_without_index": ours("without", listed, "uint8", "false", once),
            "later": ours("later", arguments.photos, "uint8", "true", long),
        }
        if arguments.python:
            sides["first_float"] = ours("first_float", listed, "float", "true", once)
            sides["later_float"] = ours("later_float", arguments.photos, "float", "true", long)
            sides["pil_float"] = theirs("pil")
            sides["torchvision_uint8"] = theirs("torchvision")
        rounds = []
        for number in range(arguments.rounds):
            names = list(sides)[number % len(sides):] + list(sides)[:number % len(sides)]
            one = {name: sides[name]() for name in names}
            for side in one.values():
                side.pop("digest", None)
            rounds.append(one)
            print(f"round {number + 1}/{arguments.rounds}", file=sys.stderr)

    summary = {}
    pairs = [(side, "bare") for side in ("first", "first_without_index", "later")]
    if arguments.python:
        pairs += [("first_float", "pil_float"), ("later_float", "pil_float"), ("first", "torchvision_uint8"), ("later", "torchvision_uint8")]
    for side, other in pairs:
        summary[f"{side}/{other}"] = {
            "wall": spread([one[side]["images_per_s"] / one[other]["images_per_s"] for one in rounds]),
            "cpu": spread([one[other]["cpu_ms_per_image"] / one[side]["cpu_ms_per_image"] for one in rounds])}
    resize = {"pillow": resizes(arguments.build, "/usr/bin/python3")}
    if arguments.pillow:
        resize["other"] = resizes(arguments.build, arguments.pillow)
    print(f"{'ours / theirs':34}{'wall':>8}{'':16}{'CPU':>8}")
    for name, value in summary.items():
        print(f"{name:34}" + "  ".join(f"{value[what]['median']:8.2f} [{value[what]['min']:.2f} {value[what]['max']:.2f}]"
                                       for what in ("wall", "cpu")))
    for against, all_of_them in resize.items():
        for name, value in all_of_them.items():
            median, worst = ((value["ratio"], value["ratio_worst"]) if "ratio" in value
                             else (value["over_memcpy"], value["over_memcpy_worst"]))
            if "ratio" in value or against == "pillow":
                print(f"{name[:70]:70}{median:8.2f} [worst {worst:.2f}]  {value.get('label', '')}")
    if arguments.out:
        with open(arguments.out, "w") as file:
            json.dump({"machine": machine(), "seconds": arguments.seconds, "photos": os.path.basename(arguments.photos.rstrip("/")),
                       "summary": summary, "resize": resize, "rounds": rounds}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
