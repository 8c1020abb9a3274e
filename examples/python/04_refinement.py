"""Explanations are labels: a first network learns from sums, a second one from the digits that explain those sums.

    python examples/python/04_refinement.py

The first network need not be good. Together with the sum, what it believes leaves little doubt about the digits. The
second one then learns as if each image had been labelled: single images in a batch, label smoothing, what you like.
"""
# mypy: untyped-calls-exclude=torch

import argparse

import torch

import anesi


def digits_right(net: torch.nn.Module, examples: anesi.tasks.Examples) -> float:
    assert examples.worlds is not None
    with torch.no_grad():
        read = torch.cat([net(images).argmax(2) for images, _ in examples.batches(100)])
    return (read == examples.worlds).double().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description="learn from sums, then from explanations of the sums")
    parser.add_argument("--digits", type=int, default=4, help="how many are summed")
    parser.add_argument("--examples", type=int, default=3000, help="sums to learn from")
    parser.add_argument("--epochs", type=int, default=3, help="of the first network, and of the second")
    options = parser.parse_args()
    torch.manual_seed(1)
    task = anesi.tasks.load("sum", digits=options.digits)
    know = anesi.Knowledge(lambda digits: digits.sum(1), task.worlds, task.outputs)
    assert task.train.outputs is not None and task.train.worlds is not None
    images, sums = task.train.inputs(torch.arange(options.examples)), task.train.outputs[: options.examples]

    # From sums alone.
    first = anesi.LeNet(10)
    optimizer = torch.optim.AdamW(first.parameters(), lr=0.002, weight_decay=0.05, fused=True)
    for _ in range(options.epochs):
        for rows in torch.split(torch.randperm(len(images)), 16):
            loss = know.loss(first(images[rows]), sums[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"first network: {100 * digits_right(first, task.test):.2f} % of digits right")

    # The most probable digits behind each sum.
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, sums), batch_size=100)
    labels = anesi.refine(first, know, loader)
    known = (labels.targets == task.train.worlds[: len(labels)]).double().mean().item()
    print(f"{labels}: {100 * known:.2f} % of their digits right")

    # From single images with those labels.
    second = anesi.LeNet(10)
    optimizer = torch.optim.AdamW(second.parameters(), lr=0.002, weight_decay=0.05, fused=True)
    pictures, digits = labels.inputs.flatten(0, 1)[:, None], labels.targets.flatten()[:, None]  # one variable each
    for _ in range(options.epochs):
        for rows in torch.split(torch.randperm(len(pictures)), 64):
            logits = second(pictures[rows])  # [64, 1, 10]
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), digits[rows].flatten(), label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"second network: {100 * digits_right(second, task.test):.2f} % of digits right")


if __name__ == "__main__":
    main()
