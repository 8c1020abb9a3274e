"""anesi.estimate: every way to estimate a gradient against enumeration or a closed form, and the outcome models alone."""

import itertools
import math
import os
import random
import unittest

import torch

import anesi
from anesi.estimate import draws, exact, kernel, network, parameter_prior, regression

SEED = int(os.environ.get("ANESI_TEST_SEED", random.randrange(1 << 30)))
DOMAINS = [2, 3, 4]

torch.set_num_threads(1)


def setUpModule():
    print(f"seed {SEED} (ANESI_TEST_SEED)", flush=True)


def seeded(salt=0):
    return torch.Generator().manual_seed(SEED + salt)


def points(domains):
    """Every z, int64 [points, variables]."""
    return torch.tensor(list(itertools.product(*map(range, domains))))


def two_outcomes(z):
    w = z.double()
    return torch.stack([w[:, 0] * w[:, 1] - 2 * w[:, 2] + 10, w.sum(1).square()], 1)


def logits_of(batch, domains=DOMAINS, salt=0):
    logits = torch.randn(batch, len(domains), max(domains), generator=seeded(salt), dtype=torch.float64)
    for variable, domain in enumerate(domains):
        logits[:, variable, domain:] = -torch.inf
    return logits.requires_grad_()


def shares(beliefs, domains):
    """p(z|P) of every z, [batch, points]."""
    variables = [beliefs[:, variable, values] for variable, values in enumerate(points(domains).T)]
    return torch.stack(variables).prod(0)


def enumerated(beliefs, g=two_outcomes, domains=DOMAINS):
    return shares(beliefs, domains) @ g(points(domains)).double().reshape(math.prod(domains), -1)


def weighted(expectation):
    return (expectation * torch.tensor([1.0, 0.3])).sum()


def z_score(samples, truth):
    """How many standard errors the mean of samples [n, ...] is off, at most."""
    error = samples.std(0) / len(samples) ** 0.5
    return ((samples.mean(0) - truth).abs() / (error + 1e-12)).max().item()


