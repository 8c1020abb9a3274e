"""Beliefs and labels as callers give them: checked, and brought into the shape that q takes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator, NamedTuple, Sequence

import torch

from .. import q
from ..q.beliefs import log_beliefs
from .rows import UNKNOWN, as_rows, check_values, shape_of, type_of


class Asked(NamedTuple):
    """Logits or probabilities ``[batch, variables, largest domain]``, and the function's extra inputs."""

    values: torch.Tensor
    logits: bool
    given: torch.Tensor | None


class Perceived:
    """The variables that perception sees. Those before them are given.

    Args:
        worlds: domains of all world variables, those that are given first.
        given: how many those are.
    """

    def __init__(self, worlds: Sequence[int], given: int, outputs: Sequence[int]) -> None:
        self.given, self.domains, self.outputs = list(worlds[:given]), list(worlds[given:]), list(outputs)
        if not self.domains:
            raise ValueError("given: all variables are given, and none is left to believe in")
        self.width, self._all_width = max(self.domains), max(worlds)
        self._outside = torch.arange(self.width) >= torch.tensor(self.domains).unsqueeze(1)
        self._padded = bool(self._outside.any())

    # Beliefs.

    def check_shape(self, asked: Asked) -> None:
        name, values = "logits" if asked.logits else "beliefs", asked.values
        if not values.is_floating_point():
            raise ValueError(f"{name}: floating-point numbers are expected, not {type_of(values)}")
        if values.dim() != 3 or values.shape[1:] != self._outside.shape:
            expected = f"(batch, {len(self.domains)}, {self.width})"
            raise ValueError(f"{name}: shape {shape_of(values)}, expected {expected}")

    def beliefs(self, asked: Asked, dtype: torch.dtype, *, checked: bool = True) -> torch.Tensor:
        """Probabilities of all variables, ``[batch, given and other variables, domain]`` on the CPU. Differentiable."""
        self.check_shape(asked)
        values = asked.values.to("cpu", dtype)
        if asked.logits:
            values = _softmax(values.masked_fill(self._outside, -torch.inf) if self._padded else values)
            if checked:
                self._require_numbers(values)
        elif checked:
            self._require_beliefs(values)
        return self._with_given(values, asked, 0)

    def log_beliefs(self, asked: Asked) -> torch.Tensor:
        """Their logarithms in 64 bits, which may be of less than the smallest float."""
        self.check_shape(asked)
        if not asked.logits:
            return log_beliefs(self.beliefs(asked, torch.float64))
        values = asked.values.to("cpu", torch.float64)
        logs = (values.masked_fill(self._outside, -torch.inf) if self._padded else values).log_softmax(2)
        self._require_numbers(logs)
        return self._with_given(logs, asked, -torch.inf)

    def _with_given(self, values: torch.Tensor, asked: Asked, nothing: float) -> torch.Tensor:
        rows = self.given_rows(asked)
        if rows is None:
            return values
        values = torch.nn.functional.pad(values, (0, self._all_width - self.width), value=nothing)
        told = torch.nn.functional.one_hot(rows, self._all_width).to(values.dtype)
        return torch.cat([told if nothing == 0 else told.log(), values], 1)

    def _require_numbers(self, values: torch.Tensor) -> None:
        bad = values.detach().isnan()
        if bad.any():
            row, variable = bad.any(2).nonzero()[0].tolist()
            raise ValueError(f"logits: example {row}, variable {variable}: not a number or infinite")

    def _require_beliefs(self, values: torch.Tensor) -> None:
        beliefs = values.detach()
        for what, wrong in (
            ("not a number", beliefs.isnan().any(2)),
            ("a probability is negative", (beliefs < 0).any(2)),
            ("there are probabilities past its values", ((beliefs != 0) & self._outside).any(2)),
            ("probabilities do not sum to 1", (beliefs.sum(2) - 1).abs() >= 1e-3),
        ):
            if wrong.any():
                row, variable = wrong.nonzero()[0].tolist()
                total = f"{beliefs[row, variable].sum():.4g}"
                raise ValueError(f"beliefs: example {row}, variable {variable}: {what} (their sum is {total})")

    # Labels.

    def given_rows(self, asked: Asked) -> torch.Tensor | None:
        if not self.given:
            if asked.given is not None:
                raise ValueError("given: this function is told nothing besides the world")
            return None
        if asked.given is None:
            raise ValueError(f"given: this function is told {len(self.given)} numbers besides the world")
        rows = as_rows(asked.given, len(asked.values), len(self.given), "given")
        check_values(rows, self.given, "given")
        return rows

    def output_rows(self, outputs: torch.Tensor, batch: int, *, end: bool = False, open_: bool = False) -> torch.Tensor:
        """Labels as int64 ``[batch, outputs]``.

        Args:
            end: whether an output may end early.
            open_: whether a value may be ``UNSET``.
        """
        rows = as_rows(outputs, batch, len(self.outputs), "outputs")
        check_values(rows, self.outputs, "outputs", end=end, unset=open_)
        return rows

    def labels(
        self,
        asked: Asked,
        outputs: torch.Tensor | None,
        holds: torch.Tensor | None,
        worlds: torch.Tensor | None,
        *,
        end: bool = False,
    ) -> q.Labels:
        """Raises ValueError, which names the argument, if they are not of this function."""
        batch = len(asked.values)
        if outputs is None and worlds is None:
            raise ValueError("a label is missing: outputs, worlds or both")
        if outputs is None and holds is not None:
            raise ValueError("holds: it says whether outputs hold, and there are none")
        if outputs is not None:
            outputs = self.output_rows(outputs, batch, end=end)
        if worlds is not None:
            worlds = self._world_rows(worlds, asked)
        if holds is not None:
            if holds.dim() != 1 or len(holds) != batch:
                raise ValueError(f"holds: shape {shape_of(holds)}, expected ({batch})")
            holds = holds.detach().to("cpu", torch.bool)
        return q.Labels(outputs, worlds, holds)

    def _world_rows(self, worlds: torch.Tensor, asked: Asked) -> torch.Tensor:
        rows = as_rows(worlds, len(asked.values), len(self.domains), "worlds")
        rows = rows.masked_fill(rows == UNKNOWN, q.UNSET)
        check_values(rows, self.domains, "worlds", unset=True)
        told = self.given_rows(asked)
        return rows if told is None else torch.cat([told, rows], 1)

    def without_given(self, rows: torch.Tensor, dimension: int) -> torch.Tensor:
        return rows if not self.given else rows.narrow(dimension, len(self.given), len(self.domains))


def _softmax(values: torch.Tensor) -> torch.Tensor:
    """Over the last dimension. Torch is quicker over another one if it is short."""
    return values.transpose(1, 2).contiguous().softmax(1).transpose(1, 2).contiguous()


@contextmanager
def full_precision() -> Iterator[None]:
    """Without autocast, which would round what is computed here."""
    if not torch.is_autocast_enabled("cpu"):
        yield
        return
    with torch.autocast("cpu", enabled=False):
        yield


def as_asked(result: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """On the device of what was asked with, in 64 bits if that is."""
    return result.to(values.device, torch.float64 if values.dtype == torch.float64 else torch.float32)


def impossible_label(labels: q.Labels, row: int, logits: bool) -> ValueError:
    """What a loss says of a label that cannot be."""
    label = "a world" if labels.outputs is None else str(labels.outputs[row].tolist())
    if labels.worlds is not None:
        why = "which contradicts what is told of its world, or these beliefs"
    else:
        why = "and no world gives that" if logits else "which these beliefs rule out"
    return ValueError(f"outputs: example {row} is labelled {label}, {why}")


def impossible_output(row: int, output: torch.Tensor) -> ValueError:
    return ValueError(f"outputs: no world that example {row} believes in gives {output.tolist()}")
