"""Trains a small model for a few steps, alone or under torchrun; what torchrun_test.py compares.

    torchrun --nproc_per_node 2 torchrun_worker.py OUT KIND STEPS [RESUME | --die | --deaf]

--deaf: the default group is one whose processes never hear of one another.
"""

import atexit
import contextlib
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
import torch.testing._internal.distributed.fake_pg

GLOBAL_BATCH = 8


def gloo_threads() -> set[str]:
    found = set()
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            if Path(f"/proc/self/task/{thread}/comm").read_text().startswith("pt_gloo"):
                found.add(thread)
    return found


# A thread names itself a moment after it was made. So the default group's, which may be there at exit, are known by
# having been there before, whatever they were called then.
threads_at_first: set[str] = set()
# After anesi's own. In one write, for two processes print to one place.
atexit.register(lambda: sys.stdout.write(f"threads at exit: {len(gloo_threads() - threads_at_first)}\n"))

import anesi  # noqa: E402


def main() -> None:
    out, kind, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    more = sys.argv[4] if len(sys.argv) > 4 else ""
    torch.set_num_threads(1)
    rank, size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if size > 1:
        store, *_ = next(dist.rendezvous("env://"))
        dist.init_process_group("fake" if more == "--deaf" else "gloo", store=store, rank=rank, world_size=size)
    threads_at_first.update(os.listdir("/proc/self/task"))

    asked = 0

    def function(worlds: torch.Tensor) -> torch.Tensor:
        nonlocal asked
        asked += len(worlds)
        return worlds.sum(1) % 7 if kind == "memory" else (worlds[:, :3].sum(1) * worlds[:, 3:].sum(1)) % 7

    variables = 12 if kind == "memory" else 6
    architecture = None if kind == "memory" else "mlp"
    settings = {"q.pretrain": 10, "q.samples": 31, "mlp.width": 16} if architecture else None
    know = anesi.Knowledge(function, [5] * variables, [7], architecture=architecture, settings=settings, verbose=rank == 0)
    know.double()
    asked_at_first = asked

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 5)).double()
    model = torch.nn.parallel.DistributedDataParallel(net) if size > 1 and more != "--deaf" else net
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    first = 0
    if more and not more.startswith("--"):
        saved = torch.load(more, weights_only=True)
        net.load_state_dict(saved["net"])
        optimizer.load_state_dict(saved["optimizer"])
        know.load_state_dict(saved["know"])
        first = saved["step"]
    for step in range(first, first + steps):
        rng = torch.Generator().manual_seed(step)
        x = torch.randn(GLOBAL_BATCH, variables, 3, generator=rng, dtype=torch.float64)
        y = torch.randint(7, (GLOBAL_BATCH,), generator=rng)
        own = slice(GLOBAL_BATCH * rank // size, GLOBAL_BATCH * (rank + 1) // size)
        optimizer.zero_grad()
        know.loss(model(x[own]), y[own]).backward()
        optimizer.step()
        if more == "--die" and rank == 1 and step == first + 3:
            os._exit(9)
    state = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "know": know.state_dict(),
             "step": first + steps, "asked_at_first": asked_at_first,
             "threads": len(gloo_threads() - threads_at_first)}  # fmt: skip
    torch.save(state, f"{out}.{rank}")
    if size > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
