"""Rules that need not hold: weighted clauses as soft constraints (Markov logic)."""

from __future__ import annotations

import os
from typing import Iterable, NamedTuple, Sequence, Tuple, Union

import torch

from . import _arguments
from . import _core
from .answers import MostProbable

Clause = Tuple[Union[float, None], Sequence[int]]


class Fit(NamedTuple):
    """Weights that were found, and how sure they are."""

    weights: torch.Tensor
    """``[clauses]``"""
    errors: torch.Tensor
    """``[clauses]``: their standard errors."""
    log_likelihood: float
    """Of a world, in the mean."""
    converged: bool


class Estimate(NamedTuple):
    """log Z from worlds that were drawn, ``[batch]`` each."""

    log_partition: torch.Tensor
    low: torch.Tensor
    """log Z is above this, and below ``high``, with 95 %."""
    high: torch.Tensor
    effective: torch.Tensor
    """Sample size: as many draws from p(w|P) itself would say as much."""


class Knowledge(torch.nn.Module):
    """Clauses that should hold, each with a weight, beside clauses that must.

    A world w has the probability ``p(w|P) = prod_i P_i(w_i) exp(sum of the weights of the clauses that hold) / Z(P)``,
    if it keeps the hard clauses. A weight below zero is of a clause that rather does not hold. The weights are a
    parameter, so that an optimizer can learn them beside a network; :meth:`fit` finds them from worlds at once.

    Args:
        formula: a file in WCNF, of either format, or pairs of a weight and a clause: literals as whole numbers, 3 says
            that variable 3 holds, -3 that it does not. The weight is None where the clause must hold.
        seconds: time limit for compiling the formula. If it does not compile there are no exact answers, but approximate
            ones by ``"propagation"`` and ``"sampling"``.

    Example:
        >>> import torch, anesi
        >>> know = anesi.markov.Knowledge([(1.5, [-1, 2]), (None, [1, 3])])  # 1 rather implies 2; 1 or 3 holds
        >>> know.worlds
        [2, 2, 2]
        >>> logits = torch.zeros(1, 3, 2)
        >>> round(know.log_partition(logits).item(), 3)  # log((2 + 4 exp(1.5)) / 8)
        0.913
        >>> round(know.holds_with(logits)[0, 0].item(), 3)
        0.9
        >>> know.loss(logits, torch.tensor([[1, 1, 0]])).backward()
        >>> round(know.weights.grad.item(), 3)  # it holds in this world; 0.9 was expected
        -0.1
    """

    weights: torch.nn.Parameter

    def __init__(self, formula: str | os.PathLike[str] | Iterable[Clause], *, seconds: float = 5) -> None:
        super().__init__()
        path = os.fspath(formula) if isinstance(formula, (str, os.PathLike)) else None
        text = "" if path is not None else _as_wcnf(formula)  # type: ignore[arg-type]
        self._core = _core.Markov(path, text, float(seconds))
        self.weights = torch.nn.Parameter(self._core.weights)

    @property
    def worlds(self) -> list[int]:
        """How many values each variable has; those of which exactly one holds are one variable."""
        return self._core.worlds

    @property
    def clauses(self) -> list[list[int]]:
        """The soft clauses, in the order of the weights."""
        return self._core.clauses

    @property
    def exact(self) -> bool:
        """Whether the formula compiled."""
        return self._core.exact

    def extra_repr(self) -> str:
        return f"{len(self.worlds)} variables, {len(self.clauses)} soft clauses, {'exact' if self.exact else 'approximate'}"

    # Answers. Without logits, nothing but the clauses says how likely a world is.

    def log_partition(self, logits: torch.Tensor | None = None, *, by: str | None = None) -> torch.Tensor:
        """log Z(P), ``[batch]``, differentiable in logits ``[batch, variables, values]`` and weights.

        ``by`` is ``"circuit"``, exact and the default if the formula compiled, or ``"propagation"``: belief propagation,
        approximate if clauses form loops.
        """
        chosen = _method(by or ("circuit" if self.exact else "propagation"))
        logs = self._log_beliefs(logits)
        if chosen == "circuit":
            return self._as_asked(self._core.log_partition(logs, self.weights), logits)
        if chosen == "propagation":
            return self._as_asked(self._core.predicted(logs.exp(), self.weights), logits)
        raise ValueError(f"by: circuit or propagation is expected, not {by}; estimate() draws samples")

    def log_prob(self, logits: torch.Tensor | None, worlds: torch.Tensor, *, by: str | None = None) -> torch.Tensor:
        """log p(w|P) of worlds, ``[batch]``; -inf where they break a hard clause."""
        logs = self._log_beliefs(logits)
        holds, keeps = self._core.holds(worlds), self._core.keeps(worlds)
        rows = worlds.to("cpu", torch.int64).reshape(len(keeps), -1)
        chosen = logs.expand(len(rows), -1, -1).gather(2, rows.unsqueeze(2)).squeeze(2).sum(1)
        # In 64 bits until the end: both logarithms may be large, and their difference small.
        log_partition = self.log_partition(None if logits is None else logits.double(), by=by).to(chosen)
        log_prob = chosen + holds @ self.weights.to("cpu", torch.float64) - log_partition
        return self._as_asked(log_prob.masked_fill(~keeps, -torch.inf), logits)

    def loss(self, logits: torch.Tensor | None, worlds: torch.Tensor, *, by: str | None = None) -> torch.Tensor:
        """Minus the mean of :meth:`log_prob`: perception and weights learn from it."""
        log_prob = self.log_prob(logits, worlds, by=by)
        bad = torch.isneginf(log_prob).nonzero()
        if len(bad) > 0:
            raise ValueError(f"worlds: example {int(bad[0])} is impossible: it breaks a hard clause, or its belief is 0")
        return -log_prob.mean()

    def holds(self, worlds: torch.Tensor) -> torch.Tensor:
        """Whether each soft clause holds in worlds, ``[n, clauses]``, 1 or 0."""
        return self._core.holds(worlds)

    def holds_with(self, logits: torch.Tensor | None = None) -> torch.Tensor:
        """How likely each soft clause holds, ``[batch, clauses]``."""
        return self._core.expected(self._log_beliefs(logits).detach(), self.weights.detach())

    def marginals(self, logits: torch.Tensor | None = None) -> torch.Tensor:
        """How likely each value of each variable is, ``[batch, variables, values]``."""
        return self._core.marginals(self._log_beliefs(logits).detach(), self.weights.detach())

    def most_probable(self, logits: torch.Tensor | None = None) -> MostProbable:
        """The most probable world of each row, and log p(w|P)."""
        return MostProbable(*self._core.most_probable(self._log_beliefs(logits).detach(), self.weights.detach()))

    def sample(self, logits: torch.Tensor | None = None, *, count: int = 1, seed: int | None = None) -> torch.Tensor:
        """Worlds, int64 ``[batch, count, variables]``: others in each call, but for a seed."""
        logs, count = self._log_beliefs(logits).detach(), _arguments.count(count, "count")
        chosen = _arguments.seed_or_fresh(seed)
        drawn = self._core.sample(logs.repeat_interleave(count, 0), self.weights.detach(), chosen)
        return drawn.view(len(logs), count, -1)

    def estimate(self, logits: torch.Tensor | None = None, *, samples: int = 10000, seed: int | None = None) -> Estimate:
        """log Z(P) by importance sampling: from worlds drawn by belief propagation."""
        samples, chosen = _arguments.count(samples, "samples"), _arguments.seed_or_fresh(seed)
        return Estimate(*self._core.estimate(self._log_beliefs(logits).exp().detach(), self.weights.detach(), samples, chosen))

    # Learning.

    def fit(
        self,
        worlds: torch.Tensor,
        logits: torch.Tensor | None = None,
        *,
        by: str = "circuit",
        samples: int = 20000,
        deviation: float = 0,
        tied: bool = False,
        seed: int = 0,
    ) -> Fit:
        """Sets the weights to those under which the worlds are the most likely.

        Args:
            worlds: int64 ``[n, variables]``.
            logits: what is believed of each world before the clauses are looked at, ``[n, variables, values]``.
            by: where log Z comes from: ``"circuit"``, ``"sampling"`` or ``"propagation"``.
            samples: worlds that are drawn for each belief, by sampling.
            deviation: standard deviation of a normal prior of the weights; 0: no prior.
            tied: clauses that weighed the same in the formula keep one weight in common.
        """
        beliefs = None if logits is None else self._log_beliefs(logits).exp().detach()
        found = self._core.fit(worlds, beliefs, _method(by), samples, float(deviation), tied, _arguments.seed(seed))
        with torch.no_grad():
            self.weights.copy_(found["weights"])
        return Fit(found["weights"], found["errors"], found["log_likelihood"], found["converged"])

    def _log_beliefs(self, logits: torch.Tensor | None) -> torch.Tensor:
        """Logarithms of beliefs, in 64 bits on the CPU, ``[batch, variables, values]``."""
        sizes = torch.tensor(self.worlds)
        values = torch.zeros(1, len(sizes), int(sizes.max())) if logits is None else logits
        if values.dim() != 3 or tuple(values.shape[1:]) != (len(sizes), int(sizes.max())):
            raise ValueError(f"logits: {tuple(values.shape)}, expected (batch, {len(sizes)}, {int(sizes.max())})")
        outside = torch.arange(int(sizes.max())).unsqueeze(0) >= sizes.unsqueeze(1)
        logs = values.to("cpu", torch.float64).masked_fill(outside, -torch.inf).log_softmax(2)
        if torch.isnan(logs.detach()).any():
            raise ValueError("logits: some are not finite numbers")
        return logs

    def _as_asked(self, answer: torch.Tensor, logits: torch.Tensor | None) -> torch.Tensor:
        return answer if logits is None else answer.to(logits.device, logits.dtype)


def _method(by: str) -> str:
    return "propagation" if by == "q" else by  # its name before 0.3


def _as_wcnf(clauses: Iterable[Clause]) -> str:
    lines = []
    for pair in clauses:
        weight, literals = pair
        if not all(isinstance(literal, int) and literal != 0 for literal in literals):
            raise TypeError("clauses: pairs of a weight and literals are expected, which are whole numbers but 0")
        lines.append(" ".join(["h" if weight is None else repr(float(weight)), *map(str, literals), "0"]))
    return "\n".join(lines) + "\n"
