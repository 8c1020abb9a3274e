"""A-NeSI as a gradient estimator (appendix C of the paper): perception learns through an outcome model q(r|P).

Each time it learns, it samples parameters P from a prior and z ~ P, and lowers -log q(g(z)|P). Its gradient is that of q's
mean: it has no variance but that of q's own learning, and the bias of q's error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

import torch

from .draws import Ask, Parameters, Sources, certain, draw
from .method import Method, State, below
from .network import NetworkModel, NetworkOptions
from .options import number, one_of
from .outcome_model import OutcomeModel
from .parameter_prior import BeliefPriorOptions, ParameterPrior
from .regression import KernelOptions, KernelRegression


@dataclass(frozen=True)
class LearnedOptions:
    """
    Attributes:
        calls: of g for each update.
        first: calls of g more, the first time.
        model: q(r|P): a regression that is multilinear in P, or a network that gives a normal, a mixture or a histogram.
        explore: fraction sampled from the prior, wherever perception is now.
        spread: how far the others lie from perception: of log-beliefs and log-deviations.
        prior: over beliefs.
        kernel: of the model ``kernel``.
        network: of the others.
    """

    calls: int = number(4, 1, 1_000_000)
    first: int = number(0, 0, 10_000_000)
    model: str = one_of("kernel", "normal", "mixture", "histogram")
    explore: float = number(0.1, 0, 1)
    spread: float = number(0.3, 0, 100)
    prior: BeliefPriorOptions = BeliefPriorOptions()
    kernel: KernelOptions = KernelOptions()
    network: NetworkOptions = NetworkOptions()


class Learned(Method):
    """
    Attributes:
        q: the outcome model.
    """

    Options = LearnedOptions

    def __init__(self, sources: Sources, outcomes: int, options: Any, generator: torch.Generator) -> None:
        super().__init__(sources, outcomes, options, generator)
        self.prior = ParameterPrior(sources, options.explore, options.spread, options.prior)
        self.q: OutcomeModel
        if options.model == "kernel":
            self.q = KernelRegression(sources, outcomes, options.kernel)
        else:
            self.q = NetworkModel(sources, outcomes, options.model, options.network, generator)

    def estimate(self, at: Parameters, ask: Ask, generator: torch.Generator) -> torch.Tensor:
        if at.batch == 0:
            return at.mean.new_zeros(0, self.outcomes)
        if not self.q.has_learned:
            self.learn(at.detached(), ask, generator)
        return self.q.mean(at)

    def learn(self, at: Parameters, ask: Ask, generator: torch.Generator) -> float | None:
        if at.batch == 0:
            return None
        count = self.options.calls + (0 if self.q.has_learned else self.options.first)
        near = self.prior.sample(at, count, generator)
        draws = draw(near, generator)
        outcomes = ask(draws).detach()  # if this fails, q is as it was
        self.prior.observe(at)
        return self.q.learn(near, draws, outcomes, generator)

    @torch.no_grad()
    def bound(self, at: Parameters, samples: int, ask: Ask, generator: torch.Generator) -> tuple[float, float]:
        """A bound on the error of the expectation if q is multilinear and g is not random, in the mean over examples and
        outcomes: by Jensen's inequality the mean of ``|E_q[r|z] - g(z)|`` over z ~ P. With a margin of two standard errors.
        """
        if not self.q.multilinear:
            raise ValueError("bound: only a multilinear q has one; set model=kernel")
        if not self.q.has_learned:
            raise ValueError("bound: q has learned nothing yet")
        draws = draw(at.repeated(samples), generator)
        off = (self.q.mean(certain(draws, self.sources)) - ask(draws)).abs()
        margin = 2 * off.std().item() / off.numel() ** 0.5 if off.numel() > 1 else 0.0
        return off.mean().item(), margin

    def state(self) -> State:
        parts = {"model": self.q.state(), "prior": self.prior.state()}
        return {f"{part}.{name}": tensor for part, state in parts.items() for name, tensor in state.items()}

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        self.prior.load_state(below(state, "prior."))
        self.q.load_state(below(state, "model."))
