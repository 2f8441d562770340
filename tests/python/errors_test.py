# SPDX-License-Identifier: Apache-2.0
# What goes wrong, as exceptions: which class, which words, which attributes; and waits that end.
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import pytest

import feedring
from conftest import PLAIN, SAMPLES, pool_of


def test_all_kinds_are_runtime_errors_with_an_exit_code():
    # The codes are those of docs/deadlines.md.
    codes = {feedring.UsageError: 2, feedring.DataError: 3, feedring.InternalError: 70, feedring.HeldError: 70,
             feedring.ForkedError: 70, feedring.NotEnoughMemoryError: 71, feedring.PoolGoneError: 72,
             feedring.DeadlineError: 73, feedring.RefusedError: 74}
    for cls, code in codes.items():
        error = cls("words")
        assert isinstance(error, feedring.Error) and isinstance(error, RuntimeError)
        assert error.exit_code == code and str(error) == "words" and error.path is None and error.index is None


def test_an_error_survives_pickling():
    error = pickle.loads(pickle.dumps(feedring.DataError("words", path="a/1.png", index=4)))
    assert (type(error), str(error), error.path, error.index) == (feedring.DataError, "words", "a/1.png", 4)


@pytest.fixture
def damaged(pictures, tmp_path):
    folder = tmp_path / "damaged"
    shutil.copytree(pictures, folder)
    (folder / "bee" / "2.png").write_bytes(b"\x89PNG\r\n\x1a\n and nothing more")
    return folder


def test_a_broken_file_is_named_and_the_loader_goes_on_behind_its_step(loader_of, damaged):
    iterator = iter(loader_of(damaged, backend="numpy", shuffle=False))
    next(iterator), next(iterator)  # samples 0 to 7
    with pytest.raises(feedring.DataError, match="samples of epoch 0, step 2 failed.*on_error") as caught:
        next(iterator)  # 8 to 11; bee/2.png is sample 10
    assert (caught.value.kind, caught.value.path, caught.value.index) == ("data", "bee/2.png", 10)
    assert next(iterator)["sample_ids"].tolist() == [12, 13, 14, 15]


def test_a_broken_file_can_be_zeroed(loader_of, damaged):
    batches = [{name: array.copy() for name, array in batch.items()}
               for batch in loader_of(damaged, backend="numpy", shuffle=False, on_error="zero")]
    assert batches[2]["valid"].tolist() == [1, 1, 0, 1]
    assert not batches[2]["images"][2].any()


def test_a_missing_folder_is_a_data_error_in_the_commands_words(loader_of, tmp_path):
    with pytest.raises(feedring.DataError, match=f"{tmp_path}/none.*No such file") as caught:
        loader_of(tmp_path / "none").attach()
    assert caught.value.exit_code == 3


def test_too_much_memory_is_refused_before_it_is_taken(loader_of):
    with pytest.raises(feedring.NotEnoughMemoryError, match="TiB"):
        loader_of(batch_size=4096, slots=64, transform=[{"name": "Resize", "size": [2048, 2048]}]).attach()  # 3 TiB


def test_a_deadline_says_how_long_was_waited_and_may_be_tried_again(python, pictures):
    said = python(PROGRAM.format(folder=str(pictures)) + """
loader = open_loader(timeout=0.35)
iterator = iter(loader)
next(iterator)
loader.set_epoch(5)
with Stopped(os.getpid()):
    iterator = iter(loader)
    start = time.monotonic()
    try:
        while True:
            next(iterator)
    except feedring.DeadlineError as error:
        print(type(error).__name__, error.deadline, "did not come within 0.35 s; " in str(error),
              time.monotonic() - start < 5)
print(sorted(i for batch in iterator for i in batch["sample_ids"].tolist())[-1])
""")
    assert said.split() == ["DeadlineError", "0.35", "True", "True", str(SAMPLES - 1)]


def test_ctrl_c_ends_a_wait_and_loses_no_batch(python, pictures):
    said = python(PROGRAM.format(folder=str(pictures)) + """
loader = open_loader()
iterator = iter(loader)
taken = next(iterator)["sample_ids"].tolist()
loader.set_epoch(5)
with Stopped(os.getpid()):
    iterator = iter(loader)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    taken = []
    try:
        while True:
            taken += next(iterator)["sample_ids"].tolist()
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - start < 5)
taken += [i for batch in iterator for i in batch["sample_ids"][batch["valid"] == 1].tolist()]
print(sorted(taken) == list(range(23)))
""")
    assert said.split() == ["interrupted", "True", "True"]


def test_other_threads_run_while_one_waits(python, pictures):
    said = python(PROGRAM.format(folder=str(pictures)) + """
loader = open_loader(timeout=0.5)
next(iter(loader))
loader.set_epoch(5)
count = 0
done = False
def work():
    global count
    while not done:
        count += 1
        time.sleep(0.001)
with Stopped(os.getpid()):
    thread = threading.Thread(target=work)
    iterator = iter(loader)
    thread.start()
    try:
        while True:
            next(iterator)
    except feedring.DeadlineError:
        done = True
    thread.join()
print(count > 50)
""")
    assert said.split() == ["True"]


def test_a_killed_pool_is_told_after_what_was_ready(python, pictures):
    said = python(PROGRAM.format(folder=str(pictures)) + """
loader = open_loader()
iterator = iter(loader)
next(iterator)
os.kill(pool_of(os.getpid()), signal.SIGKILL)
try:
    for _ in range(100):
        next(iterator)
        iterator = iter(loader)
except feedring.PoolGoneError as error:
    print(error.exit_code, "save the state" in str(error))
state = loader.state_dict()
loader.close()
again = open_loader()
again.load_state_dict(state)
print(next(iter(again))["valid"].tolist())
""")
    assert said.splitlines() == ["72 True", "[1, 1, 1, 1]"]


PROGRAM = f"""
import os, signal, sys, threading, time
sys.path.insert(0, {os.path.dirname(__file__)!r})
import feedring
from conftest import PLAIN, Stopped, pool_of
def open_loader(timeout=30):
    return feedring.Loader({{folder!r}}, batch_size=4, transform=PLAIN, num_workers=1, timeout=timeout, backend="numpy")
"""


@pytest.mark.parametrize("wrong, said", [("bach_size = 4", 'did you mean "batch_size"'), ("", "nowhere")])
def test_what_no_pool_can_start_from_is_told_once(tmp_path, wrong, said):
    config = tmp_path / "feed.toml"
    config.write_text(f'[feed.train]\ndata = "nowhere"\ntransform = [ {{ name = "Resize", size = [8, 8] }} ]\n{wrong}\n')
    program = f"""
import feedring
try:
    len(feedring.Loader({str(config)!r}))
except feedring.Error as error:
    print(error)
"""
    with tempfile.TemporaryFile("w+") as errors:  # not a pipe, whose other end a pool might keep
        done = subprocess.run([sys.executable, "-c", program], text=True, timeout=60, stdout=subprocess.PIPE, stderr=errors)
        errors.seek(0)
        assert errors.read() == ""
    assert done.returncode == 0 and said in done.stdout and len(done.stdout.splitlines()) == 1
