# SPDX-License-Identifier: Apache-2.0
# Training on several ranks without the DDP wrapper.
import torch
import torch.distributed as distributed


def world():
    return distributed.get_world_size() if distributed.is_initialized() else 1


def reduce_gradients(parameters, episodes):
    """One all-reduce for all gradients: the sum of all ranks, divided by the number of episodes of the whole step. Every
    rank takes part in every step with the same parameters in the same order, whatever its own episodes touched; a
    parameter without a gradient gives zeros."""
    flat = torch.cat([torch.zeros_like(p).view(-1) if p.grad is None else p.grad.reshape(-1) for p in parameters])
    if world() > 1:
        distributed.all_reduce(flat)
    flat /= episodes
    at = 0
    for parameter in parameters:
        parameter.grad = flat[at:at + parameter.numel()].view_as(parameter)
        at += parameter.numel()


def episodes_in(batch):
    """Those that count, one by one: images as (n, 3, H, W), labels as (n,)."""
    for row in range(len(batch["valid"])):
        if batch["valid"][row]:
            yield {name: array[row] for name, array in batch.items()}


def step(loss, parameters, optimizer, batch, in_all):
    """An outer step: `loss` of each episode of this rank, one at a time, so that none is normalised with another; then
    the gradients of all ranks. `in_all`: the episodes of the step over all ranks. Returns this rank's sum of losses."""
    optimizer.zero_grad(set_to_none=True)
    total = 0.0
    for episode in episodes_in(batch):
        value = loss(parameters, episode)
        value.backward()
        total += value.item()
    reduce_gradients(parameters, in_all)
    optimizer.step()
    return total
