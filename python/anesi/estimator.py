"""Estimator: the expectation of any function of random draws, with a gradient, for any PyTorch model."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import Any, Callable, Iterator, Mapping, Sequence, Union

import torch

from . import _arguments, estimate
from ._core.compiling import opaque
from .estimate import draws
from .estimate.method import below, saved
from .estimate.options import nearest, with_settings
from .function import domains, takes

Settings = Mapping[str, Union[str, int, float, bool]]


class Estimator(torch.nn.Module):
    """E[g(z)] over z that a network's beliefs say how to draw, differentiable in those.

    z has whole numbers, drawn from categoricals, real ones, drawn from normals, or both. Nothing is known of g but what
    it returns. By default a model q(r|P) learns beside you how its outcomes are distributed (A-NeSI): calling the
    estimator in training mode asks g about a few draws, and the gradient comes through q. Other estimators have the same
    shape: ``"rloo"``, ``"reinforce"``, ``"indecater"``, ``"gumbel"``, ``"reparameterised"``, ``"exact"``.

    Args:
        g: takes a batch of draws: int64 ``[n, variables]``, or double ``[n, normals]`` where z has normals alone, or both,
            as two arguments. Returns n numbers, or ``[n, outcomes]``. It may be random.
        categoricals: how many values each whole number has, ``[2, 2, 3]``.
        normals: how many real numbers z has.
        outcomes: how many numbers g returns for a draw.
        method: the estimator's name.
        settings: its options: ``{"calls": 8, "first": 200}``; docs/estimators.md lists them.
        numpy: g takes and returns numpy arrays.
        seed: decides every random draw.

    Example:
        >>> import torch, anesi
        >>> best = anesi.Estimator(lambda z: (z[:, 0] ^ z[:, 1]).double(), categoricals=[2, 2], settings={"first": 50})
        >>> logits = torch.zeros(1, 2, 2, requires_grad=True)
        >>> value = best(logits.softmax(2))
        >>> value.shape
        torch.Size([1])
        >>> value.sum().backward()
        >>> round(value.item(), 1)
        0.5
    """

    def __init__(
        self,
        g: Callable[..., Any],
        categoricals: int | Sequence[int] | None = None,
        normals: int = 0,
        outcomes: int = 1,
        method: str = "anesi",
        settings: Settings | None = None,
        *,
        numpy: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if not callable(g):
            raise TypeError(f"g: something to call is expected, not {type(g).__name__}")
        normals, outcomes = _arguments.whole(normals, "normals", 0), _arguments.count(outcomes, "outcomes")
        self.categoricals = [] if categoricals is None else domains(categoricals, "categoricals")
        self.normals, self.outcomes, self.method = normals, outcomes, method
        if not self.categoricals and not normals:
            raise ValueError("z has no parts: tell categoricals, normals or both")
        wanted = (1 if self.categoricals else 0) + (1 if normals else 0)
        if not takes(g, wanted):
            raise TypeError(f"g: it must take {wanted} argument{'s' * (wanted > 1)}: a batch of draws")
        if method not in estimate.METHODS:
            raise ValueError(f"method: there is no {method!r}; {nearest(method, list(estimate.METHODS))}")
        self._sources = estimate.Sources(self.categoricals, normals)
        self._ask = estimate.BlackBox(g, self._sources, outcomes, numpy)
        self._generator = torch.Generator().manual_seed(_arguments.seed(seed))
        self._options = with_settings(estimate.METHODS[method].Options(), settings or {})
        with torch.inference_mode(False):
            self._method = self._made(self._generator)

    def forward(
        self,
        beliefs: torch.Tensor | None = None,
        mean: torch.Tensor | None = None,
        deviation: torch.Tensor | None = None,
        *,
        learn: bool | None = None,
    ) -> torch.Tensor:
        """E[g(z)] of each example, ``[batch]``, or ``[batch, outcomes]`` where there are several.

        Args:
            beliefs: probabilities ``[batch, variables, largest domain]``, such as ``logits.softmax(2)``.
            mean, deviation: of the normals, ``[batch, normals]``.
            learn: whether q learns here; by default in training mode.
        """
        if learn if learn is not None else self.training:
            self._learn(beliefs, mean, deviation)
        result = self._expectation(beliefs, mean, deviation)
        like = beliefs if beliefs is not None else mean
        if like is not None:
            result = result.to(like.device, torch.float64 if like.dtype == torch.float64 else torch.float32)
        return result[:, 0] if self.outcomes == 1 else result

    def learn(
        self,
        beliefs: torch.Tensor | None = None,
        mean: torch.Tensor | None = None,
        deviation: torch.Tensor | None = None,
    ) -> float | None:
        """Asks g at parameters like these and learns; -log q of what came of it, or None where nothing is learned."""
        return self._learn(beliefs, mean, deviation)

    def bound(
        self,
        beliefs: torch.Tensor | None = None,
        mean: torch.Tensor | None = None,
        deviation: torch.Tensor | None = None,
        samples: int = 100,
    ) -> tuple[float, float]:
        """A bound on the error of what is estimated, and its margin of two standard errors. Asks g.

        For the method ``anesi`` with its multilinear q, and a g that is not random.
        """
        if not isinstance(self._method, estimate.Learned):
            raise ValueError("bound: only the method anesi has one")
        samples = _arguments.count(samples, "samples")
        with self._guarded(gradients=False):
            at = draws.checked(self._sources, beliefs, mean, deviation)
            return self._method.bound(at, samples, self._ask, self._generator)

    @property
    def q(self) -> estimate.OutcomeModel | None:
        """The outcome model q(r|P) of the method ``anesi``. It learns by itself, so its weights are not in parameters()."""
        return self._method.q if isinstance(self._method, estimate.Learned) else None

    @property
    def calls(self) -> int:
        """Draws that g was asked about so far."""
        return self._ask.calls

    def extra_repr(self) -> str:
        return f"{self.method}, categoricals={self.categoricals}, normals={self.normals}, calls={self.calls}"

    def get_extra_state(self) -> dict[str, torch.Tensor]:
        """All that the future depends on besides g: what q learned, its prior, and the generator."""
        with torch.inference_mode(False):
            return {name: tensor.detach().clone() for name, tensor in self._state(self._method).items()}

    def set_extra_state(self, state: dict[str, torch.Tensor]) -> None:
        """Takes up what :meth:`get_extra_state` gave. The estimator must have been made in the same way: if not, it raises
        ValueError and changes nothing."""
        if not isinstance(state, dict):
            raise TypeError(f"state: what state_dict() gave is expected, not {type(state).__name__}")
        for name, tensor in state.items():
            if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
                raise ValueError(f"state: {name} is {type(tensor).__name__}; tensors by name are expected")
            if tensor.is_floating_point() and not tensor.isfinite().all():
                raise ValueError(f"estimator state: {name} has what is not a number, or infinite")
        with torch.inference_mode(False), torch.no_grad():
            self._load({name: tensor.detach().cpu().clone() for name, tensor in state.items()})

    @opaque
    def _expectation(self, *given: torch.Tensor | None) -> torch.Tensor:
        with self._guarded(torch.is_grad_enabled()):
            at = draws.checked(self._sources, *given)
            return self._method.estimate(at, self._ask, self._generator)

    @opaque
    def _learn(self, *given: torch.Tensor | None) -> float | None:
        with self._guarded(gradients=True):
            at = draws.checked(self._sources, *given).detached()
            return self._method.learn(at, self._ask, self._generator)

    def _load(self, state: dict[str, torch.Tensor]) -> None:
        calls = int(saved(state, "calls", torch.int64))
        sizes = saved(state, "sources", torch.int64, len(self.categoricals) + 1)
        if calls < 0 or not torch.equal(sizes, self._sources.sizes):
            raise ValueError("estimator state: it is of a z of other sizes, or calls are below 0")
        generator = torch.Generator()
        try:
            generator.set_state(saved(state, "generator", torch.uint8, -1))
        except (RuntimeError, TypeError):
            raise ValueError("estimator state: generator is not a generator's") from None
        method = self._made(torch.Generator())
        method.load_state(below(state, "learned."))
        unknown = set(state) - set(self._state(method))
        if unknown:
            raise ValueError(f"estimator state: {min(unknown)} is not of this estimator")
        if method.state():  # the exact one, which has none, keeps what it knows of g
            self._method = method
        self._ask.calls, self._generator = calls, generator

    def _made(self, generator: torch.Generator) -> estimate.Method:
        """The method, before it has learned."""
        return estimate.METHODS[self.method](self._sources, self.outcomes, self._options, generator)

    def _state(self, method: estimate.Method) -> dict[str, torch.Tensor]:
        return {
            **{f"learned.{name}": tensor for name, tensor in method.state().items()},
            "calls": torch.tensor(self.calls),
            "sources": self._sources.sizes,
            "generator": self._generator.get_state(),
        }

    @contextmanager
    def _guarded(self, gradients: bool) -> Iterator[None]:
        """In full precision and outside inference mode. If g fails, later draws are those that there would have been."""
        before = self._generator.get_state()
        precision = torch.autocast("cpu", enabled=False) if torch.is_autocast_enabled("cpu") else nullcontext()
        try:
            with torch.inference_mode(False), precision, torch.set_grad_enabled(gradients):
                yield
        except BaseException:
            self._generator.set_state(before)
            raise

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_generator": self._generator.get_state()}  # generators are not copied by themselves

    def __setstate__(self, state: dict[str, Any]) -> None:
        generator = torch.Generator()
        generator.set_state(state["_generator"])
        super().__setstate__({**state, "_generator": generator})  # type: ignore[no-untyped-call]
