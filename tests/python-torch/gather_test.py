# SPDX-License-Identifier: Apache-2.0
# An evaluation of several ranks is that of one, to the last bit.
import json

from pictures import PLAIN


def test_ranks_gather_what_one_rank_has(python, pictures, tmp_path):
    said = python(f"""
import json, os, torch, torch.distributed as dist
import feedring

def value(episode):
    return float(episode["support_images"].double().mean() / 7 + 1 / (3.0 + float(episode["ordinal"])))

def rank(number, world):
    if world > 1:
        dist.init_process_group("gloo", init_method="file://{tmp_path}/store" + str(world), rank=number,
                                world_size=world)
    loader = feedring.EpisodeLoader({str(pictures)!r}, ways=2, shots=1, queries=2, tasks_per_epoch=25, batch_size=2,
                                    transform={PLAIN!r}, num_workers=1, rank=number, world_size=world,
                                    local_rank=number, local_world_size=world)
    with loader:
        found = feedring.evaluate(loader, value)
    summary = found.summary()
    print(json.dumps([world, len(found), summary.mean.hex(), summary.half_width.hex()]), flush=True)

for world in (1, 3):
    pids = []
    for number in range(world):
        pid = os.fork()
        if pid == 0:
            try:
                rank(number, world)
                os._exit(0)
            except BaseException:
                import traceback
                traceback.print_exc()
                os._exit(1)
        pids.append(pid)
    for pid in pids:
        assert os.waitpid(pid, 0)[1] == 0
""", MASTER_ADDR="127.0.0.1", MASTER_PORT="1")
    lines = [json.loads(line) for line in said.splitlines()]
    assert sorted(line[0] for line in lines) == [1, 3, 3, 3]
    assert {tuple(line[1:]) for line in lines} == {tuple(lines[0][1:])} and lines[0][1] == 25
