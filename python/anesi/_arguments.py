"""Whole numbers that a caller gives, checked here so that an error names the argument."""

from __future__ import annotations

import operator
import weakref
from typing import Any, Callable, Iterable

import torch

_LARGEST = 2**63 - 1  # int64
_LARGEST_SEED = 2**64 - 1
_LARGEST_VARIABLE = 2**31 - 1


def whole(value: Any, name: str, least: int, most: int = _LARGEST) -> int:
    """The number. Raises TypeError if it is none, ValueError if it lies outside the range."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(f"{name}: a whole number is expected, not {value!r}")
    if number < least:
        raise ValueError(f"{name}: at least {least} is expected, not {number}")
    if number > most:
        raise ValueError(f"{name}: at most {most} is expected, not {number}")
    return number


def count(value: Any, name: str) -> int:
    return whole(value, name, 1)


def seed(value: Any) -> int:
    return whole(value, "seed", 0, _LARGEST_SEED)


def seed_or_fresh(value: Any) -> int:
    """The seed or, for None, one from torch's own generator: another for each call."""
    return int(torch.randint(2**62, ()).item()) if value is None else seed(value)


def variables(values: Iterable[Any], name: str) -> list[int]:
    """Variables of a formula, which are named by whole numbers from 1."""
    return [whole(value, name, 1, _LARGEST_VARIABLE) for value in values]


def literals(clause: Iterable[Any], name: str) -> list[int]:
    """Variables of a formula, or minus those."""
    numbers = [whole(value, name, -_LARGEST_VARIABLE, _LARGEST_VARIABLE) for value in clause]
    if 0 in numbers:
        raise ValueError(f"{name}: 0 is no literal")
    return numbers


class Weakly:
    """Calls something that its owner keeps alive.

    What C++ holds is invisible to Python's garbage collector. A function that C++ held and that refers to its owner would
    keep both alive for ever.
    """

    def __init__(self, owned: Callable[..., Any]) -> None:
        self._reference = weakref.ref(owned)

    @property
    def owned(self) -> Callable[..., Any]:
        target = self._reference()
        if target is None:
            raise ReferenceError("anesi: what this function belongs to is gone")
        return target

    def __call__(self, *arguments: Any) -> Any:
        return self.owned(*arguments)
