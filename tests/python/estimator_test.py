"""anesi.Estimator: expectations with gradients, in somebody else's loop, and functions that misbehave."""

import copy
import io
import itertools
import pickle
import unittest

import torch

import anesi


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


def both(z, x):
    """What is pickled is found by its name."""
    return z[:, 0] * x[:, 0] + z[:, 1]


BELIEFS = torch.tensor([[[0.3, 0.7, 0.0], [0.2, 0.5, 0.3]], [[0.5, 0.5, 0.0], [0.1, 0.1, 0.8]]], dtype=torch.float64)
AT = (BELIEFS, torch.tensor([[0.1], [-0.4]]), torch.tensor([[1.0], [0.3]]))  # of z of two categoricals and a normal
LEARNED = [{}, {"model": "normal"}, {"model": "mixture"}, {"model": "histogram"}, {"prior.kind": "fitted"}]
WAYS = [*(("anesi", {"first": 30, **settings}) for settings in LEARNED), ("rloo", {}), ("reinforce", {})]


def estimator_of(method, settings, seed=3, g=both):
    return anesi.Estimator(g, [2, 3], 1, method=method, settings=settings, seed=seed)


class Copies(unittest.TestCase):
    def goes_on_alike(self, one, other):
        """Both were used alike so far, and know nothing of each other."""
        for _ in range(2):
            leaves = [[part.clone().requires_grad_() for part in AT] for _ in range(2)]
            values = [estimator(*parts) for estimator, parts in zip((one, other), leaves)]
            self.assertTrue(torch.equal(*values))
            slopes = [torch.autograd.grad(value.sum(), parts) for value, parts in zip(values, leaves)]
            self.assertTrue(all(map(torch.equal, *slopes)))
        self.assertEqual(one.calls, other.calls)

    def test_copies_pickles_and_states(self):
        for method, settings in WAYS:
            for used in (False, True):
                one = estimator_of(method, settings)
                for _ in range(3 * used):
                    one(*AT)
                file = io.BytesIO()
                torch.save(one.state_dict(), file)
                file.seek(0)
                loaded = estimator_of(method, settings, seed=4)
                loaded.load_state_dict(torch.load(file, weights_only=True))
                others = {"copy": copy.deepcopy(one), "pickle": pickle.loads(pickle.dumps(one)), "state": loaded}
                for what, other in others.items():
                    with self.subTest(method=method, **settings, used=used, what=what):
                        self.goes_on_alike(copy.deepcopy(one), other)
        self.goes_on_alike(*(copy.deepcopy(estimator_of("anesi", {})) for _ in range(2)))

    def test_the_exact_one(self):
        one = anesi.Estimator(score, [2] * 4, method="exact")
        one(torch.full((1, 4, 2), 0.5))
        other = pickle.loads(pickle.dumps(one))
        self.assertEqual(other(torch.full((1, 4, 2), 0.5)).item(), one(torch.full((1, 4, 2), 0.5)).item())
        self.assertEqual(other.calls, 16)

    def test_a_state_of_another_method_is_refused(self):
        for one, other in itertools.permutations(WAYS, 2):
            if {one[0], other[0]} == {"rloo", "reinforce"}:  # which learn nothing
                continue
            target, state = estimator_of(*other), estimator_of(*one).get_extra_state()
            with self.subTest(one=one, other=other), self.assertRaises(ValueError):
                target.set_extra_state(state)


