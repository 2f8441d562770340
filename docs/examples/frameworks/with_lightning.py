# SPDX-License-Identifier: Apache-2.0
# PyTorch Lightning: torchrun --nproc-per-node 2 with_lightning.py feed.toml
import os

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint

import feedring
from net import Net, arguments, tell


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def training_step(self, batch, _):
        tell(batch)
        return self.net(batch["images"], batch["labels"])["loss"]

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


options = arguments()
file = os.path.join(options.checkpoint, "last.ckpt")
trainer = lightning.Trainer(
    use_distributed_sampler=False,  # the one line: the loader shares samples out itself
    accelerator="cpu", devices=int(os.environ.get("LOCAL_WORLD_SIZE", "1")), max_epochs=1, max_steps=options.stop_after or -1,
    # Checkpoints have the loader's position: Lightning asks it for its state.
    callbacks=[ModelCheckpoint(options.checkpoint, save_last=True, every_n_train_steps=options.stop_after or 1000)],
    logger=False, enable_progress_bar=False)
trainer.fit(Module(), feedring.Loader(options.config), ckpt_path=file if os.path.exists(file) else None)
