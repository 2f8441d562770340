# SPDX-License-Identifier: Apache-2.0
# The network of few-shot papers, four blocks of convolution, as a function of a list of parameters: MAML needs to call it
# with others than the model's own.
#
# Group normalisation in the place of batch normalisation: no image's features depend on what else is in the batch. So
# one rank with all episodes and two with half of them compute the same, and evaluation is not transductive: a query is
# classified without a look at the other queries.
import torch
from torch.nn import functional

BLOCKS = 4
GROUPS = 8


def new_parameters(seed, channels=64, classes=None):
    """For images of 28 pixels; with `classes`, a linear layer behind the blocks."""
    generator = torch.Generator().manual_seed(seed)
    parameters = []
    for block in range(BLOCKS):
        inputs = channels if block else 1
        weight = torch.randn(channels, inputs, 3, 3, generator=generator) * (2 / (9 * inputs)) ** 0.5
        parameters += [weight, torch.zeros(channels), torch.ones(channels), torch.zeros(channels)]
    if classes:
        parameters += [torch.zeros(classes, channels), torch.zeros(classes)]
    return [parameter.requires_grad_() for parameter in parameters]


def features(parameters, images):
    """(n, channels) of (n, 1, 28, 28)."""
    for block in range(BLOCKS):
        weight, bias, scale, shift = parameters[4 * block:4 * block + 4]
        images = functional.group_norm(functional.conv2d(images, weight, bias, padding=1), GROUPS, scale, shift)
        images = functional.max_pool2d(functional.relu(images), 2)
    return images.flatten(1)


def scores(parameters, images):
    """(n, classes) of (n, 1, 28, 28)."""
    return functional.linear(features(parameters, images), *parameters[4 * BLOCKS:])


def as_input(images):
    """Of what a feed delivers, (n, 3, 28, 28) uint8 of which all three channels are the same."""
    return images[:, 0].float().div(255).unsqueeze(1)
