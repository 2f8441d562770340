# SPDX-License-Identifier: Apache-2.0
# Several nodes: two hosts as network namespaces, each with a pool of its own, run one DistributedDataParallel job over
# Gloo. What hosts share (the job) is torch's; feedring's processes open no connection at all.
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from conftest import DDP, FEEDRING, PACKAGE, SAMPLES, expect_whole_epoch, lines, needs, processes

pytest.importorskip("torch")
pytestmark = [needs("ip", "nsenter"),
              pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces are made by root")]
TORCHRUN = Path(sys.executable).with_name("torchrun")
ADDRESSES = ["10.99.0.1", "10.99.0.2"]


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=20)


class Rank:
    """A process whose output goes to a file: a pool that it starts keeps the end of a pipe for longer than it lives."""

    def __init__(self, command, environment):
        self._output, self._errors = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(command, stdout=self._output, stderr=self._errors, env=environment)

    def output(self):
        self._output.seek(0)
        return self._output.read()

    def wait_for(self, event):
        deadline = time.monotonic() + 60
        while not lines(self.output(), event):
            assert time.monotonic() < deadline and self._process.poll() is None, self.errors()
            time.sleep(0.05)

    def errors(self):
        self._errors.seek(0)
        return self._errors.read()[-3000:]

    def end(self, expect):
        assert self._process.wait(timeout=90) == expect, self.errors()
        return self.output()


class Hosts:
    def __init__(self):
        self.names = [f"feedring{os.getpid()}{letter}" for letter in "ab"]
        self.links = [f"fr{os.getpid() % 100000}{letter}" for letter in "ab"]
        try:
            for name in self.names:
                ip("netns", "add", name)
        except subprocess.CalledProcessError as error:
            self.close()
            pytest.skip(f"no network namespaces here: {error.stderr.decode().strip()}")
        ip("link", "add", self.links[0], "type", "veth", "peer", "name", self.links[1])
        for name, link, address in zip(self.names, self.links, ADDRESSES):
            ip("link", "set", link, "netns", name)
            ip("-n", name, "addr", "add", f"{address}/24", "dev", link)
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", link, "up")

    def close(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=20)

    def start(self, host, *command, **environment):
        return Rank(["nsenter", f"--net=/run/netns/{self.names[host]}", *map(str, command)],
                    {**os.environ, "PYTHONPATH": PACKAGE, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": self.links[host],
                     **environment})

    def cut(self):
        ip("-n", self.names[0], "link", "set", self.links[0], "down")


@pytest.fixture
def hosts():
    made = Hosts()
    yield made
    made.close()


def start_ranks(hosts, config, *more):
    stated = {"WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": ADDRESSES[0],
              "MASTER_PORT": "29551"}
    return [hosts.start(host, FEEDRING, "run", "-c", config, "--", sys.executable, DDP, config, *more, RANK=str(host), **stated)
            for host in range(2)]


def internet_sockets(pid):
    """Inodes of a process's sockets that are no unix sockets."""
    mine = set()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        target = os.readlink(fd)
        if target.startswith("socket:["):
            mine.add(target[8:-1])
    found = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            found.add(line.split()[9])
    return mine & found


def pools_of(hosts):
    """Pids of pools and producers on these hosts: other tests may have some on this one."""
    there = {os.stat(f"/run/netns/{name}").st_ino for name in hosts.names}
    found = set()
    for pid in processes("feedring") | processes("feedring-prod"):
        try:
            if os.stat(f"/proc/{pid}/ns/net").st_ino in there:
                found.add(pid)
        except FileNotFoundError:
            continue
    return found


def test_two_hosts_share_an_epoch_and_no_pool_talks_to_the_other(hosts, config):
    ranks = start_ranks(hosts, config, "--pause", "0.5")
    for rank in ranks:
        rank.wait_for("start")
    pools = pools_of(hosts)
    assert len(pools) == 4  # two supervisors, two producers
    for pid in pools:
        assert internet_sockets(pid) == set()
    outputs = [rank.end(expect=0) for rank in ranks]
    expect_whole_epoch("".join(outputs), SAMPLES, 2)
    weights = [lines(output, "end")[0]["weights"] for output in outputs]
    assert weights[0] == weights[1]
    assert pools_of(hosts) == set()


def test_a_cut_link_ends_all_ranks_with_a_named_error(hosts, config):
    ranks = start_ranks(hosts, config, "--pause", "0.5", "--epochs", "50")
    for rank in ranks:
        rank.wait_for("batch")
    hosts.cut()
    begin = time.monotonic()
    for rank in ranks:
        assert "gloo" in lines(rank.end(expect=1), "error")[0]["what"].lower()
    assert time.monotonic() - begin < 60
    assert pools_of(hosts) == set()


def test_torchrun_on_two_hosts(hosts, config):
    agents = [hosts.start(host, TORCHRUN, "--nnodes", "2", "--nproc-per-node", "1", "--node-rank", str(host), "--master-addr",
                          ADDRESSES[0], "--master-port", "29551", "--local-addr", ADDRESSES[host], DDP, config)
              for host in range(2)]
    expect_whole_epoch("".join(agent.end(expect=0) for agent in agents), SAMPLES, 2)
