"""Nonsense for the engine's module: whatever it is called with, it raises an exception or answers, and the interpreter lives.

    python tests/python/hostile_test.py [--seed N] [--calls N]

Every function, constructor and method is called with arguments drawn from a pool of what does not belong there: other types,
shapes and numbers, arrays that are read-only, reversed or empty, functions that raise or give rubbish. The calls run in a
process of their own; if it dies, the last call is shown.
"""

import argparse
import faulthandler
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

CALLS = 8_000
SECONDS_A_CALL = 10
MEMORY = 6 << 30


class TooLong(Exception):
    pass


def interrupt(*_):
    raise TooLong


def nonsense(draw, np, engine, made):
    """One argument."""
    def rubbish(*arguments):
        return draw.choice([None, "x", np.zeros(3), np.full((1, 1), 2**62), [[1]], object()])

    def fails(*arguments):
        raise KeyError("no")

    dtype = draw.choice([np.int64, np.int64, np.float64, np.float64, np.float32, np.bool_, np.int32, np.uint8, np.complex64, object])
    shape = [draw.choice([0, 1, 1, 2, 3, 5]) for _ in range(draw.choice([0, 1, 2, 2, 3, 3, 4]))]
    array = np.zeros(shape, dtype)
    if dtype in (np.float64, np.float32):
        array[...] = draw.choice([0.0, -1.0, 0.5, float("nan"), float("inf"), -float("inf"), 1e308])
    elif dtype is np.int64:
        array[...] = draw.choice([0, 1, -1, -2, 7, 2**62, -(2**63)])
    if draw.random() < 0.1:
        array = array[::-1] if array.ndim else array
    if draw.random() < 0.1:
        array.flags.writeable = False
    return draw.choice([
        None, True, -1, 0, 1, 2, 3, 2**31, 2**63 - 1, -(2**63), 2**64, 0.5, float("nan"), -1e300, "", "x", "exact.method=tables",
        "p cnf 2 1\n1 2 0\n", "h 1 0\n0.5 1 2 0\n", "\0", b"x", [], [0], [2, 2], [1] * 50, [-1], [2**40, 2**40], ["discover.seconds=0.1"],
        ["no.such=1"], [([0], 0, 0)], [([0, 0], 5, -1)], [([0], None, 0), ([1], 0, 1)], {}, {"automaton.start": np.zeros(1, np.int64)},
        {"tables.variables": np.zeros(3, np.int64), "tables.values": np.zeros(2, np.int32)}, {"x": None}, (), object(), rubbish, fails,
        lambda rows: rows[:, :1] % 2, array, array, array, array, array, *made,
    ])  # fmt: skip


def fitting(draw, np, name, problem, batch):
    """An argument that is nearly right, by its name; of a problem and so many examples."""
    worlds, outputs = problem.worlds, problem.outputs
    width = max(worlds)
    whole = {"worlds": (batch, len(worlds)), "outputs": (batch, len(outputs)), "chosen": (batch, len(worlds)), "given": (batch, 1)}
    if name == "given" and draw.random() < 0.8:
        return None
    if name in whole:
        return np.full(whole[name], draw.choice([0, 1, -1, -2, 5]), np.int64)
    if name in ("logs", "logits", "gradient", "direction", "result", "by_beliefs"):
        return np.full((batch, len(worlds), width), draw.choice([0.0, -1.0, -1e3, -float("inf"), float("nan")]))
    if name in ("log_probs", "log_partitions", "entropies"):
        return np.zeros(batch)
    return {
        "problem": problem, "settings": [], "threads": draw.choice([0, 1, 2, -1]), "seed": 1, "top": draw.choice([0, 1, 3, 10**9]),
        "variable": draw.choice([0, 1, -1, 99]), "seconds": 0.1, "holds": np.zeros(batch, bool), "loss": np.zeros(()),
        "weights": np.zeros(1), "path": "missing.file", "text": draw.choice(["p cnf 2 1\n1 2 0\n", "h 1 0\n1 2 0\n", "p cnf"]), "title": "x",
        "kind": draw.choice([0, 1, 2, -1]), "value": draw.choice([0, 1, -1, 99]), "clause": draw.choice([[1, -2], [0], [99], []]),
        "literals": [1, 2], "covariances": np.zeros((batch, 1, 1)), "by_weights": np.zeros((batch, 1)), "arrays": {"x": np.zeros(2)},
        "function": lambda rows: rows[:, :1] % 2, "states": 2, "start": 0, "steps": [([0], None, 0), ([1], 0, 1)],
        "pixels": np.zeros((batch, 4, 4, 2), np.float32), "pooled": np.zeros((batch, 2, 2, draw.choice([2, 3])), np.float32),
        "concentration": np.ones((2, draw.choice([1, 3]))), "beliefs": np.full((batch, 2, draw.choice([1, 3])), 0.5, np.float32),
        "sums": np.zeros((2, 3), np.int64), "sign": 1, "domains": draw.choice([[3, 3], [3], [2, 4], [-1, 7]]), "mean_logs": np.full(6, -1.0),
        "l2": 1.0, "x": np.ones(6), "first": np.zeros(6), "second": np.zeros(draw.choice([5, 6])), "before": 0, "lr": 0.1, "name": "sum",
        "sources": [], "data": None, "validation": draw.choice([True, False]),
        "rule": lambda kind, read, state: (0, 0), "facts": {}, "summary": "x", "draws": draw.choice([0, 1, 50]), "nodes": 50, "nats": 1.0,
    }.get(name)  # fmt: skip


