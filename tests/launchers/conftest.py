# SPDX-License-Identifier: Apache-2.0
# What the tests under real launchers share: pictures, the built programs, and what must be true of any job. The pictures
# and the clean environment are those of tests/python, which is on the path.
import json
import os
import socket
from pathlib import Path

import pytest

from jobs import config, run  # noqa: F401
from pictures import *  # noqa: F401, F403

BUILD = Path(os.environ["FEEDRING_BUILD"])  # read before the clean environment takes it away
FEEDRING = BUILD / "bin" / "feedring"
TRAINER = BUILD / "tests" / "fault_trainer"  # a rank in C++, which prints what it got
DDP = Path(__file__).with_name("ddp.py")     # a rank in Python, with torch.distributed
PACKAGE = os.environ.get("PYTHONPATH", "")

# Says where the rank's pool is, then becomes the trainer.
SAY_POOL = ["sh", "-c", 'printf \'{"event":"pool","address":"%s","node":"%s"}\\n\' "$FEEDRING_POOL" "$SLURM_NODEID"; exec "$@"',
            "sh"]


def needs(*programs):
    """A mark: skips, by name, where a program is not installed."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    missing = [p for p in programs if not any(os.access(f"{d}/{p}", os.X_OK) for d in path.split(":"))]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def lines(output, event):
    found = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return [line for line in found if line["event"] == event]


def expect_whole_epoch(output, samples, world):
    """Every rank took equally many steps, and together they had each sample once."""
    batches = lines(output, "batch")
    steps = {rank: [b["step"] for b in batches if b["rank"] == rank] for rank in range(world)}
    assert set(b["rank"] for b in batches) == set(range(world))
    assert all(steps[rank] == steps[0] for rank in range(world)), steps
    ids = [i for b in batches for i, valid in zip(b["ids"], b["valid"]) if valid]
    assert sorted(ids) == list(range(samples))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def processes(name):
    """Pids of the living processes of this name."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == name:
                found.add(int(entry.name))
        except OSError:
            continue
    return found
