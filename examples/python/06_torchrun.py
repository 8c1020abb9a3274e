"""Several processes, one network and one q: DistributedDataParallel, and checkpoints for any number of processes.

    torchrun --nproc_per_node 2 examples/python/06_torchrun.py --epochs 1
    torchrun --nproc_per_node 1 examples/python/06_torchrun.py --epochs 2 --resume

The first process asks the function, and the others take what it found. Where q is a network, each process computes a
part of its update, and it stays the same in all of them.
"""
# mypy: untyped-calls-exclude=torch

import argparse
import os
import time

import torch
import torch.distributed as dist

import anesi


def add(digits: torch.Tensor) -> torch.Tensor:
    """Two numbers of N digits, int64 [n, 2 N], to the N + 1 digits of their sum (N below 18)."""
    first, second = digits.chunk(2, dim=1)
    places = 10 ** torch.arange(first.shape[1], -1, -1)
    total = (torch.stack([first, second]).sum(0) * places[1:]).sum(1)
    return total[:, None] // places % 10


def main() -> None:
    parser = argparse.ArgumentParser(description="MNIST addition on several processes")
    parser.add_argument("--digits", type=int, default=4, help="digits of each number")
    parser.add_argument("--epochs", type=int, default=2, help="in all, those before --resume too")
    parser.add_argument("--batch", type=int, default=32, help="sums in a step, of all processes together")
    parser.add_argument("--architecture", help="of q; by default the one that suits")
    parser.add_argument("--checkpoint", default="torchrun.pt")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    options = parser.parse_args()

    dist.init_process_group("gloo")
    rank, processes = dist.get_rank(), dist.get_world_size()
    if options.batch % processes:
        parser.error(f"--batch: a multiple of {processes}, the number of processes")
    torch.manual_seed(0)
    task = anesi.tasks.load("mnist-add", digits=options.digits, verbose=rank == 0)
    know = anesi.Knowledge(add, task.worlds, task.outputs, architecture=options.architecture)  # the first one prints
    net = torch.nn.parallel.DistributedDataParallel(anesi.LeNet(10))
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.002, fused=True)

    done = 0
    if options.resume:
        saved = torch.load(options.checkpoint, weights_only=True)
        net.module.load_state_dict(saved["net"])
        know.load_state_dict(saved["know"])
        optimizer.load_state_dict(saved["optimizer"])
        done = saved["epochs"]

    assert task.train.outputs is not None and task.test.outputs is not None
    start = time.perf_counter()
    for epoch in range(done, options.epochs):
        # The same order everywhere; of each batch, each process takes its own slice.
        order = torch.randperm(len(task.train), generator=torch.Generator().manual_seed(epoch))
        for batch in order[: len(order) // options.batch * options.batch].view(-1, options.batch):
            rows = batch.view(processes, -1)[rank]
            loss = know.loss(net(task.train.inputs(rows)), task.train.outputs[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:  # written beside, then renamed: whoever stops the training leaves a whole checkpoint
            state = {"net": net.module.state_dict(), "know": know.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**state, "epochs": epoch + 1}, f"{options.checkpoint}.new")
            os.replace(f"{options.checkpoint}.new", options.checkpoint)
            print(f"epoch {epoch + 1}: loss {loss.item():.3f}, {time.perf_counter() - start:.1f} s", flush=True)

    # Each process reads its share of the test; what is right is added up.
    rows = torch.arange(rank, len(task.test), processes)
    with torch.no_grad():
        read = torch.cat([net.module(task.test.inputs(part)).argmax(2) for part in torch.split(rows, 100)])
    right = (add(read) == task.test.outputs[rows]).all(1).sum()
    dist.all_reduce(right)
    if rank == 0:
        print(f"sums right: {100 * right.item() / len(task.test):.2f} %, processes: {processes}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
