#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Why few-shot training hangs under a distributed batch sampler of one's own, and the same training fed by feedring.

Three ranks train a ProtoNet and average their gradients over Gloo. First with the sampler that is passed around: it takes
its epoch's seed from the rank's own generator, lists all batches and gives each rank ceil(n / ranks) of them. Then with
feedring.EpisodeLoader. Ends with 0 where the first hung, by unequal steps and overlapping tasks, and the second did not.
"""

import argparse
import json
import math
import os
import queue
import socket
import subprocess
import sys
import tempfile
import threading
import time

RANKS, TASKS, BATCH = 3, 40, 4  # ten batches for three ranks
WAYS, SHOTS, QUERIES, SIDE = 3, 1, 2, 16


def make_pictures(folder):
    """Classes of noisy colours."""
    import numpy
    from PIL import Image

    random = numpy.random.default_rng(0)
    for number in range(6):
        place = os.path.join(folder, f"colour{number}")
        os.mkdir(place)
        colour = random.integers(40, 216, 3)
        for each in range(8):
            noisy = colour + random.integers(-30, 31, (SIDE, SIDE, 3))
            Image.fromarray(noisy.clip(0, 255).astype("uint8")).save(os.path.join(place, f"{each}.png"))


# What a rank runs.


def say(event, **more):
    print(json.dumps({"event": event, **more}), flush=True)


class PostedSampler:
    """A distributed batch sampler of task numbers, as people post it."""

    def __init__(self, tasks, batch, rank, ranks):
        self.tasks, self.batch, self.rank, self.ranks = tasks, batch, rank, ranks

    def __iter__(self):
        import torch

        generator = torch.Generator()
        generator.manual_seed(int(torch.empty((), dtype=torch.int64).random_().item()))
        order = torch.randperm(self.tasks, generator=generator).tolist()
        batches = [order[i:i + self.batch] for i in range(0, self.tasks, self.batch)]
        share = math.ceil(len(batches) / self.ranks)
        return iter(batches[self.rank * share:(self.rank + 1) * share])


def posted_steps(folder, rank):
    """(task numbers, tasks) of each step: every task is drawn from its number, as a data set of tasks does it."""
    import random

    import numpy
    import torch
    from PIL import Image

    torch.manual_seed(1000 + rank)  # as is usual, so that ranks do not augment alike
    classes = [[torch.from_numpy(numpy.asarray(Image.open(entry.path)).transpose(2, 0, 1) / 255).float()
                for entry in sorted(os.scandir(place.path), key=lambda entry: entry.name)]
               for place in sorted(os.scandir(folder), key=lambda entry: entry.name)]

    def task(number):
        draw = random.Random(number)
        drawn = [draw.sample(pictures, SHOTS + QUERIES) for pictures in draw.sample(classes, WAYS)]
        labels = torch.arange(WAYS)
        return (torch.stack([picture for of in drawn for picture in of[:SHOTS]]), labels.repeat_interleave(SHOTS),
                torch.stack([picture for of in drawn for picture in of[SHOTS:]]), labels.repeat_interleave(QUERIES))

    for numbers in PostedSampler(TASKS, BATCH, rank, RANKS):
        yield numbers, [task(number) for number in numbers]


def feedring_steps(folder, rank):
    """The same of feedring: an episode's number is its ordinal in the epoch."""
    import feedring

    loader = feedring.EpisodeLoader(folder, ways=WAYS, shots=SHOTS, queries=QUERIES, tasks_per_epoch=TASKS,
                                    batch_size=BATCH, drop_last=False, num_workers=1,
                                    transform=[{"name": "Resize", "size": [SIDE, SIDE]}])
    with loader:
        for batch in loader:
            columns = ("support_images", "support_labels", "query_images", "query_labels")
            rows = batch["valid"].nonzero()[:, 0].tolist()  # the rest only fills up the last step
            yield ([int(batch["ordinal"][row]) for row in rows],
                   [[batch[name][row] if name.endswith("labels") else batch[name][row].float() / 255
                     for name in columns] for row in rows])


def train(sampler, folder, rank, port):
    import datetime

    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    store = dist.TCPStore("127.0.0.1", port, RANKS, rank == 0, timeout=datetime.timedelta(minutes=30))
    dist.init_process_group("gloo", store=store, rank=rank, world_size=RANKS, timeout=datetime.timedelta(minutes=30))
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(16))
    model(torch.zeros(1, 3, SIDE, SIDE))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    steps = list(posted_steps(folder, rank)) if sampler == "posted" else feedring_steps(folder, rank)
    if sampler == "posted":
        say("share", steps=len(steps), tasks=[number for numbers, _ in steps for number in numbers])
    for step, (numbers, tasks) in enumerate(steps):
        say("begun", step=step, tasks=numbers)
        optimizer.zero_grad(set_to_none=False)
        for support, labels, query, wanted in tasks:
            prototypes = torch.stack([model(support[labels == way]).mean(dim=0) for way in range(WAYS)])
            (torch.nn.functional.cross_entropy(-torch.cdist(model(query), prototypes), wanted) / BATCH).backward()
        # One reduction of all gradients, zeros where a rank has none.
        flat = torch.cat([torch.zeros_like(p).view(-1) if p.grad is None else p.grad.view(-1)
                          for p in model.parameters()])
        dist.all_reduce(flat)
        place = 0
        for parameter in model.parameters():
            parameter.grad = flat[place:place + parameter.numel()].view_as(parameter) / RANKS
            place += parameter.numel()
        optimizer.step()
        say("stepped", step=step)
    say("done")
    store.set(f"done {rank}", "")
    store.wait([f"done {other}" for other in range(RANKS)])  # as launchers do: all ranks end together


