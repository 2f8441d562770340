# SPDX-License-Identifier: Apache-2.0
# What the examples train, and what they take from the command line.
import argparse
import json
import os

import torch


class Net(torch.nn.Module):
    """A classifier of mean colours; with `labels` it returns the loss too, as Transformers' models do."""

    def __init__(self, classes=3):
        super().__init__()
        self.head = torch.nn.Linear(3, classes)

    def forward(self, images, labels=None, **others):
        scores = self.head(images.float().mean((2, 3)) / 255)
        return scores if labels is None else {"loss": torch.nn.functional.cross_entropy(scores, labels), "logits": scores}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("config", help="a folder or feed.toml")
    parser.add_argument("--checkpoint", default="checkpoint", help="folder to leave off in, and to go on from")
    parser.add_argument("--stop-after", type=int, default=0, help="stop after so many steps, in the middle of the epoch")
    return parser.parse_args()


def tell(batch):
    """One line a step and rank: which samples were trained on."""
    samples = batch["sample_ids"][batch["valid"].bool()].tolist()
    line = json.dumps({"rank": int(os.environ.get("RANK", "0")), "samples": samples})
    os.write(1, (line + "\n").encode())  # in one piece: ranks share the output
