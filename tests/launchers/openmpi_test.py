# SPDX-License-Identifier: Apache-2.0
# Debian's Open MPI. Its variables say rank and job; feedring makes no call of MPI.
import pytest

from conftest import FEEDRING, SAMPLES, SAY_POOL, TRAINER, expect_whole_epoch, lines, needs, run

pytestmark = needs("mpirun")

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MPIRUN = ["mpirun", "--oversubscribe", "-n"]


@pytest.mark.parametrize("world", [1, 2, 3])
def test_run_within_makes_one_pool_of_all_tasks(config, world):
    output = run([*MPIRUN, world, FEEDRING, "run", "-c", config, "--", *SAY_POOL, TRAINER], **AS_ROOT)
    expect_whole_epoch(output, SAMPLES, world)
    assert len({pool["address"] for pool in lines(output, "pool")}) == 1


def test_run_around_it(config):
    output = run([FEEDRING, "run", "-c", config, "--", *MPIRUN, 2, TRAINER], **AS_ROOT)
    expect_whole_epoch(output, SAMPLES, 2)


def test_ranks_start_the_pool_themselves(config):
    expect_whole_epoch(run([*MPIRUN, 2, TRAINER], FEEDRING_CONFIG=str(config), **AS_ROOT), SAMPLES, 2)


def test_two_jobs_at_once_do_not_meet(config, tmp_path):
    job = " ".join(str(word) for word in [*MPIRUN, 2, TRAINER])
    run(["sh", "-c", f"{job} >{tmp_path}/one & {job} >{tmp_path}/two & wait"], FEEDRING_CONFIG=str(config), **AS_ROOT)
    for name in ("one", "two"):
        expect_whole_epoch((tmp_path / name).read_text(), SAMPLES, 2)
