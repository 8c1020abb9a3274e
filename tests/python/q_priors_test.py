"""Priors of q in PyTorch: what they draw, what a fit finds, and that they go on as they would have."""

import copy
import os
import unittest

import torch
from q_package import q, random_beliefs

SEED = int(os.environ.get("ANESI_TEST_SEED", "0"))
print(f"ANESI_TEST_SEED={SEED}")
DOMAINS = [3, 2, 5]
INSIDE = torch.arange(5) < torch.tensor(DOMAINS).unsqueeze(1)


def generator(seed=0):
    return torch.Generator().manual_seed(SEED + seed)


def formula(prior, beliefs, alpha, l2):
    """The objective as the documentation has it, with torch.distributions; alpha is one number for every value."""
    beliefs = beliefs.double().clamp_min(1e-7)
    likelihood, first = 0, 0
    for variable, size in enumerate(prior.domains):
        own = alpha[first : first + size]
        # Not normalised to the last digit after the clamp, so without the check of the simplex.
        dirichlet = torch.distributions.Dirichlet(own, validate_args=False)
        likelihood = likelihood + dirichlet.log_prob(beliefs[:, variable, :size]).sum() / len(prior.domains)
        first += size
    return l2 * alpha.square().mean() - likelihood


def with_initial(prior):
    """The parameter x of a fresh fit, alpha = softplus(x)."""
    return prior.state_dict()["parameter"]


class Draws(unittest.TestCase):
    def test_are_beliefs(self):
        observed, fitted = q.Observed(DOMAINS), q.FittedDirichlet(DOMAINS)
        for prior in (observed, fitted):
            prior.observe(random_beliefs(DOMAINS, 9, SEED))
        for prior in (q.FixedDirichlet(DOMAINS, 0.005), q.Certain(DOMAINS), observed, fitted):
            with self.subTest(type(prior).__name__):
                beliefs, worlds = prior.sample_with_worlds(200, generator())
                self.assertEqual((beliefs.shape, beliefs.dtype), ((200, 3, 5), torch.float32))
                self.assertTrue((beliefs >= 0).all() and (beliefs[:, ~INSIDE] == 0).all())
                torch.testing.assert_close(beliefs.sum(2), torch.ones(200, 3))
                self.assertTrue((beliefs.gather(2, worlds.unsqueeze(2)) > 0).all())

    def test_of_a_dirichlet_have_its_moments(self):
        for concentration in (0.05, 0.3, 2.0):
            beliefs = q.FixedDirichlet(DOMAINS, concentration).sample(20000, generator()).double()
            for variable, size in enumerate(DOMAINS):
                truth = torch.distributions.Dirichlet(torch.full((size,), concentration, dtype=torch.float64))
                own = beliefs[:, variable, :size]
                error = (own.mean(0) - truth.mean).abs() / (truth.variance / 20000).sqrt()
                self.assertLess(error.max().item(), 5)
                self.assertLess(((own.var(0) - truth.variance).abs() / truth.variance).max().item(), 0.1)

    def test_worlds_follow_their_beliefs(self):
        belief = random_beliefs(DOMAINS, 1, SEED)
        from_beliefs = q.Prior.sample_with_worlds.__globals__["sample_worlds"]
        worlds = from_beliefs(belief.expand(20000, -1, -1), generator())
        for variable, size in enumerate(DOMAINS):
            share = torch.bincount(worlds[:, variable], minlength=size) / 20000
            error = (share - belief[0, variable, :size]).abs() / (belief[0, variable, :size] / 20000).sqrt().clamp_min(1e-4)
            self.assertLess(error.max().item(), 5)

    def test_of_certain_worlds_are_even(self):
        worlds = q.Certain(DOMAINS).sample(20000, generator()).argmax(2)
        for variable, size in enumerate(DOMAINS):
            counts = torch.bincount(worlds[:, variable], minlength=size)
            self.assertLess((counts - 20000 / size).abs().max().item(), 6 * (20000 / size) ** 0.5)

    def test_of_no_prior_are_the_last_beliefs_observed(self):
        prior = q.Observed(DOMAINS, window=10)
        with self.assertRaisesRegex(ValueError, "no beliefs observed"):
            prior.sample(1, generator())
        beliefs = random_beliefs(DOMAINS, 17, SEED)
        for part in beliefs.split([4, 1, 8, 4]):
            prior.observe(part.requires_grad_())
        self.assertTrue(torch.equal(prior.state_dict()["beliefs"], beliefs[7:]))
        drawn = prior.sample(500, generator())
        same = (drawn.unsqueeze(1) == beliefs[7:].detach()).all(3).all(2)
        self.assertTrue(same.any(1).all() and same.any(0).all())
        self.assertFalse(drawn.requires_grad)
        prior.observe(beliefs)
        self.assertTrue(torch.equal(prior.state_dict()["beliefs"], beliefs[7:]))

    def test_what_is_no_belief_is_refused_and_changes_nothing(self):
        for prior in (q.Observed(DOMAINS, 5), q.FittedDirichlet(DOMAINS)):
            prior.observe(random_beliefs(DOMAINS, 3, SEED))
            before = copy.deepcopy(prior.state_dict())
            for spoil in (float("nan"), -0.5, 2.0):
                beliefs = random_beliefs(DOMAINS, 3, SEED)
                beliefs[1, 2, 0] = spoil
                with self.assertRaisesRegex(ValueError, "example 1, variable 2"):
                    prior.observe(beliefs)
            past = random_beliefs(DOMAINS, 3, SEED)
            past[2, 1] = torch.tensor([0.5, 0.0, 0.5, 0.0, 0.0])
            with self.assertRaisesRegex(ValueError, "example 2, variable 1: not probabilities of 2 values"):
                prior.observe(past)
            with self.assertRaisesRegex(ValueError, r"shape \(3, 2, 5\)"):
                prior.observe(random_beliefs(DOMAINS, 3, SEED)[:, :2])
            self.assertTrue(all(torch.equal(prior.state_dict()[name], tensor) for name, tensor in before.items()))


