# SPDX-License-Identifier: Apache-2.0
# torchrun, static and elastic, with ranks that train a DistributedDataParallel model.
import sys
from pathlib import Path

import pytest

from conftest import DDP, FEEDRING, PACKAGE, SAMPLES, TRAINER, expect_whole_epoch, free_port, lines, run

pytest.importorskip("torch")
TORCHRUN = Path(sys.executable).with_name("torchrun")
pytestmark = pytest.mark.skipif(not TORCHRUN.exists(), reason="not installed: a torchrun of this Python")
ELASTIC = [TORCHRUN, "--nnodes", "1", "--nproc-per-node", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0",
           "--rdzv-id", "feedring-test", "--max-restarts", "5"]
QUIET = {"OMP_NUM_THREADS": "1", "PYTHONPATH": PACKAGE}


def expect_same_weights(output):
    weights = [end["weights"] for end in lines(output, "end")]
    assert len(weights) == 2 and weights[0] == weights[1]


def test_static_ranks_start_their_pool(config):
    output = run([TORCHRUN, "--nproc-per-node", "2", "--master-port", free_port(), DDP, config], **QUIET)
    expect_whole_epoch(output, SAMPLES, 2)
    expect_same_weights(output)


def test_run_around_it(config):
    output = run([FEEDRING, "run", "-c", config, "--", TORCHRUN, "--nproc-per-node", "2", "--master-port", free_port(), DDP, config],
                 **QUIET)
    expect_whole_epoch(output, SAMPLES, 2)
    assert len({start["pool"] for start in lines(output, "start")}) == 1


def test_ranks_in_another_language(config):
    output = run([*ELASTIC, "--no-python", TRAINER], FEEDRING_CONFIG=str(config), **QUIET)
    expect_whole_epoch(output, SAMPLES, 2)


def test_a_killed_rank_restarts_and_goes_on_at_the_right_sample(config, tmp_path):
    output = run([*ELASTIC, DDP, config, "--state", tmp_path / "state", "--die-at", "1"], **QUIET)
    batches = lines(output, "batch")
    ids = [i for b in batches for i, valid in zip(b["ids"], b["valid"]) if valid]
    assert sorted(ids) == list(range(SAMPLES)), "each sample was trained on once, before or after the restart"
    # Gloo itself fails some restarts on its own (a rank finds an address of before); such an attempt trains nothing.
    steps = [[b["step"] for b in batches if b["rank"] == rank and b["restart"] == 0] for rank in range(2)]
    assert steps == [[0], [0]]
    last = max(b["restart"] for b in batches)
    assert last > 0
    assert [[b["step"] for b in batches if b["rank"] == rank and b["restart"] > 0] for rank in range(2)] == [[0, 1], [0, 1]]
    expect_same_weights(output)
