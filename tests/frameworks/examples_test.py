# SPDX-License-Identifier: Apache-2.0
# The examples of docs/examples/frameworks under torchrun, on CPUs: two ranks stop in the middle of an epoch, and one
# rank goes on; and the other way round.
import json
import os
import sys
from pathlib import Path

import pytest

from conftest import SAMPLES, run

pytest.importorskip("torch")
EXAMPLES = Path(os.environ["FEEDRING_SOURCE"]) / "docs" / "examples" / "frameworks"
PATH = os.environ["PYTHONPATH"]
TORCHRUN = Path(sys.executable).with_name("torchrun")


def train(example, config, checkpoint, ranks, *more):
    """Runs it; returns the samples of each step, by rank."""
    command = [TORCHRUN, "--standalone", "--nproc-per-node", ranks, EXAMPLES / example, config, "--checkpoint", checkpoint, *more]
    output = run(command, timeout=200, PYTHONPATH=PATH, OMP_NUM_THREADS="1")
    lines = [json.loads(line) for line in output.splitlines() if line.startswith('{"rank"')]
    return [[line["samples"] for line in lines if line["rank"] == rank] for rank in range(ranks)]


@pytest.mark.parametrize("example, framework", [("ddp.py", "torch"), ("with_accelerate.py", "accelerate"),
                                                ("with_lightning.py", "lightning"), ("with_trainer.py", "transformers")])
def test_ranks_share_an_epoch_and_another_number_of_ranks_goes_on(config, tmp_path, example, framework):
    pytest.importorskip(framework)
    whole = train(example, config, tmp_path / "whole", 2)
    assert [len(steps) for steps in whole] == [3, 3], "equally many steps on both"
    assert sorted(i for steps in whole for samples in steps for i in samples) == list(range(SAMPLES)), "each sample once"
    begun = train(example, config, tmp_path / "stopped", 2, "--stop-after", "1")
    assert [len(steps) for steps in begun] == [1, 1]
    assert begun == [steps[:1] for steps in whole]
    rest = train(example, config, tmp_path / "stopped", 1)
    assert sorted(i for steps in begun + rest for samples in steps for i in samples) == list(range(SAMPLES))
    # A framework that counts steps itself has counted more by then than two ranks have in a whole epoch.
    begun = train(example, config, tmp_path / "alone", 1, "--stop-after", "4")
    rest = train(example, config, tmp_path / "alone", 2)
    assert [len(steps) for steps in begun + rest] == [4, 1, 1]
    assert sorted(i for steps in begun + rest for samples in steps for i in samples) == list(range(SAMPLES))
