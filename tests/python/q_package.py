"""The package anesi.q, or this checkout's if there is no installed one: it needs nothing but torch.

With it come small problems that tests of q share, and exact answers by enumeration.
"""

import importlib.util
import itertools
import pathlib
import sys

import torch

try:
    from anesi import q
except ImportError:
    folder = pathlib.Path(__file__).resolve().parents[2] / "python/anesi/q"
    spec = importlib.util.spec_from_file_location("anesi_q", folder / "__init__.py", submodule_search_locations=[str(folder)])
    q = importlib.util.module_from_spec(spec)
    sys.modules["anesi_q"] = q
    spec.loader.exec_module(q)

torch.set_num_threads(1)  # what tests compute is small: threads only wait for each other

SETTINGS = {"mlp.layers": 2, "mlp.width": 12, "scan.width": 8, "transducer.states": 3}


def points(domains):
    """Every point of a space, int64 [points, variables]."""
    return torch.tensor(list(itertools.product(*(range(domain) for domain in domains))))


class Enumerated:
    """A pruner that looks at all worlds."""

    def __init__(self, worlds, outputs, function):
        self.worlds, self.output_domains, self.world_domains = points(worlds), outputs, worlds
        self.outputs = function(self.worlds)

    def allow_outputs(self, chosen, variable):
        fits = self.agree(self.outputs, chosen)
        return self.values(fits, self.outputs[:, variable], self.output_domains[variable])

    def allow_worlds(self, outputs, chosen, variable):
        fits = self.agree(self.outputs, outputs) & self.agree(self.worlds, chosen)
        return self.values(fits, self.worlds[:, variable], self.world_domains[variable])

    @staticmethod
    def agree(known, chosen):
        """bool [rows, worlds]"""
        chosen = chosen.unsqueeze(1)
        return ((known.unsqueeze(0) == chosen) | (chosen == q.UNSET)).all(2)

    @staticmethod
    def values(fits, value, domain):
        return torch.stack([fits[:, value == one].any(1) for one in range(domain)], 1)


def addition(digits=2, base=3):
    """Two numbers digit by digit; the sum has one digit more. Digits are read from the last to the first."""
    worlds, outputs = [base] * (2 * digits), [2] + [base] * digits

    def add(world):
        carry, sums = torch.zeros(len(world), dtype=torch.int64), []
        for place in reversed(range(digits)):
            total = world[:, place] + world[:, digits + place] + carry
            sums.append(total % base)
            carry = total // base
        return torch.stack([carry, *reversed(sums)], 1)

    steps = [q.Step([place, digits + place], place + 1) for place in reversed(range(digits))]
    order = q.ReadingOrder(worlds, outputs, [*steps, q.Step([], 0, 1)])
    return q.Problem(worlds, outputs, add, order, Enumerated(worlds, outputs, add))


def uneven():
    """Domains of several sizes, and no reading order."""
    worlds, outputs = [3, 2, 4], [5, 2]

    def function(world):
        return torch.stack([world[:, 0] + world[:, 1] + (world[:, 2] == 3), (world[:, 2] + world[:, 1]) % 2], 1)

    return q.Problem(worlds, outputs, function, None, Enumerated(worlds, outputs, function))


def constraint():
    """All labels say that the three variables differ, which holds in 6 of 27 worlds."""
    worlds, outputs = [3, 3, 3], [2]

    def differ(world):
        a, b, c = world.unbind(1)
        return ((a != b) & (b != c) & (a != c)).long().unsqueeze(1)

    return q.Problem(worlds, outputs, differ, None, Enumerated(worlds, outputs, differ), [1])


def random_beliefs(domains, batch, seed, dtype=torch.float32, scale=2.0):
    logits = torch.randn(batch, len(domains), max(domains), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    past = torch.arange(max(domains)) >= torch.tensor(domains).unsqueeze(1)
    return (logits * scale).masked_fill(past, -torch.inf).softmax(2).to(dtype)


class Exact:
    """p(w|P), p(y|P) and p(w|y,P) by enumeration, in double precision."""

    def __init__(self, problem, beliefs):
        self.worlds, self.points = points(problem.worlds), points(problem.outputs)
        self.outputs = problem.function(self.worlds)
        variables = torch.arange(len(problem.worlds))
        self.of_worlds = beliefs.double()[:, variables, self.worlds].prod(2)  # [batch, worlds]
        self.gives = (self.outputs.unsqueeze(1) == self.points.unsqueeze(0)).all(2)  # [worlds, points]
        self.of_outputs = self.of_worlds @ self.gives.double()  # [batch, points]


def every_point(model, beliefs, outputs=None):
    """log q of every point of the model's space, [batch, points]."""
    every = points(model.domains)
    repeat = len(every)
    of_each = model.log_prob(
        beliefs.repeat_interleave(repeat, 0),
        every.repeat(len(beliefs), 1),
        None if outputs is None else outputs.repeat_interleave(repeat, 0),
    )
    return of_each.view(len(beliefs), repeat)