class Contexts(unittest.TestCase):
    def test_learning_is_the_same_in_all(self):
        for method, settings in WAYS:
            results = []
            autocast = torch.autocast("cpu", torch.bfloat16)
            for context in (torch.enable_grad(), torch.no_grad(), torch.inference_mode(), autocast):
                estimator = estimator_of(method, settings)
                with context:
                    first = estimator(*(part.clone() for part in AT))
                leaves = [part.clone().requires_grad_() for part in AT]
                value = estimator(*leaves)
                slopes = torch.autograd.grad(value.sum(), leaves)
                results.append(torch.cat([first, value, *(part.flatten() for part in slopes)]))
            with self.subTest(method=method, **settings):
                self.assertTrue(all(torch.equal(results[0], other) for other in results[1:]))

    def test_compiled(self):
        estimators = [estimator_of("anesi", {}) for _ in range(2)]
        compiled = torch.compile(lambda parts: 2 * estimators[0](*parts), backend="eager")
        for _ in range(2):
            self.assertTrue(torch.equal(compiled(AT), 2 * estimators[1](*AT)))

    def test_no_gradient_where_none_is_wanted(self):
        for method, settings in (*WAYS, ("reparameterised", {})):
            estimator = anesi.Estimator(lambda x: x[:, 0], normals=1, method=method, settings=settings)
            mean = torch.zeros(2, 1, requires_grad=True)
            with torch.no_grad():
                self.assertFalse(estimator(mean=mean, deviation=torch.ones(2, 1)).requires_grad)
            self.assertTrue(estimator(mean=mean, deviation=torch.ones(2, 1)).requires_grad)

    def test_it_is_a_module_without_parameters(self):
        state = torch.get_rng_state()
        estimator = estimator_of("anesi", {"model": "normal"}).double().train()
        estimator(*AT)
        self.assertTrue(torch.equal(torch.get_rng_state(), state))  # torch's own generator is left alone
        self.assertEqual(list(estimator.parameters()), [])
        self.assertEqual(list(estimator.state_dict()), ["_extra_state"])
        self.assertFalse(any(weight.requires_grad for weight in estimator.q.network.parameters()))
        self.assertIsNone(estimator_of("rloo", {}).q)
        self.assertIn("rloo", repr(estimator_of("rloo", {})))

    def test_types_and_empty_batches(self):
        for method, settings in WAYS:
            estimator = estimator_of(method, settings)
            self.assertEqual(estimator(*(part[:0] for part in AT)).shape, (0,))
            self.assertEqual(estimator(*AT).dtype, torch.float64)
            self.assertEqual(estimator(*(part.float() for part in AT)).dtype, torch.float32)
            self.assertEqual(estimator(*(part.bfloat16() for part in AT)).dtype, torch.float32)


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

    def test_all_that_may_be_wrong_with_an_answer(self):
        def of(g, outcomes=1, **more):
            return anesi.Estimator(g, [3, 3], 1, outcomes, "rloo", **more)

        at = (torch.full((1, 2, 3), 1 / 3), torch.zeros(1, 1), torch.ones(1, 1))
        where = r"z = \[[0-2], [0-2] \| -?[\d.e-]+\]"
        for words, g, outcomes in (
            (f"nan as outcome 0 of {where}", lambda z, x: (0 * x[:, 0]).log() * 0, 1),
            (f"inf as outcome 1 of {where}", lambda z, x: torch.stack([x[:, 0], x[:, 0] + torch.inf], 1), 2),
            (rf"\(4, 1, 1\).* 4 draws, the first {where}; expected \(4, 1\)", lambda z, x: x[:, None], 1),
            (r"\(4\).*expected \(4, 2\)", lambda z, x: x[:, 0], 2),
            (f"complex.*{where}", lambda z, x: torch.complex(x, x), 1),
        ):
            with self.subTest(words=words), self.assertRaisesRegex(ValueError, words):
                of(g, outcomes)(*at)
        fine = of(lambda z, x: z[:, 0] > 1)(*at)  # bool, and whole numbers
        self.assertTrue(0 <= fine.item() <= 1)
        self.assertTrue(0 <= of(lambda z, x: [1] * len(z), numpy=True)(*at).item() <= 1)

        def overwrites(z, x):
            z.zero_(), x.zero_()
            return x[:, 0]

        of(overwrites)(*at)

    def test_state_is_as_it_was_for_every_method(self):
        fails = []

        def sometimes(z, x):
            if fails:
                raise RuntimeError("not now")
            return both(z, x)

        for method, settings in WAYS:
            values = []
            for break_it in (True, False):
                estimator = estimator_of(method, settings, g=sometimes)
                for _ in range(3):
                    if break_it:
                        fails.append(True)
                        self.assertRaises(RuntimeError, estimator, *AT)
                        self.assertRaises(RuntimeError, estimator, *AT)
                        fails.clear()
                    values.append(estimator(*AT))
            with self.subTest(method=method, **settings):
                self.assertTrue(all(map(torch.equal, values[:3], values[3:])))

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
        estimator, (beliefs, mean, deviation) = estimator_of("rloo", {}), AT
        for kind, words, at in (
            (ValueError, "parameters", ()),
            (ValueError, "^mean: missing.*1", (beliefs,)),
            (ValueError, "^beliefs: missing.*2", (None, mean, deviation)),
            (ValueError, "^deviation: example 0, normal 0: .*zero", (beliefs, mean, 0 * deviation)),
            (ValueError, "^mean: example 1, normal 0", (beliefs, mean / torch.tensor([[1.0], [0.0]]), deviation)),
            (ValueError, r"^mean: .*\(2, 2\).*\(2, 1\)", (beliefs, torch.ones(2, 2), deviation)),
            (ValueError, "^deviation: .*int64", (beliefs, mean, torch.ones(2, 1, dtype=torch.int64))),
            (ValueError, "^beliefs", (2 * beliefs, mean, deviation)),
            (TypeError, "^beliefs: .*list", ([[0.5, 0.5]], mean, deviation)),
        ):
            with self.subTest(words=words):
                self.assertRaisesRegex(kind, words, estimator, *at)
        self.assertRaisesRegex(ValueError, "^bound", estimator.bound, *AT)
        self.assertRaisesRegex(ValueError, "^bound.*nothing", estimator_of("anesi", {}).bound, *AT)
        self.assertRaisesRegex(ValueError, "^bound.*kernel", estimator_of("anesi", {"model": "normal"}).bound, *AT)

    def test_settings(self):
        for words, settings in (
            ("cals.*did you mean calls", {"cals": 3}),
            ("kernel.memroy.*did you mean kernel.memory", {"kernel.memroy": 3}),
            ("calls: 0 .*1 to 1000000", {"calls": 0}),
            ("calls: 2.5 .*whole number", {"calls": 2.5}),
            ("calls: True", {"calls": True}),
            ("explore: 'much'", {"explore": "much"}),
            ("explore: nan", {"explore": float("nan")}),
            ("model: 'forest'; one of kernel, normal", {"model": "forest"}),
            ("kernel.bins.*program", {"kernel.bins": 16}),
            ("prior.kind: 'mixture'; one of fixed", {"prior.kind": "mixture"}),
            ("samples.*no such option", {"samples": 3}),
        ):
            with self.subTest(settings=settings):
                self.assertRaisesRegex(ValueError, words, anesi.Estimator, score, [2], settings=settings)
        anesi.Estimator(score, [2], settings={"calls": "8", "kernel.bins": 0, "explore": 1, "prior.l2_per_belief": False})
        with self.assertRaisesRegex(ValueError, "samples: 1 "):
            anesi.Estimator(score, [2], method="rloo", settings={"samples": 1})
        self.assertRaisesRegex(ValueError, "did you mean rloo", anesi.Estimator, score, [2], method="rlo")
        for method in ("gumbel", "indecater", "exact"):
            self.assertRaisesRegex(ValueError, f"{method}.*normals", anesi.Estimator, both, [2], 1, method=method)
        self.assertRaisesRegex(ValueError, "categoricals", anesi.Estimator, both, [2], 1, method="reparameterised")


if __name__ == "__main__":
    unittest.main()
