"""Worlds with real numbers: a network reads weights from photographs, and all it is told is which of two things is heavier.

    python examples/python/09_estimator.py

The network emits a normal for each thing. What is known compares two of them: it has a jump where they are equal, and no
derivative that would help. The estimator learns how likely the comparison holds, and perception learns through that.
"""

import torch

import anesi

PIXELS = 10


def main() -> None:
    torch.manual_seed(1)
    look = torch.randn(2, PIXELS)

    def photographs(count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Pairs of things: what they look like, [count, 2, pixels], and what they weigh, [count, 2]."""
        weights, colours = torch.rand(count, 2), torch.rand(count, 2)
        seen = torch.stack([weights**2, colours], 2) @ look
        return seen + 0.05 * torch.randn(count, 2, PIXELS), weights

    x, weights = photographs(2000)
    is_heavier = (weights[:, 0] > weights[:, 1]).float()

    heavier = anesi.Estimator(lambda z: z[:, 0] > z[:, 1], normals=2, settings={"first": 200, "kernel.memory": 512})
    net = torch.nn.Sequential(torch.nn.Linear(PIXELS, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))
    optimizer = torch.optim.AdamW(net.parameters(), 3e-3)
    for _ in range(3):
        for rows in torch.randperm(len(x)).split(50):  # type: ignore[no-untyped-call]
            mean, raw = net(x[rows]).unbind(2)  # a normal for each of the two things
            deviation = 0.3 + torch.nn.functional.softplus(raw)
            likely = heavier(mean=mean, deviation=deviation).clamp(0.001, 0.999)
            loss = torch.nn.functional.binary_cross_entropy(likely, is_heavier[rows])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()

    test_x, test_weights = photographs(1000)
    with torch.no_grad():
        mean = net(test_x)[:, :, 0]
    right = ((mean[:, 0] > mean[:, 1]) == (test_weights[:, 0] > test_weights[:, 1])).float().mean().item()
    read, true = mean.flatten().argsort().argsort().double(), test_weights.flatten().argsort().argsort().double()
    correlation = torch.corrcoef(torch.stack([read, true]))[0, 1].item()
    print(f"the heavier one found: {100 * right:.1f} %; rank correlation of what was read with the weights: {correlation:.3f}")
    print(f"after {heavier.calls:,} calls of the comparison")


if __name__ == "__main__":
    main()
