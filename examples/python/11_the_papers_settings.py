"""A-NeSI as the paper has it: a neural q for MNIST addition, which learns beside the network (preset `paper` of `anesi train`).

    python examples/python/11_the_papers_settings.py --digits 1 --epochs 1

The function is never inverted or enumerated: q(y|P) is learned from its samples alone, and gradients go through q. The paper
trains for 100 epochs. One epoch of N = 1 takes some minutes on one core.
"""

import argparse
import itertools
import time

import torch

import anesi

# Appendix F of the paper.
PAPER: dict[str, str | float] = {
    "mlp.layers": 3, "mlp.width": 800,
    "prior.kind": "fitted", "prior.window": 2500, "prior.iterations": 50, "prior.lr": 0.01, "prior.initial": 0.1, "prior.l2": 900000,
    "q.pretrain": 0, "q.samples": 600, "q.lr": 0.001, "eval.beam": 600,
}  # fmt: skip


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


def main() -> None:
    parser = argparse.ArgumentParser(description="A-NeSI with the paper's settings")
    parser.add_argument("--digits", type=int, default=1, help="digits of each number")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--steps", type=int, help="of each epoch at most, for a quick look")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)

    task = anesi.tasks.load("mnist-add", digits=options.digits, seed=options.seed)
    variables = 2 * options.digits
    know = anesi.Knowledge(add, [10] * variables, [2] + [10] * options.digits, architecture="mlp", settings=PAPER, seed=options.seed)
    net = anesi.LeNet(10)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.001)
    begin = time.perf_counter()
    for epoch in range(options.epochs):
        batches = task.train.batches(16, shuffle=True, seed=options.seed * 1000003 + epoch)
        for images, sums in itertools.islice(batches, options.steps):
            loss = know.loss(net(images), sums)  # Algorithm 2; q learns at the same time: Algorithm 1
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    seconds = time.perf_counter() - begin

    know.eval()
    symbolic, neural = [], []
    with torch.no_grad():
        for rows in torch.split(torch.arange(len(task.test)), 100):
            logits = net(task.test.inputs(rows))
            assert task.test.outputs is not None
            y = task.test.outputs[rows]
            symbolic.append((add(logits.argmax(2)) == y).all(1))
            ranked = anesi.q.beam_search(know.q.prediction, logits.softmax(2), width=600)
            neural.append((ranked.values[:, 0] == y).all(1))
    symbolic_right, neural_right = (100 * torch.cat(part).double().mean().item() for part in (symbolic, neural))
    print(f"symbolic {symbolic_right:.2f} %, neural {neural_right:.2f} %, {seconds:.0f} s, {task.origin}")


if __name__ == "__main__":
    main()
