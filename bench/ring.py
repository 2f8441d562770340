#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The speed of the core: ring_bench in rounds, ratios of one round, then medians. Where this Python has torch, each
round also measures the transport of its DataLoader: two workers, one preallocated 3 x 224 x 224 uint8 tensor a sample.

usage: ring.py BUILD_DIR [--rounds 11] [--out FILE.json]
"""
import argparse
import json
import os
import subprocess
import sys
import time

from whole_path import machine, spread

try:
    import torch
except ImportError:
    torch = None


class OneSample:
    def __init__(self):
        self.sample = torch.zeros(3, 224, 224, dtype=torch.uint8)

    def __len__(self):
        return 64 * 168

    def __getitem__(self, _):
        return self.sample


def data_loader_images_per_s():
    batches = iter(torch.utils.data.DataLoader(OneSample(), batch_size=64, num_workers=2))
    for _ in range(8):  # the workers start, and fill what they may fill ahead
        next(batches)
    start = time.monotonic()
    images = sum(len(batch) for batch in batches)
    return images / (time.monotonic() - start)


def one_round(program):
    command = [program, "--benchmark_repetitions=1", "--benchmark_format=json"]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    known = {"hand_offs": "ns", "claims": "claims", "moves": "move_ns", "batches": "batches"}
    values = {"load": os.getloadavg()[0]}
    for entry in report["benchmarks"]:
        if entry.get("error_occurred"):
            sys.exit(f"{entry['name']}: {entry['error_message']}")
        name = entry["name"].split("/")[0]
        # Of an entry's numbers, all after time_unit are the counters.
        counters = list(entry.items())[list(entry).index("time_unit") + 1:]
        values.update({f"{known[name]}.{key}": value for key, value in counters})
    for key in [key for key in values if key.startswith("ns.") and key != "ns.bare"]:
        values["over_bare." + key[3:]] = values[key] / values["ns.bare"]
    if torch:
        values["batches.data_loader_images_per_s"] = data_loader_images_per_s()
        values["batches.ring_over_data_loader"] = (values["batches.ring_images_per_s"]
                                                   / values["batches.data_loader_images_per_s"])
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    rounds = []
    for number in range(arguments.rounds):
        rounds.append(one_round(os.path.join(arguments.build, "bench", "ring_bench")))
        print(f"round {number + 1}/{arguments.rounds}", file=sys.stderr)
    summary = {key: spread([one[key] for one in rounds]) for key in rounds[0]}
    for name, value in summary.items():
        print(f"{name:36}{value['median']:14.5g}  [{value['min']:.5g} {value['max']:.5g}]")
    if arguments.out:
        facts = machine() | {"torch": torch.__version__ if torch else None}
        with open(arguments.out, "w") as file:
            json.dump({"machine": facts, "rounds": arguments.rounds, "summary": summary}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