class TheFit(unittest.TestCase):
    def test_objective_and_gradient_are_the_formulas(self):
        for l2_per_belief in (True, False):
            prior = q.FittedDirichlet(DOMAINS, q.DirichletFit(window=50, l2=30.0, l2_per_belief=l2_per_belief))
            beliefs = random_beliefs(DOMAINS, 20, SEED)
            beliefs[0, 0] = torch.tensor([1.0, 0.0, 0.0, 0.0, 0.0])
            prior.observe(beliefs)
            alpha = torch.rand(10, dtype=torch.float64, generator=generator()) + 0.1
            alpha.requires_grad_()
            value = formula(prior, beliefs, alpha, 30.0 * (20 / 50 if l2_per_belief else 1))
            value.backward()
            padded = torch.ones(3, 5, dtype=torch.float64)
            padded[INSIDE] = alpha.detach()
            objective = prior.objective()
            torch.testing.assert_close(objective.by_variable(padded).sum(), value.detach())
            torch.testing.assert_close(objective.gradient(padded)[INSIDE], alpha.grad)

    def test_by_adam_is_that_of_torch(self):
        options = q.DirichletFit(window=30, iterations=40)
        prior = q.FittedDirichlet(DOMAINS, options)
        torch.testing.assert_close(prior.concentration[INSIDE], torch.full((10,), 0.1, dtype=torch.float64))
        x = with_initial(prior).clone().requires_grad_()
        adam = torch.optim.Adam([x], lr=0.01)
        seen = torch.empty(0, 3, 5)
        for seed in range(4):
            beliefs = random_beliefs(DOMAINS, 12, SEED + seed)
            seen = torch.cat([seen, beliefs])[-30:]
            prior.observe(beliefs)
            prior.fit()
            for _ in range(40):
                adam.zero_grad()
                formula(prior, seen, torch.nn.functional.softplus(x), 900000 * len(seen) / 30).backward()
                adam.step()
            torch.testing.assert_close(with_initial(prior), x.detach(), rtol=1e-7, atol=1e-7)

    def test_by_newton_is_at_the_minimum(self):
        for l2 in (0.0, 1.0, 900000.0):
            options = q.DirichletFit(window=400, l2=l2, method="newton")
            prior = q.FittedDirichlet(DOMAINS, options)
            truth = torch.rand(3, 5, dtype=torch.float64, generator=generator()) * 3 + 0.2
            drawn = q.priors.sample_dirichlet(truth * INSIDE, 400, generator(1))
            prior.observe(drawn)
            prior.fit()
            alpha = prior.concentration
            gradient = prior.objective().gradient(torch.where(INSIDE, alpha, 1.0))[INSIDE]
            self.assertLess(gradient.abs().max().item(), 1e-6 * max(400.0, l2))
            if l2 == 0:
                self.assertLess((alpha / truth - 1)[INSIDE].abs().max().item(), 0.35)

    def test_by_newton_ends_where_there_is_no_minimum(self):
        prior = q.FittedDirichlet([2, 1], q.DirichletFit(l2=0.0, iterations=500, method="newton"))
        prior.observe(torch.tensor([[[0.25, 0.75], [1.0, 0.0]]]).expand(40, -1, -1))
        prior.fit()
        alpha = prior.concentration
        self.assertTrue(alpha.isfinite().all())
        self.assertAlmostEqual((alpha[0, 0] / alpha[0].sum()).item(), 0.25, places=3)
        self.assertAlmostEqual(alpha[1, 0].item(), 0.1)

    def test_before_the_first_belief_does_nothing(self):
        prior = q.FittedDirichlet(DOMAINS)
        prior.fit()
        self.assertEqual(prior.state_dict()["steps"].item(), 0)
        with self.assertRaisesRegex(ValueError, "no beliefs to fit"):
            prior.objective()

    def test_sums_do_not_drift(self):
        prior = q.FittedDirichlet(DOMAINS, q.DirichletFit(window=20))
        for seed in range(30):
            prior.observe(random_beliefs(DOMAINS, 7, SEED + seed))
        fresh = q.FittedDirichlet(DOMAINS, q.DirichletFit(window=20))
        fresh.observe(prior.state_dict()["beliefs"])
        self.assertTrue(torch.equal(prior.objective().mean_log_beliefs, fresh.objective().mean_log_beliefs))