def parameters(callable_):
    """Names of parameters, from the first line of nanobind's documentation: ``name(self, logs: ndarray[dtype=…, …], …)``."""
    line = (callable_.__doc__ or "").split("\n")[0]
    while re.search(r"\[[^\[\]]*\]", line):
        line = re.sub(r"\[[^\[\]]*\]", "", line)
    return re.findall(r"(\w+):", line)


def valid_objects(np, engine):
    problem = engine.Problem(lambda rows: rows.sum(1, keepdims=True), [2, 3], [4])
    formula = engine.parse_formula("p cnf 3 2\n1 2 0\n-2 3 0\n")
    automaton = engine.Automaton([2, 2], [2], [([0], None, 0), ([1], 0, 1)], 2, 0, lambda kind, read, state: (0, read[0]) if kind == 0 else (read[0] ^ state, 0))
    told = engine.Problem(lambda rows: rows[:, :1] ^ rows[:, 1:], [2, 2], [2]).with_automaton(automaton)
    cnf = engine.Cnf([2, 2], [2])
    markov = engine.Markov(None, "h 1 3 0\n1.5 -1 2 0\n", 1.0)
    tables = engine.Problem(lambda rows: rows[:, ::-1], [2, 3], [3, 2])
    problems = [problem, formula, told, tables]
    methods = {"enumerate": problem, "circuit": formula, "propagation": formula, "automaton": told}
    backends = {engine.Backend(each, settings=[f"exact.method={name}"]): each for name, each in methods.items()}
    return problems, {automaton: told, cnf: told, markov: formula, **backends}


def run(seed, calls, log):
    import numpy as np

    from anesi import _engine as engine

    os.environ.update(ANESI_DIGITS="procedural", ANESI_OFFLINE="1")
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, interrupt)
    draw = random.Random(seed)
    problems, others = valid_objects(np, engine)
    about = {id(thing): problem for thing, problem in [*others.items(), *zip(problems, problems)]}
    others = list(others)
    os.chdir(tempfile.mkdtemp())
    targets = [(name, getattr(engine, name)) for name in dir(engine) if not name.startswith("_") and callable(getattr(engine, name))]
    owners = [None] * len(targets)  # the problem that a method is about
    for thing in [*problems, *others]:
        kind = type(thing).__name__
        targets += [(f"{kind}.{name}", getattr(thing, name)) for name in dir(thing) if not name.startswith("__") and callable(getattr(thing, name))]
        owners += [about.get(id(thing), problems[0])] * (len(targets) - len(owners))
    raised = answered = slow = 0
    for number in range(calls):
        place = draw.randrange(len(targets))
        problem, batch = owners[place] or draw.choice(problems), draw.choice([0, 1, 2, 9])
        name, target = targets[place]
        names = parameters(target)
        wrong = draw.choice([[], [draw.choice(names)] if names else [], names])  # none, one or all of them
        given = {}
        for parameter in names:
            good = fitting(draw, np, parameter, problem, batch)
            if parameter in wrong:
                given[parameter] = nonsense(draw, np, engine, problems + others)
            elif good is not None and draw.random() < 0.9:
                given[parameter] = good
        more = [nonsense(draw, np, engine, problems) for _ in range(draw.choice([0, 0, 0, 1, 3]))] if not names else []
        log.seek(0)
        log.write(f"{number} {name} {more!r} {given!r}"[:3000].ljust(3000))
        log.flush()
        signal.setitimer(signal.ITIMER_REAL, SECONDS_A_CALL)
        try:
            target(*more, **given)
            answered += 1
        except TooLong:
            slow += 1
        except Exception:
            raised += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    print(f"{calls} calls: {answered} answered, {raised} refused, {slow} stopped after {SECONDS_A_CALL} s", flush=True)


class Hostile(unittest.TestCase):
    seed, calls = None, CALLS

    def test_the_interpreter_lives(self):
        seed = random.randrange(2**32) if self.seed is None else self.seed
        print(f"seed {seed}", flush=True)
        with tempfile.NamedTemporaryFile("r") as log:
            command = [sys.executable, __file__, "--child", log.name, "--seed", str(seed), "--calls", str(self.calls)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, f"seed {seed}, last call: {log.read().rstrip()}\n{done.stderr[-2000:]}")
        print(done.stdout, end="", flush=True)
        self.assertIn(" 0 stopped", done.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--child")
    options = parser.parse_args()
    if options.child:
        with open(options.child, "w") as log:
            run(options.seed, options.calls, log)
    else:
        Hostile.seed, Hostile.calls = options.seed, options.calls
        unittest.main(argv=sys.argv[:1])
