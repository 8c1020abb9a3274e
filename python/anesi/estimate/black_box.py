"""g, of which nothing is known: it is queried with draws, its calls are counted and its answers are checked."""

from __future__ import annotations

import time
from typing import Any, Callable

import torch

from ..function import add_note
from .draws import Draws, Sources

MOST_ROWS_ASKED_AGAIN, MOST_SECONDS = 1000, 5.0


class BlackBox:
    """Calls g. Its own exceptions come through as they are, with a note that says which z they are about.

    Attributes:
        calls: draws that g was asked about so far.
    """

    def __init__(self, g: Callable[..., Any], sources: Sources, outcomes: int, numpy: bool) -> None:
        self.g, self.outcomes, self.calls = g, outcomes, 0
        self._categoricals, self._normals, self._numpy = bool(sources.categoricals), sources.normals > 0, numpy

    def __call__(self, draws: Draws) -> torch.Tensor:
        """Double ``[rows, outcomes]``; with a graph if the reals of the draws ask for gradients and g gives them."""
        rows = len(draws.discrete)
        if rows == 0:
            return torch.zeros(0, self.outcomes, dtype=torch.float64)
        try:
            answer = self._answer(draws)
        except Exception as error:
            self._blame(draws, error)
            raise
        if answer.is_complex():
            raise ValueError(f"g returns complex numbers, asked about {_asked(draws)}")
        if answer.shape != (rows, self.outcomes) and (self.outcomes > 1 or answer.shape != (rows,)):
            shape = ", ".join(map(str, answer.shape))
            raise ValueError(f"g returns shape ({shape}), asked about {_asked(draws)}; expected ({rows}, {self.outcomes})")
        result = answer.to("cpu", torch.float64).reshape(rows, self.outcomes)
        if not (finite := result.isfinite()).all():
            row, outcome = (~finite).nonzero()[0].tolist()
            value = result[row, outcome].item()
            raise ValueError(f"g returns {value} as outcome {outcome} of z = {draws.in_words(row)}")
        return result

    def _answer(self, draws: Draws) -> torch.Tensor:
        self.calls += len(draws.discrete)
        parts: list[Any] = [draws.discrete.clone()] if self._categoricals else []  # g may write into what it is given
        if self._normals:
            parts.append(draws.real if draws.real.requires_grad else draws.real.clone())
        answer = self.g(*(part.detach().numpy() if self._numpy else part for part in parts))
        if isinstance(answer, torch.Tensor):
            return answer
        try:
            return torch.as_tensor(answer, dtype=torch.float64)
        except (TypeError, ValueError, RuntimeError) as error:
            raise TypeError(f"g returned {type(answer).__name__}; numbers are expected") from error

    def _blame(self, draws: Draws, error: Exception) -> None:
        """Notes which draw it was, found by asking again one by one until g fails in the same way."""
        deadline = time.monotonic() + MOST_SECONDS
        for row in range(min(MOST_ROWS_ASKED_AGAIN, len(draws.discrete))):
            if time.monotonic() > deadline:
                return
            try:
                self._answer(draws.rows(slice(row, row + 1)))
            except type(error):
                return add_note(error, f"anesi: g was asked about z = {draws.in_words(row)}")
            except Exception:
                return


def _asked(draws: Draws) -> str:
    return f"{len(draws.discrete)} draws, the first z = {draws.in_words(0)}"
