#!/usr/bin/env python3
"""Runs the tests of this folder on the anesi that is installed, one file after the other, each by a Python of its own.

    python tests/python/run_all.py [--quick] [NAME...]

NAME: q for q_test.py. --quick: those that take seconds. Prints a line for each file, and its output if it failed.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
QUICK = ("answers", "bad_input", "estimator", "given", "markov", "q", "q_priors", "state")
NOT_HERE = ("install",)  # makes environments of its own

ABOUT = """
import sys, torch, numpy, anesi
print(f"anesi {anesi.__version__} in {anesi.__path__[0]}, torch {torch.__version__}, "
      f"NumPy {numpy.__version__}, Python {sys.version.split()[0]}")
"""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("names", nargs="*")
    told = parser.parse_args()
    names = [path.stem.removesuffix("_test") for path in sorted(FOLDER.glob("*_test.py"))]
    wanted = told.names or (QUICK if told.quick else names)
    names = [name for name in names if name in wanted and name not in NOT_HERE]

    signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([sys.executable, "-c", ABOUT], cwd=work, env=environment, check=True)
        passed, skipped, failed = 0, 0, []
        for name in names:
            begin = time.monotonic()
            command = [sys.executable, "-W", "ignore", str(FOLDER / f"{name}_test.py")]
            done = subprocess.run(command, cwd=work, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            ran = sum(map(int, re.findall(r"^Ran (\d+) test", done.stdout, re.MULTILINE)))
            left_out = sum(map(int, re.findall(r"skipped=(\d+)", done.stdout)))
            wrong = sum(map(int, re.findall(r"(?:failures|errors)=(\d+)", done.stdout)))
            passed, skipped = passed + ran - left_out - wrong, skipped + left_out
            print(f"{name}: {ran} tests, {left_out} skipped, {time.monotonic() - begin:.0f} s", flush=True)
            if done.returncode != 0:
                failed.append(name)
                print(f"{done.stdout}\n{name}: FAILED", flush=True)
    print(f"{passed} tests passed, {skipped} were skipped; files that failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