class States(unittest.TestCase):
    def priors(self):
        return [
            q.FittedDirichlet(DOMAINS, q.DirichletFit(window=12)),
            q.FittedDirichlet(DOMAINS, q.DirichletFit(window=12, method="newton", l2=10.0)),
            q.Observed(DOMAINS, 12),
            q.FixedDirichlet(DOMAINS, 0.2),
            q.Certain(DOMAINS),
        ]

    def test_go_on_bit_for_bit(self):
        for one, other in zip(self.priors(), self.priors()):
            with self.subTest(type(one).__name__):
                for seed in range(4):
                    one.observe(random_beliefs(DOMAINS, 5, seed))
                    one.fit()
                other.load_state_dict(copy.deepcopy(one.state_dict()))
                for seed in range(4, 8):
                    drawn = []
                    for prior in (one, other):
                        prior.observe(random_beliefs(DOMAINS, 5, seed))
                        prior.fit()
                        drawn.append(prior.sample_with_worlds(6, generator(seed)))
                    self.assertTrue(all(torch.equal(a, b) for a, b in zip(*drawn)))
                self.assertTrue(all(torch.equal(one.state_dict()[name], tensor) for name, tensor in other.state_dict().items()))

    def test_that_are_damaged_are_refused_and_change_nothing(self):
        prior = self.priors()[0]
        prior.observe(random_beliefs(DOMAINS, 5, 1))
        prior.fit()
        state = prior.state_dict()
        for name, tensor in state.items():
            for damaged in (None, tensor.to(torch.complex64), tensor.unsqueeze(0), torch.full_like(tensor, -3)):
                if name in ("parameter", "first_moment") and damaged is not None and damaged.shape == tensor.shape and not damaged.is_complex():
                    continue  # these may be below 0
                with self.subTest(name), self.assertRaises(ValueError):
                    prior.load_state_dict({**state, name: damaged})
                for other, before in state.items():
                    self.assertTrue(torch.equal(prior.state_dict()[other], before))
        with self.assertRaisesRegex(ValueError, "window of 3"):
            q.FittedDirichlet(DOMAINS, q.DirichletFit(window=3)).load_state_dict(state)
        with self.assertRaisesRegex(ValueError, "another problem"):
            q.FittedDirichlet([3, 2]).load_state_dict(state)

    def test_options_are_checked(self):
        for settings, message in (
            ({"prior.method": "sgd"}, "adam or newton"),
            ({"prior.window": 0}, "at least 1"),
            ({"prior.lr": 0}, "positive"),
            ({"prior.width": 3}, "no such option"),
        ):
            with self.subTest(settings), self.assertRaisesRegex(ValueError, message):
                q.make_prior(DOMAINS, "fitted", settings)
        with self.assertRaisesRegex(ValueError, "concentration"):
            q.make_prior(DOMAINS, "fixed", {"prior.concentration": 0})
        with self.assertRaisesRegex(ValueError, "one of fitted"):
            q.make_prior(DOMAINS, "flow")
        self.assertEqual(q.make_prior(DOMAINS, "fitted", {"prior.window": "7", "prior.kind": "fitted"}).options.window, 7)


if __name__ == "__main__":
    unittest.main()
