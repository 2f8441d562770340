# SPDX-License-Identifier: Apache-2.0
# Hugging Face Trainer: torchrun --nproc-per-node 2 with_trainer.py feed.toml
import json
import os

import torch.distributed
import transformers

import feedring
from net import Net, arguments, tell


class Told(Net):
    def forward(self, images, labels=None, **others):
        tell(others)
        return super().forward(images, labels)


class Trainer(transformers.Trainer):
    def get_train_dataloader(self):  # the one hook: the loader as it is, not Trainer's own DataLoader
        return loader


class KeepPosition(transformers.TrainerCallback):
    def on_save(self, args, state, control, **others):
        if state.is_world_process_zero:
            with open(os.path.join(args.output_dir, "loader.json"), "w") as file:
                json.dump(loader.state_dict(), file)


options = arguments()
loader = feedring.Loader(options.config)
position = os.path.join(options.checkpoint, "loader.json")
resume = os.path.exists(position)
if resume:
    with open(position) as file:
        loader.load_state_dict(json.load(file))
trainer = Trainer(Told(), callbacks=[KeepPosition()], args=transformers.TrainingArguments(
    options.checkpoint, num_train_epochs=1, max_steps=options.stop_after or -1, per_device_train_batch_size=loader.batch_size,
    ignore_data_skip=True,  # the loader goes on where it was; Trainer does not have to read up to there
    remove_unused_columns=False, use_cpu=True, save_strategy="steps", save_steps=options.stop_after or 1000, report_to=[],
    disable_tqdm=True))
trainer.train()
if torch.distributed.is_initialized():  # else Gloo's threads may still run when the interpreter ends, which aborts it
    torch.distributed.destroy_process_group()
