"""Weighted formulas: against all worlds; weights from data; what cannot be."""

import itertools
import math
import pathlib
import tempfile
import unittest

import torch

import anesi

SOFT = [(1.2, [-1, 2]), (-0.7, [2, 3]), (0.4, [1, -3])]
HARD = [(None, [1, 2, 3])]


class Markov(unittest.TestCase):
    def setUp(self):
        self.know = anesi.markov.Knowledge(SOFT + HARD)
        self.logits = torch.randn(5, 3, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
        self.worlds = [world for world in itertools.product([0, 1], repeat=3) if any(world)]

    def scores(self, logits, weights):
        """log of what each world weighs, ``[batch, worlds]``."""
        beliefs = logits.log_softmax(2)
        holds = torch.tensor(
            [[any(w[abs(i) - 1] == (i > 0) for i in clause) for _, clause in SOFT] for w in self.worlds],
            dtype=torch.float64,
        )
        chosen = [sum(beliefs[:, i, v] for i, v in enumerate(world)) for world in self.worlds]
        return torch.stack(chosen, 1) + holds @ weights, holds

    def test_answers_are_those_of_all_worlds(self):
        scores, holds = self.scores(self.logits, self.know.weights.detach())
        torch.testing.assert_close(self.know.log_partition(self.logits).detach(), scores.logsumexp(1))
        shares = scores.softmax(1)
        torch.testing.assert_close(self.know.holds_with(self.logits), shares @ holds)
        best = self.know.most_probable(self.logits)
        self.assertEqual(best.worlds.tolist(), [list(self.worlds[i]) for i in scores.argmax(1).tolist()])
        torch.testing.assert_close(best.log_prob, scores.log_softmax(1).amax(1))
        ones = torch.tensor(self.worlds, dtype=torch.float64)
        torch.testing.assert_close(self.know.marginals(self.logits)[:, :, 1], shares @ ones)
        labels = torch.tensor([self.worlds[i] for i in range(5)])
        torch.testing.assert_close(
            self.know.log_prob(self.logits, labels).detach(), scores.log_softmax(1)[torch.arange(5), torch.arange(5)]
        )

    def test_every_call_draws_anew_unless_a_seed_says_otherwise(self):
        def drawn(**more):
            return self.know.sample(self.logits, count=200, **more)

        self.assertFalse(torch.equal(drawn(), drawn()))
        self.assertTrue(torch.equal(drawn(seed=5), drawn(seed=5)))
        self.assertFalse(torch.equal(drawn(seed=5), drawn(seed=6)))
        torch.manual_seed(3)
        first = drawn()
        torch.manual_seed(3)
        self.assertTrue(torch.equal(drawn(), first))
        estimates = [self.know.estimate(self.logits, samples=50, **more).log_partition.tolist() for more in ({}, {}, {"seed": 1}, {"seed": 1})]
        self.assertNotEqual(estimates[0], estimates[1])
        self.assertEqual(estimates[2], estimates[3])

    def test_gradients_reach_logits_and_weights(self):
        labels = torch.tensor([self.worlds[i] for i in range(5)])

        def loss(logits, weights):
            scores, _ = self.scores(logits, weights)
            return -scores.log_softmax(1)[torch.arange(5), torch.arange(5)].mean()

        logits, weights = self.logits.clone().requires_grad_(), self.know.weights.detach().clone().requires_grad_()
        loss(logits, weights).backward()
        mine = self.logits.clone().requires_grad_()
        self.know.loss(mine, labels).backward()
        torch.testing.assert_close(mine.grad, logits.grad)
        torch.testing.assert_close(self.know.weights.grad, weights.grad)

    def test_sampling_and_q_come_near(self):
        scores, _ = self.scores(self.logits, self.know.weights.detach())
        found = self.know.estimate(self.logits, samples=20000)
        torch.testing.assert_close(found.log_partition, scores.logsumexp(1), atol=0.01, rtol=0)
        self.assertTrue((found.low <= found.high).all())
        predicted = self.know.log_partition(self.logits, by="propagation")
        torch.testing.assert_close(predicted.detach(), scores.logsumexp(1), atol=0.05, rtol=0)
        predicted.sum().backward()
        self.assertTrue(torch.isfinite(self.know.weights.grad).all())

    def test_weights_are_found_again(self):
        truth = self.know.weights.detach().clone()
        worlds = self.know.sample(count=10000, seed=4)[0]
        for by in ("circuit", "sampling", "propagation"):
            found = self.know.fit(worlds, by=by)
            self.assertTrue(found.converged)
            self.assertLess(((found.weights - truth) / found.errors).abs().max().item(), 4)
            torch.testing.assert_close(self.know.weights.detach(), found.weights)
        logits = torch.randn(3000, 3, 2, generator=torch.Generator().manual_seed(5))
        with torch.no_grad():
            self.know.weights.copy_(truth)
        worlds = self.know.sample(logits, seed=6)[:, 0]
        found = self.know.fit(worlds, logits)
        self.assertLess(((found.weights - truth) / found.errors).abs().max().item(), 4)

    def test_files_of_both_formats(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rules.wcnf"
            for text in ("h 1 2 0\n0.5 -1 0\n", "p wcnf 2 2 9\n9 1 2 0\n0.5 -1 0\n"):
                file.write_text(text)
                know = anesi.markov.Knowledge(file)
                self.assertAlmostEqual(know.log_partition().item(), math.log((math.exp(0.5) + 2) / 4), places=6)
            file.write_text("h 1 2 0\nheavy -1 0\n")
            with self.assertRaisesRegex(RuntimeError, "rules.wcnf:2: .*'heavy'"):
                anesi.markov.Knowledge(file)

    def test_what_cannot_be(self):
        with self.assertRaises(RuntimeError):
            anesi.markov.Knowledge([(None, [1]), (None, [-1]), (1, [2])])
        with self.assertRaises(ValueError):
            anesi.markov.Knowledge([(None, [1])])
        with self.assertRaisesRegex(TypeError, r"\b0\b"):
            anesi.markov.Knowledge([(1.0, [0])])
        with self.assertRaisesRegex(RuntimeError, r"\binf\b"):
            anesi.markov.Knowledge([(math.inf, [1])])
        with self.assertRaisesRegex(ValueError, r"logits.*\(5, 2, 2\).*\(batch, 3, 2\)"):
            self.know.log_partition(self.logits[:, :2])
        with self.assertRaisesRegex(ValueError, "^logits"):
            self.know.log_partition(self.logits * math.nan)
        with self.assertRaisesRegex(ValueError, "example 1"):
            self.know.loss(self.logits[:2], torch.tensor([[1, 0, 0], [0, 0, 0]]))
        with self.assertRaisesRegex(ValueError, "worlds"):
            self.know.loss(self.logits[:1], torch.tensor([[1, 0, 2]]))
        with self.assertRaisesRegex(ValueError, "soft clause 1"):
            self.know.fit(torch.tensor([[0, 1, 0], [0, 0, 1]]))
        with self.assertRaisesRegex(ValueError, "^by: .*circuit, sampling, propagation.*magic"):
            self.know.fit(torch.tensor([[0, 1, 0]]), by="magic")
        with self.assertRaisesRegex(ValueError, "^by: .*circuit.*propagation"):
            self.know.log_partition(by="sampling")


class LargeLogits(unittest.TestCase):
    def test_differences_of_large_logarithms_keep_their_digits(self):
        know = anesi.markov.Knowledge([(0.5, [-2]), (None, [2, 1]), (None, [-2, -1]), (None, [2, -1])])
        logits = torch.tensor([[[999.8410034179688, 0.7822679281234741]]])
        self.assertEqual(know.log_prob(logits, worlds=torch.tensor([[1]])).item(), 0)  # the only world that there is


if __name__ == "__main__":
    unittest.main()
