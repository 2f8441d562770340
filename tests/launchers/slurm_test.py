# SPDX-License-Identifier: Apache-2.0
# Debian's Slurm, with two nodes on this machine. They share its kernel, and with it the names of abstract sockets.
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import FEEDRING, SAMPLES, SAY_POOL, TRAINER, expect_whole_epoch, free_port, lines, needs, run

pytestmark = [needs("slurmctld", "slurmd", "srun", "sinfo", "munged"),
              pytest.mark.skipif(os.geteuid() != 0, reason="slurmd starts tasks as their users, for which it is root")]

CONFIGURATION = """ClusterName=feedring
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CryptoType=crypto/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
KillWait=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={port1} CPUs=2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={port2} CPUs=2
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """A cluster of this test's own: nothing of the machine's configuration is read or changed."""
    folder = tmp_path_factory.mktemp("slurm")
    (folder / "state").mkdir()
    munge = folder / "munge"
    munge.mkdir(mode=0o711)
    key = munge / "key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    file = folder / "slurm.conf"
    file.write_text(CONFIGURATION.format(host=socket.gethostname().split(".")[0], folder=folder, port=free_port(),
                                         port1=free_port(), port2=free_port()))
    environment = {"SLURM_CONF": str(file), "PATH": os.environ["PATH"] + ":/usr/sbin"}
    logs = open(folder / "daemons.log", "w")
    daemons = []
    for command in (["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}/socket",
                     f"--pid-file={munge}/pid", f"--seed-file={munge}/seed", f"--log-file={munge}/log"],
                    ["slurmctld", "-D"], ["slurmd", "-D", "-N", "n1"], ["slurmd", "-D", "-N", "n2"]):
        program = shutil.which(command[0], path=environment["PATH"])
        daemons.append(subprocess.Popen([program, *command[1:]], env={**os.environ, **environment}, stdout=logs,
                                        stderr=logs))
        time.sleep(0.3)
    try:
        deadline = time.monotonic() + 30
        while True:
            said = subprocess.run(["sinfo", "-h", "-o", "%T %D"], env={**os.environ, **environment}, text=True,
                                  capture_output=True, timeout=20).stdout.split()
            if said == ["idle", "2"]:
                break
            assert time.monotonic() < deadline, (said, (folder / "daemons.log").read_text()[-2000:])
            time.sleep(0.2)
        yield {"SLURM_CONF": str(file)}
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            daemon.wait(timeout=20)


def srun(slurm, *command, **arguments):
    return run(["srun", "-N2", "-n4", "-K", *command], **arguments, **slurm)


def test_run_makes_one_pool_a_node_not_one_a_task(slurm, config):
    output = srun(slurm, FEEDRING, "run", "-c", config, "--", *SAY_POOL, TRAINER)
    expect_whole_epoch(output, SAMPLES, 4)
    nodes = {}
    for pool in lines(output, "pool"):
        nodes.setdefault(pool["node"], []).append(pool["address"])
    # Two tasks of a node have one address, and the nodes' differ though they are one machine.
    assert sorted(nodes) == ["0", "1"]
    assert [len(addresses) for addresses in nodes.values()] == [2, 2]
    assert [len(set(addresses)) for addresses in nodes.values()] == [1, 1]
    assert nodes["0"][0] != nodes["1"][0]


def test_tasks_start_their_nodes_pools_themselves(slurm, config):
    expect_whole_epoch(srun(slurm, TRAINER, FEEDRING_CONFIG=str(config)), SAMPLES, 4)


def test_a_torchrun_on_each_node(slurm, config):
    pytest.importorskip("torch")
    torchrun = (f"{Path(sys.executable).with_name('torchrun')} --nnodes 2 --nproc-per-node 2 --node-rank $SLURM_NODEID "
                f"--master-addr 127.0.0.1 --master-port {free_port()} --no-python")
    output = run(["srun", "-N2", "-n2", "--ntasks-per-node=1", "-K", FEEDRING, "run", "-c", config, "--", "sh", "-c",
                  f"exec {torchrun} {TRAINER}"], **slurm)
    expect_whole_epoch(output, SAMPLES, 4)


def test_two_steps_of_one_job_have_two_pools(slurm, config, tmp_path):
    script = tmp_path / "job.sh"
    step = f"srun -N1 -n1 --exact {FEEDRING} run -c {config} -- {TRAINER}"
    script.write_text(f"#!/bin/sh\n{step} >{tmp_path}/one & {step} >{tmp_path}/two & wait\n")
    script.chmod(0o755)
    run(["salloc", "-N2", "-n2", script], **slurm)
    for name in ("one", "two"):
        expect_whole_epoch((tmp_path / name).read_text(), SAMPLES, 1)


def test_a_failing_task_ends_the_job_and_its_pools_with_its_code(slurm, config):
    output = srun(slurm, FEEDRING, "run", "-c", config, "--", *SAY_POOL, TRAINER, "--hold", "--fail-rank", "3", "--fail-code",
                  "9", expect=9)
    for pool in {p["address"] for p in lines(output, "pool")}:
        deadline = time.monotonic() + 20
        while subprocess.run([FEEDRING, "status", "--pool", pool], capture_output=True, timeout=20).returncode == 0:
            assert time.monotonic() < deadline, f"{pool} is still there"
            time.sleep(0.2)
