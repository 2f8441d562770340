# SPDX-License-Identifier: Apache-2.0
# Loaders and processes: forks, ranks, who starts a pool, what is left behind.
import json
import os
import pickle
import random
import socket
import subprocess
import sys
import time

import numpy
import pytest

import feedring
from conftest import PLAIN, SAMPLES, children_of, pool_of

HEAD = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\nfrom conftest import *\nimport json, os\n"


def in_a_child(work):
    """What `work` returns in a forked child, as text."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, str(work()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with open(read) as file:
        said = file.read()
    assert os.waitpid(child, 0)[1] == 0
    return said


def raised_by(action):
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def test_a_forked_child_gets_an_error_and_the_parent_goes_on(loader_of):
    loader = loader_of(backend="numpy")
    iterator = iter(loader)
    batch = next(iterator)
    for action in (lambda: next(iterator), lambda: iter(loader), lambda: len(loader), loader.state_dict,
                   lambda: loader._feed.next()):
        said = in_a_child(lambda action=action: raised_by(action))
        assert said.startswith("ForkedError: ") and "parent" in said

    def let_go():
        nonlocal batch
        batch = None
        loader.close()
        return "closed"

    assert in_a_child(let_go) == "closed"
    rest = [i for each in iterator for i in each["sample_ids"][each["valid"] == 1].tolist()]
    assert sorted(rest + batch["sample_ids"].tolist()) == list(range(SAMPLES))


def test_a_child_that_was_forked_before_the_first_use_has_a_loader_of_its_own(loader_of):
    loader = loader_of(backend="numpy")
    assert in_a_child(lambda: sum(int(batch["valid"].sum()) for batch in loader)) == str(SAMPLES)
    assert sum(int(batch["valid"].sum()) for batch in loader) == SAMPLES


def test_a_child_can_open_what_its_parent_has_open(loader_of, pictures):
    loader_of(backend="numpy").attach()

    def work():
        with feedring.Loader(pictures, batch_size=4, transform=PLAIN, num_workers=1, backend="numpy") as loader:
            return sum(int(batch["valid"].sum()) for batch in loader)

    assert in_a_child(work) == str(SAMPLES)


def test_a_loader_travels_to_another_process_before_its_first_use_only(loader_of):
    loader = loader_of(backend="numpy")
    assert sum(1 for _ in pickle.loads(pickle.dumps(loader))) == 6
    loader.attach()
    with pytest.raises(feedring.UsageError, match="cannot be sent to another process"):
        pickle.dumps(loader)


def test_ranks_share_one_pool_and_each_sample_comes_once(pictures):
    # Both start at once and nobody waits for the other: binding the pool's name is the election.
    program = HEAD + f"""
loader = feedring.Loader({str(pictures)!r}, batch_size=4, transform=PLAIN, num_workers=1, backend="numpy")
ids = [i for batch in loader for i in batch["sample_ids"][batch["valid"] == 1].tolist()]
print(json.dumps({{"ids": ids, "steps": len(loader), "state": loader.state_dict(),
                   "who": [loader.rank, loader.world_size],
                   "producers": json.loads(loader._feed.description)["producers"]}}), flush=True)
