# SPDX-License-Identifier: Apache-2.0
# DistributedDataParallel: torchrun --nproc-per-node 2 ddp.py feed.toml
import os

import torch
import torch.distributed as dist

import feedring
from net import Net, arguments, tell

options = arguments()
file = os.path.join(options.checkpoint, "state.pt")
dist.init_process_group("gloo")
model = Net()
loader = feedring.Loader(options.config)
if os.path.exists(file):
    state = torch.load(file)
    model.load_state_dict(state["model"])
    loader.load_state_dict(state["loader"])  # at any number of ranks
model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step, batch in enumerate(loader, 1):
    optimizer.zero_grad()
    model(batch["images"], batch["labels"])["loss"].backward()
    optimizer.step()
    tell(batch)
    if step == options.stop_after:
        break
if dist.get_rank() == 0:
    os.makedirs(options.checkpoint, exist_ok=True)
    torch.save({"model": model.module.state_dict(), "loader": loader.state_dict()}, file)
dist.barrier()
dist.destroy_process_group()
