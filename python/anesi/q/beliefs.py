"""Beliefs: what perception says of a world.

A belief P has one distribution for each world variable; p(w|P) is their product. Beliefs are float tensors
``[batch, variables, largest domain]`` whose rows sum to one and are zero past a variable's own domain.
"""

from __future__ import annotations

from typing import Sequence

import torch

from .problem import UNSET


def domain_mask(domains: Sequence[int]) -> torch.Tensor:
    """True inside each variable's domain, bool ``[variables, largest domain]``."""
    return torch.arange(max(domains)) < torch.tensor(list(domains)).unsqueeze(1)


def check_beliefs(beliefs: torch.Tensor, domains: Sequence[int], inside: torch.Tensor | None = None) -> None:
    """Raises ValueError if these are no beliefs; names the first bad row. ``inside`` is the domains' mask, if at hand."""
    if beliefs.dim() != 3 or beliefs.shape[1:] != (len(domains), max(domains)) or not beliefs.is_floating_point():
        expected = f"(batch, {len(domains)}, {max(domains)}) of floating-point numbers"
        raise ValueError(f"beliefs: shape {tuple(beliefs.shape)}, expected {expected}")
    rows = beliefs.detach()
    inside = (domain_mask(domains) if inside is None else inside).to(rows.device)
    # Written so that NaN is wrong. Past the domain, only 0 is right.
    if not ((rows >= 0) & (rows * inside == rows)).all() or not ((rows.sum(2) - 1).abs() < 1e-3).all():
        good = ((rows >= 0) & (rows * inside == rows)).all(2) & ((rows.sum(2) - 1).abs() < 1e-3)
        example, variable = (~good).nonzero()[0].tolist()
        row = rows[example, variable].tolist()
        what = f"not probabilities of {domains[variable]} values: {row}"
        raise ValueError(f"beliefs: example {example}, variable {variable}: {what}")


def uniform(generator: torch.Generator, *shape: int, like: torch.Tensor) -> torch.Tensor:
    """Numbers in [0, 1), of the type and on the device of ``like``, wherever the generator is."""
    return torch.rand(*shape, generator=generator, device=generator.device, dtype=like.dtype).to(like.device)


def sample_values(probs: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One value from each distribution, ``[..., domain]`` to int64 ``[...]``. Impossible values are never drawn."""
    # By inversion. The draw is scaled by the total, which rounding may leave below one, and kept below it.
    cumulative = probs.detach().cumsum(-1)
    draws = uniform(generator, *probs.shape[:-1], 1, like=cumulative).clamp_max(1 - 1e-6)
    return (cumulative <= draws * cumulative[..., -1:]).sum(-1)


def sample_worlds(beliefs: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One world from each belief, int64 ``[batch, variables]``."""
    return sample_values(beliefs, generator)


def certain_beliefs(worlds: torch.Tensor, width: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The belief that is certain of each world, ``[batch, variables, width]``."""
    beliefs = torch.zeros(*worlds.shape, width, dtype=dtype, device=worlds.device)
    return beliefs.scatter_(2, worlds.unsqueeze(2), 1.0)


def world_log_prob(beliefs: torch.Tensor, worlds: torch.Tensor) -> torch.Tensor:
    """log p(w|P), ``[batch]``; -inf if the world is impossible."""
    return beliefs.gather(2, worlds.unsqueeze(2)).squeeze(2).log().sum(1)


def clamped(beliefs: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
    """Beliefs with the known variables made certain.

    Args:
        known: int64 ``[batch, variables]``, ``UNSET`` if a variable is not known.
    """
    certain = certain_beliefs(known.clamp_min(0), beliefs.shape[2], beliefs.dtype)
    return torch.where((known != UNSET).unsqueeze(2), certain, beliefs)


def log_beliefs(beliefs: torch.Tensor) -> torch.Tensor:
    """log of beliefs in double precision. Impossible values are at -inf and have no gradient (0 / 0 otherwise)."""
    possible = beliefs > 0
    return torch.where(possible, beliefs, 1).double().log().masked_fill(~possible, -torch.inf)


def finite_logs(beliefs: torch.Tensor) -> torch.Tensor:
    """log of beliefs in double precision. A belief that softmax rounded to zero counts as the smallest float, so that one
    such row does not make a loss infinite."""
    return beliefs.clamp_min(torch.finfo(torch.float32).tiny).double().log()


def known_log_prob(log_beliefs: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
    """log p(w_S|P) of the known variables S alone, ``[batch]``."""
    chosen = log_beliefs.gather(2, known.clamp_min(0).unsqueeze(2)).squeeze(2)
    return chosen.masked_fill(known == UNSET, 0).sum(1)
