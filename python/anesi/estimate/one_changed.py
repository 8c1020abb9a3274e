"""IndeCateR and straight-through Gumbel-softmax, which query g with every draw with one of its variables changed.

That costs 1 + sum of (values - 1) calls of g for each draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from .draws import Ask, Draws, Parameters, Sources, draw
from .method import Method, with_gradient_of
from .options import number


@dataclass(frozen=True)
class IndecaterOptions:
    """
    Attributes:
        samples: draws of z for each example, each queried with one variable changed.
    """

    samples: int = number(1, 1, 1_000_000)


class Indecater(Method):
    """IndeCateR (De Smet et al., 2023): REINFORCE for independent categoricals, Rao-Blackwellised.

    The derivative by P_i(v) is E[g(z with z_i = v)], the mean over the other variables. Unbiased, of low variance.
    """

    Options = IndecaterOptions

    def __init__(self, sources: Sources, outcomes: int, options: Any, generator: torch.Generator) -> None:
        super().__init__(sources, outcomes, options, generator)
        require_no_normals("indecater", sources)

    def estimate(self, at: Parameters, ask: Ask, generator: torch.Generator) -> torch.Tensor:
        each = (at.batch, self.options.samples)
        draws = draw(at.repeated(self.options.samples), generator)
        own, changed = outcomes_with_one_changed(draws, self.sources, ask)
        derivative = changed.view(*each, *changed.shape[1:]).mean(1)  # [batch, variables, domain, outcomes]
        surrogate = (at.beliefs.unsqueeze(3) * derivative).sum((1, 2))
        return with_gradient_of(surrogate, own.view(*each, self.outcomes).mean(1))


@dataclass(frozen=True)
class GumbelOptions:
    """
    Attributes:
        samples: draws of z for each example, each queried with one variable changed.
        temperature: of the softmax; low ones have less bias and more variance.
    """

    samples: int = number(1, 1, 1_000_000)
    temperature: float = number(1.0, 1e-3, 100)


class Gumbel(Method):
    """Straight-through Gumbel-softmax (Jang et al., 2017): g is queried with a hard draw, and the gradient passes as if
    the draw were the softmax that it was rounded from. Biased.

    g knows no soft values, so its derivative by a one-hot value is a difference: g(z with z_i = v) - g(z).
    """

    Options = GumbelOptions

    def __init__(self, sources: Sources, outcomes: int, options: Any, generator: torch.Generator) -> None:
        super().__init__(sources, outcomes, options, generator)
        require_no_normals("gumbel", sources)

    def estimate(self, at: Parameters, ask: Ask, generator: torch.Generator) -> torch.Tensor:
        many = at.repeated(self.options.samples)
        impossible = many.beliefs.detach() <= 0
        uniform = torch.rand(many.beliefs.shape, generator=generator, dtype=torch.float64).clamp_min(1e-300)
        scores = many.beliefs.masked_fill(impossible, 1).log() - (-uniform.log()).log()
        scores = scores.masked_fill(impossible, -torch.inf)
        soft = (scores / self.options.temperature).softmax(2)  # [rows, variables, domain]
        own, changed = outcomes_with_one_changed(Draws(scores.detach().argmax(2), many.mean), self.sources, ask)
        differences = changed - own[:, None, None]  # past a domain, soft is zero
        surrogate = (soft.unsqueeze(3) * differences).sum((1, 2))
        result = with_gradient_of(surrogate, own).view(at.batch, self.options.samples, self.outcomes)
        return result.mean(1)


def outcomes_with_one_changed(draws: Draws, sources: Sources, ask: Ask) -> tuple[torch.Tensor, torch.Tensor]:
    """g of every draw, ``[rows, outcomes]``, and of it with variable i set to v, ``[rows, variables, domain, outcomes]``
    (zero past a domain). g is asked once about each different z of a row."""
    inside = sources.inside  # [variables, domain]
    is_own = torch.nn.functional.one_hot(draws.discrete, inside.shape[1]).bool()  # [rows, variables, domain]
    row, variable, value = (inside & ~is_own).nonzero(as_tuple=True)
    changed = draws.rows(row)
    changed.discrete[torch.arange(len(row)), variable] = value
    rows = len(draws.discrete)
    answers = ask(draws.joined(changed)).detach()
    own, others = answers[:rows], answers[rows:]
    result = answers.new_zeros(*is_own.shape, answers.shape[1])
    result[is_own] = own.repeat_interleave(inside.shape[0], 0)
    result[row, variable, value] = others
    return own, result


def require_no_normals(name: str, sources: Sources) -> None:
    if sources.normals:
        raise ValueError(f"{name}: it is for categoricals alone; z has normals")
