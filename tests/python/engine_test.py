"""anesi._engine and exact inference on it, beside brute force (oracle.py) and finite differences.

The package itself needs the module that stands on libtorch. These tests do not: where that one was not built, they
take the engine alone.
"""

from __future__ import annotations

import gc
import importlib.machinery
import math
import pickle
import resource
import signal
import sys
import tempfile
import threading
import time
import types
import unittest
from pathlib import Path

import numpy as np
import torch
from oracle import Label, Oracle, complaint_of_samples, log_beliefs_of_beliefs, log_beliefs_of_logits

folder = importlib.machinery.PathFinder.find_spec("anesi").submodule_search_locations
if importlib.machinery.PathFinder.find_spec("_core", folder) is None:
    sys.modules["anesi"] = types.ModuleType("anesi")
    sys.modules["anesi"].__path__ = folder

from anesi import _engine
from anesi._inference import ENDED, OPEN, UNKNOWN, ExactInference, Labels

INF = math.inf
GAPS = (0, 1, 17, 40, 200, 1000)


def function_of(table, domains):
    """A function that is a table of outputs, in the order of itertools.product."""
    table = np.asarray(table, dtype=np.int64)
    table = table.reshape(len(table), -1)
    return lambda worlds: table[np.ravel_multi_index(worlds.T, domains)]


def problem_of(function, domains, outputs):
    return _engine.Problem(lambda worlds: np.asarray(function(worlds), dtype=np.int64).reshape(len(worlds), -1), domains, outputs)


