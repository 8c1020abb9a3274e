"""A ProbLog program with a neural predicate, in DeepProbLog's syntax: numbers are read, from their sums alone.

    pip install problog==2.3.0
    python examples/python/07_problog.py

An image here is sixteen noisy numbers, around one of ten patterns. No digit is labelled. First single digits are added,
then, by the same program and with the same network, numbers of fifteen digits. Their sums are 2 * 10^15 answers of the
query. Those are never listed: Knowledge runs the program on some thousand worlds and finds the carry.
"""
# mypy: untyped-calls-exclude=torch

import time

import torch

import anesi.problog

PROGRAM = """
    nn(digit_net, [X], Y, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) :: digit(X, Y).

    number([], N, N).
    number([Head|Tail], Before, N) :- digit(Head, D), After is D + 10 * Before, number(Tail, After, N).
    addition(X, Y, Z) :- number(X, 0, X2), number(Y, 0, Y2), Z is X2 + Y2.
"""


def train(net: torch.nn.Module, patterns: torch.Tensor, length: int, examples: int) -> None:
    first, second = ([f"{row}{place}" for place in range(length)] for row in "ab")
    start = time.perf_counter()
    know = anesi.problog.Knowledge(PROGRAM, f"addition([{', '.join(first)}], [{', '.join(second)}], Z)")

    digits = torch.randint(10, (examples + 200, 2 * length))  # the last 200 are for testing
    images = patterns[digits] + 0.5 * torch.randn(*digits.shape, 16)
    sums = [sum(int("".join(map(str, part))) for part in (row[:length], row[length:])) for row in digits.tolist()]

    optimizer = torch.optim.AdamW(net.parameters(), 0.003)
    for _ in range(4):
        for rows in torch.split(torch.randperm(examples), 20):
            tensors = dict(zip(first + second, images[rows].unbind(1)))  # by their names in the query
            logits = know.read({"digit_net": net}, tensors)
            loss = know.loss(logits, [sums[row] for row in rows.tolist()])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    seconds = time.perf_counter() - start
    logits = net(images[-200:]).detach()  # [200, 2 length, 10]: in the order of know.inputs, which is the query's here
    found = know.eval().predict(logits)
    right = sum(answer == label for answer, label in zip(found.answers, sums[-200:])) / 200
    read = (found.world == digits[-200:]).double().mean().item()
    print(f"{length} digits: sums right {100 * right:.1f} %, digits right {100 * read:.1f} %, {seconds:.1f} s")

    why = know.explain(logits[-1:], sums[-1:], top=1).worlds[0, 0].tolist()
    print(f"  {sums[-1]} is {why[:length]} + {why[length:]}")


def main() -> None:
    torch.manual_seed(0)
    patterns = torch.randn(10, 16)
    net = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    train(net, patterns, length=1, examples=1000)
    train(net, patterns, length=15, examples=1000)


if __name__ == "__main__":
    main()
