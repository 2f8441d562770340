#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Episodes out of a store of decoded pictures, beside the same episodes out of JPEGs, a loop that only decodes them, and,
where this Python has torch, torch.index_select on a tensor of all pictures (alone, and on as many cores as producers have)
and other loaders (episode_peers.py); and the same pictures only read, or copied by one thread, which is what memory allows. 5-way 1-shot 15-query, 84 px, uint8. All sides in every round, in turn; ratios of one
round, then medians.

usage: episodes.py BUILD_DIR DATA_DIR [--rounds 5] [--seconds 3] [--producers 2] [--peers DIR] [--out FILE.json]

DATA_DIR is made where it is missing: 64 classes of 600 JPEGs of 84 px, always the same (Pillow).
"""
import argparse
import contextlib
import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from whole_path import machine, run, spread

CLASSES, PICTURES, SIDE = 64, 600, 84
WAYS, IMAGES = 5, 5 * (1 + 15)


def make_data(folder):
    """Smooth colours with some noise, which is what makes a photograph's file large."""
    from PIL import Image

    draw = random.Random(7)
    partial = folder.with_name(folder.name + ".part")
    for number in range(CLASSES):
        inside = partial / f"class{number:02}"
        inside.mkdir(parents=True, exist_ok=True)
        for picture in range(PICTURES):
            smooth = Image.frombytes("RGB", (9, 9), draw.randbytes(243)).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
            noise = Image.frombytes("RGB", (SIDE, SIDE), draw.randbytes(3 * SIDE * SIDE))
            Image.blend(smooth, noise, 0.12).save(inside / f"{picture:03}.jpg", quality=85)
    partial.rename(folder)


def configuration(data, folder, name, cache, dtype):
    transform = f'{{ name = "Resize", size = [{SIDE}, {SIDE}] }}'
    if dtype != "uint8":
        transform += f', {{ name = "ToDtype", dtype = "{dtype}", scale = true }}'
    file = folder / f"{name}.toml"
    # Two batches of 6.8 MB: what fits into half of a cache of 32 MB is written there, and read from there.
    file.write_text(f'[feed.train]\ndata = {json.dumps(str(data))}\nbatch_size = 4\nslots = 2\ncache = "{cache}"\n'
                    f'transform = [ {transform} ]\n'
                    f'episodes = {{ ways = {WAYS}, shots = 1, queries = 15, tasks_per_epoch = 1000000 }}\n')
    return file


class Pool:
    """A pool that lives through all rounds, so that its store stays warm."""

    def __init__(self, build, file, producers):
        self.feedring = build / "bin" / "feedring"
        self.drain = build / "libexec" / "feedring" / "feedring-drain"
        self.environment = {**os.environ, "FEEDRING_POOL": f"feedring-bench/{os.getpid()}-{file.stem}"}
        subprocess.run([self.feedring, "start", "-c", file, "--producers", str(producers), "--ranks", "1", "--address",
                        self.environment["FEEDRING_POOL"]], check=True, stdout=subprocess.DEVNULL)

    def status(self):
        said = subprocess.run([self.feedring, "status", "--json"], check=True, stdout=subprocess.PIPE, env=self.environment)
        return json.loads(said.stdout)

    def drained(self, seconds):
        before = sum(producer["cpu_s"] for producer in self.status()["producers"])
        done = subprocess.run([self.drain, "--rank", "0", "--world", "1", "--seconds", str(seconds), "--untouched"], check=True,
                              input=b"\n", stdout=subprocess.PIPE, env=self.environment)
        result = json.loads(done.stdout.splitlines()[-1])
        after = sum(producer["cpu_s"] for producer in self.status()["producers"])
        cpu = after - before + result["cpu_s"]
        return {"episodes_per_s": result["episodes"] / result["seconds"], "seconds": result["seconds"],
                "episodes_per_cpu_s": result["episodes"] / cpu, "wait_share": result["wait_s"] / result["seconds"]}

    def fill(self):
        start, seconds = time.monotonic(), 2
        while self.status()["stores"][0]["filled"] < CLASSES * PICTURES:
            self.drained(seconds)
            seconds *= 2  # each time from the first episode on: what is new lies behind where the last time ended
        return time.monotonic() - start

    def stop(self):
        subprocess.run([self.feedring, "stop"], check=False, env=self.environment)


def torch_gather(seconds):
    """Episodes a second of one thread that gathers the pictures of each, with a tensor for the result and without."""
    import torch

    torch.set_num_threads(1)
    pictures = torch.randint(0, 256, (CLASSES * PICTURES, SIDE, SIDE, 3), dtype=torch.uint8)
    wanted = torch.randint(0, len(pictures), (500, IMAGES))
    out = torch.empty(IMAGES, SIDE, SIDE, 3, dtype=torch.uint8)

    def rate(gather):
        count, start = 0, time.monotonic()
        while time.monotonic() - start < seconds:
            gather(wanted[count % 500])
            count += 1
        return count / (time.monotonic() - start)

    return {"new": rate(lambda at: torch.index_select(pictures, 0, at)),
            "out": rate(lambda at: torch.index_select(pictures, 0, at, out=out))}


def together(command, times):
    """What a program of its own finds on one core, while as many others do the same as there are producers: the mean."""
    others = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(times)]
    said = [json.loads(other.communicate()[0]) for other in others]
    return {name: sum(each[name] for each in said) / times for name in said[0]}


