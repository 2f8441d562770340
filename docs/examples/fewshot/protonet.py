# SPDX-License-Identifier: Apache-2.0
# Prototypical networks (Snell et al., 2017): torchrun --nproc-per-node 2 protonet.py DIR, after omniglot.py.
import torch
from torch.nn import functional

from net import as_input, features, new_parameters


def distances(parameters, episode):
    """(queries, ways): squared distances to the mean of each label's support set."""
    labels = episode["support_labels"]
    ways = int(labels.max()) + 1
    support = features(parameters, as_input(episode["support_images"]))
    queries = features(parameters, as_input(episode["query_images"]))
    mean = functional.one_hot(labels, ways).float()
    prototypes = (mean / mean.sum(0)).T @ support
    return torch.cdist(queries, prototypes).square()


def loss(parameters, episode):
    return functional.cross_entropy(-distances(parameters, episode), episode["query_labels"])


def accuracy(parameters, episode):
    with torch.no_grad():
        return (distances(parameters, episode).argmin(1) == episode["query_labels"]).float().mean()


if __name__ == "__main__":
    from train import arguments, main

    main(arguments("protonet"), new_parameters, loss, accuracy, {"ways": 20, "shots": 1, "queries": 5}, 2e-3)
