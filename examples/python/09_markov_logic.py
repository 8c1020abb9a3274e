"""Rules that often hold: how much, learned from what was seen, and what follows when perception is unsure.

    python examples/python/09_markov_logic.py [examples/friends.wcnf]

Worlds are drawn with the weights of the file, which are then found again from the worlds alone. Then a network sees
each person, badly, and learns beside the weights: rules that may be wrong still help it.
"""

import pathlib
import sys

import torch

import anesi

PIXELS = 6


def main() -> None:
    here = pathlib.Path(__file__).resolve().parent.parent
    know = anesi.markov.Knowledge(sys.argv[1] if len(sys.argv) > 1 else here / "friends.wcnf")
    print(know)
    truth = know.weights.detach().clone()
    seen = know.sample(count=10_000, seed=1)[0]

    found = know.fit(seen)
    print("weights found again from 10,000 worlds")
    for clause, weight, was, error in zip(know.clauses, found.weights, truth, found.errors):
        print(f"  {weight:6.2f} +- {error:.2f}, drawn with {was:5.2f}: {clause}")
    off = ((found.weights - truth) / found.errors).abs()
    print(f"the farthest is {off.max():.1f} standard errors off")

    # A picture of each variable, in noise; labels are whole worlds.
    generator = torch.Generator().manual_seed(2)
    looks = torch.randn(2, PIXELS, generator=generator)

    def pictures(worlds: torch.Tensor) -> torch.Tensor:
        return looks[worlds] + 1.5 * torch.randn(*worlds.shape, PIXELS, generator=generator)

    worlds = seen[:1300]
    x = pictures(worlds)
    train, test = slice(0, 300), slice(300, 1300)

    def accuracy(answer: torch.Tensor) -> float:
        return 100 * (answer == worlds[test]).float().mean().item()

    def network() -> torch.nn.Module:
        torch.manual_seed(1)
        return torch.nn.Sequential(torch.nn.Linear(PIXELS, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))

    alone, together = network(), network()
    with torch.no_grad():
        know.weights.zero_()
    optimizer = torch.optim.AdamW([*alone.parameters(), *together.parameters(), *know.parameters()], 1e-2)
    for _ in range(200):
        loss = torch.nn.functional.cross_entropy(alone(x[train]).flatten(0, 1), worlds[train].flatten())
        loss = loss + know.loss(together(x[train]), worlds[train])  # -log p(w|P): network and weights learn
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        print(f"variables right: {accuracy(alone(x[test]).argmax(2)):.1f} % by a network alone", end=", ")
        print(f"{accuracy(know.most_probable(together(x[test])).worlds):.1f} % with the rules")


if __name__ == "__main__":
    main()
