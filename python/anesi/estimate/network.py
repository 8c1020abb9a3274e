"""q(r|P) by a network of P: appendix C of the paper as it is written.

The network gives some numbers for each outcome, its *head*; a density says what they mean. Densities are fitted to the
outcomes seen (their units or their bins), and the network learns from those again and again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Mapping, NamedTuple

import torch
from torch.nn.utils.rnn import pad_sequence

from .draws import Draws, Parameters, Sources
from .method import State, below, saved
from .options import number
from .outcome_model import OutcomeModel

LEAST_LOG_DEVIATION = -3.0  # in units of all outcomes' deviation: sharper ones learn badly
NO_EDGE = torch.finfo(torch.float64).max  # past the last edge of an outcome that has fewer bins than others


@dataclass(frozen=True)
class NetworkOptions:
    """
    Attributes:
        width: of the hidden layers.
        layers: hidden layers.
        components: of the mixture.
        bins: of the histogram.
        memory: outcomes that are remembered and learned from again.
        updates: steps of Adam each time it learns.
        batch: remembered outcomes in each step.
        lr: learning rate.
    """

    width: int = number(64, 1, 10_000)
    layers: int = number(2, 1, 16)
    components: int = number(4, 1, 100)
    bins: int = number(16, 2, 1000)
    memory: int = number(4096, 1, 10_000_000)
    updates: int = number(4, 1, 10_000)
    batch: int = number(64, 1, 1_000_000)
    lr: float = number(0.003, 1e-8, 10)


class Units(NamedTuple):
    """A density: a mixture of normals, in units of all outcomes seen. A head has means, log-deviations and logits."""

    centre: torch.Tensor  # [outcomes]
    scale: torch.Tensor  # [outcomes]

    @classmethod
    def fitted(cls, seen: torch.Tensor, bins: int) -> Units:
        scale = seen.std(0, correction=0)
        return cls(seen.mean(0), torch.where(scale > 0, scale, 1))

    def mean(self, heads: torch.Tensor) -> torch.Tensor:
        means, _, logits = _parts(heads)
        return self.centre + self.scale * (logits.softmax(2) * means).sum(2)

    def log_prob(self, heads: torch.Tensor, outcomes: torch.Tensor) -> torch.Tensor:
        """Of outcomes ``[batch, outcomes]``, each by itself."""
        means, log_deviations, logits = _parts(heads)
        log_deviations = log_deviations.clamp_min(LEAST_LOG_DEVIATION)
        off = (((outcomes - self.centre) / self.scale).unsqueeze(2) - means) / log_deviations.exp()
        each = -0.5 * off.square() - log_deviations - 0.5 * math.log(2 * math.pi)
        return (each + logits.log_softmax(2)).logsumexp(2) - self.scale.log()


class Bins(NamedTuple):
    """A density: a histogram. A head has logits.

    Bins lie between quantiles of what was seen, so that each holds about as many. Outcomes past the ends belong to the first
    and last bin.
    """

    edges: torch.Tensor  # [outcomes, bins - 1]: inner ones
    centres: torch.Tensor  # [outcomes, bins]: the mean of what was seen in each
    widths: torch.Tensor  # [outcomes, bins]

    @classmethod
    def fitted(cls, seen: torch.Tensor, bins: int) -> Bins:
        edges, centres, widths = zip(*(_bins_of(column.contiguous(), bins) for column in seen.T))
        parts = ((edges, NO_EDGE), (centres, 0.0), (widths, 1.0))
        return cls(*(pad_sequence(list(part), batch_first=True, padding_value=value) for part, value in parts))

    def log_shares(self, heads: torch.Tensor) -> torch.Tensor:
        logits = heads[:, :, : self.centres.shape[1]]
        missing = torch.nn.functional.pad(self.edges == NO_EDGE, (1, 0))
        return logits.masked_fill(missing, -torch.inf).log_softmax(2)

    def mean(self, heads: torch.Tensor) -> torch.Tensor:
        shares = self.log_shares(heads).exp()
        return (shares * self.centres).sum(2)

    def log_prob(self, heads: torch.Tensor, outcomes: torch.Tensor) -> torch.Tensor:
        bins = torch.searchsorted(self.edges, outcomes.T.contiguous()).T.unsqueeze(2)
        densities = self.log_shares(heads) - self.widths.log()
        return densities.gather(2, bins).squeeze(2)


def _parts(heads: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Means, log-deviations and logits, each ``[batch, outcomes, components]``."""
    return heads.chunk(3, 2)


