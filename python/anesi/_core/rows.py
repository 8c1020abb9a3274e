"""Whole numbers as callers give them: checked, on the CPU, with errors that name the example and the variable."""

from __future__ import annotations

import functools
from typing import Any, Sequence

import numpy as np
import torch

from ..q import UNSET

ENDED = -1  # in an output: past its end
UNKNOWN = -1  # in the world of a label: nothing is told of this variable


def shape_of(values: torch.Tensor) -> str:
    """``(2, 3)``"""
    return f"({', '.join(map(str, values.shape))})"


def type_of(values: torch.Tensor) -> str:
    """As PyTorch's C++ names it: ``Float``, ``Long``."""
    return torch.empty(0, dtype=values.dtype).type().removeprefix("torch.").removesuffix("Tensor")


def as_rows(values: torch.Tensor, batch: int, variables: int, name: str) -> torch.Tensor:
    """int64 ``[batch, variables]``, in one piece. ``[batch]`` will do for one variable. Raises ValueError otherwise."""
    if values.is_floating_point() or values.is_complex():
        raise ValueError(f"{name}: whole numbers are expected (int64), not {type_of(values)}")
    rows = values.detach().to("cpu", torch.int64)
    if rows.dim() == 1 and variables == 1:
        rows = rows.unsqueeze(1)
    if tuple(rows.shape) != (batch, variables):
        expected = f"({batch}) or ({batch}, 1)" if variables == 1 else f"({batch}, {variables})"
        raise ValueError(f"{name}: shape {shape_of(values)}, expected {expected}")
    return rows.contiguous()


def check_values(
    rows: torch.Tensor, domains: Sequence[int], name: str, *, end: bool = False, unset: bool = False
) -> None:
    """Raises ValueError if a value lies outside its domain.

    Args:
        end: whether ``ENDED`` may stand after the first variable.
        unset: whether ``UNSET`` may stand anywhere.
    """
    good = (rows >= 0) & (rows < _sizes(tuple(domains)))
    if unset:
        good |= rows == UNSET
    if end:
        good[:, 1:] |= rows[:, 1:] == ENDED
    if good.all():
        return
    row, variable = (~good).nonzero()[0].tolist()
    value, most = int(rows[row, variable]), domains[variable] - 1
    raise ValueError(f"{name}: example {row} has {value} at variable {variable}, which has the values 0 to {most}")


@functools.lru_cache(maxsize=64)
def _sizes(domains: tuple[int, ...]) -> torch.Tensor:
    with torch.inference_mode(False):
        return torch.tensor(domains)


def tensor(array: Any) -> torch.Tensor:
    """Of NumPy's array, without a copy if it may be written."""
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def array(values: torch.Tensor) -> Any:
    """Of a tensor on the CPU, in one piece."""
    return np.ascontiguousarray(values.detach().numpy())
