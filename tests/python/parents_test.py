# SPDX-License-Identifier: Apache-2.0
# Whoever the parent is: children of multiprocessing, programs without a guard, a cell that is interrupted.
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import feedring
from pictures import PLAIN, SAMPLES, Stopped


def epoch_of(folder, results):
    with feedring.Loader(folder, batch_size=4, transform=PLAIN, num_workers=1, timeout=30) as loader:
        results.put(sorted(i for batch in loader for i in batch["sample_ids"][batch["valid"].astype(bool)].tolist()))


@pytest.mark.filterwarnings("ignore:.*fork")
@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_a_child_of_multiprocessing_has_its_own_loader(pictures, method):
    context = multiprocessing.get_context(method)
    results = context.Queue()
    child = context.Process(target=epoch_of, args=(str(pictures), results))
    child.start()
    assert results.get(timeout=60) == list(range(SAMPLES))
    child.join(30)
    assert child.exitcode == 0


def test_a_program_needs_no_guard(pictures, tmp_path):
    program = tmp_path / "train.py"
    program.write_text(f"""
import feedring
with feedring.Loader({str(pictures)!r}, batch_size=23, transform={PLAIN!r}, num_workers=2, timeout=30) as loader:
    print(sum(len(batch["labels"]) for batch in loader))
""")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{SAMPLES}\n", done.stderr


def test_an_interrupted_cell_leaves_a_loader_that_goes_on(loader_of):
    # Producers are stopped, so that ^C meets next() while it waits; two slots cannot hold the rest of the epoch.
    loader = loader_of(timeout=60, slots=2)
    steps = iter(loader)
    first = next(steps)["sample_ids"].tolist()
    got = []
    with Stopped(os.getpid()):
        interrupt = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
        began = time.monotonic()
        interrupt.start()
        with pytest.raises(KeyboardInterrupt):
            while True:  # what is ready comes first
                got += next(steps)["sample_ids"].tolist()
        assert time.monotonic() - began < 10
    for batch in steps:
        got += batch["sample_ids"][batch["valid"].astype(bool)].tolist()
    assert sorted(first + got) == list(range(SAMPLES)), "no batch was lost"