class Unbiased(unittest.TestCase):
    """Each row of a batch is an estimate of its own."""

    ROWS = 20000

    def estimates(self, estimator, *at):
        """Of the value and of the gradient, [rows, ...], at the same parameters (logits, mean, deviation) in each row."""
        many = [part.detach().expand(self.ROWS, *part.shape[1:]).clone().requires_grad_() for part in at]
        beliefs = [part.softmax(2) for part in many if part.dim() == 3] or [None]
        value = estimator(*beliefs, *(part for part in many if part.dim() == 2))
        gradients = torch.autograd.grad(weighted(value) if estimator.outcomes > 1 else value.sum(), many)
        return value.detach(), torch.cat([gradient.flatten(1) for gradient in gradients], 1)

    def test_of_categoricals(self):
        logits = logits_of(1)
        truth = enumerated(logits.softmax(2))
        slope = torch.autograd.grad(weighted(truth), logits)[0].flatten(1)
        variances = {}
        for method, samples in (("reinforce", 7), ("rloo", 7), ("rloo", 2), ("indecater", 1), ("indecater", 3)):
            settings = {"samples": samples}
            estimator = anesi.Estimator(two_outcomes, DOMAINS, 0, 2, method, settings, seed=SEED)
            values, slopes = self.estimates(estimator, logits)
            with self.subTest(method=method, samples=samples, seed=SEED):
                self.assertLess(z_score(values, truth.detach()), 5)
                self.assertLess(z_score(slopes, slope), 5)
                calls = samples * (1 + sum(DOMAINS) - len(DOMAINS) if method == "indecater" else 1)
                self.assertEqual(estimator.calls, calls * self.ROWS)
            variances[method, samples] = slopes.var(0).sum()
        self.assertLess(variances["rloo", 7], variances["reinforce", 7])
        self.assertLess(variances["indecater", 1], variances["rloo", 7])  # as many calls

    def test_of_both_kinds(self):
        # E[z x^2] = p (mean^2 + deviation^2)
        logits = logits_of(1, [2])
        mean, deviation = torch.tensor([[0.7]], requires_grad=True), torch.tensor([[0.6]], requires_grad=True)
        truth = logits.softmax(2)[:, 0, 1] * (mean**2 + deviation**2)[:, 0]
        slope = torch.cat([part.flatten() for part in torch.autograd.grad(truth.sum(), [logits, mean, deviation])])
        for method in ("reinforce", "rloo"):
            estimator = anesi.Estimator(lambda z, x: z[:, 0] * x[:, 0] ** 2, [2], 1, method=method, seed=SEED)
            values, slopes = self.estimates(estimator, logits, mean, deviation)
            with self.subTest(method=method, seed=SEED):
                self.assertLess(z_score(values, truth.item()), 5)
                self.assertLess(z_score(slopes, slope), 5)

    def test_reparameterised(self):
        # E[x^2 + y] = mean^2 + deviation^2 + mean of y
        mean, deviation = torch.tensor([[0.5, -1.0]], dtype=torch.float64), torch.tensor([[0.3, 2.0]], dtype=torch.float64)
        slope = torch.tensor([1.0, 1.0, 0.6, 0.0], dtype=torch.float64)
        for difference, calls in ((0, 4), (0.01, 20)):
            settings = {"difference": difference}
            estimator = anesi.Estimator(
                lambda x: x[:, 0] ** 2 + x[:, 1], normals=2, method="reparameterised", settings=settings, seed=SEED
            )
            with self.subTest(difference=difference, seed=SEED):
                values, slopes = self.estimates(estimator, mean, deviation)
                self.assertLess(z_score(values, 0.25 + 0.09 - 1), 5)
                torch.testing.assert_close(slopes[:, 1], slope[1].expand(self.ROWS))  # of y, which has no noise
                self.assertLess(z_score(slopes[:, [0, 2, 3]], slope[[0, 2, 3]]), 5)
                self.assertEqual(estimator.calls, calls * self.ROWS)
        step = anesi.Estimator(lambda x: x[:, 0] > 0, normals=2, method="reparameterised")
        with torch.no_grad(), self.assertRaisesRegex(ValueError, "difference"):
            step(mean=mean, deviation=deviation)


class OfOneDraw(unittest.TestCase):
    def test_indecater_asks_about_each_neighbour(self):
        asked = []
        estimator = anesi.Estimator(lambda z: asked.append(z) or z.sum(1), DOMAINS, method="indecater", seed=SEED)
        estimator(logits_of(1).softmax(2))
        (rows,) = asked
        self.assertEqual(len(rows), 1 + sum(DOMAINS) - len(DOMAINS))
        self.assertEqual(len(set(map(tuple, rows.tolist()))), len(rows))
        self.assertTrue(((rows != rows[0]).sum(1) <= 1).all())
        self.assertTrue((rows < torch.tensor(DOMAINS)).all())

    def test_gumbel(self):
        # As the formula has it, for one draw: d soft_v / d logit_u times g(v) - g(own).
        estimator = anesi.Estimator(lambda z: z[:, 0] ** 2, [3], method="gumbel", settings={"temperature": 0.7}, seed=SEED)
        logits = torch.zeros(1, 1, 3, dtype=torch.float64, requires_grad=True)
        value = estimator(logits.softmax(2))
        (ours,) = torch.autograd.grad(value.sum(), logits)
        uniform = torch.rand(1, 1, 3, generator=seeded(), dtype=torch.float64)
        soft = ((logits.log_softmax(2) - (-uniform.log()).log()) / 0.7).softmax(2)
        own = soft.argmax(2).double() ** 2
        self.assertAlmostEqual(value.item(), own.item())
        truth = torch.autograd.grad((soft * (torch.tensor([0.0, 1, 4]) - own)).sum(), logits)[0]
        torch.testing.assert_close(ours, truth)
        impossible = torch.tensor([[[0.5, 0.0, 0.5]]], dtype=torch.float64, requires_grad=True)
        (ours,) = torch.autograd.grad(estimator(impossible).sum(), impossible)
        self.assertTrue(ours.isfinite().all())


