# SPDX-License-Identifier: Apache-2.0
# What the Python suites share: pictures whose pixels say which sample they are, a clean environment, and processes.
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from PIL import Image

import feedring

SIDE = 8
COUNTS = {"ant": 8, "bee": 8, "cat": 7}  # 23 samples: with batches of 4, five whole steps and three samples
SAMPLES = sum(COUNTS.values())
# The pictures have this size already, so that their pixels arrive as they are.
PLAIN = [{"name": "Resize", "size": [SIDE, SIDE]}]


def colour(sample):
    """Of every pixel of a sample, by its number in the data set."""
    return (10 + sample, 200 - sample, 3)


def label(sample):
    return 0 if sample < 8 else 1 if sample < 16 else 2


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    sample = 0
    for name, count in COUNTS.items():
        (folder / name).mkdir()
        for number in range(count):
            Image.new("RGB", (SIDE, SIDE), colour(sample)).save(folder / name / f"{number}.png")
            sample += 1
    return folder


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    for name in list(os.environ):
        if name.startswith(("FEEDRING_", "SLURM_", "OMPI_", "PMI_", "PMIX_", "TORCHELASTIC_")) or name in (
                "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FEEDRING_LOG", "warn")


@pytest.fixture
def loader_of(pictures):
    """Makes loaders of the pictures, in batches of 4 on one producer, and closes them."""
    made = []

    def make(source=None, **arguments):
        defaults = {"batch_size": 4, "transform": PLAIN, "num_workers": 1, "timeout": 30}
        if str(source).endswith(".toml"):
            defaults = {"timeout": 30}
        loader = feedring.Loader(source or pictures, **{**defaults, **arguments})
        made.append(loader)
        return loader

    yield make
    for loader in made:
        loader.close()


@pytest.fixture
def python():
    """Runs a program in an interpreter of its own; returns what it printed."""

    def run(program, *, expect=0, **environment):
        # Not a pipe: the pool keeps its end for as long as it waits for another rank.
        with tempfile.TemporaryFile("w+") as errors:
            done = subprocess.run([sys.executable, "-c", program], env={**os.environ, **environment}, text=True,
                                  timeout=60, stdout=subprocess.PIPE, stderr=errors)
            errors.seek(0)
            assert done.returncode == expect, errors.read()
        return done.stdout

    return run


def children_of(process):
    """Pids of the living processes whose parent that is, and their names."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            status = (entry / "status").read_text()
        except OSError:
            continue
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        if int(fields["PPid"]) == process and not fields["State"].startswith("Z"):
            found[int(entry.name)] = fields["Name"]
    return found


def pool_of(process):
    """Pid of the pool that a process started."""
    pools = [pid for pid, name in children_of(process).items() if name == "feedring"]
    assert len(pools) == 1, pools
    return pools[0]


def state(task):
    return (task / "stat").read_text().rpartition(")")[2].split()[0]


class Stopped:
    """The producers of this process's pool, stopped for a while: no batch comes."""

    def __init__(self, process):
        self.producers = [pid for pid, name in children_of(pool_of(process)).items() if name.startswith("feedring-")]
        assert self.producers

    def __enter__(self):
        for pid in self.producers:
            os.kill(pid, signal.SIGSTOP)
            while not all(state(task) == "T" for task in Path(f"/proc/{pid}/task").iterdir()):
                time.sleep(0.001)  # its threads run on until one of them has looked

    def __exit__(self, *exc):
        for pid in self.producers:
            os.kill(pid, signal.SIGCONT)
