"""Weighted formulas (Markov logic): exactly by a circuit, by belief propagation, and by importance sampling."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from .. import _engine
from ..q.beliefs import sample_values
from .fitting import FitOptions, fit_weights
from .rows import array, as_rows, check_values, tensor

_ROWS_AT_ONCE = 1 << 16


class Markov:
    """A formula with weights. ``logs`` are log-beliefs, double ``[batch, variables, domain]``; weights ``[clauses]``."""

    def __init__(self, path: str | None, text: str, seconds: float) -> None:
        self.engine, self._told = _engine.Markov(path, text, seconds), (path, text, seconds)

    def __deepcopy__(self, memo: Any) -> Markov:
        return self  # it never changes

    def __reduce__(self) -> Any:
        return Markov, self._told

    @property
    def worlds(self) -> list[int]:
        return self.engine.worlds

    @property
    def weights(self) -> torch.Tensor:
        return torch.tensor(self.engine.weights, dtype=torch.float64)

    @property
    def exact(self) -> bool:
        return self.engine.exact

    @property
    def clauses(self) -> list[list[int]]:
        return self.engine.clauses

    def holds(self, worlds: torch.Tensor) -> torch.Tensor:
        return tensor(self.engine.holds(array(self.checked(worlds))))

    def keeps(self, worlds: torch.Tensor) -> torch.Tensor:
        return tensor(self.engine.keeps(array(self.checked(worlds))))[:, 0] == 1

    def checked(self, worlds: torch.Tensor) -> torch.Tensor:
        rows = as_rows(worlds, len(worlds) if worlds.dim() > 0 else 0, len(self.worlds), "worlds")
        check_values(rows, self.worlds, "worlds")
        return rows

    # Exactly.

    def log_partition(self, logs: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """log Z(P), ``[batch]``, differentiable in both."""
        return _LogPartition.apply(logs, weights.to("cpu", torch.float64), self.engine.log_partition)  # type: ignore[no-any-return, no-untyped-call]

    def expected(self, logs: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """How likely each clause holds, ``[batch, clauses]``."""
        return self._slopes(logs, weights)[1]

    def marginals(self, logs: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        return self._slopes(logs, weights)[0]

    def covariance(self, logs: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        clauses = len(weights)
        found = torch.empty(len(logs), clauses, clauses, dtype=torch.float64)
        self.engine.covariance(array(logs), array(weights), found.numpy(), torch.get_num_threads())
        return found

    def _slopes(self, logs: torch.Tensor, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        found, by_beliefs = torch.empty(len(logs), dtype=torch.float64), torch.zeros(logs.shape, dtype=torch.float64)
        by_weights = torch.zeros(len(logs), len(weights), dtype=torch.float64)
        self.engine.log_partition(
            array(logs), array(weights), found.numpy(), by_beliefs.numpy(), by_weights.numpy(), torch.get_num_threads()
        )
        return by_beliefs, by_weights

    def most_probable(self, logs: torch.Tensor, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        worlds = torch.empty(logs.shape[:2], dtype=torch.int64)
        log_prob = torch.empty(len(logs), dtype=torch.float64)
        self.engine.most_probable(array(logs), array(weights), worlds.numpy(), log_prob.numpy(), torch.get_num_threads())
        return worlds, log_prob

    def sample(self, logs: torch.Tensor, weights: torch.Tensor, seed: int) -> torch.Tensor:
        worlds = torch.empty(logs.shape[:2], dtype=torch.int64)
        self.engine.sample(array(logs), array(weights), worlds.numpy(), seed, torch.get_num_threads())
        return worlds

    # By belief propagation.

    def predicted(self, beliefs: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """log Z(P) by belief propagation, ``[batch]``, differentiable in both."""
        logs = _logs(beliefs)
        return _LogPartition.apply(logs, weights.to("cpu", torch.float64), self.engine.propagated)  # type: ignore[no-any-return, no-untyped-call]

    # By importance sampling.

    def draw(
        self, logs: torch.Tensor, weights: torch.Tensor, samples: int, generator: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Worlds int64 ``[batch, samples, variables]``, each variable by itself as belief propagation says, and by how
        much p(w|P) is more likely than the draw, ``[batch, samples]``: -inf if a world breaks a hard clause."""
        batch, variables, _ = logs.shape
        found, shares = torch.empty(batch, dtype=torch.float64), torch.zeros(logs.shape, dtype=torch.float64)
        self.engine.propagated(array(logs), array(weights), found.numpy(), shares.numpy(), None, torch.get_num_threads())
        # A share of the beliefs themselves, so that no world is left out that has weight.
        proposal = 0.9 * shares.clamp_min(0) / shares.clamp_min(0).sum(2, keepdim=True).clamp_min(1e-300) + 0.1 * logs.exp()
        proposal = proposal / proposal.sum(2, keepdim=True)
        worlds = sample_values(proposal.unsqueeze(1).expand(-1, samples, -1, -1), generator)
        ratio = (logs - proposal.log()).nan_to_num(nan=-torch.inf).unsqueeze(1).expand(-1, samples, -1, -1)
        log_ratio = ratio.gather(3, worlds.unsqueeze(3)).squeeze(3).sum(2)
        keeps = torch.cat([self.keeps(rows) for rows in worlds.view(-1, variables).split(_ROWS_AT_ONCE)])  # type: ignore[no-untyped-call]
        return worlds, log_ratio.masked_fill(~keeps.view(batch, samples), -torch.inf)

    def estimate(
        self, beliefs: torch.Tensor, weights: torch.Tensor, samples: int, seed: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """log Z(P), bounds of 95 % and the effective number of samples, ``[batch]`` each."""
        weights = weights.to("cpu", torch.float64)
        worlds, log_ratio = self.draw(_logs(beliefs), weights, samples, torch.Generator().manual_seed(seed))
        logs = log_ratio + self.holds_of(worlds) @ weights
        return estimated(logs)

    def holds_of(self, worlds: torch.Tensor) -> torch.Tensor:
        """Of worlds ``[batch, samples, variables]``, ``[batch, samples, clauses]``."""
        rows = worlds.view(-1, worlds.shape[2])
        holds = torch.cat([self.holds(some) for some in rows.split(_ROWS_AT_ONCE)])  # type: ignore[no-untyped-call]
        return holds.view(*worlds.shape[:2], -1)

    def fit(
        self,
        worlds: torch.Tensor,
        beliefs: torch.Tensor | None,
        by: str,
        samples: int,
        deviation: float,
        tied: bool,
        seed: int,
    ) -> dict[str, Any]:
        return fit_weights(self, self.checked(worlds), beliefs, FitOptions(by, samples, deviation, tied, seed))


def estimated(logs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The mean of the terms, from their logarithms ``[batch, samples]``: its logarithm, bounds of 95 % of that, and how many
    terms of equal weight would say as much."""
    samples = logs.shape[1]
    largest = logs.amax(1, keepdim=True).nan_to_num(0, 0, 0)
    terms = (logs - largest).exp()
    mean = terms.mean(1)
    error = terms.std(1) / samples**0.5 if samples > 1 else torch.full_like(mean, torch.inf)
    shift = largest.squeeze(1)
    low, high = (mean - 1.96 * error).clamp_min(0).log() + shift, (mean + 1.96 * error).log() + shift
    effective = terms.sum(1).square() / terms.square().sum(1).clamp_min(1e-300)
    return mean.log() + shift, low, high, effective


def _logs(beliefs: torch.Tensor) -> torch.Tensor:
    none = beliefs <= 0
    return beliefs.double().masked_fill(none, 1).log().masked_fill(none, -torch.inf)


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logs: torch.Tensor, weights: torch.Tensor, ask: Any) -> torch.Tensor:
        found = torch.empty(len(logs), dtype=torch.float64)
        by_beliefs = torch.zeros(logs.shape, dtype=torch.float64) if ctx.needs_input_grad[0] else None
        by_weights = torch.zeros(len(logs), len(weights), dtype=torch.float64) if ctx.needs_input_grad[1] else None
        slopes = [None if part is None else part.numpy() for part in (by_beliefs, by_weights)]
        ask(array(logs), array(weights), found.numpy(), *slopes, torch.get_num_threads())
        ctx.slopes = by_beliefs, by_weights
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: torch.Tensor) -> Any:
        by_beliefs, by_weights = ctx.slopes
        logs = None if by_beliefs is None else upstream.view(-1, 1, 1) * by_beliefs
        weights = None if by_weights is None else upstream @ by_weights
        return logs, weights, None
