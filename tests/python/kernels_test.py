"""Compiled functions that learning spends its time in, beside the same arithmetic in plain PyTorch."""

import copy
import os
import pickle
import unittest

import torch

import anesi
from anesi import _engine, q
from anesi._core import kernels
from anesi.networks import pooled_relu

SEED = int(os.environ.get("ANESI_TEST_SEED", "0"))
print(f"ANESI_TEST_SEED={SEED}")
SPACES = {"even": [4, 4, 4], "uneven": [3, 1, 5]}


def generator(seed=0):
    return torch.Generator().manual_seed(SEED + seed)


def beliefs(domains, count, seed):
    return q.FixedDirichlet(domains, 0.3).sample(count, generator(seed))


class Dirichlets(unittest.TestCase):
    def test_a_fit_is_that_of_pytorch(self):
        for name, domains in SPACES.items():
            with self.subTest(name):
                plain = q.FittedDirichlet(domains, q.DirichletFit(window=30, iterations=40))
                compiled = kernels.compiled(q.FittedDirichlet(domains, plain.options))
                for seed in range(4):
                    for prior in (plain, compiled):
                        prior.observe(beliefs(domains, 12, seed))
                        prior.fit()
                    torch.testing.assert_close(plain.objective().mean_log_beliefs, compiled.objective().mean_log_beliefs)
                for what, expected in plain.state_dict().items():
                    torch.testing.assert_close(compiled.state_dict()[what], expected, rtol=1e-9, atol=1e-9)

    def test_draws_have_the_moments(self):
        for name, domains in SPACES.items():
            for concentration in (0.05, 2.0):
                with self.subTest(name, concentration=concentration):
                    prior = kernels.compiled(q.FixedDirichlet(domains, concentration))
                    drawn = prior.sample(20000, generator())
                    inside = prior.concentration > 0
                    self.assertTrue((drawn[:, ~inside] == 0).all())
                    torch.testing.assert_close(drawn.sum(2), torch.ones(20000, len(domains)))
                    for variable, size in enumerate(domains):
                        if size > 1:
                            truth = torch.distributions.Dirichlet(torch.full((size,), concentration, dtype=torch.float64))
                            own = drawn[:, variable, :size].double()
                            error = (own.mean(0) - truth.mean).abs() / (truth.variance / 20000).sqrt()
                            self.assertLess(error.max().item(), 5)
                            self.assertLess((own.var(0) / truth.variance - 1).abs().max().item(), 0.1)

    def test_the_generator_decides_the_draws(self):
        prior, one = kernels.compiled(q.FixedDirichlet([3, 2])), generator()
        first, second = prior.sample(40, one), prior.sample(40, one)
        self.assertTrue(torch.equal(first, prior.sample(40, generator())))
        self.assertFalse(torch.equal(first, second))

    def test_priors_are_copied_with_their_functions(self):
        prior = kernels.compiled(q.FittedDirichlet([3, 2]))
        prior.observe(beliefs([3, 2], 9, 1))
        for other in (copy.deepcopy(prior), pickle.loads(pickle.dumps(prior))):
            self.assertIs(other.adam, kernels.fit_by_adam)
            other.fit()
            self.assertEqual(prior.state_dict()["steps"].item(), 0)

    def test_arrays_of_other_shapes_are_refused(self):
        numbers = torch.zeros(6, dtype=torch.float64).numpy()
        with self.assertRaisesRegex(ValueError, "first"):
            _engine.fit_dirichlets_by_adam([4, 2], numbers, 1.0, 1.0, numbers, numbers[:5].copy(), numbers, 0, 1, 0.1)
        with self.assertRaises(RuntimeError):
            _engine.fit_dirichlets_by_adam([4, 3], numbers, 1.0, 1.0, numbers, numbers, numbers, 0, 1, 0.1)
        with self.assertRaisesRegex(ValueError, "beliefs"):
            _engine.draw_dirichlets(torch.ones(2, 3).double().numpy(), 0, torch.zeros(5, 3, 2).numpy())
        with self.assertRaisesRegex(RuntimeError, "must be positive"):
            _engine.draw_dirichlets(torch.zeros(2, 3).double().numpy(), 0, torch.zeros(5, 2, 3).numpy())
        with self.assertRaisesRegex(ValueError, "pixels"):
            _engine.pool_and_rectify(torch.zeros(1, 4, 4, 1).numpy(), torch.zeros(1, 2, 3, 1).numpy())


class Pooling(unittest.TestCase):
    def images(self, *shape):
        """Values in tenths, so that squares have ties, below and above 0, and at it."""
        return (torch.randn(*shape, generator=generator()) * 10).round().div(10).requires_grad_()

    def both(self, images, of):
        """of(pooling) for the kernel and for PyTorch."""
        return of(pooled_relu), of(lambda one: torch.nn.functional.max_pool2d(one, 2).relu())

    def test_is_that_of_pytorch_to_the_last_bit(self):
        for shape in ((7, 6, 24, 24), (3, 1, 2, 2), (2, 3, 10, 38), (5, 4, 7, 9), (0, 4, 8, 8)):
            for of_format in (torch.contiguous_format, torch.channels_last):
                images = self.images(*shape)
                weights = torch.randn(shape[0], shape[1], shape[2] // 2, shape[3] // 2, generator=generator(1))

                def value_and_gradient(pool):
                    pooled = pool(images.contiguous(memory_format=of_format))
                    return pooled, torch.autograd.grad((pooled * weights).sum(), images)[0]

                mine, theirs = self.both(images, value_and_gradient)
                with self.subTest(shape, memory_format=of_format):
                    self.assertTrue(all(torch.equal(*pair) for pair in zip(mine, theirs)))

    def test_second_derivatives_are_right(self):
        images, weights = self.images(2, 3, 6, 8), torch.randn(2, 3, 3, 4, requires_grad=True)

        def second(pool):
            (slope,) = torch.autograd.grad((pool(images) * weights).square().sum(), images, create_graph=True)
            return torch.autograd.grad(slope.square().sum(), [images, weights])

        mine, theirs = self.both(images, second)
        self.assertTrue(all(torch.equal(*pair) for pair in zip(mine, theirs)))

    def test_transforms_and_compilers_look_through_it(self):
        images = self.images(2, 3, 6, 8).detach()

        def summed(pool):
            return torch.func.vmap(torch.func.grad(lambda one: pool(one.unsqueeze(0)).square().sum()))(images)

        self.assertTrue(torch.equal(*self.both(images, summed)))
        compiled = torch.compile(pooled_relu, backend="eager", fullgraph=True)
        self.assertTrue(torch.equal(compiled(images), pooled_relu(images)))
        self.assertTrue(torch.equal(torch.jit.trace(pooled_relu, images)(images), pooled_relu(images)))


class LeNet(unittest.TestCase):
    def test_hooks_of_its_layers_are_called(self):
        net, seen = anesi.LeNet(10), []
        for name, layer in net.named_modules():
            if not list(layer.children()):
                layer.register_forward_hook(lambda module, inputs, output, name=name: seen.append((name, output.shape[1])))
        logits = net(torch.zeros(2, 3, 28, 28))
        self.assertEqual(logits.shape, (2, 3, 10))
        names = ("features.0", "features.1", "classifier.0", "classifier.1", "classifier.2")
        self.assertEqual(seen, list(zip(names, (6, 16, 120, 84, 10))))
        self.assertEqual(net(torch.zeros(0, 3, 28, 28)).shape, (0, 3, 10))


if __name__ == "__main__":
    unittest.main()
