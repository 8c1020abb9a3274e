"""The user's function as the library asks it: worlds in, outputs out, and errors that say which world."""

from __future__ import annotations

import inspect
import sys
import time
from typing import Any, Callable, Sequence

import torch

_PICKLES_ANYTHING = {"cloudpickle", "dill"}


class Function:
    """Calls a function on int64 ``[n, variables]`` and gives int64 ``[n, outputs]``, whatever shape it likes itself.

    The first ``given`` columns are what the function is told besides the world.
    """

    def __init__(self, function: Callable[..., Any], outputs: int, given: int, pointwise: bool, numpy: bool) -> None:
        if not callable(function):
            raise TypeError(f"function: something to call is expected, not {type(function).__name__}")
        wanted = 2 if given else 1
        if not takes(function, wanted):
            told = "a batch of worlds and what is given" if given else "a batch of worlds"
            raise TypeError(f"function: it must take {wanted} argument{'s' * (wanted > 1)}: {told}")
        self.function, self.outputs, self.given = function, outputs, given
        self.pointwise, self.numpy = pointwise, numpy

    def __deepcopy__(self, memo: Any) -> Function:
        return self  # copies of Knowledge share the function

    def __reduce__(self) -> Any:
        name = getattr(self.function, "__qualname__", "")
        if "<" in name and not _PICKLES_ANYTHING & set(sys.modules):
            raise TypeError(f"the function {name} cannot be pickled; define it at the top level of a module")
        return Function, (self.function, self.outputs, self.given, self.pointwise, self.numpy)

    def __call__(self, worlds: torch.Tensor) -> torch.Tensor:
        try:
            return self._ask(worlds)
        except Exception as error:
            self._blame(worlds, error)
            raise

    def _ask(self, worlds: torch.Tensor) -> torch.Tensor:
        count = worlds.shape[0]
        if count == 0:
            return torch.empty(0, self.outputs, dtype=torch.int64)
        if self.pointwise:
            rows = worlds.tolist()
            results = [self.function(*self._parts(row)) for row in rows]
            for result in results:
                _require_whole(result)
            answer: Any = torch.as_tensor([_as_list(result) for result in results])
        else:
            parts = self._parts(worlds.clone())  # the function may write into what it is given
            answer = self.function(*(part.numpy() for part in parts)) if self.numpy else self.function(*parts)
        return self._checked(answer, count)

    def _parts(self, world: Any) -> tuple[Any, ...]:
        """What is given stands first in the library and comes last here."""
        if not self.given:
            return (world,)
        if isinstance(world, list):
            return world[self.given :], world[: self.given]
        return world[:, self.given :], world[:, : self.given]

    def _checked(self, answer: Any, count: int) -> torch.Tensor:
        if not isinstance(answer, torch.Tensor):
            try:
                if hasattr(answer, "__array__") and hasattr(answer, "copy"):
                    answer = answer.copy()  # a view that runs backwards is none to torch
                answer = torch.as_tensor(answer)
            except (TypeError, ValueError, RuntimeError) as error:
                raise TypeError(f"the function returned {type(answer).__name__}; whole numbers are expected") from error
        answer = answer.detach().cpu()
        if answer.is_floating_point() or answer.is_complex():
            name = str(answer.dtype).removeprefix("torch.")
            raise TypeError(f"the function returned {name}; outputs are whole numbers: int64, or bool")
        shape = tuple(answer.shape)
        if shape != (count, self.outputs) and (shape != (count,) or self.outputs != 1):
            expected = f"({count},) or ({count}, 1)" if self.outputs == 1 else f"({count}, {self.outputs})"
            raise ValueError(f"the function returned shape {shape} for {count} worlds; expected {expected}")
        outputs: torch.Tensor = answer.to(torch.int64).reshape(count, self.outputs).contiguous()
        return outputs

    def _blame(self, worlds: torch.Tensor, error: Exception) -> None:
        """Notes which world it was, found by asking again one by one, where that one fails in the same way."""
        if getattr(error, "__notes__", None):
            return
        deadline = time.monotonic() + 5
        for row in range(worlds.shape[0]):
            if time.monotonic() > deadline:
                return
            try:
                self._ask(worlds[row : row + 1])
            except type(error) as again:
                if str(again) == str(error) or worlds.shape[0] == 1 or not self.pointwise:
                    add_note(error, f"anesi: the function was asked about the world {worlds[row].tolist()}")
                    return
            except Exception:
                return


def takes(function: Callable[..., Any], count: int) -> bool:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True  # built-in functions do not tell
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def _as_list(result: Any) -> list[Any]:
    if isinstance(result, torch.Tensor):
        return result.reshape(-1).tolist()
    if hasattr(result, "tolist"):
        result = result.tolist()
    return list(result) if isinstance(result, (list, tuple)) else [result]


def _require_whole(result: Any) -> None:
    for value in _as_list(result):
        if not isinstance(value, (int, bool)):
            raise TypeError(f"the function returned {value}; outputs are whole numbers")


def add_note(error: Exception, note: str) -> None:
    if hasattr(error, "add_note"):
        error.add_note(note)
    else:  # Python 3.10
        setattr(error, "__notes__", [*getattr(error, "__notes__", []), note])


def domains(value: int | Sequence[int], name: str) -> list[int]:
    """``[10, 10]``, or ``10`` for one variable of ten values."""
    if isinstance(value, bool) or isinstance(value, float):
        raise TypeError(f"{name}: how many values each variable has, such as [10, 10], not {value!r}")
    if isinstance(value, int):
        value = [value]
    try:
        sizes = [int(size) for size in value]
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: how many values each variable has, such as [10, 10], not {value!r}") from error
    if any(size != given for size, given in zip(sizes, value)):
        raise TypeError(f"{name}: whole numbers are expected, not {value!r}")
    if not sizes:
        raise ValueError(f"{name}: there must be a variable")
    for place, size in enumerate(sizes):
        if size < 1:
            raise ValueError(f"{name}: variable {place} has {size} values; at least 1 is needed")
        if size >= 2**63:
            raise ValueError(f"{name}: variable {place} has {size} values; fewer than 2**63 are expected")
    return sizes