sys.stdin.read()  # until the other is done, too
"""
    port = str(20000 + os.getpid() % 10000)
    ranks = [subprocess.Popen([sys.executable, "-c", program], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank),
                                   "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port})
             for rank in range(2)]
    said = [json.loads(rank.stdout.readline()) for rank in ranks]
    end = time.monotonic() + 30  # whose try was in vain, ends when it finds that out
    while sum(list(children_of(rank.pid).values()).count("feedring") for rank in ranks) != 1:
        assert time.monotonic() < end, "two pools, or none"
        time.sleep(0.01)
    for rank in ranks:
        rank.communicate(timeout=30)
        assert rank.returncode == 0
    assert sorted(said[0]["ids"] + said[1]["ids"]) == list(range(SAMPLES))
    assert said[0]["steps"] == said[1]["steps"] == 3
    assert said[0]["state"] == said[1]["state"]
    assert [each["who"] for each in said] == [[0, 2], [1, 2]]
    assert {each["producers"] for each in said} == {min(2, len(os.sched_getaffinity(0)))}  # one a rank, two ranks


def test_num_workers_needs_the_number_of_local_ranks(loader_of, monkeypatch):
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "2"), ("LOCAL_RANK", "0"), ("MASTER_ADDR", "a"),
                        ("MASTER_PORT", "1")):
        monkeypatch.setenv(name, value)
    with pytest.raises(feedring.UsageError, match="LOCAL_WORLD_SIZE"):
        loader_of().attach()


def test_the_rank_is_read_at_first_use(loader_of, monkeypatch):
    loader = loader_of(backend="numpy")
    for name, value in (("RANK", "1"), ("WORLD_SIZE", "2"), ("LOCAL_RANK", "0"), ("LOCAL_WORLD_SIZE", "1"),
                        ("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", str(20000 + os.getpid() % 10000))):
        monkeypatch.setenv(name, value)
    assert (loader.rank, loader.world_size, len(loader)) == (1, 2, 3)


def test_no_random_generator_is_read_or_advanced(loader_of):
    random.seed(3)
    numpy.random.seed(3)
    before = random.getstate(), pickle.dumps(numpy.random.get_state())
    orders = []
    for seed in (3, 4):
        random.seed(seed)
        with loader_of(backend="numpy") as loader:
            orders.append([batch["sample_ids"].tolist() for batch in loader])
    random.seed(3)
    assert (random.getstate(), pickle.dumps(numpy.random.get_state())) == before
    assert orders[0] == orders[1]


def test_no_thread_is_added(loader_of):
    before = len(os.listdir("/proc/self/task"))
    for _ in loader_of(backend="numpy"):
        assert len(os.listdir("/proc/self/task")) == before


def test_train_and_val_in_turn_over_one_pool_keep_the_number_of_processes(python, pictures, tmp_path):
    path = tmp_path / "feed.toml"
    step = 'transform = [ { name = "Resize", size = [8, 8] } ]\nremainder = "pad"\nbatch_size = 8\n'
    path.write_text(f'[pool]\nproducers = 2\n[feed.train]\ndata = "{pictures}"\n{step}'
                    f'[feed.val]\ndata = "{pictures}"\nrepeat = false\n{step}')
    said = python(HEAD + f"""
path = {str(path)!r}
with feedring.Loader(path, "train", backend="numpy") as train, feedring.Loader(path, "val", backend="numpy") as val:
    counts = set()
    for _ in range(100):
        assert sum(1 for _ in train) == sum(1 for _ in val) == 3
        counts.add((len(children_of(os.getpid())), len(children_of(pool_of(os.getpid())))))
print(counts)
""")
    assert said.strip() == "{(1, 2)}"


def test_only_its_owner_gives_a_ring_back(pictures, tmp_path, monkeypatch):
    address = f"feedring-test/{os.getpid()}"
    path = tmp_path / "feed.toml"
    path.write_text(f'[feed.train]\ndata = "{pictures}"\nbatch_size = 4\n'
                    'transform = [ { name = "Resize", size = [8, 8] } ]\n')
    subprocess.run([feedring.command(), "start", "-c", path, "--producers", "1", "--address", address, "--grace", "20"],
                   check=True, stdout=subprocess.DEVNULL, timeout=30)
    monkeypatch.setenv("FEEDRING_POOL", address)

    def ask(**request):
        """What the pool answers to this process."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as control:
            control.settimeout(30)
            control.connect(b"\0" + address.encode())
            control.send(json.dumps(request).encode())
            return json.loads(control.recv(1 << 17))

    try:
        with feedring.Loader(backend="numpy") as loader:
            loader.attach()
            good = {"op": "detach", "feed": "train", "local_rank": 0}
            assert json.loads(in_a_child(lambda: json.dumps(ask(**good))))["ok"] is False  # another process
            for wrong in ({"feed": "other"}, {"local_rank": 1}, {"local_rank": -1}, {"feed": 3}):
                assert ask(**{**good, **wrong})["ok"] is False
            assert ask(op="status")["ranks_attached"] == 1
        assert ask(op="status")["ranks_attached"] == 0
        with feedring.Loader(backend="numpy") as loader:
            loader.attach()
            assert ask(op="status")["ranks_attached"] == 1
    finally:
        subprocess.run([feedring.command(), "stop", "--pool", address], check=True, timeout=30)


def test_an_interpreter_can_end_in_the_middle_of_everything(python, pictures):
    python(HEAD + f"""
loader = feedring.Loader({str(pictures)!r}, batch_size=4, transform=PLAIN, num_workers=1, backend="numpy")
iterator = iter(loader)
kept = [next(iterator), next(iterator)]
""")


def test_a_pool_goes_when_its_last_rank_has_gone(python, pictures):
    pool = int(python(HEAD + f"""
loader = feedring.Loader({str(pictures)!r}, batch_size=4, transform=PLAIN, num_workers=1, backend="numpy")
next(iter(loader))
print(pool_of(os.getpid()))
"""))
    deadline = time.monotonic() + 30  # it stays for 10 s, for a rank that is started again
    while os.path.exists(f"/proc/{pool}") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not os.path.exists(f"/proc/{pool}")