def carry_automaton(digits, base):
    """Sums of two numbers, the last digits first."""
    steps = [([place, digits + place], place + 1, 0) for place in reversed(range(digits))] + [([], 0, 1)]

    def rule(kind, read, carry):
        total = sum(read) + carry
        return (total % base, total // base) if kind == 0 else (carry, 0)

    return _engine.Automaton([base] * 2 * digits, [2] + [base] * digits, steps, 2, 0, rule)


def sum_function(digits, base):
    def add(worlds):
        carry, places = np.zeros(len(worlds), dtype=np.int64), []
        for place in reversed(range(digits)):
            total = worlds[:, place] + worlds[:, digits + place] + carry
            places.append(total % base)
            carry = total // base
        return np.stack([carry, *reversed(places)], 1)

    return add


class Case:
    """A problem with a back end, and its oracle. The first variables may be given."""

    def __init__(self, name, problem, function, method, given=0):
        domains = problem.worlds
        self.name, self.problem, self.given = name, problem, domains[:given]
        self.domains, self.outputs = domains[given:], problem.outputs
        self.exact = ExactInference(_engine.Backend(problem, settings=[f"exact.method={method}"]), given)

        def told(worlds, given_values):
            return function(np.concatenate([given_values, worlds], 1))

        self.oracle = Oracle.of(told, self.domains, self.given) if given else Oracle.of(function, domains)
        self.method = method


def cases():
    rng = np.random.default_rng(0)
    made = []
    domains, outputs = [2, 4, 3], [3, 2]
    table = function_of(np.stack([rng.integers(0, 3, 24), rng.integers(0, 2, 24)], 1), domains)
    made.append(Case("table", problem_of(table, domains, outputs), table, "enumerate"))
    made.append(Case("table with extra inputs", problem_of(table, domains, outputs), table, "enumerate", given=1))
    ends = np.stack([rng.integers(0, 3, 24), rng.integers(-1, 2, 24)], 1)
    made.append(Case("outputs that end", problem_of(function_of(ends, domains), domains, outputs), function_of(ends, domains), "enumerate"))
    add = sum_function(2, 3)
    told = problem_of(add, [3] * 4, [2, 3, 3]).with_automaton(carry_automaton(2, 3))
    made.append(Case("automaton", told, add, "automaton"))
    made.append(Case("automaton with extra inputs", told, add, "automaton", given=2))

    def parts(worlds):
        return np.stack([worlds[:, 0] ^ worlds[:, 1], (worlds[:, 2] + worlds[:, 3]) % 3], 1)

    found = _engine.Problem(parts, [2, 2, 3, 3], [2, 3])
    tables = {"tables.variables": np.array([2, 0, 1, 2, 2, 3]), "tables.values": np.array([0, 1, 1, 0, 0, 1, 2, 1, 2, 0, 2, 0, 1], np.int32)}
    made.append(Case("tables", found.with_found(tables), parts, "tables"))
    formula = _engine.parse_formula("p cnf 4 3\n1 2 0\n-2 3 0\n-1 -3 4 0\n")

    def holds(worlds):
        a, b, c, d = worlds.astype(bool).T
        return ((a | b) & (~b | c) & (~a | ~c | d)).astype(np.int64).reshape(-1, 1)

    made.append(Case("formula", formula, holds, "circuit"))
    return made


CASES = cases()


def random_logits(case, batch, gap, dtype, rng):
    """Each variable believes in one value, by so much; past its domain there is nonsense."""
    width = max(case.domains)
    logits = rng.normal(size=(batch, len(case.domains), width))
    sure = rng.integers(0, case.domains, (batch, len(case.domains)))
    np.put_along_axis(logits, sure[..., None], np.take_along_axis(logits, sure[..., None], 2) + gap, 2)
    for variable, size in enumerate(case.domains):
        logits[:, variable, size:] = 1e3
    return torch.from_numpy(logits).to(dtype)


def random_labels(case, batch, rng):
    """Labels of every kind, as tensors and as the oracle takes them; and what is given of each."""
    given = np.stack([rng.integers(0, case.given) for _ in range(batch)]) if case.given else np.zeros((batch, 0), np.int64)
    outputs, holds, worlds, labels = [], [], [], []
    for row in range(batch):
        every = case.oracle.outputs[tuple(given[row])]
        output = tuple(int(value) for value in every[rng.integers(len(every))])
        if rng.random() < 0.2:
            output = tuple(int(rng.integers(size)) for size in case.outputs)  # some are impossible
        if rng.random() < 0.3:
            output = (OPEN,) + output[1:]
        world = tuple(int(rng.integers(size)) if rng.random() < 0.3 else UNKNOWN for size in case.domains)
        if rng.random() < 0.3:
            chosen = rng.integers(len(case.oracle.worlds))
            world, output = tuple(case.oracle.worlds[chosen].tolist()), tuple(every[chosen].tolist())
        elif rng.random() < 0.5:
            world = (UNKNOWN,) * len(case.domains)
        hold = bool(rng.random() < 0.6)
        outputs.append(output)
        holds.append(hold)
        worlds.append(world)
        labels.append(Label(output, hold, world if any(value != UNKNOWN for value in world) else None, tuple(given[row])))
    tensors = Labels(torch.tensor(outputs), torch.tensor(holds), torch.tensor(worlds))
    return tensors, torch.from_numpy(given) if case.given else None, labels


def rows_of(case, log_beliefs_of, values, labels):
    return [
        case.oracle.row(log_beliefs_of([np.asarray(values[row, i, :size].detach(), np.float64) for i, size in enumerate(case.domains)]), label.given)
        for row, label in enumerate(labels)
    ]


def padded(parts, width):
    return np.stack([np.pad(part, (0, width - len(part))) for part in parts])


class Queries(unittest.TestCase):
    """Everything that ExactInference answers, of every back end."""

    about = ""

    def assertNear(self, found, right, tolerance, told):
        told = self.about + told
        found, right = np.asarray(found, np.float64), np.asarray(right, np.float64)
        infinite = np.isinf(right)
        self.assertTrue((found[infinite] == right[infinite]).all(), told)
        np.testing.assert_allclose(found[~infinite], right[~infinite], rtol=tolerance, atol=tolerance, err_msg=told)

    def each(self, batch=12, dtypes=(torch.float32, torch.float64), gaps=GAPS):
        for case in CASES:
            for gap in gaps:
                for dtype in dtypes:
                    rng = np.random.default_rng([gap, len(case.domains)])
                    self.about = f"{case.name}, gap {gap}, {dtype}: "
                    yield case, random_logits(case, batch, gap, dtype, rng), rng

    def test_labels_and_their_gradient(self):
        kinds = set()
        for case, logits, rng in self.each():
            labels, given, told = random_labels(case, len(logits), rng)
            kinds |= {label.kind for label in told}
            tolerance = 1e-9 if logits.dtype == torch.float64 else 2e-5
            logits.requires_grad_()
            found = case.exact.log_prob(logits, labels, given=given)
            self.assertEqual(found.dtype, logits.dtype)
            rows = rows_of(case, log_beliefs_of_logits, logits, told)
            right = [row.log_prob(label) for row, label in zip(rows, told)]
            self.assertNear(found.detach(), right, tolerance, str(told))
            found.masked_fill(torch.isneginf(found), 0).sum().backward()
            for row, (oracle, label) in enumerate(zip(rows, told)):
                zero = right[row] == -INF
                expected = [np.zeros(size) for size in case.domains] if zero else oracle.gradient(label)
                self.assertNear(logits.grad[row], padded(expected, logits.shape[2]), tolerance, f"{label}, gradient")
        self.assertGreaterEqual(len(kinds), 6)

    def test_second_derivatives(self):
        for case, logits, rng in self.each(batch=6, dtypes=(torch.float64,)):
            labels, given, told = random_labels(case, len(logits), rng)
            logits.requires_grad_()
            rows = rows_of(case, log_beliefs_of_logits, logits, told)
            found = case.exact.log_prob(logits, labels, given=given)
            possible = ~torch.isneginf(found.detach())
            (gradient,) = torch.autograd.grad(found[possible].sum(), logits, create_graph=True)
            direction = torch.from_numpy(rng.normal(size=logits.shape))
            (product,) = torch.autograd.grad((gradient * direction).sum(), logits)
            for row in possible.nonzero().flatten().tolist():
                along = [direction[row, i].numpy() for i in range(len(case.domains))]
                right = padded(rows[row].second_derivative(told[row], along), logits.shape[2])
                self.assertNear(product[row], right, 1e-8, f"{told[row]}")

    def test_joint_labels(self):
        case = CASES[0]
        logits = random_logits(case, 1, 2, torch.float64, np.random.default_rng(1))
        world = case.oracle.worlds[5]
        output = case.oracle.outputs[()][5]
        row = rows_of(case, log_beliefs_of_logits, logits, [Label()])[0]
        labels = Labels(torch.tensor(output[None]), None, torch.tensor(world[None]), joint=True)
        self.assertAlmostEqual(case.exact.log_prob(logits, labels).item(), row.log_probs[5], places=12)

    def test_loss(self):
        refused = 0
        for case, logits, rng in self.each(gaps=(1,)):
            labels, given, told = random_labels(case, len(logits), rng)
            log_prob = case.exact.log_prob(logits, labels, given=given)
            impossible = torch.isneginf(log_prob)
            if impossible.any():
                refused += 1
                with self.assertRaisesRegex(ValueError, f"outputs: example {int(impossible.nonzero()[0])} is labelled"):
                    case.exact.loss(logits, labels, given=given)
            kept = (~impossible).nonzero().flatten()
            some, of_some = Labels(*(part[kept] for part in labels[:3])), None if given is None else given[kept]
            one, other = logits[kept].requires_grad_(), logits[kept].requires_grad_()
            loss = case.exact.loss(one, some, given=of_some)
            mean = -case.exact.log_prob(other, some, given=of_some).mean()
            (3 * loss).backward()
            (3 * mean).backward()
            self.assertNear(loss.detach(), mean.detach(), 1e-6, "")
            self.assertNear(one.grad, other.grad, 1e-6, "")
        self.assertGreater(refused, 3)

    def test_beliefs_of_zero_and_one(self):
        for case in CASES:
            rng = np.random.default_rng(7)
            beliefs = torch.zeros(12, len(case.domains), max(case.domains), dtype=torch.float64)
            for variable, size in enumerate(case.domains):
                part = torch.from_numpy(rng.dirichlet(np.ones(size), 12))
                part[part < 0.2] = 0
                beliefs[:, variable, :size] = part / part.sum(1, keepdim=True)
            beliefs[0] = torch.zeros_like(beliefs[0]).index_fill_(1, torch.tensor([0]), 1)
            labels, given, told = random_labels(case, 12, rng)
            beliefs.requires_grad_()
            with self.subTest(problem=case.name):
                found = case.exact.log_prob(beliefs, labels, logits=False, given=given)
                rows = rows_of(case, log_beliefs_of_beliefs, beliefs, told)
                self.assertNear(found.detach(), [row.log_prob(label) for row, label in zip(rows, told)], 1e-9, "")
                found[~torch.isneginf(found)].sum().backward()
                self.assertTrue(torch.isfinite(beliefs.grad).all())
        case = CASES[0]  # the derivative by a belief of 0 is p(y|w_i = v) / p(y), also where that value is impossible now
        beliefs = torch.tensor([[[1.0, 0, 0, 0], [0, 0.5, 0.25, 0.25], [0.5, 0.5, 0, 0]]], dtype=torch.float64, requires_grad=True)
        row = rows_of(case, log_beliefs_of_beliefs, beliefs, [Label()])[0]
        output = max(row.predictions(), key=lambda pair: pair[1])[0]
        case.exact.log_prob(beliefs, Labels(torch.tensor([output])), logits=False).sum().backward()
        for variable, size in enumerate(case.domains):
            for value in range(size):
                certain = beliefs.detach().clone()
                certain[0, variable] = 0
                certain[0, variable, value] = 1
                of_value = rows_of(case, log_beliefs_of_beliefs, certain, [Label()])[0]
                right = math.exp(of_value.log_prob(Label(output)) - row.log_prob(Label(output)))
                self.assertAlmostEqual(beliefs.grad[0, variable, value].item(), right, places=9)

    def test_marginals_and_entropy(self):
        for case, logits, rng in self.each(batch=5, gaps=(0, 17, 1000)):
            labels, given, told = random_labels(case, len(logits), rng)
            rows = rows_of(case, log_beliefs_of_logits, logits, told)
            # Of an output that is likely, so that none is impossible.
            outputs = torch.tensor([row.predictions()[0][0] for row in rows])
            marginals = case.exact.marginals(logits, outputs, given=given)
            entropy = case.exact.entropy(logits, outputs, given=given)
            for row, oracle in enumerate(rows):
                output = tuple(outputs[row].tolist())
                self.assertNear(marginals[row], padded(oracle.marginals(output), logits.shape[2]), 1e-9, str(output))
                shares = np.array([share for _, share in oracle.explanations(output)])
                self.assertAlmostEqual(entropy[row].item(), -(np.exp(shares) * shares).sum(), delta=1e-8)
        impossible = Labels(torch.tensor([[2, 2, 2]]))
        logits = torch.zeros(1, 4, 3)
        with self.assertRaisesRegex(ValueError, r"example 0 believes in gives \[1, 2, 2\]"):
            CASES[3].exact.marginals(logits, torch.tensor([[1, 2, 2]]))
        with self.assertRaisesRegex(ValueError, "outputs: example 0 has 2 at variable 0"):
            CASES[3].exact.log_prob(logits, impossible)

    def test_worlds(self):
        for case, logits, rng in self.each(batch=4, dtypes=(torch.float64,), gaps=(0, 3)):
            labels, given, told = random_labels(case, len(logits), rng)
            rows = rows_of(case, log_beliefs_of_logits, logits, told)
            outputs = torch.tensor([row.predictions()[-1][0] for row in rows])
            worlds, log_prob = case.exact.most_probable(logits, outputs, given=given)
            ranked = case.exact.ranked_worlds(logits, outputs, 4, given=given)
            drawn = case.exact.sample(logits, outputs, 300, seed=3, given=given)
            again = case.exact.sample(logits, outputs, 300, seed=3, given=given)
            self.assertTrue(drawn.equal(again))
            for row, oracle in enumerate(rows):
                output = tuple(outputs[row].tolist())
                self.assertAlmostEqual(log_prob[row].item(), oracle.most_probable(output), places=9)
                explained = oracle.explanations(output)
                self.assertIn(tuple(worlds[row].tolist()), dict(explained))
                best = [share for _, share in explained[:4]]
                self.assertNear(ranked.log_prob[row, : len(best)], best, 1e-9, str(output))
                self.assertTrue(torch.isneginf(ranked.log_prob[row, len(best) :]).all())
                for world, share in zip(ranked.values[row, : len(best)].tolist(), best):
                    self.assertAlmostEqual(dict(explained)[tuple(world)], share, places=9)
                self.assertIsNone(complaint_of_samples([tuple(world) for world in drawn[row].tolist()], dict(explained)))

    def test_outputs(self):
        for case, logits, rng in self.each(batch=4, dtypes=(torch.float64,), gaps=(0, 3, 1000)):
            labels, given, told = random_labels(case, len(logits), rng)
            ranked = case.exact.ranked_outputs(logits, 3, given=given)
            for row, oracle in enumerate(rows_of(case, log_beliefs_of_logits, logits, told)):
                right = oracle.predictions()[:3]
                count = int(ranked.proven[row]) and len(right)
                self.assertNear(ranked.log_prob[row, :count], [share for _, share in right[:count]], 1e-9, "")
                for output, share in zip(ranked.values[row, :count].tolist(), ranked.log_prob[row, :count].tolist()):
                    self.assertAlmostEqual(oracle.log_prob(Label(tuple(output))), share, delta=1e-8)

    def test_batches(self):
        for case in CASES:
            rng = np.random.default_rng(11)
            logits = random_logits(case, 10_000, 3, torch.float32, rng)
            labels, given, told = random_labels(case, 10_000, rng)
            with self.subTest(problem=case.name):
                whole = logits.clone().requires_grad_()
                found = case.exact.log_prob(whole, labels, given=given)
                found[~torch.isneginf(found)].sum().backward()
                for row in (0, 1, 4_999, 9_999):
                    own = logits[row : row + 1].clone().requires_grad_()
                    of_row = Labels(*(part[row : row + 1] for part in labels[:3]))
                    alone = case.exact.log_prob(own, of_row, given=None if given is None else given[row : row + 1])
                    self.assertNear(alone.detach(), found[row : row + 1].detach(), 1e-6, str(told[row]))
                    if alone.isfinite():
                        alone.sum().backward()
                        self.assertNear(own.grad[0], whole.grad[row], 1e-6, str(told[row]))
                empty = logits[:0].requires_grad_()
                none = Labels(*(part[:0] for part in labels[:3]))
                nothing = case.exact.log_prob(empty, none, given=None if given is None else given[:0])
                self.assertEqual(nothing.shape, (0,))
                nothing.sum().backward()
                self.assertEqual(empty.grad.shape, empty.shape)

    def test_ended_outputs(self):
        case = CASES[2]
        logits = random_logits(case, 1, 0, torch.float64, np.random.default_rng(2))
        row = rows_of(case, log_beliefs_of_logits, logits, [Label()])[0]
        ended = next(output for output, _ in row.predictions() if output[1] == ENDED)
        found = case.exact.log_prob(logits, Labels(torch.tensor([ended])))
        self.assertAlmostEqual(found.item(), row.log_prob(Label(ended)), places=12)


class Derivatives(unittest.TestCase):
    """By finite differences, for they know nothing of what is computed."""

    def test_gradcheck(self):
        for case in CASES:
            rng = np.random.default_rng(3)
            logits = random_logits(case, 4, 1, torch.float64, rng).clamp_(-5, 5)
            labels, given, _ = random_labels(case, 4, rng)
            kept = ~torch.isneginf(case.exact.log_prob(logits, labels, given=given))
            some, told = Labels(*(part[kept] for part in labels[:3])), None if given is None else given[kept]
            values = logits[kept].requires_grad_()
            beliefs = torch.where(case.exact._outside, 0.0, values.detach().masked_fill(case.exact._outside, -INF).softmax(2))
            outputs = torch.tensor([[OPEN] * len(case.outputs)] * len(values))
            outputs[:, 0] = some.outputs[:, 0]
            queries = {
                "log_prob": lambda x: case.exact.log_prob(x, some, given=told),
                "loss": lambda x: case.exact.loss(x, some, given=told),
                # Finite differences of beliefs do not sum to one; what is asked is defined all the same.
            }
            for name, query in queries.items():
                with self.subTest(problem=case.name, query=name):
                    self.assertTrue(torch.autograd.gradcheck(query, (values,)))
                    self.assertTrue(torch.autograd.gradgradcheck(query, (values,)))
            possible = ~torch.isneginf(case.exact.log_prob(values.detach(), Labels(outputs), given=told))
            values, outputs, told = values.detach()[possible].requires_grad_(), outputs[possible], None if told is None else told[possible]
            for name, query in {
                "marginals": lambda x: case.exact.marginals(x, outputs, given=told),
                "entropy": lambda x: case.exact.entropy(x, outputs, given=told),
            }.items():
                with self.subTest(problem=case.name, query=name):
                    self.assertTrue(torch.autograd.gradcheck(query, (values,)))
            inside = beliefs[possible].requires_grad_()
            of_beliefs = Labels(outputs)
            with self.subTest(problem=case.name, query="beliefs"):
                query = lambda x: case.exact.log_prob(x / x.sum(2, keepdim=True), of_beliefs, logits=False, given=told)  # noqa: E731
                mask = (~case.exact._outside).to(inside)
                self.assertTrue(torch.autograd.gradcheck(lambda x: query(x * mask), (inside,)))
                self.assertTrue(torch.autograd.gradgradcheck(lambda x: query(x * mask), (inside,)))

    def test_third_derivative_is_refused(self):
        logits = torch.zeros(1, 3, 4, dtype=torch.float64, requires_grad=True)
        found = CASES[0].exact.log_prob(logits, Labels(torch.tensor([[OPEN, 1]]))).sum()
        (first,) = torch.autograd.grad(found, logits, create_graph=True)
        (second,) = torch.autograd.grad(first[0, 0, 0], logits, create_graph=True)
        with self.assertRaises(RuntimeError):
            torch.autograd.grad(second[0, 1, 1], logits)


class Numbers(unittest.TestCase):
    def test_types_and_layouts(self):
        case = CASES[0]
        logits = random_logits(case, 5, 1, torch.float64, np.random.default_rng(5)).clamp_(-9, 9)
        labels = Labels(torch.tensor([[OPEN, 1]] * 5))
        right = case.exact.log_prob(logits, labels)
        for dtype, tolerance in ((torch.float16, 1e-2), (torch.bfloat16, 1e-1), (torch.float32, 1e-5)):
            values = logits.to(dtype).requires_grad_()
            found = case.exact.log_prob(values, labels)
            self.assertEqual(found.dtype, torch.float32)
            self.assertTrue(torch.allclose(found.double(), right, atol=tolerance))
            found.sum().backward()
            self.assertEqual(values.grad.dtype, dtype)
        strided = logits.transpose(0, 2).contiguous().transpose(0, 2)
        self.assertFalse(strided.is_contiguous())
        self.assertTrue(case.exact.log_prob(strided, labels).equal(right))
        for kind in (torch.int32, torch.uint8, torch.bool):
            one = Labels(None, None, torch.tensor([[1, 1, 1]] * 5).to(kind))
            self.assertTrue(case.exact.log_prob(logits, one).equal(case.exact.log_prob(logits, Labels(worlds=torch.ones(5, 3, dtype=torch.int64)))))

    def test_bad_input(self):
        case = CASES[0]
        logits, labels = torch.zeros(2, 3, 4), Labels(torch.zeros(2, 2, dtype=torch.int64))
        bad = logits.clone()
        bad[1, 1, 0] = math.nan
        infinite = logits.clone()
        infinite[1, 2, 0] = INF
        for message, values, label, more in (
            (r"logits: example 1, variable 1: not a number", bad, labels, {}),
            (r"logits: example 1, variable 2: not a number", infinite, labels, {}),
            (r"logits: shape \(2, 3, 5\), expected \(batch, 3, 4\)", torch.zeros(2, 3, 5), labels, {}),
            (r"logits: floating-point", torch.zeros(2, 3, 4, dtype=torch.int64), labels, {}),
            (r"outputs: 3 rows for 2 examples", logits, Labels(torch.zeros(3, 2, dtype=torch.int64)), {}),
            (r"outputs: shape \(2, 3\), expected \(batch, 2\)", logits, Labels(torch.zeros(2, 3, dtype=torch.int64)), {}),
            (r"outputs: example 0 has 3 at variable 0", logits, Labels(torch.tensor([[3, 0], [0, 0]])), {}),
            (r"worlds: example 1 has 4 at variable 1", logits, Labels(worlds=torch.tensor([[0, 0, 0], [0, 4, 0]])), {}),
            (r"outputs: whole numbers", logits, Labels(torch.zeros(2, 2)), {}),
            (r"a label is missing", logits, Labels(), {}),
            (r"holds: it says whether", logits, Labels(None, torch.tensor([True, True]), torch.zeros(2, 3, dtype=torch.int64)), {}),
            (r"given: there are no extra inputs", logits, labels, {"given": torch.zeros(2, 1, dtype=torch.int64)}),
        ):
            with self.subTest(message=message):
                for query in (case.exact.log_prob, case.exact.loss):
                    with self.assertRaisesRegex(ValueError, message):
                        query(values, label, **more)
        with self.assertRaisesRegex(ValueError, "beliefs: example 0, variable 0: probabilities do not sum to 1"):
            case.exact.log_prob(logits, labels, logits=False)
        with self.assertRaisesRegex(ValueError, "given: 1 extra inputs are expected"):
            CASES[1].exact.log_prob(torch.zeros(2, 2, 4), labels)
        with self.assertRaisesRegex(ValueError, "given: example 1 has 2 at variable 0"):
            CASES[1].exact.log_prob(torch.zeros(2, 2, 4), labels, given=torch.tensor([[0], [2]]))

    def test_answers_are_written_in_place_or_refused(self):
        backend = CASES[0].exact.backend
        logits, outputs = np.zeros((2, 3, 4), np.float32), np.zeros((2, 2), np.int64)
        for wrong in (np.empty(2), np.empty(3, np.float32), np.empty(4, np.float32)[::2]):
            with self.assertRaises((ValueError, TypeError)):
                backend.log_prob_of_logits(logits, wrong, None, None, outputs)
        right = np.full(2, 7, np.float32)
        with self.assertRaises((ValueError, TypeError)):
            backend.log_prob_of_logits(logits, right, np.empty((2, 3, 5), np.float32), None, outputs)
        backend.log_prob_of_logits(logits, right, None, None, outputs)
        self.assertTrue((right <= 0).all())


class Problems(unittest.TestCase):
    def test_discovery_finds_sums(self):
        lines = []
        add = sum_function(3, 10)
        problem = _engine.Problem(add, [10] * 6, [2, 10, 10, 10])
        found = _engine.discover(problem, settings=["discover.seconds=30"], seed=1, say=lines.append)
        self.assertTrue(found.has_automaton)
        self.assertGreater(found.calls, 1000)
        self.assertEqual(found.certificate["differing"], 0)
        worlds = np.random.default_rng(0).integers(0, 10, (1000, 6))
        self.assertTrue((found.problem.automaton.run(worlds) == add(worlds)).all())
        # What was found goes to another process as arrays.
        sent = pickle.loads(pickle.dumps(found.facts))
        again = _engine.Problem(add, [10] * 6, [2, 10, 10, 10]).with_found(sent, "found before")
        self.assertEqual(again.automaton.states, found.problem.automaton.states)
        self.assertEqual({name: part.tolist() for name, part in again.found.items()}, {name: part.tolist() for name, part in sent.items()})
        self.assertEqual(len(_engine.wrong_worlds(again, worlds)), 0)
        self.assertEqual(_engine.Backend(again).name, "automaton")

    def test_orders_are_taken(self):
        problem = _engine.Problem(sum_function(2, 10), [10] * 4, [2, 10, 10])
        found = _engine.discover(problem, order=[1, 3, 0, 2])
        reads = [variable for step in found.problem.automaton.steps for variable in step["reads"]]
        self.assertEqual(reads, [1, 3, 0, 2])

    def test_wrong_automata_are_noticed(self):
        def almost(worlds):
            outputs = sum_function(2, 10)(worlds)
            outputs[(worlds == 9).all(1)] = 0
            return outputs

        told = _engine.Problem(almost, [10] * 4, [2, 10, 10]).with_automaton(carry_automaton(2, 10))
        nines = np.full((1, 4), 9)
        self.assertEqual(_engine.wrong_worlds(told, nines).tolist(), nines.tolist())
        certain = np.full((1, 4, 10), -INF)
        certain[..., 9] = 0
        self.assertEqual(_engine.certify(told, certain, draws=100)["differing"], 100)
        self.assertLess(_engine.certify(told, draws=1000)["bound"], 0.05)
        grown = _engine.discover_again(told, nines)
        self.assertEqual(len(_engine.wrong_worlds(grown.problem, nines)), 0)
        wrong = _engine.Problem(lambda worlds: 0 * sum_function(2, 10)(worlds), [10] * 4, [2, 10, 10])
        with self.assertRaisesRegex(ValueError, "automaton: it gives .* for the world"):
            wrong.with_automaton(carry_automaton(2, 10)).check()
        with self.assertRaisesRegex(ValueError, "cnf: it is of other variables"):
            wrong.with_cnf(_engine.Cnf([2], [2])).check()

    def test_wrong_formulas_are_noticed(self):
        formula = _engine.Cnf([2, 2], [2])
        a, b, both = formula.world(0, 1), formula.world(1, 1), formula.output(0, 1)
        for clause in ([-a, -b, both], [a, -both], [b, -both]):
            formula.add(clause)
        conjunction = _engine.Problem(lambda worlds: worlds.all(1).astype(np.int64)[:, None], [2, 2], [2])
        conjunction.with_cnf(formula).check()
        disjunction = _engine.Problem(lambda worlds: worlds.any(1).astype(np.int64)[:, None], [2, 2], [2]).with_cnf(formula)
        with self.assertRaisesRegex(ValueError, "cnf"):
            disjunction.check()
        certain = np.full((1, 2, 2), -INF)
        certain[0, 0, 1] = certain[0, 1, 0] = 0  # the world 1 0
        self.assertEqual(_engine.certify(disjunction, certain, draws=100)["differing"], 100)
        self.assertEqual(_engine.certify(conjunction.with_cnf(formula), certain, draws=100)["differing"], 0)

    def test_headers_of_formulas_that_are_off_are_warned_of(self):
        warnings = []
        _engine.parse_formula("p cnf 2 7\n1 2 0\n", warn=warnings.append)
        self.assertEqual(len(warnings), 1)

    def test_settings_are_checked(self):
        problem = CASES[0].problem
        with self.assertRaisesRegex(ValueError, "discover.second"):
            _engine.discover(problem, settings=["discover.second=3"])
        with self.assertRaisesRegex(ValueError, "exact.method"):
            _engine.Backend(problem, settings=["exact.methods=circuit"])
        with self.assertRaises((ValueError, RuntimeError)):
            _engine.Backend(problem, settings=["exact.method=automaton"])
        self.assertIn("discover.seconds", [name for name, *_ in _engine.discover_options()])
        self.assertIn("automaton", dict(_engine.backend_names()))

    def test_formulas(self):
        formula = _engine.Cnf([2, 2], [2])
        a, b, y = formula.world(0, 1), formula.world(1, 1), formula.output(0, 1)
        for clause in ([-a, -b, y], [a, -y], [b, -y]):
            formula.add(clause)
        both = _engine.Problem(lambda worlds: worlds.all(1).astype(np.int64)[:, None], [2, 2], [2]).with_cnf(formula)
        both.check()
        exact = ExactInference(_engine.Backend(both, settings=["exact.method=circuit"]))
        self.assertAlmostEqual(exact.log_prob(torch.zeros(1, 2, 2), Labels(torch.tensor([1]))).item(), math.log(0.25), places=6)
        with self.assertRaises(ValueError):
            formula.add([99])
        clauses = _engine.parse_formula("p cnf 2 2\n1 2 0\n-1 0\n", as_="clauses")
        self.assertEqual(clauses.apply(np.array([[1, 0]])).tolist(), [[1, 0]])
        with self.assertRaisesRegex(ValueError, "as_: constraint, clauses, definition is expected"):
            _engine.parse_formula("p cnf 1 1\n1 0\n", as_="clause")
        with self.assertRaisesRegex(RuntimeError, "clauses:"):
            _engine.parse_formula("p cnf x\n")

    def test_drawing(self):
        self.assertIn("<svg", carry_automaton(2, 10).svg("carries"))

    def test_markov(self):
        markov = _engine.Markov(None, "1.5 -1 2 0\nh 1 3 0\n", 5.0)
        self.assertEqual((markov.worlds, markov.weights, markov.clauses, markov.exact), ([2, 2, 2], [1.5], [[-1, 2]], True))
        logs, weights = np.full((1, 3, 2), math.log(0.5)), np.array(markov.weights)
        for ask in (markov.log_partition, markov.propagated):
            total, by_beliefs, by_weights = np.empty(1), np.empty((1, 3, 2)), np.empty((1, 1))
            ask(logs, weights, total, by_beliefs, by_weights)
            self.assertAlmostEqual(total[0], math.log((2 + 4 * math.exp(1.5)) / 8), places=9)
            self.assertAlmostEqual(by_weights[0, 0], 4 * math.exp(1.5) / (2 + 4 * math.exp(1.5)), places=9)
            self.assertTrue(np.allclose(by_beliefs.sum(2), 1))
        worlds, log_prob = np.empty((1, 3), np.int64), np.empty(1)
        markov.most_probable(logs, weights, worlds, log_prob)
        self.assertEqual(markov.keeps(worlds)[0, 0], 1)
        self.assertEqual(markov.holds(worlds)[0, 0], 1)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "a.safetensors"))
            arrays = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "flags": np.array([True, False]), "n": np.array(3)}
            _engine.write_safetensors(path, arrays, {"from": "a test"})
            read, metadata = _engine.read_safetensors(path)
            self.assertEqual(metadata, {"from": "a test"})
            for name, array in arrays.items():
                self.assertEqual(read[name].dtype, array.dtype)
                self.assertTrue((read[name] == array).all() and read[name].shape == array.shape)
            Path(path).write_bytes(b"nonsense")
            with self.assertRaisesRegex(RuntimeError, "a.safetensors"):
                _engine.read_safetensors(path)
            npy = Path(folder, "b.npy")
            np.save(npy, arrays["x"])
            self.assertTrue((_engine.read_npy(str(npy)) == arrays["x"]).all())