def drawn(build):
    """Of plans alone, without pixels: samples and episodes a second of one thread."""
    said = run([build / "bench" / "episodes_bench", "--benchmark_filter=^iid$", "--benchmark_format=json"])["benchmarks"][0]
    return {"samples_per_s": said["samples_per_s"], "episodes_per_s": said["items_per_second"]}


def gathered(build):
    """Episodes a second of one thread that only reads their pictures, or copies them."""
    said = run([build / "bench" / "gather_bench", "--benchmark_min_time=1", "--benchmark_format=json"])["benchmarks"]
    return {one["name"]: one["items_per_second"] for one in said}


def measure(arguments, pools):
    one = {name: pool.drained(arguments.seconds) for name, pool in pools.items()}
    one["plans"] = drawn(arguments.build)
    one["memory"] = gathered(arguments.build)
    one["bare_decode"] = run([arguments.build / "bench" / "bare_decode", str(arguments.data), str(arguments.producers),
                              str(arguments.seconds)])
    if importlib.util.find_spec("torch"):
        program = f"import json, episodes; print(json.dumps(episodes.torch_gather({arguments.seconds})))"
        command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r}); {program}"]
        one["index_select"] = run(command)
        one["index_select_together"] = together(command, arguments.producers)
    if arguments.peers and (arguments.peers / ".ready").exists():
        for library in ("torchmeta", "learn2learn"):
            one[library] = run([sys.executable, pathlib.Path(__file__).with_name("episode_peers.py"), library, arguments.data,
                                arguments.peers, str(arguments.seconds)])
    return one


def best(peer, kind):
    """Of the loader in the program itself, and with one and two workers."""
    return max(rate for name, rate in peer.items() if name.rpartition("_")[0] == kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--producers", type=int, default=2)
    parser.add_argument("--peers", type=pathlib.Path)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        make_data(arguments.data)

    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        pools = {}
        for name, cache, dtype in [("store", "decoded", "uint8"), ("store_float32", "decoded", "float32"), ("jpeg", "none", "uint8")]:
            file = configuration(arguments.data.resolve(), pathlib.Path(folder), name, cache, dtype)
            pools[name] = Pool(arguments.build, file, arguments.producers)
            stack.callback(pools[name].stop)
        filled_in = {name: pools[name].fill() for name in ("store", "store_float32")}
        rounds = []
        for number in range(arguments.rounds):
            rounds.append(measure(arguments, pools))
            print(f"round {number + 1}/{arguments.rounds}", file=sys.stderr)

    def of(measured):
        return spread([measured(one) for one in rounds])

    summary = {
        "store_episodes_per_s": of(lambda o: o["store"]["episodes_per_s"]),
        "store_episodes_per_cpu_s": of(lambda o: o["store"]["episodes_per_cpu_s"]),
        "store_float32_episodes_per_s": of(lambda o: o["store_float32"]["episodes_per_s"]),
        "jpeg_episodes_per_s": of(lambda o: o["jpeg"]["episodes_per_s"]),
        "store_over_jpeg": of(lambda o: o["store"]["episodes_per_s"] / o["jpeg"]["episodes_per_s"]),
        "jpeg_over_bare_decode": of(lambda o: o["jpeg"]["episodes_per_s"] * IMAGES / o["bare_decode"]["images_per_s"]),
    }
    for name in rounds[0]["memory"]:
        summary[f"memory_{name}_per_s"] = of(lambda o: o["memory"][name])
    summary["store_per_core_over_memory_one_place"] = of(
        lambda o: o["store"]["episodes_per_cpu_s"] / o["memory"]["one_place"])
    if "index_select" in rounds[0]:
        summary["memory_one_place_over_index_select_new"] = of(
            lambda o: o["memory"]["one_place"] / o["index_select"]["new"])
        for how in ("new", "out"):
            for sides in ("index_select", "index_select_together"):
                summary[f"{sides}_{how}_per_s"] = of(lambda o: o[sides][how])
                summary[f"store_per_core_over_{sides}_{how}"] = of(
                    lambda o: o["store"]["episodes_per_cpu_s"] / o[sides][how])
    summary["plans_samples_per_s"] = of(lambda o: o["plans"]["samples_per_s"])
    for library, kind, ours in [("torchmeta", "jpeg", "store"), ("torchmeta", "ram", "store"), ("learn2learn", "ram", "store"),
                                ("torchmeta", "ram_float32", "store_float32")]:
        if library in rounds[0]:
            summary[f"{library}_{kind}_per_s"] = of(lambda o: best(o[library], kind))
            summary[f"{ours}_over_{library}_{kind}"] = of(lambda o: o[ours]["episodes_per_s"] / best(o[library], kind))
    for name, value in summary.items():
        print(f"{name:42}{value['median']:12.2f}  [{value['min']:.2f} {value['max']:.2f}]")
    if arguments.out:
        pathlib.Path(arguments.out).write_text(json.dumps(
            {"machine": machine(), "seconds": arguments.seconds, "producers": arguments.producers, "filled_in_s": filled_in,
             "summary": summary, "rounds": rounds}, indent=1) + "\n")


if __name__ == "__main__":
    main()
