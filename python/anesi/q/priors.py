"""Priors over beliefs: where the beliefs come from that q is trained on.

q must answer for every belief that perception may emit, and perception changes while it learns. Algorithm 1 therefore
samples beliefs from a prior that follows perception: each training step tells it the beliefs just emitted (``observe``),
fits it (``fit``) and draws from it (``sample``). The fitted Dirichlet is in dirichlet.py.
"""

from __future__ import annotations

from typing import Any, Sequence

import torch

from .beliefs import certain_beliefs, check_beliefs, domain_mask, sample_worlds

PAPER_WINDOW = 2500  # beliefs (appendix F)


class Prior:
    """A distribution over beliefs ``[count, variables, largest domain]``, float on the CPU."""

    def __init__(self, domains: Sequence[int]) -> None:
        self.domains = list(domains)

    def observe(self, beliefs: torch.Tensor) -> None:
        """Takes note of beliefs that perception emitted, ``[batch, variables, domain]``. Keeps no graph."""

    def fit(self) -> None:
        """Fits the prior to what was observed. Called once before each update of q."""

    def sample(self, count: int, generator: torch.Generator) -> torch.Tensor:
        raise NotImplementedError

    def sample_with_worlds(self, count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Beliefs, and a world of each, int64 ``[count, variables]``. A prior may tie the variables of a world."""
        beliefs = self.sample(count, generator)
        return beliefs, sample_worlds(beliefs, generator)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """All that sampling and further fitting depend on."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Raises ValueError, and changes nothing, if the state is not that of such a prior over these domains."""


class BeliefWindow:
    """The last beliefs that were observed, up to a number; the oldest are dropped first. Keeps floats, without a graph."""

    def __init__(self, domains: Sequence[int], capacity: int = PAPER_WINDOW) -> None:
        if capacity < 1:
            raise ValueError(f"prior window: {capacity}; it must hold at least 1 belief")
        self.domains, self.capacity, self.size = list(domains), capacity, 0
        self._next = 0  # the row that the next belief is written to
        self._inside = domain_mask(self.domains)
        self._ring = torch.zeros(capacity, len(self.domains), max(self.domains))

    def push(self, beliefs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Appends beliefs. Returns those that came in and those that left. ValueError, and nothing changes, if they are
        no beliefs: perception diverged."""
        check_beliefs(beliefs, self.domains, self._inside)
        came = beliefs.detach()[-self.capacity :].to("cpu", torch.float32)
        rows = (self._next + torch.arange(len(came))) % self.capacity
        left = self._ring[rows[rows < self.size]] if self.size < self.capacity else self._ring[rows]
        self._ring[rows] = came
        self._next = (self._next + len(came)) % self.capacity
        self.size = min(self.capacity, self.size + len(came))
        return came, left

    def beliefs(self, ages: torch.Tensor | None = None) -> torch.Tensor:
        """Copies, the oldest first; or of some of them by age, where 0 is the oldest."""
        oldest = self._next if self.size == self.capacity else 0
        ages = torch.arange(self.size) if ages is None else ages
        return self._ring[(ages + oldest) % self.capacity]

    def checked(self, state: dict[str, Any]) -> torch.Tensor:
        """The beliefs of a saved state. Raises ValueError if they do not fit."""
        saved = saved_tensor(state, "beliefs", torch.float32, (-1, len(self.domains), max(self.domains)))
        if len(saved) > self.capacity:
            raise ValueError(f"prior state: {len(saved)} beliefs for a window of {self.capacity}")
        check_beliefs(saved, self.domains)
        return saved

    def replace(self, beliefs: torch.Tensor) -> None:
        self.size = self._next = 0
        self.push(beliefs)


def saved_tensor(state: dict[str, Any], name: str, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    """The tensor of that name, type and shape (-1 stands for any size)."""
    tensor = state.get(name)
    if not isinstance(tensor, torch.Tensor):
        raise ValueError(f"prior state: no tensor {name!r}; it was saved by another kind of prior")
    fits = tensor.dtype == dtype and tensor.dim() == len(shape)
    if not fits or any(wanted not in (-1, found) for wanted, found in zip(shape, tensor.shape)):
        found_shape = f"{tensor.dtype} {list(tensor.shape)}"
        raise ValueError(f"prior state: {name!r} is {found_shape}, expected {dtype} {list(shape)}; it is of another problem")
    return tensor.cpu()


def sample_dirichlet(concentration: torch.Tensor, count: int, generator: torch.Generator) -> torch.Tensor:
    """Beliefs from a Dirichlet a variable, float ``[count, variables, domain]``.

    Args:
        concentration: double ``[variables, domain]``, zero past a variable's domain.
    """
    # In logarithms, because small concentrations underflow: if X ~ Gamma(a + 1) and U is uniform, X U^(1/a) ~ Gamma(a).
    inside = concentration > 0
    alpha = torch.where(inside, concentration, 1).expand(count, -1, -1)
    uniform = torch.rand(alpha.shape, generator=generator, dtype=torch.float64).clamp_min(1e-300)
    log_gammas = torch._standard_gamma(alpha + 1, generator).log() + uniform.log() / alpha
    return log_gammas.masked_fill(~inside, -torch.inf).softmax(2).float()


class Dirichlet(Prior):
    """A Dirichlet for each variable, independent of the others."""

    #: Draws the beliefs. A compiled function of the same distribution may take its place.
    draw = staticmethod(sample_dirichlet)

    @property
    def concentration(self) -> torch.Tensor:
        """Double ``[variables, domain]``, zero past a variable's domain."""
        raise NotImplementedError

    def sample(self, count: int, generator: torch.Generator) -> torch.Tensor:
        return self.draw(self.concentration, count, generator)


class FixedDirichlet(Dirichlet):
    """With one concentration for every value. Small ones give beliefs near one-hot, 1 gives uniform ones."""

    def __init__(self, domains: Sequence[int], concentration: float = 0.2) -> None:
        super().__init__(domains)
        if not 0 < concentration < float("inf"):
            raise ValueError(f"prior.concentration: {concentration}; it must be positive")
        self._concentration = concentration * domain_mask(domains).double()

    @property
    def concentration(self) -> torch.Tensor:
        return self._concentration


class Observed(Prior):
    """No prior: what perception emitted itself, drawn with replacement. q then knows no other belief."""

    def __init__(self, domains: Sequence[int], window: int = PAPER_WINDOW) -> None:
        super().__init__(domains)
        self._window = BeliefWindow(domains, window)

    def observe(self, beliefs: torch.Tensor) -> None:
        self._window.push(beliefs)

    def sample(self, count: int, generator: torch.Generator) -> torch.Tensor:
        if self._window.size == 0:
            raise ValueError("prior.kind=observed: no beliefs observed yet; q can only learn beside perception")
        return self._window.beliefs(torch.randint(self._window.size, (count,), generator=generator))

    def state_dict(self) -> dict[str, torch.Tensor]:
        return {"beliefs": self._window.beliefs()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._window.replace(self._window.checked(state))


class Certain(Prior):
    """Beliefs that are certain of a world, every world equally likely: enough for a multilinear q."""

    def sample(self, count: int, generator: torch.Generator) -> torch.Tensor:
        draws = torch.randint(2**52, (count, len(self.domains)), generator=generator)
        return certain_beliefs(draws % torch.tensor(self.domains), max(self.domains))
