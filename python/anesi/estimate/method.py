"""What every way to estimate an expectation has in common. A new one is a subclass, and a name in ``METHODS``."""

from __future__ import annotations

from typing import Any, ClassVar, Mapping

import torch

from .draws import Ask, Parameters, Sources

State = dict[str, torch.Tensor]


class Method:
    """Estimates E[g(z)] and its gradient.

    It draws from a generator of the caller, who puts it back if g fails. So a method must not change itself before g has
    answered.

    Args:
        sources: what z is made of.
        outcomes: how many numbers g returns for a draw.
        options: an instance of :attr:`Options`.
        generator: decides the first weights of a network.
    """

    Options: ClassVar[type[Any]]  #: a dataclass of options.py

    def __init__(self, sources: Sources, outcomes: int, options: Any, generator: torch.Generator) -> None:
        self.sources, self.outcomes, self.options = sources, outcomes, options

    def estimate(self, at: Parameters, ask: Ask, generator: torch.Generator) -> torch.Tensor:
        """E[g(z)] of each example, double ``[batch, outcomes]``. Its gradient in P is the estimate of the gradient."""
        raise NotImplementedError

    def learn(self, at: Parameters, ask: Ask, generator: torch.Generator) -> float | None:
        """Queries g at parameters like these and learns from it. Returns the loss; None if there is nothing to learn."""
        return None

    def state(self) -> State:
        """What was learned, by name."""
        return {}

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Takes up what :meth:`state` gave, in a method that has not learned yet. ValueError if it does not fit."""


def with_gradient_of(surrogate: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """The value, with the gradient of the surrogate."""
    return surrogate + (value - surrogate.detach())


def saved(state: Mapping[str, torch.Tensor], name: str, dtype: torch.dtype, *shape: int) -> torch.Tensor:
    """A copy of the tensor of a state that has this name, type and shape (-1: any size). ValueError if there is none."""
    tensor = state.get(name)
    if tensor is None:
        raise ValueError(f"estimator state: {name} is missing")
    fits = tensor.dtype == dtype and tensor.dim() == len(shape)
    if not fits or any(wanted not in (-1, size) for wanted, size in zip(shape, tensor.shape)):
        raise ValueError(f"estimator state: {name} has another shape or type")
    return tensor.clone(memory_format=torch.contiguous_format)


def below(state: Mapping[str, torch.Tensor], prefix: str) -> State:
    """The part of a state whose names begin with the prefix, without it."""
    return {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}
