# SPDX-License-Identifier: Apache-2.0
# Whole jobs, under a launcher, on the pictures.
import os
import subprocess
import tempfile

import pytest

from pictures import SIDE


@pytest.fixture
def config(pictures, tmp_path):
    """A configuration with which 23 samples make steps of 4 a rank."""
    file = tmp_path / "feed.toml"
    file.write_text(f'[feed.train]\ndata = "{pictures}"\nbatch_size = 4\nremainder = "pad"\n'
                    f'transform = [{{name = "Resize", size = [{SIDE}, {SIDE}]}}]\n[pool]\nproducers = 1\n')
    return file


def run(command, *, expect=0, timeout=90, **environment):
    """Runs a command; returns its output."""
    # Not pipes: a pool that a rank started keeps their ends for as long as it waits for another rank.
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        code = subprocess.run([str(word) for word in command], stdout=output, stderr=errors, timeout=timeout,
                              env={**os.environ, **environment}).returncode
        output.seek(0)
        errors.seek(0)
        said = output.read()
        assert code == expect, f"{code}: {errors.read()[-3000:]} {said[-1000:]}"
    return said
