# SPDX-License-Identifier: Apache-2.0
# A rank of a DistributedDataParallel job over Gloo, fed by feedring; one JSON line an event, as the C++ trainer's.
import argparse
import datetime
import json
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

import feedring

arguments = argparse.ArgumentParser()
arguments.add_argument("config")
arguments.add_argument("--epochs", type=int, default=1)
arguments.add_argument("--state", help="file to keep the state in after each step, and to go on from")
arguments.add_argument("--die-at", type=int, default=-1, help="rank 1 kills itself at this step of the first attempt")
arguments.add_argument("--pause", type=float, default=0, help="seconds of a step")
options = arguments.parse_args()


def say(event, **what):
    os.write(1, (json.dumps({"event": event, "rank": rank, **what}) + "\n").encode())


dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=15))
rank = dist.get_rank()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = feedring.Loader(options.config, timeout=30)
if options.state and os.path.exists(options.state):
    with open(options.state) as file:
        loader.load_state_dict(json.load(file))
restart = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
say("start", restart=restart, pool=os.environ.get("FEEDRING_POOL", ""), pid=os.getpid())
try:
    for epoch in range(options.epochs):
        for step, batch in enumerate(loader):
            if restart == 0 and rank == 1 and step == options.die_at:
                os.kill(os.getpid(), signal.SIGKILL)
            loss = torch.nn.functional.cross_entropy(model(batch["images"].float().mean((2, 3)) / 255), batch["labels"])
            optimizer.zero_grad()
            loss.backward()  # all-reduces
            optimizer.step()
            time.sleep(options.pause)
            # After the all-reduce: what is told was trained on, by all ranks. `step` counts from the start or the restart.
            say("batch", step=step, ids=batch["sample_ids"].tolist(), valid=batch["valid"].tolist(), restart=restart)
            if options.state:
                if rank == 0:
                    with open(options.state + ".new", "w") as file:
                        json.dump(loader.state_dict(), file)
                    os.rename(options.state + ".new", options.state)
                dist.barrier()
except RuntimeError as error:
    say("error", what=str(error))
    sys.exit(1)
weights = torch.cat([each.detach().flatten() for each in model.parameters()])
say("end", weights=weights.double().sum().item())
loader.close()
dist.destroy_process_group()