class Exactly(unittest.TestCase):
    def test_is_enumeration(self):
        logits = logits_of(5)
        estimator = anesi.Estimator(two_outcomes, DOMAINS, outcomes=2, method="exact")
        for _ in range(2):
            value, truth = estimator(logits.softmax(2)), enumerated(logits.softmax(2))
            torch.testing.assert_close(value, truth)
            slopes = (torch.autograd.grad(weighted(of), logits, retain_graph=True)[0] for of in (value, truth))
            torch.testing.assert_close(*slopes, rtol=1e-9, atol=1e-12)
            self.assertEqual(estimator.calls, 24)

    def test_equal_parts_are_kept_once(self):
        # The sum of six bits has seven outcomes: layer i needs i + 1 nodes.
        diagram = exact.Diagram([2] * 6, points([2] * 6).sum(1, keepdim=True).double())
        self.assertEqual(diagram.nodes, 1 + 2 + 3 + 4 + 5 + 6 + 7)
        beliefs = torch.rand(3, 6, 2, generator=seeded(), dtype=torch.float64)
        beliefs = beliefs / beliefs.sum(2, keepdim=True)
        torch.testing.assert_close(diagram.expectation(beliefs)[:, 0], beliefs[:, :, 1].sum(1))

    def test_too_many(self):
        for points_there, domains in (("24", DOMAINS), (r"e\+\d{3}", [2**62] * 30)):
            with self.assertRaisesRegex(ValueError, points_there):
                anesi.Estimator(two_outcomes, domains, method="exact", settings={"points": 23})


class OfTheKernel(unittest.TestCase):
    SOURCES = draws.Sources([2, 3], 2)

    def at(self, batch=1):
        generator = seeded(1)
        mean, deviation = (torch.rand(batch, 2, generator=generator, dtype=torch.float64) for _ in range(2))
        return draws.Parameters(logits_of(batch, [2, 3]).detach().softmax(2), 4 * mean - 2, deviation + 0.05)

    def test_expectations_are_means_over_draws(self):
        of, at, generator = kernel.OrderKernel(self.SOURCES, 3), self.at(), seeded()
        others, many = draws.draw(at.repeated(5), generator), draws.draw(at.repeated(100000), generator)
        more = (others, of.features_of(others), (0.3, 1, 0.5, 0.2), 0.7)
        self.assertLess(z_score(of(draws.certain(many, self.SOURCES), *more), of(at, *more)[0]), 5)

    def test_sums_over_sets_of_variables(self):
        sources = draws.Sources(DOMAINS, 0)
        of, z = kernel.OrderKernel(sources, 2), draws.Draws(points(DOMAINS), torch.zeros(24, 0))
        ours = of.by_order(draws.certain(z, sources), z, of.features_of(z), 1.0)
        matches = [(values[:, None] == values).double() for values in z.discrete.T]
        matches = [(match - 1 / d) * d / (d - 1) for match, d in zip(matches, DOMAINS)]  # centred, 1 where equal
        for order, sums in enumerate(ours):
            truth = sum(math.prod(some, start=torch.ones(24, 24)) for some in itertools.combinations(matches, order))
            torch.testing.assert_close(sums, truth.double())

    def test_normals_far_away_and_narrow_have_finite_gradients(self):
        others = torch.tensor([-50.0, 0, 1e-9, 80], dtype=torch.float64)
        for width in (1e-6, 1.0, 100.0):
            mean = torch.zeros(1, dtype=torch.float64, requires_grad=True)
            deviation = torch.full_like(mean, width).requires_grad_()
            value = kernel.laplace_mean(mean, deviation, others, 0.5)
            self.assertTrue(((value >= 0) & (value <= 1)).all())
            for slope in torch.autograd.grad(value.sum(), [mean, deviation]):
                self.assertTrue(slope.isfinite().all(), width)


