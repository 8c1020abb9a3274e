#!/usr/bin/env python3
"""The loss and its gradient from Python beside the same in C++: 16 sums of two 15-digit numbers.

    PYTHONPATH=build/release/python python bench/python_loss.py
"""

import argparse
import statistics
import time

import torch

import anesi


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--digits", type=int, default=15)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--times", type=int, default=500)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    digits = options.digits

    def add(worlds: torch.Tensor) -> torch.Tensor:
        sums, carry = [], torch.zeros(len(worlds), dtype=torch.int64)
        for place in range(digits - 1, -1, -1):
            total = worlds[:, place] + worlds[:, digits + place] + carry
            sums.append(total % 10)
            carry = total // 10
        return torch.stack([carry, *reversed(sums)], 1)

    know = anesi.Knowledge(add, worlds=[10] * 2 * digits, outputs=[2] + [10] * digits).eval()
    logits = torch.randn(options.batch, 2 * digits, 10, requires_grad=True)
    outputs = add(torch.randint(10, (options.batch, 2 * digits)))

    def in_python() -> float:
        seconds = []
        for _ in range(options.times):
            begin = time.perf_counter()
            know.loss(logits, outputs).backward()
            logits.grad = None
            seconds.append(time.perf_counter() - begin)
        return statistics.median(seconds)

    in_python(), know._core.seconds_in_cpp(logits, outputs, options.times)  # both warm
    rounds = [(in_python(), know._core.seconds_in_cpp(logits, outputs, options.times)) for _ in range(5)]
    python, cpp = (statistics.median(part) for part in zip(*rounds))
    print(f"loss and gradient of {options.batch} sums, N = {digits}: Python {1e6 * python:.0f} us, C++ {1e6 * cpp:.0f} us, ratio {python / cpp:.2f}")


if __name__ == "__main__":
    main()
