"""Estimator: the expectation of any function of random draws, with a gradient, for any PyTorch model."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence, Union

import torch

from . import _arguments
from . import _core
from .function import add_note, domains, takes

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
        self._ask = _Outcomes(g, bool(self.categoricals), normals > 0, numpy)
        told = [f"{name}={_text(value)}" for name, value in (settings or {}).items()]
        ask = _arguments.Weakly(self._ask)
        self._core = _core.Estimator(method, ask, self.categoricals, normals, outcomes, told, _arguments.seed(seed))

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
            self.learn(beliefs, mean, deviation)
        like = beliefs if beliefs is not None else mean
        result = self._core.expectation(beliefs, mean, deviation)
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
        return self._core.learn(beliefs, mean, deviation)

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
        return self._core.bound(beliefs, mean, deviation, _arguments.count(samples, "samples"))

    @property
    def calls(self) -> int:
        """Draws that g was asked about so far."""
        return self._core.calls

    def extra_repr(self) -> str:
        return f"{self.method}, categoricals={self.categoricals}, normals={self.normals}, calls={self.calls}"

    def get_extra_state(self) -> dict[str, torch.Tensor]:
        """All that the future depends on besides g: what q learned, its prior, and the generator."""
        state: dict[str, torch.Tensor] = self._core.state()
        return state

    def set_extra_state(self, state: dict[str, torch.Tensor]) -> None:
        """Takes up what :meth:`get_extra_state` gave. The estimator must have been made in the same way."""
        if not isinstance(state, dict):
            raise TypeError(f"state: what state_dict() gave is expected, not {type(state).__name__}")
        for name, tensor in state.items():
            if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
                raise ValueError(f"state: {name} is {type(tensor).__name__}; tensors by name are expected")
        self._core.load_state({name: tensor.cpu() for name, tensor in state.items()})


class _Outcomes:
    """Calls g as the library asks it: draws in, outcomes out, and errors that say which draw."""

    def __init__(self, g: Callable[..., Any], categoricals: bool, normals: bool, numpy: bool) -> None:
        self._g, self._categoricals, self._normals, self._numpy = g, categoricals, normals, numpy

    def __call__(self, discrete: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        try:
            return self._answer(discrete, real)
        except Exception as error:
            self._blame(discrete, real, error)
            raise

    def _answer(self, discrete: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        parts: list[Any] = [discrete.clone()] if self._categoricals else []
        if self._normals:
            parts.append(real if real.requires_grad else real.clone())
        answer = self._g(*(part.detach().numpy() if self._numpy else part for part in parts))
        if isinstance(answer, torch.Tensor):
            return answer
        try:
            return torch.as_tensor(answer, dtype=torch.float64)
        except (TypeError, ValueError, RuntimeError) as error:
            raise TypeError(f"g returned {type(answer).__name__}; numbers are expected") from error

    def _blame(self, discrete: torch.Tensor, real: torch.Tensor, error: Exception) -> None:
        """Notes which draw it was, found by asking again one by one."""
        for row in range(min(1000, discrete.shape[0])):
            try:
                self._answer(discrete[row : row + 1], real[row : row + 1])
            except Exception:
                add_note(error, f"anesi: g was asked about z = {discrete[row].tolist() + real[row].tolist()}")
                return


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
