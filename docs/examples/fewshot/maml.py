# SPDX-License-Identifier: Apache-2.0
# MAML (Finn et al., 2017), of second order, or with --first-order: torchrun --nproc-per-node 2 maml.py DIR
import torch
from torch.nn import functional

from net import as_input, new_parameters, scores

STEPS, RATE = 3, 0.4  # of the inner loop


def adapt(parameters, episode, second_order):
    """Parameters that have learnt the support set: new tensors, through which gradients reach the old ones. torch.autograd
    gives these gradients to nobody else: no .grad is written, and no hook of a wrapper fires."""
    images = as_input(episode["support_images"])
    for _ in range(STEPS):
        value = functional.cross_entropy(scores(parameters, images), episode["support_labels"])
        gradients = torch.autograd.grad(value, parameters, create_graph=second_order)
        parameters = [p - RATE * gradient for p, gradient in zip(parameters, gradients)]
    return parameters


def loss_of(second_order):
    def loss(parameters, episode):
        adapted = adapt(parameters, episode, second_order)
        return functional.cross_entropy(scores(adapted, as_input(episode["query_images"])), episode["query_labels"])

    return loss


def accuracy(parameters, episode):
    adapted = adapt([p.detach().requires_grad_() for p in parameters], episode, False)
    with torch.no_grad():
        return (scores(adapted, as_input(episode["query_images"])).argmax(1) == episode["query_labels"]).float().mean()


def new_classifier(seed, channels):
    return new_parameters(seed, channels, classes=5)


if __name__ == "__main__":
    from train import arguments, main

    options = arguments("maml")
    main(options, new_classifier, loss_of(not options.first_order), accuracy, {"ways": 5, "shots": 1, "queries": 5}, 1e-3)