def _bins_of(seen: torch.Tensor, most: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Edges, centres and widths of one outcome.

    An edge lies half-way between two different outcomes, as near to its quantile as may be. Few different outcomes have a bin
    each.
    """
    values, counts = torch.unique(seen, return_counts=True)
    edges = (values[1:] + values[:-1]) / 2
    if len(edges) >= most:
        shares = counts.cumsum(0)[:-1].double() / len(seen)
        wanted = torch.arange(1, most, dtype=torch.float64) / most
        edges = edges[torch.bucketize(wanted, shares).clamp_max(len(edges) - 1)].unique()
    bins, count = torch.bucketize(seen, edges), len(edges) + 1
    sums = torch.zeros(count, dtype=torch.float64).index_add_(0, bins, seen)
    centres = sums / torch.bincount(bins, minlength=count).clamp_min(1)
    margin = ((values[-1:] - values[:1]) / (2 * count)).clamp_min(1e-6)
    widths = torch.cat([values[:1] - margin, edges, values[-1:] + margin]).diff().clamp_min(1e-12)
    return edges, centres, widths


class NetworkModel(OutcomeModel):
    """
    Args:
        kind: ``normal``, ``mixture`` or ``histogram``.
        generator: decides the first weights.
    """

    def __init__(
        self, sources: Sources, outcomes: int, kind: str, options: NetworkOptions, generator: torch.Generator
    ) -> None:
        self.options, self.outcomes = options, outcomes
        self._density: type[Units] | type[Bins] = Bins if kind == "histogram" else Units
        self._numbers = {"normal": 3, "mixture": 3 * options.components, "histogram": options.bins}[kind]  # of a head
        self.inputs = len(sources.categoricals) * sources.inside.shape[1] + 2 * sources.normals
        widths = [self.inputs] + [options.width] * options.layers
        layers: list[torch.nn.Module] = []
        for width, following in zip(widths, widths[1:]):
            layers += [_linear(width, following, generator), torch.nn.SiLU()]
        self.network = torch.nn.Sequential(*layers, _linear(widths[-1], outcomes * self._numbers, generator))
        self.network.requires_grad_(False)  # between updates, so that nobody else computes gradients of q's weights
        self._optimizer = torch.optim.Adam(self.network.parameters(), options.lr, fused=True)
        self.seen = torch.zeros(0, self.inputs, dtype=torch.float64)
        self.seen_outcomes = torch.zeros(0, outcomes, dtype=torch.float64)
        self.density: Units | Bins | None = None
        self._seen_when_fitted = 0

    @property
    def has_learned(self) -> bool:
        return self.density is not None

    def mean(self, at: Parameters) -> torch.Tensor:
        assert self.density is not None
        return self.density.mean(self._heads(_inputs(at)))

    def log_prob(self, at: Parameters, outcomes: torch.Tensor) -> torch.Tensor:
        return self._log_prob(_inputs(at), outcomes)

    @torch.enable_grad()
    def learn(self, at: Parameters, draws: Draws, outcomes: torch.Tensor, generator: torch.Generator) -> float:
        self._remember(_inputs(at), outcomes)
        self.network.requires_grad_(True)
        for _ in range(self.options.updates):
            rows = torch.randint(len(self.seen), (self.options.batch,), generator=generator)
            loss = -self._log_prob(self.seen[rows], self.seen_outcomes[rows]).mean()
            loss.backward()  # type: ignore[no-untyped-call]
            self._optimizer.step()
            self._optimizer.zero_grad()
        self.network.requires_grad_(False)
        return -self.log_prob(at, outcomes).mean().item()

    def _heads(self, inputs: torch.Tensor) -> torch.Tensor:
        heads: torch.Tensor = self.network(inputs)
        return heads.view(len(inputs), self.outcomes, self._numbers)

    def _log_prob(self, inputs: torch.Tensor, outcomes: torch.Tensor) -> torch.Tensor:
        assert self.density is not None
        return self.density.log_prob(self._heads(inputs), outcomes).sum(1)

    def _remember(self, inputs: torch.Tensor, outcomes: torch.Tensor) -> None:
        """The density is fitted whenever twice as many outcomes were seen, until the memory is full."""
        self.seen = torch.cat([self.seen, inputs])[-self.options.memory :]
        self.seen_outcomes = torch.cat([self.seen_outcomes, outcomes])[-self.options.memory :]
        if len(self.seen) >= 2 * self._seen_when_fitted:
            self._seen_when_fitted = len(self.seen)
            self.density = self._density.fitted(self.seen_outcomes, self.options.bins)

    def state(self) -> State:
        state = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        if self.density is None:
            return state
        for name, weight in self.network.named_parameters():
            state.update({f"adam.{name}.{what}": part for what, part in self._optimizer.state[weight].items()})
        state.update({f"density.{name}": part for name, part in self.density._asdict().items()})
        return {
            **state, "seen": self.seen, "outcomes": self.seen_outcomes, "fitted_at": torch.tensor(self._seen_when_fitted)
        }  # fmt: skip

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        double = torch.float64
        for name, weight in self.network.named_parameters():
            weight.copy_(saved(state, f"network.{name}", double, *weight.shape))
        if "fitted_at" not in state:
            return
        for name, weight in self.network.named_parameters():
            first, second = (saved(state, f"adam.{name}.{what}", double, *weight.shape) for what in ("exp_avg", "exp_avg_sq"))
            steps = saved(state, f"adam.{name}.step", torch.float32)
            if steps < 0 or (second < 0).any():
                raise ValueError(f"estimator state: adam.{name} is below 0")
            self._optimizer.state[weight] = {"step": steps, "exp_avg": first, "exp_avg_sq": second}
        self.density = self._saved_density(below(state, "density."))
        self.seen_outcomes = saved(state, "outcomes", double, -1, self.outcomes)
        self.seen = saved(state, "seen", double, len(self.seen_outcomes), self.inputs)
        self._seen_when_fitted = int(saved(state, "fitted_at", torch.int64))
        if not 0 < len(self.seen) <= self.options.memory or self._seen_when_fitted < 1:
            raise ValueError("estimator state: what was seen is out of range, or more than is remembered")

    def _saved_density(self, state: State) -> Units | Bins:
        sizes = (-1,) if self._density is Bins else ()
        parts = (saved(state, name, torch.float64, self.outcomes, *sizes) for name in self._density._fields)
        density = self._density(*parts)
        fits = bool((density[-1] > 0).all())  # scale, widths
        if isinstance(density, Bins):
            edges, centres, widths = (part.shape[1] for part in density)
            fits = fits and edges + 1 == centres == widths <= self.options.bins
        if not fits:
            raise ValueError("estimator state: the density is out of range, or of more bins than there may be")
        return density


def _inputs(at: Parameters) -> torch.Tensor:
    return torch.cat([at.beliefs.flatten(1), at.mean, at.deviation.log()], 1)


def _linear(inputs: int, outputs: int, generator: torch.Generator) -> torch.nn.Module:
    """With the first weights of torch.nn.Linear, drawn from the generator."""
    layer = torch.nn.Linear(inputs, outputs, device="meta", dtype=torch.float64).to_empty(device="cpu")
    for weight in layer.parameters():
        torch.nn.init.uniform_(weight, -(inputs**-0.5), inputs**-0.5, generator=generator)
    return layer
