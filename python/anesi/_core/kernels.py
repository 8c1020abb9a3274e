"""Compiled functions in the place of the same arithmetic in ``anesi.q``: what an update of q spent half its time in."""

from __future__ import annotations

import torch

from .. import _engine, q
from ..q.dirichlet import Objective

Moved = tuple[torch.Tensor, torch.Tensor, torch.Tensor]  # x and its moments


def compiled(prior: q.Prior) -> q.Prior:
    """The prior itself."""
    if isinstance(prior, q.FittedDirichlet):
        prior.adam, prior.add_logs = fit_by_adam, add_logs
    if isinstance(prior, q.Dirichlet):
        prior.draw = draw_dirichlets
    return prior


def fit_by_adam(
    objective: Objective, x: torch.Tensor, first: torch.Tensor, second: torch.Tensor, before: int, steps: int, lr: float
) -> None:
    """As :func:`anesi.q.dirichlet.adam`."""
    inside, moved = objective.inside, (x, first, second)
    if objective.is_full:
        variables, width = inside.shape
        _fit(objective, [width] * variables, objective.mean_log_beliefs, moved, before, steps, lr)
        return
    own = (x[inside], first[inside], second[inside])
    _fit(objective, inside.sum(1).tolist(), objective.mean_log_beliefs[inside], own, before, steps, lr)
    for part, new in zip(moved, own):
        part[inside] = new


def _fit(
    objective: Objective, domains: list[int], mean_logs: torch.Tensor, moved: Moved, before: int, steps: int, lr: float
) -> None:
    x, first, second = (part.numpy() for part in moved)
    beliefs, l2 = objective.beliefs, objective.l2
    _engine.fit_dirichlets_by_adam(domains, mean_logs.numpy(), beliefs, l2, x, first, second, before, steps, lr)


def add_logs(beliefs: torch.Tensor, sign: int, sums: torch.Tensor) -> None:
    """As :func:`anesi.q.dirichlet.add_logs`."""
    _engine.add_log_beliefs(beliefs.numpy(), sign, sums.numpy())


def draw_dirichlets(concentration: torch.Tensor, count: int, generator: torch.Generator) -> torch.Tensor:
    """As :func:`anesi.q.priors.sample_dirichlet`, from other random numbers."""
    seed = int(torch.randint(2**63 - 1, (), generator=generator))
    beliefs = torch.empty(count, *concentration.shape)
    _engine.draw_dirichlets(concentration.numpy(), seed, beliefs.numpy(), torch.get_num_threads())
    return beliefs
