# SPDX-License-Identifier: Apache-2.0
# What protonet.py and maml.py share: the loaders, the loop, the evaluation on fixed episodes.
import argparse
import os
import time

import torch
import torch.distributed as distributed

import feedring
from in_ram import EpisodesInRam
from ranks import step, world

SIZE = [{"name": "Resize", "size": [28, 28]}]
TURNED = ["rotate90", "rotate180", "rotate270"]  # of the training's classes only
WHOLE_STEP = 2  # episodes of a step over all ranks


def arguments(name):
    parser = argparse.ArgumentParser(name)
    parser.add_argument("folder", help="what omniglot.py wrote")
    parser.add_argument("--episodes", type=int, default=1000, help="to train on")
    parser.add_argument("--test-episodes", type=int, default=600)
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first-order", action="store_true", help="MAML: leave second derivatives out")
    parser.add_argument("--train-file", help="episodes to train on, from `feedring episodes export`")
    parser.add_argument("--in-ram", action="store_true", help="train on a plain loader in RAM, to compare; one rank")
    parser.add_argument("--save", help="file for the trained parameters and the result of each test episode")
    return parser.parse_args()


def loader(options, split, **more):
    return feedring.EpisodeLoader(os.path.join(options.folder, split + ".tsv"), split, transform=SIZE, **more)


def training_episodes(options, sizes):
    if options.in_ram:
        return EpisodesInRam(options.folder, "train", sizes, TURNED, options.episodes, WHOLE_STEP, options.seed,
                             options.train_file)
    here = {"batch_size": WHOLE_STEP // world(), "seed": options.seed}
    if options.train_file:
        return loader(options, "train", episodes={"file": options.train_file}, **here)
    return loader(options, "train", **sizes, tasks_per_epoch=options.episodes, episodes={"augment": TURNED}, **here)


def main(options, new_parameters, loss, accuracy, sizes, learning_rate):
    torch.set_num_threads(1)  # a rank is a core here
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        distributed.init_process_group("gloo")
    if WHOLE_STEP % world() or (options.in_ram and world() > 1):
        raise SystemExit(f"a step of {WHOLE_STEP} episodes cannot be shared evenly by {world()} ranks")
    parameters = new_parameters(options.seed, options.channels)  # the same on every rank, since the seed is
    optimizer = torch.optim.Adam(parameters, lr=learning_rate)
    began = time.monotonic()
    with training_episodes(options, sizes) as episodes:
        steps = len(episodes)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: 1 - 0.95 * done / steps)
        for batch in episodes:
            step(loss, parameters, optimizer, batch, WHOLE_STEP)
            schedule.step()
    trained = time.monotonic() - began
    with loader(options, "test", ways=5, shots=1, queries=15, tasks_per_epoch=options.test_episodes) as test:
        found = feedring.evaluate(test, lambda episode: accuracy(parameters, episode))
    if world() == 1 or distributed.get_rank() == 0:
        print(f"{found}; {steps} steps of {WHOLE_STEP} episodes on {world()} ranks in {trained:.0f} s", flush=True)
        if options.save:
            torch.save({"parameters": [p.detach() for p in parameters], "results": found.values}, options.save)
    if world() > 1:
        distributed.barrier()  # nobody takes the group down while another still needs it
        distributed.destroy_process_group()