class OfTheRegression(unittest.TestCase):
    def test_is_a_gaussian_process(self):
        """Against a dense one that sums over sets of variables, asked about every z and weighed by enumeration."""
        sources, generator = draws.Sources(DOMAINS, 0), seeded()
        model = regression.KernelRegression(sources, 2, regression.KernelOptions(orders=2))
        logits = logits_of(4)
        for _ in range(8):  # some z come again, with other outcomes
            z = draws.draw(draws.Parameters(logits_of(1).softmax(2), *torch.zeros(2, 1, 0)).repeated(3), generator)
            noise = 0.1 * torch.randn(3, 2, generator=generator, dtype=torch.float64)
            model.add(z, two_outcomes(z.discrete) + noise)
        shape, seen = model.shape, model.seen.discrete
        torch.testing.assert_close(model.counts.sum().item(), 24.0)

        def between(one, other):
            matches = [(a[:, None] == b).double() for a, b in zip(one.T, other.T)]
            matches = [(match - 1 / d) * d / (d - 1) for match, d in zip(matches, DOMAINS)]
            pairs = [a * b for a, b in itertools.combinations(matches, 2)]
            return shape.weights[0] + shape.weights[1] * sum(matches) / 3 + shape.weights[2] * sum(pairs) / 3

        covariance = between(seen, seen) + torch.diag(shape.noise / model.counts)
        fresh = regression.KernelRegression(sources, 2, regression.KernelOptions(orders=2))
        factor = torch.linalg.cholesky(covariance)[tuple(torch.tril_indices(*covariance.shape))]
        fresh.load_state({**model.state(), "factor": factor})
        mean = model.outcomes.mean(0)
        at_points = mean + between(points(DOMAINS), seen) @ torch.linalg.solve(covariance, model.outcomes - mean)
        truth = shares(logits.softmax(2), DOMAINS) @ at_points
        at = draws.Parameters(logits.softmax(2), *torch.zeros(2, 4, 0))
        torch.testing.assert_close(fresh.mean(at), truth, rtol=1e-6, atol=1e-6)  # noise may be 1e-8
        slopes = (torch.autograd.grad(weighted(of), logits)[0] for of in (fresh.mean(at), truth))
        torch.testing.assert_close(*slopes, rtol=1e-6, atol=1e-6)

    def test_growing_is_fitting_at_once(self):
        sources, generator = draws.Sources([2] * 10, 1), seeded()
        model = regression.KernelRegression(sources, 1, regression.KernelOptions())
        for _ in range(30):
            real = torch.randn(4, 1, generator=generator, dtype=torch.float64)
            z = draws.Draws(torch.randint(2, (4, 10), generator=generator), real)
            model.add(z, z.discrete.sum(1, keepdim=True).double() * z.real)
        grown = model._factor
        model._factorise()
        torch.testing.assert_close(grown, model._factor, rtol=1e-7, atol=1e-7)

    def test_memory_is_bounded(self):
        model = regression.KernelRegression(draws.Sources([], 1), 1, regression.KernelOptions(memory=64))
        generator = seeded()
        for _ in range(50):
            real = torch.randn(3, 1, generator=generator, dtype=torch.float64)
            model.add(draws.Draws(torch.zeros(3, 0, dtype=torch.int64), real), real.sin())
            self.assertLessEqual(len(model.counts), 64)
        at = draws.certain(model.seen, model.sources)
        torch.testing.assert_close(model.mean(at), model.outcomes, rtol=0.02, atol=0.02)

    def test_a_function_of_low_order_from_few_z(self):
        def g(z):
            x = z.double()
            return (2 * x[:, 0] * x[:, 5] - x[:, 3] + 3 * x[:, 7] * x[:, 11]).unsqueeze(1)

        sources, generator = draws.Sources([2] * 12, 0), seeded()
        model = regression.KernelRegression(sources, 1, regression.KernelOptions(orders=3))
        for _ in range(15):  # 150 of 4096
            z = torch.randint(2, (10, 12), generator=generator)
            model.add(draws.Draws(z, torch.zeros(10, 0)), g(z))
        unseen = points([2] * 12)
        off = model.mean(draws.certain(draws.Draws(unseen, torch.zeros(4096, 0)), sources)) - g(unseen)
        self.assertLess((off.square().mean() / g(unseen).var()).item(), 0.05)