# What watches them.


class Watch:
    """Three ranks of one training, until all have ended or nothing has happened for `patience` seconds."""

    def __init__(self, sampler, folder, patience):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.events = queue.Queue()
        self.share = [None] * RANKS
        self.tasks = [[] for _ in range(RANKS)]
        self.begun, self.steps, self.done = [0] * RANKS, [0] * RANKS, [False] * RANKS
        self.hung = False
        ranks = []
        for rank in range(RANKS):
            environment = {"FEEDRING_LOG": "warn", **os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(RANKS),
                           "LOCAL_WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
            ranks.append(subprocess.Popen(
                [sys.executable, os.path.abspath(__file__), "--rank", str(rank), "--sampler", sampler, "--port",
                 str(port), "--data", folder], env=environment, text=True, stdout=subprocess.PIPE))
            threading.Thread(target=self.listen, args=(rank, ranks[-1].stdout), daemon=True).start()
        try:
            self.follow(patience)
        finally:
            for process in ranks:
                process.kill() if self.hung or not all(self.done) else None
            self.codes = [process.wait(timeout=60) for process in ranks]

    def listen(self, rank, stream):
        for line in stream:
            self.events.put((rank, json.loads(line)))
        self.events.put((rank, None))

    def follow(self, patience):
        open_streams = RANKS
        while open_streams:
            # Until all have begun, they import torch.
            wait = patience if all(self.begun) or any(self.done) else max(patience, 120)
            try:
                rank, event = self.events.get(timeout=wait)
            except queue.Empty:
                self.hung = True
                return
            if event is None:
                open_streams -= 1
            elif event["event"] == "share":
                self.share[rank] = event
            elif event["event"] == "begun":
                self.begun[rank] += 1
                self.tasks[rank] += event["tasks"]
            elif event["event"] == "stepped":
                self.steps[rank] += 1
            else:
                self.done[rank] = True


def numbers(values):
    return "/".join(map(str, values))


def posted(folder, patience):
    watch = Watch("posted", folder, patience)
    planned = [share["steps"] for share in watch.share]
    tasks = [task for share in watch.share for task in share["tasks"]]
    missing, double = TASKS - len(set(tasks)), len(tasks) - len(set(tasks))
    print(f"a sampler of one's own: {TASKS} tasks in batches of {BATCH}, {RANKS} ranks")
    print(f"  steps that the ranks have: {numbers(planned)}")
    print(f"  of {len(tasks)} tasks that they get, {double} come twice or more, and {missing} of the {TASKS} never")
    for rank in range(RANKS):
        state = "has done all its steps" if watch.done[rank] else f"stands in the all-reduce of step {watch.begun[rank]}"
        print(f"  rank {rank}: {watch.steps[rank]} steps done, {state}")
    print(f"  {f'HUNG: nothing moved for {patience:g} s; ended from outside' if watch.hung else 'ended by itself'}")
    return watch.hung and planned == [4, 4, 2] and double > 0 and missing > 0


def fed(folder, patience):
    watch = Watch("feedring", folder, patience)
    tasks = sorted(task for of in watch.tasks for task in of)
    print(f"feedring.EpisodeLoader: {TASKS} episodes in batches of {BATCH}, {RANKS} ranks")
    print(f"  steps that the ranks have: {numbers(watch.steps)}")
    once = tasks == list(range(TASKS))
    print(f"  each of the {TASKS} episodes exactly once: {'yes' if once else 'NO'}")
    ended = not watch.hung and watch.codes == [0] * RANKS
    print(f"  {'done' if ended else 'NOT done'}: exit codes {numbers(watch.codes)}")
    return ended and once and len(set(watch.steps)) == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--patience", type=float, default=8, help="seconds without a sign of life that count as hung")
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--sampler", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--data", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank is not None:
        train(options.sampler, options.data, options.rank, options.port)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        make_pictures(folder)
        since = time.monotonic()
        as_told = posted(folder, options.patience)
        as_told = fed(folder, options.patience) and as_told
    print(f"{time.monotonic() - since:.0f} s; {'as told' if as_told else 'NOT as told in docs/moving.md'}")
    return 0 if as_told else 1


if __name__ == "__main__":
    sys.exit(main())
