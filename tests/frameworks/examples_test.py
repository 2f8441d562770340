# SPDX-License-Identifier: Apache-2.0
# The examples of docs/examples/frameworks under torchrun, on CPUs: two ranks stop in the middle of an epoch, and one
# rank goes on.
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from conftest import SAMPLES, SIDE

pytest.importorskip("torch")
EXAMPLES = Path(os.environ["FEEDRING_SOURCE"]) / "docs" / "examples" / "frameworks"
PATH = os.environ["PYTHONPATH"]
TORCHRUN = Path(sys.executable).with_name("torchrun")


def train(example, config, checkpoint, ranks, *more):
    """Runs it; returns the samples of each step, by rank."""
    command = [TORCHRUN, "--standalone", "--nproc-per-node", ranks, EXAMPLES / example, config, "--checkpoint", checkpoint, *more]
    # Not pipes: the pool that a rank started keeps their ends for as long as it waits for another rank.
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        code = subprocess.run([str(word) for word in command], stdout=output, stderr=errors, timeout=200,
                              env={**os.environ, "PYTHONPATH": PATH, "OMP_NUM_THREADS": "1"}).returncode
        output.seek(0)
        errors.seek(0)
        assert code == 0, errors.read()[-4000:]
        lines = [json.loads(line) for line in output.read().splitlines() if line.startswith('{"rank"')]
    return [[line["samples"] for line in lines if line["rank"] == rank] for rank in range(ranks)]


@pytest.fixture
def config(pictures, tmp_path):
    """23 samples: three steps of two ranks with batches of 4, six of one rank."""
    file = tmp_path / "feed.toml"
    file.write_text(f'[feed.train]\ndata = "{pictures}"\nbatch_size = 4\nremainder = "pad"\n'
                    f'transform = [{{name = "Resize", size = [{SIDE}, {SIDE}]}}]\n[pool]\nproducers = 1\n')
    return file


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
