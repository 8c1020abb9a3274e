"""Knowledge that is a formula: constraints, clauses, definitions; files of other tools; what cannot be."""

import contextlib
import io
import itertools
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch

import anesi


def quiet(formula, *arguments, **options):
    return anesi.Knowledge.from_cnf(formula, *arguments, verbose=False, **options)


class Constraints(unittest.TestCase):
    def setUp(self):
        # 1 implies 2; not both 2 and 3.
        self.clauses = [[-1, 2], [-2, -3]]
        self.know = quiet(self.clauses)
        self.logits = torch.randn(6, 3, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
        self.allowed = [
            world
            for world in itertools.product([0, 1], repeat=3)
            if (not world[0] or world[1]) and not (world[1] and world[2])
        ]

    def weights(self):
        beliefs = self.logits.log_softmax(2)
        return torch.stack([sum(beliefs[:, i, v] for i, v in enumerate(world)) for world in self.allowed], 1)

    def test_the_loss_of_labels_is_their_conditional_likelihood(self):
        labels = torch.tensor([self.allowed[i % len(self.allowed)] for i in range(6)])
        picked = self.weights().log_softmax(1)[torch.arange(6), torch.arange(6) % len(self.allowed)]
        self.assertAlmostEqual(self.know.loss(self.logits, worlds=labels).item(), -picked.mean().item(), places=9)

    def test_without_labels_it_is_the_semantic_loss(self):
        self.assertAlmostEqual(
            self.know.loss(self.logits).item(), -self.weights().logsumexp(1).mean().item(), places=9
        )

    def test_some_labels_may_be_missing(self):
        labels = torch.full((6, 3), -1)
        labels[0] = torch.tensor(self.allowed[1])
        expected = -self.weights().logsumexp(1)
        expected[0] = -self.weights().log_softmax(1)[0, 1]
        self.assertAlmostEqual(self.know.loss(self.logits, worlds=labels).item(), expected.mean().item(), places=9)

    def test_predictions_keep_the_rules(self):
        found = self.know.most_probable(self.logits).worlds
        best = [list(self.allowed[i]) for i in self.weights().argmax(1).tolist()]
        self.assertEqual(found.tolist(), best)
        drawn = self.know.sample(self.logits, count=50, seed=1).reshape(-1, 3)
        self.assertTrue(all(tuple(world) in self.allowed for world in drawn.tolist()))

    def test_what_is_given_is_part_of_the_constraint(self):
        know = quiet(self.clauses, given=[2])
        self.assertEqual((know.worlds, know.given), ([2, 2], [2]))
        given = torch.tensor([[1]] * 6)
        found = know.most_probable(self.logits[:, [0, 2]], given=given).worlds
        self.assertTrue((found[:, 1] == 0).all(), "2 holds, so 3 does not")
        with self.assertRaisesRegex(ValueError, "example 0"):
            know.loss(self.logits[:, [0, 2]], worlds=torch.tensor([[0, 1]] * 6), given=given)

    def test_gradients_reach_the_logits(self):
        logits = self.logits.clone().requires_grad_()
        self.assertTrue(torch.autograd.gradcheck(lambda x: self.know.loss(x), (logits,)))
        labels = torch.tensor([self.allowed[0]] * 6)
        self.assertTrue(torch.autograd.gradcheck(lambda x: self.know.loss(x, worlds=labels), (logits,)))


class OtherForms(unittest.TestCase):
    colours = [[1, 2, 3], [-1, -2], [-1, -3], [-2, -3], [-1, 4], [1, -4]]  # 4 holds where 1 does

    def test_groups_become_one_variable(self):
        self.assertEqual(quiet(self.colours).worlds, [3, 2])

    def test_clauses_tell_their_truth(self):
        know = quiet(self.colours, "clauses")
        self.assertEqual(know.function(torch.tensor([[0, 0], [1, 1]])).tolist(), [[0, 1], [1, 0]])

    def test_a_definition_defines(self):
        know = quiet(self.colours, "definition", shown=[1, 2, 3])
        self.assertEqual(know.function(torch.tensor([[0], [1], [2]])).tolist(), [[1], [0], [0]])
        predicted = know.predict(torch.tensor([[[3.0, 0.0, 0.0]]]))
        self.assertEqual(predicted.outputs.tolist(), [[1]])

    def test_files_of_other_tools_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            circuit = pathlib.Path(folder) / "either.nnf"
            circuit.write_text("nnf 5 4 2\nL 1\nL -1\nL 2\nA 2 1 2\nO 1 2 0 3\n")
            self.assertEqual(quiet(circuit).most_probable(torch.tensor([[[1.0, 0.0], [0.5, 0.0]]])).worlds.tolist(), [[0, 1]])
            formula = pathlib.Path(folder) / "either.cnf"
            formula.write_text("p cnf 2 1\n1 2 0\n")
            self.assertAlmostEqual(quiet(str(formula)).log_prob(torch.zeros(1, 2, 2)).exp().item(), 0.75, places=6)

    def test_a_header_that_is_off_is_said(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as said:
            formula = pathlib.Path(folder) / "either.cnf"
            formula.write_text("p cnf 2 7\n1 2 0\n")
            anesi.Knowledge.from_cnf(formula)
        self.assertIn("either.cnf:2: the header says 7 clauses, there are 1", said.getvalue())


class Saved(unittest.TestCase):
    """Formulas over more worlds than could be listed come back without being brought again."""

    chain = [[-i, i + 1] for i in range(1, 24)]  # each implies the next

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.logits = torch.randn(3, 24, 2, generator=torch.Generator().manual_seed(5), dtype=torch.float64)

    def again(self, know):
        know.save(self.folder / "saved")
        return anesi.load(self.folder / "saved", verbose=False)

    def test_a_constraint_that_compiled(self):
        know = quiet(self.chain)
        again = self.again(know)
        self.assertTrue(again.exact)
        self.assertTrue(torch.allclose(again.loss(self.logits), know.loss(self.logits)))
        best = know.most_probable(self.logits).worlds
        self.assertTrue(torch.equal(again.most_probable(self.logits).worlds, best))
        self.assertEqual(again.function(best).tolist(), [[1]] * 3)
        once_more = self.again(again)
        self.assertTrue(torch.allclose(once_more.loss(self.logits), know.loss(self.logits)))

    def test_a_small_constraint_is_still_what_labels_are_about(self):
        know = quiet([[-1, 2], [-2, -3]])
        again = self.again(know)
        logits = self.logits[:, :3]
        self.assertTrue(torch.allclose(again.log_prob(logits), know.log_prob(logits)))

    def test_a_constraint_that_did_not_compile(self):
        know = quiet(self.chain, seconds=0)
        again = self.again(know)
        self.assertFalse(know.exact or again.exact)
        self.assertEqual((again.architecture, again.reason), (know.architecture, know.reason))
        beliefs = self.logits.float()
        know.eval(), again.eval()
        self.assertTrue(torch.allclose(again.loss(beliefs), know.loss(beliefs)))
        self.assertTrue(torch.equal(again.sample(beliefs, count=5, seed=1), know.sample(beliefs, count=5, seed=1)))
        best = again.most_probable(beliefs).worlds
        self.assertTrue((best[:, :-1] <= best[:, 1:]).all(), "all keep the rules")

    def test_a_definition(self):
        clauses = [clause for i in range(1, 21) for clause in ([-i, 20 + i], [i, -20 - i])]  # 20 + i is i
        know = quiet(clauses, "definition", shown=list(range(1, 21)))
        again = self.again(know)
        worlds = torch.randint(2, (5, 20), generator=torch.Generator().manual_seed(1))
        self.assertTrue(torch.equal(again.function(worlds), worlds))
        logits = self.logits[:, :20]
        self.assertTrue(torch.allclose(again.log_prob(logits, worlds[:3]), know.log_prob(logits, worlds[:3])))

    def test_a_circuit_of_another_tool(self):
        file = self.folder / "all.nnf"
        file.write_text("nnf 21 20 20\n" + "".join(f"L {i}\n" for i in range(1, 21)) + f"A 20 {' '.join(map(str, range(20)))}\n")
        know = quiet(file)
        again = self.again(know)
        self.assertTrue(torch.allclose(again.log_prob(self.logits[:, :20]), know.log_prob(self.logits[:, :20])))

    def test_one_that_is_too_large_says_what_to_do(self):
        clauses = [[1, 2, 3]] * 300_000
        know = quiet(clauses, seconds=0, architecture="mlp", settings={"q.pretrain": 0})
        know.save(self.folder / "large")
        with self.assertRaisesRegex(ValueError, "from_cnf"):
            anesi.load(self.folder / "large")


class Approximate(unittest.TestCase):
    """Constraints of which no circuit compiles in time."""

    def test_without_loops_it_is_right_and_says_that_it_may_not_be(self):
        chain = [[-i, i + 1] for i in range(1, 24)]
        know, exact = quiet(chain, seconds=0), quiet(chain)
        self.assertTrue(exact.exact)
        self.assertFalse(know.exact)
        self.assertEqual(know.architecture, "propagation")
        self.assertRegex(know.reason, "approximate.*no circuit compiled in time")
        logits = torch.randn(4, 24, 2, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
        asked, expected = logits.clone().requires_grad_(), logits.clone().requires_grad_()
        loss, right = know.loss(asked), exact.loss(expected)
        loss.backward(), right.backward()
        self.assertTrue(torch.allclose(loss, right))
        self.assertTrue(torch.allclose(asked.grad, expected.grad))
        labels = exact.sample(logits, count=1, seed=1)[:, 0]
        self.assertTrue(torch.allclose(know.loss(logits, worlds=labels), exact.loss(logits, worlds=labels)))
        with self.assertRaisesRegex(ValueError, "example 0"):
            know.loss(logits, worlds=1 - torch.arange(24).ge(12).long().expand(4, 24))
        self.assertLess(know.check(logits=logits).distance, 1e-6)

    def test_a_large_formula_takes_bounded_time_and_memory(self):
        source = """
import random, resource, time
import torch, anesi
random.seed(1)
clauses = [[v * random.choice((-1, 1)) for v in random.sample(range(1, 301), 3)] for _ in range(1000)]
begin = time.time()
know = anesi.Knowledge.from_cnf(clauses, seconds=3, verbose=False)
logits = torch.zeros(2, 300, 2, requires_grad=True)
know.loss(logits).backward()
assert not know.exact and logits.grad.isfinite().all()
assert time.time() - begin < 30, time.time() - begin
world = know.most_probable(logits).worlds[0].tolist()
assert all(any(world[abs(v) - 1] == (v > 0) for v in clause) for clause in clauses)
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2e6, "kB"
"""
        ended = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)


class WhatCannotBe(unittest.TestCase):
    def test_is_said_in_a_line(self):
        for formula, options, words in [
            ([[1], [-1]], {}, ""),
            ([[-1, 2]], {"as_": "definition", "shown": [1]}, "variable 2"),
            ([[1, 2]], {"as_": "guess"}, "constraint, clauses, definition"),
            ([[1, 0]], {}, "0"),
            ("nowhere.cnf", {}, "nowhere.cnf"),
            ([[1, 2]], {"given": [9]}, "variable 9"),
        ]:
            with self.subTest(formula=formula, options=options):
                with self.assertRaises((ValueError, TypeError, RuntimeError, OSError)) as raised:
                    quiet(formula, **options)
                self.assertIn(words, str(raised.exception))
                self.assertNotIn("\n", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
