#!/usr/bin/env python3
"""The search for the most probable valid sudoku against an independent solver: a mixed-integer program by HiGHS.

    tests/program/search_milp.py build/release/anesi RUN [--puzzles 60]

RUN is a trained run of visual-sudoku. For each puzzle of its test split, `anesi explain` says how far the best valid grid is
from the most likely one; HiGHS must find the same distance.
"""

import argparse
import json
import math
import subprocess
import sys

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix


def units(size):
    """The cells of each row, column and block."""
    side = math.isqrt(size)
    cell = np.arange(size * size).reshape(size, size)
    blocks = [cell[i:i + side, j:j + side].ravel() for i in range(0, size, side) for j in range(0, size, side)]
    return [*cell, *cell.T, *blocks]


def smallest_gap(beliefs):
    """The least loss of log-probability, in nats, of a valid grid against the most likely grid."""
    cells, size = beliefs.shape
    cost = np.log(beliefs.max(1, keepdims=True)) - np.log(np.maximum(beliefs, 1e-30))
    rows = [[i * size + v for v in range(size)] for i in range(cells)]  # one value in each cell
    rows += [[i * size + v for i in unit] for unit in units(size) for v in range(size)]  # each value once in each unit
    matrix = csr_matrix((np.ones(sum(map(len, rows))), (np.repeat(np.arange(len(rows)), [len(r) for r in rows]),
                                                       np.concatenate(rows))), shape=(len(rows), cells * size))
    result = milp(cost.ravel(), constraints=LinearConstraint(matrix, 1, 1), integrality=np.ones(cells * size),
                  bounds=Bounds(0, 1), options={"mip_rel_gap": 0, "time_limit": 60})
    assert result.status == 0, result.message
    return result.fun


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("run")
    parser.add_argument("--puzzles", type=int, default=60)
    flags = parser.parse_args()
    agreed = beyond = 0
    for index in range(flags.puzzles):
        answer = subprocess.run([flags.program, "explain", flags.run, "--index", str(index), "--threads", "1", "--json"],
                                capture_output=True, text=True, check=True)
        told = json.loads(answer.stdout)
        expected = smallest_gap(np.array(told["beliefs"], dtype=np.float64))
        if not told["proven"]:
            sys.exit(f"puzzle {index}: the search gave up before it was sure")
        if "gap" not in told:
            if expected <= told["nats"]:
                sys.exit(f"puzzle {index}: no valid grid found within {told['nats']} nats, but there is one at {expected:.3f}")
            beyond += 1
        elif abs(told["gap"] - expected) > 1e-3:
            sys.exit(f"puzzle {index}: gap {told['gap']:.4f}, by HiGHS {expected:.4f}")
        agreed += 1
    print(f"{agreed} of {flags.puzzles} puzzles agree with HiGHS, {beyond} of them beyond the limit of nats")


if __name__ == "__main__":
    main()
