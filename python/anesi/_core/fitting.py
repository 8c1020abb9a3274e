"""The weights of soft clauses from worlds that were seen: maximum likelihood.

The logarithm of the likelihood is concave in the weights. Its gradient is how often each clause holds in the data less how
often it does by p(w|P), and its second derivative the covariance of that, the Fisher information. So Newton's method finds
the weights in a few steps, and the inverse of the information gives their standard errors.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import torch

if TYPE_CHECKING:
    from .markov import Markov

_CONVERGED, _NEARLY_CONVERGED = 1e-10, 1e-2  # of a step, in standard errors squared
_SHORTEST_STEP, _MOST_STEPS = 1e-6, 50
_LEAST_INFORMATION = 1e-9  # an example; less is none
_DIFFERENCE = 1e-2  # of weights, where the second derivative of belief propagation is taken
_ROUNDS = 4  # of drawing


class FitOptions(NamedTuple):
    by: str
    samples: int
    deviation: float
    tied: bool
    seed: int


class Partition(NamedTuple):
    """The mean of log Z(P) over examples, and its first and second derivatives by the weights."""

    log: float
    gradient: torch.Tensor
    information: torch.Tensor


PartitionAt = Callable[[torch.Tensor], Partition]


@torch.no_grad()
def fit_weights(logic: Markov, worlds: torch.Tensor, beliefs: torch.Tensor | None, options: FitOptions) -> dict[str, Any]:
    if options.by not in ("circuit", "sampling", "propagation"):
        raise ValueError(f"by: one of circuit, sampling, propagation is expected, not {options.by}")
    _check_data(logic, worlds, beliefs)
    sizes = torch.tensor(logic.worlds)
    even = (torch.arange(int(sizes.max())) < sizes.unsqueeze(1)).double() / sizes.unsqueeze(1)
    asked = even.unsqueeze(0) if beliefs is None else beliefs.double()  # without beliefs all worlds share one
    logs, number = asked.log(), len(worlds)
    likelihood = _Likelihood(logic, worlds, options)
    weights, inflation = torch.zeros(likelihood.ties.shape[1], dtype=torch.float64), 1.0
    if options.by == "sampling":
        # Draws of weights that are nearly right say most; the last ones decide.
        generator = torch.Generator().manual_seed(options.seed)
        for _ in range(_ROUNDS):
            drawn = logic.draw(logs, likelihood.ties @ weights, options.samples, generator)
            found = _maximum(likelihood, _by_draws(logic, drawn), weights)
            weights = found.weights
            inflation = 1 + number / len(logs) * float(_effective(logic, drawn, likelihood.ties @ weights).reciprocal().mean())
    else:
        partition_at = _by_circuit(logic, logs) if options.by == "circuit" else _by_propagation(logic, asked)
        found = _maximum(likelihood, partition_at, weights)
    of_worlds = logs.expand(number, -1, -1).gather(2, worlds.unsqueeze(2)).sum() / number
    variance = torch.linalg.inv(found.information).diagonal() / number
    return {
        "weights": likelihood.ties @ found.weights,
        "errors": likelihood.ties @ (inflation * variance).sqrt(),
        "seen": likelihood.holds,
        "log_likelihood": found.value + likelihood.prior(found.weights) + float(of_worlds),
        "steps": found.steps,
        "converged": found.converged,
    }


def _check_data(logic: Markov, worlds: torch.Tensor, beliefs: torch.Tensor | None) -> None:
    if len(worlds) == 0:
        raise ValueError("fit: at least one world is expected")
    if beliefs is not None and len(beliefs) != len(worlds):
        raise ValueError(f"fit: {len(beliefs)} beliefs for {len(worlds)} worlds")
    bad = [(~logic.keeps(worlds), "breaks the hard clauses")]
    if beliefs is not None:
        chosen = beliefs.gather(2, worlds.unsqueeze(2)).squeeze(2)
        bad.append(((chosen <= 0).any(1), "is impossible by its belief"))
    for rows, why in bad:
        if rows.any():
            raise ValueError(f"fit: world {int(rows.nonzero()[0]) + 1} {why}")


class _Likelihood:
    """What is fitted: a weight for each clause, or for several in common, to what was seen."""

    def __init__(self, logic: Markov, worlds: torch.Tensor, options: FitOptions) -> None:
        told = logic.weights.tolist()
        kinds = list(dict.fromkeys(told)) if options.tied else list(range(len(told)))
        places = [kinds.index(weight) for weight in told] if options.tied else kinds
        self.ties = torch.nn.functional.one_hot(torch.tensor(places), len(kinds)).double()  # [clauses, weights]
        self.holds = logic.holds(worlds).mean(0)
        self.seen, self.number = self.ties.T @ self.holds, len(worlds)
        self.precision = 1 / (self.number * options.deviation**2) if options.deviation > 0 else 0.0
        if options.deviation == 0:
            self._require_finite()

    def _require_finite(self) -> None:
        for weight, (seen, most) in enumerate(zip(self.seen.tolist(), self.ties.sum(0).tolist())):
            if not 0 < seen < most:
                raise ValueError(
                    f"fit: soft clause {self.first_clause(weight) + 1} holds in {'every' if seen > 0 else 'no'} world of the"
                    " data, so that no finite weight is the most likely; leave it out, or give a prior (deviation)"
                )

    def first_clause(self, weight: int) -> int:
        return int(self.ties[:, weight].argmax())

    def prior(self, weights: torch.Tensor) -> float:
        return self.precision / 2 * float(weights.square().sum())

    def at(self, weights: torch.Tensor, partition: Partition) -> float:
        return float(self.seen @ weights) - partition.log - self.prior(weights)

    def require_information(self, information: torch.Tensor) -> None:
        values, vectors = torch.linalg.eigh(information)
        if values[0] <= _LEAST_INFORMATION:
            clause = self.first_clause(int(vectors[:, 0].abs().argmax())) + 1
            raise ValueError(
                f"fit: the data leave the weight of soft clause {clause} open: whether it holds follows from other clauses;"
                " leave it out, or give a prior (deviation)"
            )


class _Maximum(NamedTuple):
    weights: torch.Tensor
    information: torch.Tensor
    value: float
    steps: int
    converged: bool


def _maximum(likelihood: _Likelihood, partition_at: PartitionAt, weights: torch.Tensor) -> _Maximum:
    """Newton's method."""
    ties, steps = likelihood.ties, 0
    while True:
        partition = partition_at(ties @ weights)
        value = likelihood.at(weights, partition)
        information = ties.T @ partition.information @ ties + likelihood.precision * torch.eye(len(weights), dtype=torch.float64)
        likelihood.require_information(information)
        gradient = likelihood.seen - ties.T @ partition.gradient - likelihood.precision * weights
        step = torch.linalg.solve(information, gradient)
        gain = likelihood.number * float(step @ gradient)  # squared, in standard errors
        if gain < _CONVERGED or steps == _MOST_STEPS:
            return _Maximum(weights, information, value, steps, gain < _CONVERGED)
        length = 1.0
        while length > _SHORTEST_STEP:
            moved = weights + length * step
            if likelihood.at(moved, partition_at(ties @ moved)) > value:
                break
            length /= 2
        if length <= _SHORTEST_STEP:  # as good as rounding allows
            return _Maximum(weights, information, value, steps, gain < _NEARLY_CONVERGED)
        weights, steps = weights + length * step, steps + 1


