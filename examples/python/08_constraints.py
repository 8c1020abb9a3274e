"""Outputs that keep the rules: a network names what lies on a tray, and a formula says what goes together.

    python examples/python/08_constraints.py [examples/meal.cnf]

The network alone learns each thing on a tray by itself, and some of what it says cannot be: two drinks, red wine for who
drives. Under the formula it is never wrong in that way, and more often right.
"""

import pathlib
import sys
from typing import Callable

import torch

import anesi

PIXELS = 12


def main() -> None:
    here = pathlib.Path(__file__).resolve().parent.parent
    know = anesi.Knowledge.from_cnf(sys.argv[1] if len(sys.argv) > 1 else here / "meal.cnf")
    generator = torch.Generator().manual_seed(1)
    width = max(know.worlds)
    looks = torch.randn(len(know.worlds), width, PIXELS, generator=generator)

    def photographs(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
        """A tray is seen as a blurred sum of the things on it."""
        trays = know.sample(torch.zeros(count, len(know.worlds), width), count=1, seed=seed)[:, 0]
        seen = sum(looks[variable][trays[:, variable]] for variable in range(len(know.worlds)))
        return seen + 0.9 * torch.randn(count, PIXELS, generator=generator), trays

    (x, trays), (test_x, test_trays) = photographs(600, 2), photographs(1000, 3)

    def network() -> torch.nn.Module:
        torch.manual_seed(1)
        return torch.nn.Sequential(
            torch.nn.Linear(PIXELS, 64),
            torch.nn.ReLU(),
            torch.nn.Linear(64, len(know.worlds) * width),
            torch.nn.Unflatten(1, (len(know.worlds), width)),
        )

    def trained(loss_of: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> torch.nn.Module:
        net = network()
        optimizer = torch.optim.AdamW(net.parameters(), 3e-3)
        for _ in range(30):
            for rows in torch.randperm(len(x), generator=generator).split(20):  # type: ignore[no-untyped-call]
                loss = loss_of(net(x[rows]), trays[rows])
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
        return net

    def alone(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        shares = [logits[:, i, :values].log_softmax(1) for i, values in enumerate(know.worlds)]
        return -torch.stack([share.gather(1, labels[:, i : i + 1]) for i, share in enumerate(shares)]).sum(0).mean()

    def report(name: str, answer: torch.Tensor) -> None:
        right = (answer == test_trays).all(1).float().mean().item()
        possible = know.function(answer).float().mean().item()
        print(f"{name:34} {100 * right:5.1f} % of trays right, {100 * possible:5.1f} % possible")

    net = trained(alone)
    with torch.no_grad():
        logits = net(test_x)
        report("a network alone", torch.stack([logits[:, i, :n].argmax(1) for i, n in enumerate(know.worlds)], 1))
        report("its answers under the formula", know.most_probable(logits).worlds)
    net = trained(lambda logits, labels: know.loss(logits, worlds=labels))
    with torch.no_grad():
        report("one that learned under it too", know.most_probable(net(test_x)).worlds)


if __name__ == "__main__":
    main()
