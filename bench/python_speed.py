#!/usr/bin/env python3
"""Times what a training step spends in anesi's Python package: run it in two environments to compare two versions.

    OMP_NUM_THREADS=1 python bench/python_speed.py [--rounds 7]

One thread. Each figure is the fastest of some rounds, in microseconds.
"""

import argparse
import time

import torch

import anesi

DIGITS = 15
SUMMED = 63  # an automaton of 559 states


def add(digits):
    """Two numbers of N digits, int64 [n, 2 N], to the N + 1 digits of their sum."""
    first, second = digits.chunk(2, 1)
    total, carry = [], torch.zeros_like(digits[:, 0])
    for place in reversed(range(first.shape[1])):
        column = first[:, place] + second[:, place] + carry
        total.insert(0, column % 10)
        carry = column // 10
    return torch.stack([carry, *total], 1)


def sums(digits):
    return digits.sum(1)


def fastest(call, rounds):
    """Microseconds of a call."""
    call()
    begin = time.perf_counter()
    call()
    calls = max(1, int(0.05 / (time.perf_counter() - begin)))
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - begin) / calls)
    return 1e6 * best


def step(know, function, batch):
    """A call of the loss and its gradient."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(batch, len(know.worlds), max(know.worlds), generator=generator, requires_grad=True)
    labels = function(logits.argmax(2))

    def call():
        logits.grad = None
        know.loss(logits, labels).backward()

    return call


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    addition = anesi.Knowledge(add, [10] * (2 * DIGITS), [2] + [10] * DIGITS, verbose=False).eval()
    row = anesi.Knowledge(sums, [10] * SUMMED, [9 * SUMMED + 1], verbose=False).eval()
    learned = anesi.Knowledge(sums, [10, 10], [19], architecture="mlp", settings={"q.pretrain": 20}, verbose=False)
    beside, alone = step(learned, sums, 16), step(learned, sums, 16)
    learned.train()
    with_update = fastest(beside, rounds)
    learned.eval()
    without = fastest(alone, rounds)
    print(f"anesi {anesi.__version__}, torch {torch.__version__}")
    print(f"  loss and gradient of 16 sums, N = {DIGITS}: {fastest(step(addition, add, 16), rounds):.0f}")
    print(f"  loss and gradient, {row.states} states, batch 64: {fastest(step(row, sums, 64), rounds):.0f}")
    print(f"  update of q, mlp, sums of 2 digits: {with_update - without:.0f}")
    print(f"  loss and gradient by that q, 16 sums: {without:.0f}")


if __name__ == "__main__":
    main()
