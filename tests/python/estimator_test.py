"""anesi.Estimator: expectations with gradients, in somebody else's loop, and functions that misbehave."""

import unittest

import torch

import anesi
from anesi._which import ON_ENGINE


def setUpModule():
    if ON_ENGINE:
        raise unittest.SkipTest("the Python core has no estimators")


def climbed(estimator, steps=100):
    """Makes the expectation large by its gradient, from uniform beliefs on."""
    logits = torch.zeros(1, 4, 2, requires_grad=True)
    optimizer = torch.optim.Adam([logits], 0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        (-estimator(logits.softmax(2)).sum()).backward()
        optimizer.step()
    return logits.detach().softmax(2)


def score(z):
    """At most 3, and better with each variable that is right."""
    return z[:, 0] - z[:, 1] + z[:, 2] * z[:, 3] + z[:, 3]


class EstimatorTest(unittest.TestCase):
    def test_every_method_climbs(self):
        for method in ("anesi", "rloo", "indecater", "gumbel", "exact"):
            settings = {"first": 50} if method == "anesi" else {}
            estimator = anesi.Estimator(score, [2, 2, 2, 2], method=method, settings=settings, seed=1)
            beliefs = climbed(estimator)
            exact = anesi.Estimator(score, [2, 2, 2, 2], method="exact")(beliefs).item()
            self.assertGreater(exact, 2.7, method)
            self.assertGreater(estimator.calls, 0)

    def test_gradients_are_those_of_enumeration(self):
        learned = anesi.Estimator(score, [2, 2, 2, 2], settings={"first": 300})
        exact = anesi.Estimator(score, [2, 2, 2, 2], method="exact")
        logits = torch.randn(5, 4, 2, dtype=torch.float64, requires_grad=True)
        learned.learn(torch.full((1, 4, 2), 0.5))
        ours, truth = (torch.autograd.grad(of(logits.softmax(2)).sum(), logits)[0] for of in (learned, exact))
        torch.testing.assert_close(ours, truth, rtol=1e-2, atol=1e-3)
        bound, margin = learned.bound(logits.detach().softmax(2))
        self.assertLess(bound + margin, 0.05)

    def test_normals_and_both(self):
        step = anesi.Estimator(lambda x: x[:, 0] > x[:, 1], normals=2, settings={"first": 300})
        mean, deviation = torch.zeros(1, 2, requires_grad=True), torch.ones(1, 2)
        value = step(mean=mean, deviation=deviation)
        self.assertAlmostEqual(value.item(), 0.5, delta=0.1)
        slope = torch.autograd.grad(value.sum(), mean)[0][0]
        self.assertGreater(slope[0].item(), 0.1)  # 0.28 in truth
        self.assertLess(slope[1].item(), -0.1)
        both = anesi.Estimator(lambda z, x: z[:, 0] * x[:, 0], [2], 1, numpy=True, settings={"first": 200})
        value = both(torch.tensor([[[0.5, 0.5]]]), torch.ones(1, 1), torch.full((1, 1), 0.5))
        self.assertAlmostEqual(value.item(), 0.5, delta=0.1)

    def test_several_outcomes_and_learning_by_mode(self):
        estimator = anesi.Estimator(lambda z: z, [3, 3], outcomes=2, settings={"first": 60})
        beliefs = torch.full((4, 2, 3), 1 / 3)
        self.assertEqual(tuple(estimator(beliefs).shape), (4, 2))
        calls = estimator.calls
        estimator.eval()
        estimator(beliefs)
        self.assertEqual(estimator.calls, calls)
        estimator(beliefs, learn=True)
        self.assertGreater(estimator.calls, calls)


class BadFunctions(unittest.TestCase):
    def refused(self, kind, words, g, **more):
        estimator = anesi.Estimator(g, [2, 2], **more)
        with self.assertRaisesRegex(kind, words) as caught:
            estimator(torch.full((1, 2, 2), 0.5))
        return caught.exception

    def test_answers(self):
        self.refused(ValueError, r"\bnan\b.*outcome 0\b.*z = \[", lambda z: z[:, 0] * float("nan"))
        self.refused(ValueError, r"\(3\).*\b4\b.*z = \[", lambda z: z[1:, 0])
        self.refused(TypeError, r"\bstr\b", lambda z: "much")
        self.refused(TypeError, "NoneType", lambda z: None)

    def test_what_it_raises_comes_through_with_z(self):
        def picky(z):
            if (z[:, 0] == 1).any():
                raise KeyError("one")
            return z[:, 0]

        error = self.refused(KeyError, "one", picky, seed=3, settings={"first": 20})
        self.assertRegex(" ".join(error.__notes__), r"z = \[1, [01]\]")

    def test_state_is_as_it_was(self):
        fails = []

        def sometimes(z):
            if fails:
                raise RuntimeError("not now")
            return z.sum(1)

        def value(break_once):
            estimator = anesi.Estimator(sometimes, [2, 2], seed=5)
            beliefs = torch.full((1, 2, 2), 0.5)
            estimator(beliefs)
            if break_once:
                fails.append(True)
                self.assertRaises(RuntimeError, estimator, beliefs)
                fails.clear()
            return estimator(beliefs).item()

        self.assertEqual(value(True), value(False))

    def test_arguments(self):
        self.assertRaisesRegex(ValueError, r"\bz\b", anesi.Estimator, score)
        self.assertRaisesRegex(TypeError, "int|3", anesi.Estimator, 3, [2])
        self.assertRaisesRegex(TypeError, r"\b2\b", anesi.Estimator, lambda z: z, [2], 1)
        self.assertRaisesRegex(ValueError, "magic", anesi.Estimator, score, [2], method="magic")
        self.assertRaisesRegex(ValueError, "^deviation", anesi.Estimator(lambda x: x, normals=1), mean=torch.zeros(1, 1))
        self.assertRaisesRegex(ValueError, "beliefs", anesi.Estimator(score, [2, 2]), torch.ones(1, 2, 2))


if __name__ == "__main__":
    unittest.main()
