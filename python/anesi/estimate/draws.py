"""What the expectation is over: z, whole numbers drawn from categoricals and real numbers drawn from normals.

All is computed in double precision on the CPU, wherever the network is; gradients pass through.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Callable, NamedTuple, Sequence

import torch

from ..q.beliefs import certain_beliefs, check_beliefs, domain_mask, sample_values, world_log_prob


class Sources:
    """What z is made of. Either part may be missing.

    Attributes:
        categoricals: how many values each whole number has.
        normals: how many real numbers there are.
    """

    def __init__(self, categoricals: Sequence[int], normals: int) -> None:
        self.categoricals, self.normals = list(categoricals), normals

    @cached_property
    def inside(self) -> torch.Tensor:
        """True inside each variable's domain, bool ``[variables, largest domain]``."""
        return domain_mask(self.categoricals) if self.categoricals else torch.zeros(0, 0, dtype=torch.bool)

    @property
    def sizes(self) -> torch.Tensor:
        return torch.tensor([*self.categoricals, self.normals])


class Parameters(NamedTuple):
    """P, of a batch. Parts that z does not have are empty."""

    beliefs: torch.Tensor  # [batch, variables, largest domain], rows sum to one
    mean: torch.Tensor  # [batch, normals]
    deviation: torch.Tensor  # [batch, normals]

    @property
    def batch(self) -> int:
        return len(self.mean)

    def detached(self) -> Parameters:
        return Parameters(*(part.detach() for part in self))

    def rows(self, index: torch.Tensor) -> Parameters:
        return Parameters(*(part[index] for part in self))

    def repeated(self, each: int) -> Parameters:
        """Every row so many times, beside each other."""
        return Parameters(*(part.repeat_interleave(each, 0) for part in self))


class Draws(NamedTuple):
    """z, of so many rows."""

    discrete: torch.Tensor  # int64 [rows, variables]
    real: torch.Tensor  # [rows, normals]

    def rows(self, index: slice | torch.Tensor) -> Draws:
        return Draws(self.discrete[index], self.real[index])

    def joined(self, more: Draws) -> Draws:
        return Draws(torch.cat([self.discrete, more.discrete]), torch.cat([self.real, more.real]))

    def in_words(self, row: int) -> str:
        """``[0, 2]``, ``[0.25]`` or ``[0, 2 | 0.25]``."""
        whole = ", ".join(map(str, self.discrete[row].tolist()))
        real = ", ".join(f"{value:.6g}" for value in self.real[row].tolist())
        return f"[{whole}{' | ' if whole and real else ''}{real}]"


Ask = Callable[[Draws], torch.Tensor]  #: g of draws, double [rows, outcomes]


def checked(
    sources: Sources, beliefs: torch.Tensor | None, mean: torch.Tensor | None, deviation: torch.Tensor | None
) -> Parameters:
    """What a caller gives, as parameters. Raises ValueError that names what is wrong."""
    if beliefs is None and mean is None:
        raise ValueError("parameters: there are none")
    if sources.categoricals:
        if beliefs is None:
            raise ValueError(f"beliefs: missing, of {len(sources.categoricals)} variables")
        beliefs = _double(beliefs, "beliefs")
        check_beliefs(beliefs, sources.categoricals, sources.inside)
    elif beliefs is not None and beliefs.numel() > 0:
        raise ValueError("beliefs: z has no categoricals")
    else:
        beliefs = torch.zeros(0 if mean is None else len(mean), 0, 0, dtype=torch.float64)
    mean = _checked_normals(mean, "mean", len(beliefs), sources.normals)
    deviation = _checked_normals(deviation, "deviation", len(beliefs), sources.normals)
    _refuse(deviation <= 0, "deviation", "it must be above zero")
    return Parameters(beliefs, mean, deviation)


def _checked_normals(values: torch.Tensor | None, name: str, batch: int, normals: int) -> torch.Tensor:
    if values is None:
        if normals:
            raise ValueError(f"{name}: missing, of {normals} normals")
        return torch.zeros(batch, 0, dtype=torch.float64)
    result = _double(values, name)
    if not values.is_floating_point() or values.shape != (batch, normals):
        shape = f"shape {tuple(values.shape)} of {values.dtype}"
        raise ValueError(f"{name}: {shape}, expected floating-point numbers of ({batch}, {normals})")
    _refuse(~result.isfinite(), name, "not a number or infinite")
    return result


def _refuse(wrong: torch.Tensor, name: str, why: str) -> None:
    if wrong.any():
        example, normal = wrong.nonzero()[0].tolist()
        raise ValueError(f"{name}: example {example}, normal {normal}: {why}")


def _double(values: torch.Tensor, name: str) -> torch.Tensor:
    if not isinstance(values, torch.Tensor):
        raise TypeError(f"{name}: a tensor is expected, not {type(values).__name__}")
    result = values.to("cpu", torch.float64)
    return result.clone() if result.is_inference() else result


@torch.no_grad()
def draw(at: Parameters, generator: torch.Generator) -> Draws:
    """One draw for each row."""
    discrete = sample_values(at.beliefs, generator)
    return Draws(discrete, at.mean + at.deviation * noise(at.mean, generator))


def noise(like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Standard normal, of that shape."""
    return torch.randn(like.shape, generator=generator, dtype=torch.float64)


def log_prob(at: Parameters, draws: Draws) -> torch.Tensor:
    """log p(z|P) of a draw of each row, ``[rows]``. Differentiable in P."""
    off = (draws.real - at.mean) / at.deviation
    of_normals = -0.5 * off.square() - at.deviation.log() - 0.5 * math.log(2 * math.pi)
    return world_log_prob(at.beliefs, draws.discrete) + of_normals.sum(1)


def certain(draws: Draws, sources: Sources) -> Parameters:
    """Parameters that are certain of each draw: deviations are zero."""
    beliefs = certain_beliefs(draws.discrete, sources.inside.shape[1], torch.float64)
    return Parameters(beliefs, draws.real, torch.zeros_like(draws.real))
