"""How long trainings take that share their cores: one alone, two started together, in turn, so that ratios mean something.

    python bench/shared_cores.py build/release/anesi [--times 5] [--spin 300000 ...]

With --spin, also with OpenMP's threads told how long to wait in a loop (GOMP_SPINCOUNT) before they give way.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

# Long enough for threads to matter, short enough to be repeated.
TRAINING = ["train", "mnist-add", "--set", "task.digits=4", "--set", "train.epochs=1"]


def seconds(program: str, together: int, environment: dict[str, str]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        running = [
            subprocess.Popen(
                [program, *TRAINING, "--out", os.path.join(folder, str(number))],
                env={**os.environ, **environment},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for number in range(together)
        ]
        if any(process.wait() != 0 for process in running):
            sys.exit("a training failed")
        return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--times", type=int, default=5, help="of each, of which the median is told (default 5)")
    parser.add_argument("--spin", type=int, nargs="*", default=[], help="values of GOMP_SPINCOUNT to try as well")
    options = parser.parse_args()
    kinds: dict[str, dict[str, str]] = {"as it is": {}}
    kinds |= {f"spin {count}": {"GOMP_SPINCOUNT": str(count)} for count in options.spin}
    alone: dict[str, list[float]] = {name: [] for name in kinds}
    pairs: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(options.times):
        for name, environment in kinds.items():
            alone[name].append(seconds(options.program, 1, environment))
            pairs[name].append(seconds(options.program, 2, environment))
    print(f"{'':<16}{'alone, s':>10}{'two, s':>10}{'ratio':>8}")
    for name in kinds:
        one, two = statistics.median(alone[name]), statistics.median(pairs[name])
        print(f"{name:<16}{one:>10.1f}{two:>10.1f}{two / one:>8.2f}")


if __name__ == "__main__":
    main()