class Learned(unittest.TestCase):
    def test_exact_once_everything_was_seen(self):
        logits = logits_of(5)
        estimator = anesi.Estimator(two_outcomes, DOMAINS, outcomes=2, settings={"first": 400, "explore": 0.5}, seed=SEED)
        for _ in range(2):
            estimator.learn(torch.full((1, 3, 4), 1.0) * estimator._sources.inside / torch.tensor(DOMAINS).unsqueeze(1))
        self.assertEqual(estimator.calls, 408)
        both = (of(logits.softmax(2)) for of in (estimator.eval(), enumerated))
        slopes = (torch.autograd.grad(weighted(expectation), logits)[0] for expectation in both)
        torch.testing.assert_close(*slopes, rtol=1e-3, atol=1e-3)

    def test_the_bound_holds(self):
        beliefs = logits_of(3).detach().softmax(2)
        estimator = anesi.Estimator(two_outcomes, DOMAINS, outcomes=2, settings={"calls": 12, "explore": 0}, seed=SEED)
        estimator.learn(beliefs)
        bound, margin = estimator.bound(beliefs, samples=500)
        error = (estimator(beliefs, learn=False) - enumerated(beliefs)).abs().mean().item()
        self.assertTrue(0 < error <= bound + margin, (error, bound, margin))

    def test_comparing_two_normals(self):
        estimator = anesi.Estimator(lambda x: x[:, 0] > x[:, 1], normals=2, settings={"first": 400, "calls": 8}, seed=SEED)
        mean = torch.tensor([[0.3, 0.0], [-0.5, 0.4]], dtype=torch.float64, requires_grad=True)
        deviation = torch.tensor([[1.0, 0.5], [0.7, 0.7]], dtype=torch.float64, requires_grad=True)
        for _ in range(20):
            estimator.learn(None, mean, deviation)
        apart = (mean[:, 0] - mean[:, 1]) / deviation.square().sum(1).sqrt()
        truth, ours = torch.special.ndtr(apart), estimator(None, mean, deviation)
        torch.testing.assert_close(ours, truth, rtol=0, atol=0.04)
        for one, other in zip(*(torch.autograd.grad(of.sum(), [mean, deviation]) for of in (ours, truth))):
            torch.testing.assert_close(one, other, rtol=0, atol=0.12)

    def test_a_noisy_function_of_both_kinds(self):
        # E = 3 p + Phi(mean / deviation)
        def g(z, x):
            return 3 * z[:, 0] + (x[:, 0] > 0) + 0.1 * torch.randn(len(z), generator=generator, dtype=torch.float64)

        of_networks = {"calls": 128, "explore": 0.7, "spread": 1, "network.updates": 20, "network.lr": 0.001}
        generator = seeded()
        density = math.exp(-0.5 * 0.04) / math.sqrt(2 * math.pi)
        for settings in ({"calls": 10}, *({"model": model, **of_networks} for model in ("normal", "mixture", "histogram"))):
            estimator = anesi.Estimator(g, [2], 1, settings=settings, seed=SEED)
            one, mean = torch.tensor([[0.3]], requires_grad=True), torch.tensor([[0.2]], requires_grad=True)
            at = (torch.stack([1 - one, one], 2), mean, torch.ones(1, 1))
            losses = [estimator.learn(*at) for _ in range(60)]
            value = estimator(*at, learn=False)
            slopes = torch.autograd.grad(value.sum(), [one, mean])
            with self.subTest(**settings, seed=SEED):
                self.assertTrue(all(map(math.isfinite, losses)))
                self.assertAlmostEqual(value.item(), 0.9 + 0.5 * math.erfc(-0.2 / math.sqrt(2)), delta=0.4)
                self.assertAlmostEqual(slopes[0].item(), 3, delta=1.2)
                self.assertAlmostEqual(slopes[1].item(), density, delta=0.35)

    def test_outcome_models_are_distributions(self):
        beliefs = torch.full((1, 2, 2), 0.5)
        for model in ("kernel", "normal", "mixture", "histogram"):
            estimator = anesi.Estimator(lambda z: z.sum(1), [2, 2], settings={"model": model}, seed=SEED)
            for _ in range(30):
                estimator.learn(beliefs)
            outcomes = torch.linspace(-6, 8, 20001, dtype=torch.float64).unsqueeze(1)
            at = draws.checked(estimator._sources, beliefs, None, None)
            with self.subTest(model=model, seed=SEED), torch.no_grad():
                density = estimator.q.log_prob(at.repeated(len(outcomes)), outcomes).exp()
                mean = estimator.q.mean(at).item()
                self.assertAlmostEqual(mean, 1, delta=0.35)
                if model == "histogram":  # whose last bins take all that lies beyond them
                    self.assertGreater(density[10000], 0)
                    continue
                self.assertAlmostEqual(density.sum().item() * 14 / 20000, 1, delta=0.02)
                self.assertAlmostEqual((density * outcomes[:, 0]).sum().item() * 14 / 20000, mean, delta=0.05)

    def test_priors(self):
        for kind in ("fixed", "fitted", "observed", "certain"):
            settings = {"prior.kind": kind, "explore": 0.5, "prior.window": 10}
            estimator = anesi.Estimator(lambda z: z.sum(1), DOMAINS, settings=settings, seed=SEED)
            for salt in range(4):
                self.assertIsNotNone(estimator.learn(logits_of(2, salt=salt).softmax(2)))
            prior = estimator._method.prior
            sampled = prior.sample(draws.checked(estimator._sources, logits_of(2).softmax(2), None, None), 1000, seeded())
            torch.testing.assert_close(sampled.beliefs.sum(2), torch.ones(1000, 3, dtype=torch.float64))
            certain = (sampled.beliefs.amax(2) == 1).all(1).double().mean().item()
            self.assertAlmostEqual(certain, 0.5 if kind == "certain" else 0, delta=0.1)


