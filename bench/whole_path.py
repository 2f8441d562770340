#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole path against the bare decoder: feedring (read, crop decode, resize to 224, flip, into a rank's ring) beside
a loop that only decodes the same JPEGs, whole. Both sides in every round, in turn; ratios of one round, then medians.

usage: whole_path.py BUILD_DIR PHOTO_DIR [--rounds 7] [--seconds 3] [--out FILE.json]
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys


def run(command):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def machine():
    facts = {"kernel": platform.release(), "cores": os.cpu_count(), "load": os.getloadavg()}
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith(("model name", "flags")):
                key, _, value = line.partition(":")
                value = value.strip()
                facts[key.strip()] = value if key.startswith("model") else [f for f in value.split() if f in ("avx2", "avx512bw", "avx512_vnni")]
    return facts


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("photos")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    bare = os.path.join(arguments.build, "bench", "bare_decode")
    feedring = os.path.join(arguments.build, "bin", "feedring")

    rounds = []
    for number in range(arguments.rounds):
        one = {}
        order = [1, 2] if number % 2 == 0 else [2, 1]
        for count in order:
            one[f"bare_{count}"] = run([bare, arguments.photos, str(count), str(arguments.seconds)])
            one[f"feedring_{count}"] = run([feedring, "bench", arguments.photos, "--producers", str(count),
                                            "--seconds", str(arguments.seconds), "--json"])
            one[f"feedring_{count}"].pop("digest")
        rounds.append(one)
        print(f"round {number + 1}/{arguments.rounds}", file=sys.stderr)

    def ratio(measure):
        return spread([measure(one) for one in rounds])

    def wall(one, side):
        return one[side]["images_per_s"]

    summary = {
        "wall_1": ratio(lambda o: wall(o, "feedring_1") / wall(o, "bare_1")),
        "wall_2": ratio(lambda o: wall(o, "feedring_2") / wall(o, "bare_2")),
        # CPU of producers, supervisor and ranks against CPU of the loop.
        "cpu_1": ratio(lambda o: o["bare_1"]["cpu_ms_per_image"] / o["feedring_1"]["cpu_ms_per_image"]),
        "cpu_2": ratio(lambda o: o["bare_2"]["cpu_ms_per_image"] / o["feedring_2"]["cpu_ms_per_image"]),
        "scaling_feedring": ratio(lambda o: wall(o, "feedring_2") / wall(o, "feedring_1")),
        "scaling_bare": ratio(lambda o: wall(o, "bare_2") / wall(o, "bare_1")),
        "scaling_ratio": ratio(lambda o: wall(o, "feedring_2") / wall(o, "feedring_1")
                               / (wall(o, "bare_2") / wall(o, "bare_1"))),
        "first_batch_ms": spread([o["feedring_2"]["first_batch_ms"] for o in rounds]),
        "cold_first_batch_ms": spread([o["feedring_2"]["cold_first_batch_ms"] for o in rounds]),
    }
    for key in ("page_faults_per_batch", "futex_calls_per_batch", "futex_calls_per_task"):
        values = [o["feedring_2"][key] for o in rounds if o["feedring_2"][key] is not None]
        summary[key] = spread(values) if values else None
    for name, value in summary.items():
        print(f"{name:24}" + ("-" if value is None else
                              f"{value['median']:10.3f}  [{value['min']:.3f} {value['max']:.3f}]"))
    if arguments.out:
        with open(arguments.out, "w") as file:
            json.dump({"machine": machine(), "seconds": arguments.seconds, "photos": os.path.basename(arguments.photos.rstrip("/")),
                       "summary": summary, "rounds": rounds}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
