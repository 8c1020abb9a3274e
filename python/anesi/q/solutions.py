"""Worlds that give the one output that all labels are about, and beliefs around them (policy ``solutions``).

If almost no world gives that output, q(w|y,P) learns nothing from worlds drawn at random. Worlds are drawn evenly among
those that do: variable by variable among what the pruner allows, then again in proportion to how unlikely that was. A belief
is then drawn from a Dirichlet that has seen the world once. As the Dirichlet is conjugate to beliefs, and here favours no
value, the worlds behind a belief P that was drawn so are distributed as p(w|y,P): just what q is to learn.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from .beliefs import domain_mask, sample_values
from .problem import UNSET, Problem

TRIED_FOR_EACH = 8  # worlds that are tried for each that is drawn
SUREST, LEAST_SURE = 0.05, 2.0  # concentrations of the beliefs, drawn evenly by logarithm


class Drawn(NamedTuple):
    beliefs: torch.Tensor  # [count, variables, domain]
    worlds: torch.Tensor  # int64 [count, variables], distributed as p(w|y,P)
    outputs: torch.Tensor  # int64 [count, outputs], all the same


def draw_solutions(problem: Problem, count: int, generator: torch.Generator) -> Drawn:
    worlds = _even_solutions(problem, count, generator)
    inside = domain_mask(problem.worlds)
    spread = torch.rand(*worlds.shape, 1, generator=generator, dtype=torch.float64)
    concentration = SUREST * (spread * math.log(LEAST_SURE / SUREST)).exp()
    seen = torch.nn.functional.one_hot(worlds, inside.shape[1]).double()
    shares = torch._standard_gamma(concentration + seen, generator).masked_fill(~inside, 0)
    beliefs = (shares / shares.sum(2, keepdim=True)).float()
    return Drawn(beliefs, worlds, torch.tensor(problem.asked).expand(count, -1))


def _even_solutions(problem: Problem, count: int, generator: torch.Generator) -> torch.Tensor:
    """Worlds that give the asked output, evenly distributed, int64 ``[count, variables]``."""
    if problem.pruner is None or problem.asked is None:
        raise ValueError("q.policy=solutions: the problem has no pruner, or no output that all labels are about")
    tried = TRIED_FOR_EACH * count
    outputs = torch.tensor(problem.asked).expand(tried, -1)
    worlds = torch.full((tried, len(problem.worlds)), UNSET)
    log_prob = torch.zeros(tried, dtype=torch.float64)
    for variable in range(len(problem.worlds)):
        allowed = problem.pruner.allow_worlds(outputs, worlds, variable).double()
        choices = allowed.sum(1)
        # A draw that came to a dead end, as a pruner that allows too much may lead to, has no weight.
        log_prob += torch.where(choices > 0, -choices.log(), torch.inf)
        even = torch.where(choices.unsqueeze(1) > 0, allowed, 1.0)
        worlds = worlds.clone()
        worlds[:, variable] = sample_values(even / even.sum(1, keepdim=True), generator)
    if log_prob.isposinf().all():
        raise ValueError("q.policy=solutions: none was found under the pruner")
    weights = (-log_prob).softmax(0)
    return worlds[torch.multinomial(weights, count, replacement=True, generator=generator)]
