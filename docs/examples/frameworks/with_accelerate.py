# SPDX-License-Identifier: Apache-2.0
# Hugging Face Accelerate: torchrun --nproc-per-node 2 with_accelerate.py feed.toml
import os

import torch
from accelerate import Accelerator

import feedring
from net import Net, arguments, tell

options = arguments()
accelerator = Accelerator(cpu=True)
model = Net()
loader = feedring.Loader(options.config)
# Not the loader: each rank has its own share already, and Accelerate would share that out once more.
model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.01))
accelerator.register_for_checkpointing(loader)  # the one line: save_state() and load_state() now know the position
if os.path.exists(options.checkpoint):
    accelerator.load_state(options.checkpoint)
for step, batch in enumerate(loader, 1):
    optimizer.zero_grad()
    accelerator.backward(model(batch["images"], batch["labels"])["loss"])
    optimizer.step()
    tell(batch)
    if step == options.stop_after:
        break
accelerator.save_state(options.checkpoint)
accelerator.end_training()
