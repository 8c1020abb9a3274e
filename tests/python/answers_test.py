"""Wrong answers that were found once, each in a few lines. oracle_test.py looks for others."""

from __future__ import annotations

import math
import unittest

import torch

import anesi

INF = math.inf


def know(function, worlds, outputs, **more):
    return anesi.Knowledge(function, worlds, outputs, verbose=False, **more)


def gap(nats: float, worlds: int, *, dtype=torch.float64) -> torch.Tensor:
    """Logits of variables of two values that believe in 0, by so much."""
    logits = torch.zeros(1, worlds, 2, dtype=dtype)
    logits[..., 0] = nats
    return logits.requires_grad_()


class Labels(unittest.TestCase):
    def test_outputs_that_do_not_hold(self):
        same = know(lambda w: w[:, 0] == w[:, 1], [2, 2], [2])
        for nats in (0, 17, 40, 200, 1000):
            for dtype in (torch.float32, torch.float64):
                with self.subTest(nats=nats, dtype=dtype):
                    logits = gap(nats, 2, dtype=dtype)
                    loss = same.loss(logits, [1], holds=torch.tensor([False]))  # they differ
                    log_p = -math.log1p(math.exp(-nats)), -nats - math.log1p(math.exp(-nats))
                    self.assertAlmostEqual(loss.item() / -(log_p[0] + log_p[1] + math.log(2)), 1, delta=1e-6)
                    loss.backward()
                    share = 1 / (1 + math.exp(-nats)) if nats < 700 else 1.0
                    self.assertAlmostEqual(logits.grad[0, 0, 0].item(), share - 0.5, delta=1e-6)
        always = know(lambda w: 0 * w[:, 0], [2, 2], [2])
        with self.assertRaises(ValueError):
            always.loss(gap(0, 2), [0], holds=torch.tensor([False]))
        self.assertEqual(always.log_prob(gap(0, 2), [0], holds=torch.tensor([False])).item(), -INF)

    def test_variables_of_worlds(self):
        both = know(lambda w: w.sum(1), [2, 2], [3])
        for labels in ({}, {"outputs": [2]}):
            logits = gap(200, 2)
            found = both.log_prob(logits, worlds=torch.tensor([[1, -1]]), **labels)
            self.assertAlmostEqual(found.item(), -400 if labels else -200, delta=1e-9)
            found.backward()
            self.assertAlmostEqual(logits.grad[0, 0, 1].item(), 1, delta=1e-9)
        certain = torch.tensor([[[1.0, 0.0], [0.5, 0.5]]])
        with self.assertRaises(ValueError):
            both.loss(beliefs=certain, worlds=torch.tensor([[1, -1]]))

    def test_gaps_of_a_thousand(self):
        functions = {
            "enumerate": know(lambda w: w.sum(1), [2] * 3, [4], settings={"exact.method": "enumerate"}),
            "automaton": know(lambda w: w.sum(1), [2] * 20, [21]),
            "circuit": anesi.Knowledge.from_cnf([[1, 2], [2, 3]], verbose=False),
        }
        self.assertIsNotNone(functions["automaton"].states)
        for name, function in functions.items():
            for nats in (300, 800, 900, 1000):
                with self.subTest(name, nats=nats):
                    variables = len(function.worlds)
                    output = [1] if name == "circuit" else [variables - 1]
                    wrong = 1 if name == "circuit" else variables - 1  # how many variables must be 1
                    logits = gap(nats, variables)
                    ways = 1 if name == "circuit" else variables
                    self.assertAlmostEqual(function.log_prob(logits, output).item(), math.log(ways) - wrong * nats, delta=1e-6)
                    self.assertAlmostEqual(function.marginals(logits, output)[0, :, 1].sum().item(), wrong, delta=1e-9)
                    world = function.most_probable(logits, output)
                    self.assertAlmostEqual(world.log_prob.item(), -wrong * nats, delta=1e-6)
                    drawn = function.sample(logits, output, count=3)[0]
                    self.assertEqual(function.function(drawn)[:, 0].tolist(), output * 3)


