"""Rows of handwritten digits, labelled with their sum alone: `anesi train mnist-add --preset blind` as your own loop.

    python examples/python/02_mnist_addition.py --digits 4

Nothing is told of the function but its values. Knowledge asks it and finds the carry.
"""

import argparse
import time

import torch

import anesi


def add(digits: torch.Tensor) -> torch.Tensor:
    """Two numbers of N digits, int64 [n, 2 N], to the N + 1 digits of their sum, [n, N + 1]."""
    first, second = digits.chunk(2, dim=1)
    total: list[torch.Tensor] = []
    carry = torch.zeros_like(digits[:, 0])
    for place in reversed(range(first.shape[1])):
        column = first[:, place] + second[:, place] + carry
        total.insert(0, column % 10)
        carry = column // 10
    return torch.stack([carry, *total], 1)


class PlainLeNet(torch.nn.Module):
    """anesi.LeNet in torch's own layers, which take a little longer."""

    def __init__(self) -> None:
        super().__init__()
        nn = torch.nn
        self.layers = nn.Sequential(
            *(nn.Conv2d(1, 6, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(6, 16, 5), nn.MaxPool2d(2), nn.ReLU()),
            *(nn.Flatten(), nn.Linear(256, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
        )

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.layers(images.reshape(-1, 1, 28, 28))
        return logits.view(*images.shape[:2], 10)


def main() -> None:
    parser = argparse.ArgumentParser(description="MNIST addition in a loop of your own")
    parser.add_argument("--digits", type=int, default=4, help="digits of each number")
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--network", choices=["lenet", "plain"], default="lenet")
    parser.add_argument("--threads", type=int, help="that torch computes with")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)

    task = anesi.tasks.load("mnist-add", digits=options.digits, seed=options.seed)
    start = time.perf_counter()
    know = anesi.Knowledge(add, [10] * (2 * options.digits), [2] + [10] * options.digits, seed=options.seed)

    net = anesi.LeNet(10) if options.network == "lenet" else PlainLeNet()
    batch = max(1, 240 // (2 * options.digits))
    steps = options.epochs * -(-len(task.train) // batch)
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.003, weight_decay=0.1, fused=True)
    # A fifth of the way up. torch ends its warm-up at another step than `anesi train`; 0.8 / steps makes up for that.
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.003, total_steps=steps, pct_start=0.2 + 0.8 / steps)
    step = 0
    for epoch in range(options.epochs):
        for images, sums in task.train.batches(batch, shuffle=True, seed=options.seed * 1000003 + epoch):
            logits = net(images)  # [batch, 2 N, 10]
            loss = know.loss(logits, sums)
            # Label smoothing where no digit has a label; it fades, so that the network ends up sure of what it knows.
            smoothing = 0.1 * max(0.0, 1 - step / (0.75 * steps))
            loss = loss - smoothing * logits.log_softmax(2).mean(2).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            step += 1
    seconds = time.perf_counter() - start

    right, digits = [], []
    with torch.no_grad():
        for rows in torch.split(torch.arange(len(task.test)), 100):
            read = net(task.test.inputs(rows)).argmax(2)
            assert task.test.outputs is not None and task.test.worlds is not None
            right.append((add(read) == task.test.outputs[rows]).all(1))
            digits.append((read == task.test.worlds[rows]).flatten())
    print(
        f"sums right: {100 * torch.cat(right).double().mean():.2f} %,"
        f" digits right: {100 * torch.cat(digits).double().mean():.2f} %, {seconds:.1f} s, {task.origin}"
    )


if __name__ == "__main__":
    main()