def _by_circuit(logic: Markov, logs: torch.Tensor) -> PartitionAt:
    def at(weights: torch.Tensor) -> Partition:
        log = float(logic.log_partition(logs, weights).mean())
        return Partition(log, logic.expected(logs, weights).mean(0), logic.covariance(logs, weights).mean(0))

    return at


def _by_propagation(logic: Markov, beliefs: torch.Tensor) -> PartitionAt:
    def slope(weights: torch.Tensor) -> tuple[float, torch.Tensor]:
        with torch.enable_grad():
            leaf = weights.clone().requires_grad_()
            mean = logic.predicted(beliefs, leaf).mean()
            return float(mean.detach()), torch.autograd.grad(mean, leaf)[0]

    def at(weights: torch.Tensor) -> Partition:
        log, gradient = slope(weights)
        ends = [slope(weights + sign * _DIFFERENCE * row)[1] for row in torch.eye(len(weights)).double() for sign in (1, -1)]
        second = torch.stack([(up - down) / (2 * _DIFFERENCE) for up, down in zip(ends[::2], ends[1::2])])
        return Partition(log, gradient, (second + second.T) / 2)

    return at


def _by_draws(logic: Markov, drawn: tuple[torch.Tensor, torch.Tensor]) -> PartitionAt:
    """Of worlds that were drawn with other weights; exact as their number grows."""
    worlds, log_ratio = drawn
    holds = logic.holds_of(worlds)  # [batch, samples, clauses]
    if log_ratio.isneginf().all(1).any():
        raise RuntimeError("fit: no world was drawn of some belief; take more samples")

    def at(weights: torch.Tensor) -> Partition:
        logs = log_ratio + holds @ weights
        log = float((logs.logsumexp(1) - math.log(logs.shape[1])).mean())
        share = logs.softmax(1).unsqueeze(2)
        means = (share * holds).sum(1)
        second = torch.einsum("bsc,bsd->cd", share * holds, holds) - means.T @ means
        return Partition(log, means.mean(0), second / len(logs))

    return at


def _effective(logic: Markov, drawn: tuple[torch.Tensor, torch.Tensor], weights: torch.Tensor) -> torch.Tensor:
    from .markov import estimated

    worlds, log_ratio = drawn
    return estimated(log_ratio + logic.holds_of(worlds) @ weights)[3]
