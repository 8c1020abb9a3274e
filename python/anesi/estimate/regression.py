"""q(r|P) by a regression that is multilinear in P: a Gaussian process with the kernel of kernel.py.

Its mean fits what was seen, exactly if g is not random. How strongly variables act together, how far normals reach and how
noisy g is are chosen by the likelihood of what was seen. The squares of outcomes are regressed beside them, and q is the
normal that has both moments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Mapping

import torch

from .draws import Draws, Parameters, Sources, certain
from .kernel import OrderKernel
from .method import State, saved
from .options import number
from .outcome_model import OutcomeModel

CHOSEN_ON = 320  # draws, the last ones, that the kernel's shape is chosen on
MORE_SEEN = 1.5  # the shape is chosen anew when so many times as much was seen
LEAST_NOISE = 1e-8  # of a kernel that is 1 at most
LEAST_WEIGHT = 1e-6
LEAST_VARIANCE = 1e-6  # as a share of the variance of all outcomes seen
SWEEPS, STEP = 2, 4.0  # over the numbers of the shape, which are multiplied or divided by the step


@dataclass(frozen=True)
class KernelOptions:
    """
    Attributes:
        orders: how many variables act together at most.
        memory: different z that are remembered; the time of an update grows with its square.
    """

    orders: int = number(4, 1, 64)
    memory: int = number(2048, 8, 20_000)
    bins: int = number(0, 0, 1000)

    def __post_init__(self) -> None:
        if self.bins:
            raise ValueError("kernel.bins: not in the Python package; the program and the C++ library have it")


@dataclass(frozen=True)
class Shape:
    """What is chosen by likelihood.

    Attributes:
        weights: of the orders 0, 1, ...: shares of the variance.
        length: how far normals reach.
        noise: variance of g at one z.
    """

    weights: tuple[float, ...]
    length: float = 1.0
    noise: float = 1e-4


class KernelRegression(OutcomeModel):
    multilinear = True

    def __init__(self, sources: Sources, outcomes: int, options: KernelOptions) -> None:
        self.sources, self.kernel, self.memory = sources, OrderKernel(sources, options.orders), options.memory
        self.shape = Shape(_weights_up_to(self.kernel.orders - 1, self.kernel.orders))
        self.seen = Draws(torch.zeros(0, len(sources.categoricals), dtype=torch.int64), _zeros(0, sources.normals))
        self.outcomes, self.counts = _zeros(0, outcomes), _zeros(0)  # means of what each z gave; how often it was seen
        self._rows: dict[tuple[float, ...], int] = {}  # of each z in what was seen
        self._features = self.kernel.features_of(self.seen)
        self._factor = _zeros(0, 0)  # Cholesky, lower, of the kernel among what was seen, with noise
        self._weights = _zeros(0, 2 * outcomes)  # of the kernel to each z seen, for outcomes and for their squares
        self._seen_when_chosen = 0

    @property
    def has_learned(self) -> bool:
        return len(self.counts) > 0

    def mean(self, at: Parameters) -> torch.Tensor:
        weights = self._weights[:, : self.outcomes.shape[1]]
        return self.outcomes.mean(0) + self._kernel(at, self.seen, self._features) @ weights

    def log_prob(self, at: Parameters, outcomes: torch.Tensor) -> torch.Tensor:
        first, second = (self._kernel(at, self.seen, self._features) @ self._weights).chunk(2, 1)
        variance = (self.outcomes - self.outcomes.mean(0)).square().mean(0)  # of all outcomes seen
        own = torch.maximum(variance + second - first.square(), (LEAST_VARIANCE * variance).clamp_min(1e-12))
        off = outcomes - self.outcomes.mean(0) - first
        return -0.5 * (off.square() / own + own.log() + math.log(2 * math.pi)).sum(1)

    @torch.no_grad()
    def learn(self, at: Parameters, draws: Draws, outcomes: torch.Tensor, generator: torch.Generator) -> float:
        self.add(draws, outcomes)
        return -self.log_prob(at, outcomes).mean().item()

    def add(self, draws: Draws, outcomes: torch.Tensor) -> None:
        """Takes note of outcomes ``[rows, outcomes]``. A z that was seen before counts into the mean of its outcomes.

        Costs about (seen + rows)^2 rows, and now and then seen^3.
        """
        known = len(self.counts)
        self._remember(draws, outcomes)
        full = len(self.counts) > self.memory
        if full:
            self._forget()
        if len(self.counts) >= MORE_SEEN * self._seen_when_chosen:
            self._seen_when_chosen = len(self.counts)
            self.shape = self._likeliest()
            self._factorise()
        elif full:
            self._factorise()
        elif len(self.counts) > known:
            self._extend(known)
        self._weigh()

    # What was seen.

    def _remember(self, draws: Draws, outcomes: torch.Tensor) -> None:
        known = len(self._rows)
        first: list[int] = []  # where each new z stands
        rows: list[int] = []
        for place, z in enumerate(_keys(draws)):
            rows.append(self._rows.setdefault(z, len(self._rows)))
            if rows[-1] == known + len(first):
                first.append(place)
        if first:
            fresh = draws.rows(torch.tensor(first))
            self.seen = self.seen.joined(fresh)
            self._features = torch.cat([self._features, self.kernel.features_of(fresh)], 1)
            self.outcomes = torch.cat([self.outcomes, _zeros(len(first), self.outcomes.shape[1])])
            self.counts = torch.cat([self.counts, _zeros(len(first))])
        of = torch.tensor(rows)
        self.counts = self.counts.index_add(0, of, torch.ones(len(rows), dtype=torch.float64))
        change = torch.zeros_like(self.outcomes).index_add_(0, of, outcomes - self.outcomes[of])
        self.outcomes = self.outcomes + change / self.counts.unsqueeze(1)

    def _forget(self) -> None:
        """Keeps the last three quarters of the memory."""
        kept = slice(len(self.counts) - (self.memory - self.memory // 4), None)
        self._take(self.seen.rows(kept), self.outcomes[kept], self.counts[kept])

    def _take(self, seen: Draws, outcomes: torch.Tensor, counts: torch.Tensor) -> None:
        self.seen, self.outcomes, self.counts = seen, outcomes, counts
        self._features = self.kernel.features_of(self.seen)
        self._rows = {z: row for row, z in enumerate(_keys(self.seen))}

    # The regression.

    def _kernel(self, at: Parameters, draws: Draws, features: torch.Tensor) -> torch.Tensor:
        return self.kernel(at, draws, features, self.shape.weights, self.shape.length)

    def _weigh(self) -> None:
        """The weights: a regression is the mean of its targets and the kernel times these."""
        centred = self.outcomes - self.outcomes.mean(0)
        squares = centred.square()
        targets = torch.cat([centred, squares - squares.mean(0)], 1)
        halfway = torch.linalg.solve_triangular(self._factor, targets, upper=False)
        self._weights = torch.linalg.solve_triangular(self._factor.T, halfway, upper=True)

    def _factorise(self) -> None:
        kernel = self._kernel(certain(self.seen, self.sources), self.seen, self._features)
        noise = self.shape.noise
        while True:
            factor, failed = torch.linalg.cholesky_ex(kernel + torch.diag(noise / self.counts))
            if not failed:
                break
            noise *= 10  # rounding made it indefinite
        self.shape, self._factor = replace(self.shape, noise=noise), factor.contiguous()

    def _extend(self, known: int) -> None:
        """Appends rows to the factor; those that are there stay."""
        fresh = slice(known, None)
        across = self._kernel(certain(self.seen.rows(fresh), self.sources), self.seen, self._features)  # [fresh, seen]
        below = torch.linalg.solve_triangular(self._factor, across[:, :known].T, upper=False).T  # [fresh, known]
        rest = across[:, known:] + torch.diag(self.shape.noise / self.counts[fresh]) - below @ below.T
        corner, failed = torch.linalg.cholesky_ex(rest)
        if failed:
            return self._factorise()
        above = torch.nn.functional.pad(self._factor, (0, len(corner)))
        self._factor = torch.cat([above, torch.cat([below, corner], 1)])

    def _likeliest(self) -> Shape:
        """The shape at which the last draws are likeliest, up to where its numbers grow or fall by a step.

        Begins at the likeliest of the present shape and of shapes up to some order, because a high order looks much like
        noise and neither gives way to the other by itself. Then goes over all numbers in turn, each as far up or down as
        the likelihood grows.
        """
        last = slice(-CHOSEN_ON, None)
        draws, outcomes, counts = self.seen.rows(last), self.outcomes[last], self.counts[last]
        if len(outcomes) < 2 or not (varies := outcomes.std(0) > 0).any():
            return self.shape
        centred = (outcomes - self.outcomes.mean(0))[:, varies]
        targets = centred / centred.square().mean(0).sqrt()
        at, features = certain(draws, self.sources), self._features[:, last]
        parts: dict[float, list[torch.Tensor]] = {}  # by length

        def likelihood(shape: Shape) -> float:
            if shape.length not in parts:
                parts[shape.length] = self.kernel.by_order(at, draws, features, shape.length)
            kernel = self.kernel.weighted(shape.weights, parts[shape.length])
            return log_likelihood(kernel + torch.diag(shape.noise / counts), targets)

        orders = self.kernel.orders
        starts = [(_weights_up_to(order, orders), noise) for order in range(1, orders) for noise in (1e-6, 1e-2)]
        shapes = [self.shape, *(replace(self.shape, weights=weights, noise=noise) for weights, noise in starts)]
        best, shape = max(((likelihood(shape), shape) for shape in shapes), key=lambda found: found[0])
        numbers: list[int | str] = [*range(orders), "noise", *(["length"] if self.sources.normals else [])]
        for number in numbers * SWEEPS:
            for factor in (STEP, 1 / STEP):
                before = shape
                while (tried := _multiplied(shape, number, factor)) and (found := likelihood(tried)) > best:
                    best, shape = found, tried
                if shape != before:
                    break
        total = sum(shape.weights)
        noise = max(shape.noise / total, LEAST_NOISE)
        return Shape(tuple(weight / total for weight in shape.weights), shape.length, noise)

    # To keep.

    def state(self) -> State:
        if not self.has_learned:
            return {}
        numbers = {"weights": self.shape.weights, "length": self.shape.length, "noise": self.shape.noise}
        return {
            "discrete": self.seen.discrete,
            "real": self.seen.real,
            "outcomes": self.outcomes,
            "counts": self.counts,
            "factor": self._factor[tuple(_triangle(len(self.counts)))],  # so that nothing differs by rounding afterwards
            "chosen_at": torch.tensor(self._seen_when_chosen),
            **{name: torch.tensor(value, dtype=torch.float64) for name, value in numbers.items()},
        }

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        if not state:  # nothing was seen
            return
        double, domains = torch.float64, torch.tensor(self.sources.categoricals, dtype=torch.int64)
        discrete = saved(state, "discrete", torch.int64, -1, len(domains))
        rows = len(discrete)
        if not 0 < rows <= self.memory:
            raise ValueError(f"estimator state: it remembers {rows} z; 1 to {self.memory} are expected (kernel.memory)")
        real = saved(state, "real", double, rows, self.sources.normals)
        outcomes = saved(state, "outcomes", double, rows, self.outcomes.shape[1])
        counts, weights = saved(state, "counts", double, rows), saved(state, "weights", double, self.kernel.orders)
        length, noise = saved(state, "length", double).item(), saved(state, "noise", double).item()
        chosen_at = int(saved(state, "chosen_at", torch.int64))
        factor = _zeros(rows, rows)
        factor[tuple(_triangle(rows))] = saved(state, "factor", double, rows * (rows + 1) // 2)
        fits = bool((counts >= 1).all() and (weights >= 0).all() and (factor.diagonal() > 0).all())
        if not fits or length <= 0 or noise <= 0 or chosen_at < 0 or not ((discrete >= 0) & (discrete < domains)).all():
            raise ValueError("estimator state: what was seen is out of range")
        self._take(Draws(discrete, real), outcomes, counts)
        self.shape, self._seen_when_chosen = Shape(tuple(weights.tolist()), length, noise), chosen_at
        self._factor = factor
        self._weigh()


def log_likelihood(kernel: torch.Tensor, targets: torch.Tensor) -> float:
    """log of how likely targets ``[rows, columns]`` are, up to a constant, each column with the amplitude that suits it."""
    factor, failed = torch.linalg.cholesky_ex(kernel)
    if failed:
        return -math.inf
    whitened = torch.linalg.solve_triangular(factor, targets, upper=False)
    fit = (whitened.square().mean(0) + 1e-300).log().sum().item()
    size = factor.diagonal().log().sum().item()
    return float(-0.5 * len(targets) * fit - targets.shape[1] * size)


def _multiplied(shape: Shape, number: int | str, factor: float) -> Shape | None:
    """The shape with one of its numbers multiplied: a weight, by its order, or another, by its name. None if out of range."""
    if isinstance(number, int):
        weight = shape.weights[number] * factor
        weights = (*shape.weights[:number], weight, *shape.weights[number + 1 :])
        return replace(shape, weights=weights) if LEAST_WEIGHT <= weight <= 1e6 else None
    least, most = (LEAST_NOISE, 1e3) if number == "noise" else (1e-3, 1e6)
    value = getattr(shape, number) * factor
    return replace(shape, **{number: value}) if least <= value <= most else None


def _weights_up_to(last: int, orders: int) -> tuple[float, ...]:
    """Every order has half the share of the one before it, those past the last next to nothing."""
    return tuple(0.5**order if order <= last else LEAST_WEIGHT for order in range(orders))


def _keys(draws: Draws) -> list[tuple[float, ...]]:
    return [(*whole, *real) for whole, real in zip(draws.discrete.tolist(), draws.real.tolist())]


def _triangle(rows: int) -> torch.Tensor:
    return torch.tril_indices(rows, rows)


def _zeros(*shape: int) -> torch.Tensor:
    return torch.zeros(shape, dtype=torch.float64)
