"""A prior over the parameters that z is drawn from: where an outcome model learns.

Most parameters lie around those that perception uses now. The others come from conjugate priors: of categoricals a prior
over beliefs by name, of normals a normal-inverse-gamma that follows what perception emits.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Mapping

import torch

from .. import q
from .draws import Parameters, Sources, noise
from .method import State, below, saved
from .options import one_of

KEPT = 0.99  # of the running averages at each batch: they are of about the last hundred


@dataclass(frozen=True)
class BeliefPriorOptions(q.DirichletFit):
    """
    Attributes:
        kind: of the prior over beliefs.
        concentration: of the fixed Dirichlet.
    """

    kind: str = one_of("fixed", "fitted", "observed", "certain")
    concentration: float = 0.5


class ParameterPrior:
    """
    Args:
        explore: fraction sampled from the prior.
        spread: how far the others lie from perception: of log-beliefs and log-deviations.
    """

    def __init__(self, sources: Sources, explore: float, spread: float, options: BeliefPriorOptions) -> None:
        self.sources, self.explore, self.spread, self._observed = sources, explore, spread, False
        self.normals = NormalInverseGamma(sources.normals)
        settings = {f"prior.{name}": value for name, value in dataclasses.asdict(options).items()}
        self.beliefs = q.make_prior(sources.categoricals, options.kind, settings) if sources.categoricals else None

    @torch.no_grad()
    def observe(self, now: Parameters) -> None:
        """Takes note of the parameters that perception uses."""
        self._observed = True
        if self.sources.normals:
            self.normals.observe(now.mean, now.deviation)
        if self.beliefs is not None:
            self.beliefs.observe(now.beliefs.float())
            self.beliefs.fit()

    @torch.no_grad()
    def sample(self, now: Parameters, count: int, generator: torch.Generator) -> Parameters:
        """So many parameters. Takes note of nothing; before anything was observed, all lie around those of now."""
        result = self._around(now, count, generator)
        rows = (torch.rand(count, generator=generator, dtype=torch.float64) < self.explore).nonzero().squeeze(1)
        if not self._observed or len(rows) == 0:
            return result
        if self.beliefs is not None:
            drawn = self.beliefs.sample(len(rows), generator).double()
            result.beliefs[rows] = drawn / drawn.sum(2, keepdim=True)
        if self.sources.normals:
            result.mean[rows], result.deviation[rows] = self.normals.sample(len(rows), generator)
        return result

    def _around(self, now: Parameters, count: int, generator: torch.Generator) -> Parameters:
        beliefs, mean, deviation = now.rows(torch.randint(now.batch, (count,), generator=generator))
        if self.spread == 0:
            return Parameters(beliefs, mean, deviation)
        weights = beliefs * (self.spread * noise(beliefs, generator)).exp()  # what is impossible stays so
        mean = mean + deviation * self.spread * noise(mean, generator)
        deviation = deviation * (self.spread * noise(deviation, generator)).exp()
        return Parameters(weights / weights.sum(2, keepdim=True), mean, deviation)

    def state(self) -> State:
        state = {"observed": torch.tensor(self._observed)}
        state.update({f"normals.{name}": part for name, part in self.normals.state().items()})
        if self.beliefs is not None:
            state.update({f"beliefs.{name}": part for name, part in self.beliefs.state_dict().items()})
        return state

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        self._observed = bool(saved(state, "observed", torch.bool))
        self.normals.load_state(below(state, "normals."))
        if self.beliefs is not None:
            self.beliefs.load_state_dict(below(state, "beliefs."))


class NormalInverseGamma:
    """Of each normal by itself: variance ~ inverse gamma(shape, scale), mean ~ N(centre, variance / strength). Fitted by
    moments to the means and deviations that were observed."""

    def __init__(self, normals: int) -> None:
        self._averages = torch.zeros(4, normals, dtype=torch.float64)  # of mean, mean^2, variance, variance^2
        self._weight = 0.0

    def observe(self, mean: torch.Tensor, deviation: torch.Tensor) -> None:
        """Of ``[batch, normals]``."""
        self._weight = KEPT * self._weight + 1
        variance = deviation.square()
        values = torch.stack([mean, mean.square(), variance, variance.square()]).mean(1)
        self._averages = self._averages + (values - self._averages) / self._weight

    def sample(self, count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Means and deviations, ``[count, normals]``."""
        mean, mean_square, variance, variance_square = self._averages
        # An inverse gamma has the mean scale / (shape - 1) and the variance mean^2 / (shape - 2).
        shape = (2 + variance.square() / (variance_square - variance.square()).clamp_min(1e-300)).clamp(3, 20)
        # Never surer of the mean than a draw is wide.
        strength = (variance / (mean_square - mean.square()).clamp_min(1e-12)).clamp_max(1)
        gammas = torch._standard_gamma(shape.expand(count, -1).contiguous(), generator).clamp_min(1e-12)
        variances = variance * (shape - 1) / gammas
        return mean + noise(variances, generator) * (variances / strength).sqrt(), variances.sqrt()

    def state(self) -> State:
        return {"averages": self._averages, "weight": torch.tensor(self._weight, dtype=torch.float64)}

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        averages = saved(state, "averages", torch.float64, *self._averages.shape)
        weight = saved(state, "weight", torch.float64).item()
        if weight < 0 or (averages[1:] < 0).any():
            raise ValueError("estimator state: averages below 0")
        self._averages, self._weight = averages, weight