class Parts(unittest.TestCase):
    def test_bins(self):
        bins = network.Bins.fitted(torch.tensor([[3.0, 5], [1, 5], [1, 5], [7, 5]], dtype=torch.float64), 10)
        self.assertEqual(bins.centres.tolist(), [[1, 3, 7], [5, 0, 0]])  # few outcomes have a bin each
        heads = torch.zeros(2, 2, 10, dtype=torch.float64)
        torch.testing.assert_close(bins.mean(heads), torch.tensor([[11 / 3, 5]] * 2, dtype=torch.float64))
        log_probs = bins.log_prob(heads, torch.tensor([[-5.0, 5], [100, 5]], dtype=torch.float64))
        torch.testing.assert_close(log_probs[:, 0].exp(), 1 / 3 / bins.widths[0, [0, 2]])
        many = network.Bins.fitted(torch.linspace(0, 1, 1000, dtype=torch.float64).unsqueeze(1), 10)
        self.assertEqual(many.centres.shape, (1, 10))
        torch.testing.assert_close(many.widths, torch.full((1, 10), 0.1, dtype=torch.float64), rtol=0, atol=0.06)

    def test_normal_inverse_gamma_follows_what_was_observed(self):
        prior, generator = parameter_prior.NormalInverseGamma(1), seeded()
        mean = 2 + 3 * torch.randn(2000, 1, generator=generator, dtype=torch.float64)
        deviation = 0.5 + 0.2 * torch.rand(2000, 1, generator=generator, dtype=torch.float64)
        for _ in range(20):
            prior.observe(mean, deviation)
        means, deviations = prior.sample(20000, generator)
        self.assertAlmostEqual(means.mean().item(), 2, delta=0.3)
        self.assertAlmostEqual(means.std().item(), 3, delta=0.4)
        self.assertAlmostEqual(deviations.square().mean().item(), deviation.square().mean().item(), delta=0.03)


if __name__ == "__main__":
    unittest.main()
