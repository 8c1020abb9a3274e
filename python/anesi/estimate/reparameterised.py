"""Reparameterisation: z = mean + deviation * noise, so that g's own derivative carries the gradient.

For normals, and for a g that has a derivative everywhere: at a jump it is silently wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from .draws import Ask, Draws, Parameters, Sources, noise
from .method import Method
from .options import number


@dataclass(frozen=True)
class ReparameterisedOptions:
    """
    Attributes:
        samples: draws of z for each example.
        difference: step of central differences, which query g twice more for each normal; 0: use g's own gradient.
    """

    samples: int = number(4, 1, 1_000_000)
    difference: float = number(0.0, 0, 1000)


class Reparameterised(Method):
    Options = ReparameterisedOptions

    def __init__(self, sources: Sources, outcomes: int, options: Any, generator: torch.Generator) -> None:
        super().__init__(sources, outcomes, options, generator)
        if sources.categoricals:
            raise ValueError("reparameterised: it is for normals alone; z has categoricals")

    def estimate(self, at: Parameters, ask: Ask, generator: torch.Generator) -> torch.Tensor:
        many = at.repeated(self.options.samples)
        real = many.mean + many.deviation * noise(many.mean, generator)
        outcomes = self._by_differences(real, ask) if self.options.difference else self._by_gradient(real, ask)
        return outcomes.view(at.batch, self.options.samples, self.outcomes).mean(1)

    def _by_gradient(self, real: torch.Tensor, ask: Ask) -> torch.Tensor:
        # g sees reals that ask for gradients even if nobody wants one, so that a g without any is found out at once.
        with torch.enable_grad():
            outcomes = ask(_draws(real if real.requires_grad else real.detach().requires_grad_()))
        if len(real) and not outcomes.requires_grad:
            raise ValueError(
                "reparameterised: g gives no gradient by the reals; write it with torch operations, or set difference=1e-3"
            )
        return outcomes

    def _by_differences(self, real: torch.Tensor, ask: Ask) -> torch.Tensor:
        at, normals, size = real.detach(), self.sources.normals, self.options.difference
        step = size * torch.eye(normals, dtype=torch.float64).unsqueeze(1)  # [normals, 1, normals]
        asked = torch.cat([at.unsqueeze(0), at + step, at - step])  # [1 + 2 normals, rows, normals]
        answers = ask(_draws(asked.flatten(0, 1))).detach().view(*asked.shape[:2], self.outcomes)
        value, above, below = answers[0], answers[1 : normals + 1], answers[normals + 1 :]
        slope = (above - below) / (2 * size)  # [normals, rows, outcomes]
        return value + torch.einsum("nro,rn->ro", slope, real - at)


def _draws(real: torch.Tensor) -> Draws:
    return Draws(torch.zeros(len(real), 0, dtype=torch.int64), real)