class Methods(unittest.TestCase):
    def test_circuits_for_each_output_sum_to_one(self):
        worlds, outputs = [3, 2], [4, 3]
        cnf = anesi.Cnf(worlds, outputs)
        for a in range(3):
            for b in range(2):
                cnf.add([-cnf.world(0, a), -cnf.world(1, b), cnf.output(0, a + b)])
                cnf.add([-cnf.world(0, a), -cnf.world(1, b), cnf.output(1, a)])

        def function(w):
            return torch.stack([w.sum(1), w[:, 0]], 1)

        by_formula = know(function, worlds, outputs, cnf=cnf, settings={"exact.method": "conditioned"}, architecture="exact")
        logits = torch.randn(1, 2, 3, dtype=torch.float64)
        all_outputs = torch.cartesian_prod(torch.arange(4), torch.arange(3))
        total = by_formula.log_prob(logits.expand(12, -1, -1), all_outputs).exp().sum()
        self.assertAlmostEqual(total.item(), 1, delta=1e-9)

    def test_explanations_of_circuits_keep_the_rules(self):
        rules = anesi.Knowledge.from_cnf([[1, 2, -3], [-1, 3], [-2, -4], [3, 4]], verbose=False)
        why = rules.explain(torch.randn(3, 4, 2), top=200)
        models = [w for w in torch.cartesian_prod(*[torch.arange(2)] * 4) if rules.function(w.unsqueeze(0)).item() == 1]
        self.assertEqual(why.worlds.shape[1], len(models))
        self.assertTrue((rules.function(why.worlds.flatten(0, 1)) == 1).all())
        torch.testing.assert_close(why.probability.sum(1), torch.ones(3, dtype=torch.float64))

    def test_outputs_that_end_early(self):
        def up_to_two(w):  # lists the variables that are 1, two at most
            rows = [[v for v in range(3) if world[v]][:2] for world in w.tolist()]
            return torch.tensor([row + [-1] * (2 - len(row)) if row else [0, -1] for row in rows])

        function = know(up_to_two, [2] * 3, [3, 3])
        logits = torch.randn(4, 3, 2, dtype=torch.float64)
        found = function.predict(logits, top=20)
        places = function.log_prob(
            logits.repeat_interleave(found.outputs.shape[1], 0), found.outputs.flatten(0, 1)
        ).exp()
        torch.testing.assert_close(found.probability.flatten(), places)
        torch.testing.assert_close(found.probability.sum(1), torch.ones(4, dtype=torch.float64))

    def test_tables_say_whether_they_are_exact(self):
        def apart(w):
            return torch.stack([w[:, 2 * k] * w[:, 2 * k + 1] for k in range(10)], 1)

        def shared(w):
            return torch.stack([w[:, k] * w[:, k + 1] for k in range(19)], 1)

        for function, outputs, exact in ((apart, 10, True), (shared, 19, False)):
            with self.subTest(exact=exact):
                tables = know(function, [3] * 20, [5] * outputs, settings={"discover.states": 2})
                self.assertEqual(tables.architecture, "tables")
                self.assertEqual(tables.exact, exact)
                impossible = torch.full((1, outputs), 3)  # no product of 0, 1 and 2
                self.assertEqual(tables.log_prob(torch.zeros(1, 20, 3), impossible).item(), -INF)
                with self.assertRaises(ValueError):
                    tables.loss(torch.zeros(1, 20, 3), impossible)


class SecondDerivatives(unittest.TestCase):
    def test_are_right_or_an_error(self):
        functions = {
            "enumerate": know(lambda w: w.sum(1), [2] * 3, [4], settings={"exact.method": "enumerate"}),
            "automaton": know(lambda w: w.sum(1), [2] * 20, [21]),
            "circuit": anesi.Knowledge.from_cnf([[1, 2], [2, 3]], verbose=False),
        }
        for name, function in functions.items():
            with self.subTest(name):
                logits = torch.randn(1, len(function.worlds), 2, dtype=torch.float64, requires_grad=True)

                def loss(values):
                    return function.loss(values, [1], learn=False)

                slope = torch.autograd.grad(loss(logits), logits, create_graph=True)[0]
                direction = torch.randn_like(slope)
                try:
                    found = torch.autograd.grad((slope * direction).sum(), logits)[0]
                except RuntimeError:
                    self.assertNotEqual(name, "enumerate")
                    continue
                step = 1e-5
                ends = []
                for sign in (1, -1):
                    moved = (logits.detach() + sign * step * direction).requires_grad_()
                    ends.append(torch.autograd.grad(loss(moved), moved)[0])
                torch.testing.assert_close(found, (ends[0] - ends[1]) / (2 * step), atol=1e-6, rtol=1e-5)


class Explained(unittest.TestCase):
    def test_most_probable_worlds_of_a_learned_q_give_their_labels(self):
        settings = {"q.pretrain": 1, "q.variant": "explain"}
        for architecture in ("transducer", "scan"):
            with self.subTest(architecture):
                sums = know(lambda w: w.sum(1), [5] * 4, [17], architecture=architecture, settings=settings)
                self.assertFalse(sums.exact)
                logits, labels = torch.randn(40, 4, 5), torch.randint(0, 17, (40,))
                found = sums.most_probable(logits, labels)
                there = found.worlds[:, 0] >= 0
                self.assertGreater(there.sum(), 30)
                self.assertTrue((found.worlds[there].sum(1) == labels[there]).all())
                explained = anesi.refine(lambda x: x, sums, [(logits, labels)])
                self.assertTrue((explained.targets.sum(1) == labels[there]).all())

    def test_no_examples(self):
        functions = [
            know(lambda w: w.sum(1), [3, 3], [5]),
            know(lambda w: w.sum(1), [2] * 20, [21]),
            anesi.Knowledge.from_cnf([[1, 2], [2, 3]], verbose=False),
            know(lambda w: w.sum(1), [3, 3], [5], architecture="transducer", settings={"q.pretrain": 1}),
        ]
        for function in functions:
            with self.subTest(str(function)):
                variables, values = len(function.worlds), max(function.worlds)
                logits, labels = torch.zeros(0, variables, values), torch.zeros(0, 1, dtype=torch.int64)
                self.assertEqual(function.log_prob(logits, labels).shape, (0,))
                self.assertEqual(function.predict(logits).world.shape, (0, variables))
                self.assertEqual(function.marginals(logits, labels).shape, (0, variables, values))
                self.assertEqual(function.sample(logits, labels, count=2).shape, (0, 2, variables))
                self.assertEqual(function.most_probable(logits, labels).worlds.shape, (0, variables))
                self.assertEqual(function.explain(logits, labels).worlds.shape[0], 0)


if __name__ == "__main__":
    unittest.main()
