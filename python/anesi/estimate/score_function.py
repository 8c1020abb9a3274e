"""The score function: E[g(z)] has the gradient E[g(z) grad log p(z|P)], for any g and any z. Unbiased."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from .draws import Ask, Parameters, draw, log_prob
from .method import Method, with_gradient_of
from .options import number


@dataclass(frozen=True)
class ReinforceOptions:
    """
    Attributes:
        samples: draws of z for each example.
    """

    samples: int = number(4, 1, 1_000_000)


class Reinforce(Method):
    """REINFORCE (Williams, 1992): of high variance."""

    Options: ClassVar[type[Any]] = ReinforceOptions

    def estimate(self, at: Parameters, ask: Ask, generator: torch.Generator) -> torch.Tensor:
        samples = self.options.samples
        many = at.repeated(samples)
        draws = draw(many, generator)
        outcomes = ask(draws).detach().view(at.batch, samples, self.outcomes)  # [batch, samples, outcomes]
        log_probs = log_prob(many, draws).view(at.batch, samples, 1)
        surrogate = (self.weights(outcomes) * log_probs).mean(1)
        return with_gradient_of(surrogate, outcomes.mean(1))

    def weights(self, outcomes: torch.Tensor) -> torch.Tensor:
        """What log p(z|P) of each draw is multiplied by, ``[batch, samples, outcomes]``."""
        return outcomes


@dataclass(frozen=True)
class LeaveOneOutOptions:
    """
    Attributes:
        samples: draws of z for each example.
    """

    samples: int = number(4, 2, 1_000_000)


class LeaveOneOut(Reinforce):
    """RLOO: the mean of an example's other outcomes is the baseline of each (Kool et al., 2019)."""

    Options = LeaveOneOutOptions

    def weights(self, outcomes: torch.Tensor) -> torch.Tensor:
        others = outcomes.sum(1, keepdim=True) - outcomes
        return torch.sub(outcomes, others / (self.options.samples - 1))
