#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python face: what importing it costs, what next() costs where no copy is made, and how soon the first batch comes
beside torch's DataLoader with two spawned workers on the same folder. Both sides in every round, in turn. JSON out.

usage: PYTHONPATH=build/python python.py PHOTO_DIR [--rounds 5] [--out FILE.json]

PHOTO_DIR has one folder per class. Without torch and torchvision their parts are left out.
"""
import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

BATCH = 256  # of the batches that next() hands out: 256 x 224 x 224 x 3
SIDE = 224
SLOTS = 6
FIRST_BATCH = 64


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "times": len(values)}


def fresh(program, *arguments):
    """What a program prints, in an interpreter of its own. Its errors go to a file: a pool would keep a pipe open."""
    with tempfile.TemporaryFile("w+") as errors:
        done = subprocess.run([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, stderr=errors,
                              text=True)
        errors.seek(0)
        if done.returncode != 0:
            sys.exit(errors.read())
    return json.loads(done.stdout)


def import_ms(rounds):
    program = "import time; start = time.perf_counter(); import feedring; print(time.perf_counter() - start)"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled
    fresh(program)  # compiles here
    return spread([fresh(program) * 1e3 for _ in range(3 * rounds)])


def wait_until_full(command, address):
    """All slots but that of the batch before, which the next next() offers again."""
    while True:
        said = subprocess.run([command, "status", "--pool", address, "--json"], check=True, stdout=subprocess.PIPE)
        if json.loads(said.stdout)["rings"][0]["slots"]["ready"] == SLOTS - 1:
            return
        time.sleep(0.05)


def timed_batches(loader):
    """Microseconds of one next() after the other, over as many epochs as are asked for."""
    while True:
        iterator = iter(loader)
        for _ in range(len(loader)):
            start = time.perf_counter_ns()
            batch = next(iterator)
            took = (time.perf_counter_ns() - start) / 1e3
            assert batch["images"].shape == (BATCH, 3, SIDE, SIDE)
            del batch
            yield took


def next_us(photos, backend, rounds):
    """next() for batches that are decoded already: what stands between a trainer and its tensors."""
    import feedring

    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(f'[feed.train]\ndata = "{os.path.abspath(photos)}"\nbatch_size = {BATCH}\nslots = {SLOTS}\n'
                   f'remainder = "pad"\ntransform = [ {{ name = "RandomResizedCrop", size = {SIDE} }} ]\n')
        file.flush()
        said = subprocess.run([feedring.command(), "start", "-c", file.name], check=True, stdout=subprocess.PIPE,
                              text=True)
    address = os.environ["FEEDRING_POOL"] = said.stdout.strip().split("=", 1)[1]
    times = []
    try:
        with feedring.Loader(backend=backend) as loader:
            batches = timed_batches(loader)
            for _ in range(2 * SLOTS):
                next(batches)  # until every slot was touched once
            for _ in range(rounds):
                wait_until_full(feedring.command(), address)
                times += [next(batches) for _ in range(SLOTS - 1)]
    finally:
        del os.environ["FEEDRING_POOL"]
        subprocess.run([feedring.command(), "stop", "--pool", address], check=True)
    return spread(times)


# Both import torch before the clock starts, and pay for what they start themselves.
FEEDRING_FIRST = f"""
import sys, time, torch, feedring
start = time.perf_counter()
loader = feedring.Loader(sys.argv[1], batch_size={FIRST_BATCH}, as_tuple=True)
images, labels = next(iter(loader))
assert images.shape == ({FIRST_BATCH}, 3, {SIDE}, {SIDE}), images.shape
print(time.perf_counter() - start)
"""
# A file, because spawned workers import what the program was.
TORCH_FIRST = f"""
import sys, time, torch, torchvision
from torchvision import transforms
if __name__ == "__main__":
    start = time.perf_counter()
    steps = transforms.Compose([transforms.RandomResizedCrop({SIDE}), transforms.RandomHorizontalFlip(),
                                transforms.PILToTensor()])
    loader = torch.utils.data.DataLoader(torchvision.datasets.ImageFolder(sys.argv[1], steps), batch_size={FIRST_BATCH},
                                         shuffle=True, num_workers=2, multiprocessing_context="spawn")
    iterator = iter(loader)
    images, labels = next(iterator)
    assert images.shape == ({FIRST_BATCH}, 3, {SIDE}, {SIDE}), images.shape
    print(time.perf_counter() - start)
"""


def first_batch(photos, rounds):
    runs = {"feedring": [], "torch_spawn_2": []}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "torch_first.py")
        with open(path, "w") as file:
            file.write(TORCH_FIRST)
        sides = [lambda: runs["feedring"].append(fresh(FEEDRING_FIRST, photos)),
                 lambda: runs["torch_spawn_2"].append(json.loads(subprocess.run(
                     [sys.executable, path, photos], check=True, stdout=subprocess.PIPE).stdout))]
        for number in range(rounds):
            for side in sides if number % 2 == 0 else reversed(sides):
                side()
    ratios = [torch / ours for ours, torch in zip(runs["feedring"], runs["torch_spawn_2"])]
    return {"seconds": {name: spread(times) for name, times in runs.items()}, "times_sooner": spread(ratios)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    have_torch = bool(importlib.util.find_spec("torch") and importlib.util.find_spec("torchvision"))
    result = {"machine": {"kernel": platform.release(), "cores": os.cpu_count(), "load": os.getloadavg(),
                          "python": platform.python_version()},
              "import_ms": import_ms(arguments.rounds),
              "next_us": {backend: next_us(arguments.photos, backend, arguments.rounds)
                          for backend in ["numpy", *["torch"] * have_torch]}}
    if have_torch:
        result["first_batch"] = first_batch(os.path.abspath(arguments.photos), arguments.rounds)
    text = json.dumps(result, indent=1)
    print(text)
    if arguments.out:
        with open(arguments.out, "w") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