def scrambled(worlds):
    """A function that no small automaton gives."""
    return (np.sin(1e4 * (worlds @ np.arange(1, 13) ** 3)) * 1e6).astype(np.int64)[:, None] % 10


def slow(worlds):
    time.sleep(1e-4 * len(worlds))
    return scrambled(worlds)


class Callbacks(unittest.TestCase):
    def test_errors_arrive_unchanged(self):
        class Mine(Exception):
            pass

        error = Mine("of the caller")

        def fails(worlds):
            raise error

        problem = _engine.Problem(fails, [10] * 4, [19])
        for ask in (lambda: _engine.discover(problem), lambda: _engine.Backend(problem), lambda: problem.apply(np.zeros((1, 4), np.int64))):
            with self.assertRaises(Mine) as caught:
                ask()
            self.assertIs(caught.exception, error)

        def say(line):
            raise error

        with self.assertRaises(Mine):
            _engine.discover(_engine.Problem(slow, [10] * 12, [10]), settings=["discover.seconds=30"], say=say)

    def test_outputs_are_checked(self):
        for answer, message in (
            (lambda worlds: worlds.sum(1), "two dimensions"),
            (lambda worlds: worlds, r"2 by 2 numbers for 2 worlds and 1 outputs|numbers for"),
            (lambda worlds: np.full((len(worlds), 1), 5), "which is no output"),
            (lambda worlds: None, "whole numbers"),
        ):
            with self.subTest(message=message), self.assertRaisesRegex(ValueError, message):
                _engine.Problem(answer, [2, 2], [5]).apply(np.zeros((2, 2), np.int64))

    def test_interrupts(self):
        problem = _engine.Problem(slow, [10] * 12, [10])
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            begin = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                _engine.discover(problem, settings=["discover.seconds=30"])
            self.assertLess(time.monotonic() - begin, 5)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def test_other_threads_run_meanwhile(self):
        case = CASES[3]
        logits = random_logits(case, 20_000, 1, torch.float32, np.random.default_rng(0))
        labels = Labels(torch.tensor([[OPEN, 1, 1]] * 20_000))
        right = case.exact.log_prob(logits, labels)
        ticks, done, wrong = [], threading.Event(), []

        def tick():
            while not done.is_set():
                ticks.append(time.monotonic())
                time.sleep(0)

        def ask():
            for _ in range(5):
                if not case.exact.log_prob(logits, labels).equal(right):
                    wrong.append(1)

        ticking, asking = threading.Thread(target=tick), [threading.Thread(target=ask) for _ in range(2)]
        ticking.start()
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        done.set()
        ticking.join()
        self.assertFalse(wrong)
        self.assertGreater(len(ticks), 10)

    def test_memory_is_flat(self):
        case = CASES[3]
        logits = torch.zeros(16, 4, 3, requires_grad=True)
        labels = Labels(torch.tensor([[0, 1, 1]] * 16))

        def step():
            case.exact.loss(logits, labels).backward()
            logits.grad = None

        def resident():
            gc.collect()
            return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

        for _ in range(500):
            step()
        before = resident()
        for _ in range(10_000):
            step()
        self.assertLess(resident() - before, 2 << 20)


if __name__ == "__main__":
    unittest.main()
