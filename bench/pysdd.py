#!/usr/bin/env python3
"""Compiles random formulas with anesi and with PySDD, on the same machine in one run, and compares counts and times.

    python3 -m venv /tmp/pysdd && /tmp/pysdd/bin/pip install pysdd
    cmake --preset knowledge && cmake --build build/knowledge --target anesi_knowledge
    /tmp/pysdd/bin/python bench/pysdd.py

Sixty formulas of 15 to 60 variables and twenty weighted ones, always the same for the same --seed. PySDD compiles as its
command line does: a balanced vtree, garbage collection and minimisation when it sees fit. Times are of reading, compiling
and counting, in seconds; each has a process of its own. A formula that PySDD does not compile within --seconds counts
with that time. Exits with 1 if a count differs or anesi's total time is longer.
"""
import argparse
import math
import pathlib
import random
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent

# Prints seconds, nodes and the logarithm of the (weighted) count.
OURS = r"""
#include <chrono>
#include <cmath>
#include <cstdio>

#include "anesi/logic/circuit.h"
#include "anesi/logic/dimacs.h"

int main(int, char** arguments) {
  const auto start = std::chrono::steady_clock::now();
  const auto formula = anesi::read_dimacs(arguments[1]);
  const auto circuit = anesi::Circuit::compile(formula.variables, formula.clauses);
  anesi::Circuit::Weights weights(circuit.places(), 0);
  for (const auto& [literal, weight] : formula.weights) weights[circuit.place_of(literal)] = std::log(weight);
  const auto count = circuit.log_count(weights);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%.6f %lld %.12g\n", seconds.count(), static_cast<long long>(circuit.nodes()), count);
}
"""

THEIRS = r"""
import math, sys, time
from pysdd.sdd import SddManager
start = time.perf_counter()
manager, node = SddManager.from_cnf_file(sys.argv[1].encode(), b"balanced")
count = node.wmc(log_mode=True)
for line in open(sys.argv[1]):
    if line.startswith("c p weight"):
        literal, weight = line.split()[3:5]
        count.set_literal_weight(manager.literal(int(literal)), math.log(float(weight)))
log = count.propagate()
print(f"{time.perf_counter() - start:.6f} {node.size()} {log:.12g}")
"""


def formula(number, draw, weighted):
    """A formula of two or three literals a clause, which PySDD compiles within a minute or so."""
    variables = draw.randint(15, 60)
    literals = draw.choice([2, 3])
    # Few clauses for each variable if there are many variables: else no compiler of this kind finishes.
    most = 1.2 if literals == 2 else max(0.75, 2.6 - variables / 25)
    clauses = int(variables * draw.uniform(0.7, most))
    lines = [f"c formula {number}", f"p cnf {variables} {clauses}"]
    for variable in range(1, variables + 1) if weighted else ():
        probability = round(draw.uniform(0.05, 0.95), 3)
        lines += [f"c p weight {variable} {probability} 0", f"c p weight -{variable} {round(1 - probability, 3)} 0"]
    for _ in range(clauses):
        chosen = draw.sample(range(1, variables + 1), literals)
        lines.append(" ".join(str(each if draw.random() < 0.5 else -each) for each in chosen) + " 0")
    return variables, clauses, "\n".join(lines) + "\n"


def measured(command, seconds):
    """Seconds, size and logarithm of the count; only the seconds if there is no answer in that time."""
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=True).stdout
    except subprocess.TimeoutExpired:
        return seconds, None, None
    took, size, log = told.splitlines()[-1].split()
    return float(took), int(size), float(log)


def same(one, other):
    return one == other or math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--formulas", type=int, default=60)
    parser.add_argument("--weighted", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--build", type=pathlib.Path, default=REPOSITORY / "build/knowledge")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    total_ours = total_theirs = 0
    differ = late = 0
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        (folder / "ours.cc").write_text(OURS)
        (folder / "theirs.py").write_text(THEIRS)
        subprocess.run(
            ["c++", "-std=c++20", "-O2", f"-I{REPOSITORY}", folder / "ours.cc", "-o", folder / "ours",
             f"-L{options.build}", "-lanesi_knowledge", f"-Wl,-rpath,{options.build}"],
            check=True)
        print(f"{'formula':>7} {'variables':>9} {'clauses':>7} {'anesi s':>9} {'PySDD s':>9} {'nodes':>9} {'SDD size':>9} "
              f"{'log count':>12}")
        for number in range(options.formulas + options.weighted):
            weighted = number >= options.formulas
            variables, clauses, text = formula(number, draw, weighted)
            file = folder / "formula.cnf"
            file.write_text(text)
            ours = measured([folder / "ours", file], options.seconds)
            theirs = measured([sys.executable, folder / "theirs.py", file], options.seconds)
            total_ours += ours[0]
            total_theirs += theirs[0]
            verdict = ""
            if theirs[2] is None or ours[2] is None:
                late += 1
                verdict = "no answer"
            elif not same(ours[2], theirs[2]):
                differ += 1
                verdict = f"DIFFERS: {theirs[2]}"
            print(f"{str(number) + ('w' if weighted else ''):>7} {variables:>9} {clauses:>7} {ours[0]:>9.4f} "
                  f"{theirs[0]:>9.4f} {ours[1] or '-':>9} {theirs[1] or '-':>9} "
                  f"{'-' if ours[2] is None else format(ours[2], '12.6f')} {verdict}", flush=True)
    print(f"total: anesi {total_ours:.2f} s, PySDD {total_theirs:.2f} s; {differ} counts differ; {late} without an answer "
          f"within {options.seconds:.0f} s")
    return 1 if differ or total_ours > total_theirs else 0


if __name__ == "__main__":
    sys.exit(main())
