"""What may be told of a function besides its values."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Sequence

import torch

from . import _arguments
from . import _core
from .function import domains


class Automaton:
    """A function said as a machine with a finite memory.

    Args:
        worlds: how many values each variable has.
        outputs: how many values each output has.
        steps: one ``(reads, emits)`` or ``(reads, emits, kind)`` a step: the variables that are read together, the
            output that is known then (or None), and a number that steps share which do the same.
        states: how many states there are.
        rule: ``rule(kind, values_read, state) -> (value_emitted, next_state)``.
        start: the first state.

    Example:
        >>> import torch, anesi
        >>> carry = anesi.Automaton(
        ...     [10] * 4, [10, 10, 2],  # 12 + 34: the last digits first
        ...     steps=[([1, 3], 2 - 1, 0), ([0, 2], 0, 0), ([], 2, 1)],
        ...     states=2,
        ...     rule=lambda kind, read, carry: ((sum(read) + carry) % 10, (sum(read) + carry) // 10),
        ... )
        >>> carry.run(torch.tensor([[1, 9, 3, 4]])).tolist()
        [[5, 3, 0]]
    """

    def __init__(
        self,
        worlds: int | Sequence[int],
        outputs: int | Sequence[int],
        steps: Iterable[Sequence[Any]],
        states: int,
        rule: Callable[[int, list[int], int], tuple[int, int]],
        start: int = 0,
    ) -> None:
        listed = [(list(step[0]), step[1], step[2] if len(step) > 2 else 0) for step in steps]
        self._core = _core.Automaton(
            domains(worlds, "worlds"), domains(outputs, "outputs"), listed, states, start, rule
        )

    @classmethod
    def _of(cls, core: _core.Automaton) -> Automaton:
        automaton = cls.__new__(cls)
        automaton._core = core
        return automaton

    @property
    def states(self) -> int:
        """The most that are known at any time."""
        return self._core.states

    @property
    def widths(self) -> list[int]:
        """States that can be reached before each step, and after the last one."""
        return self._core.widths

    @property
    def steps(self) -> list[dict[str, Any]]:
        """What each step reads and emits, and its kind."""
        return self._core.steps

    def table(self, kind: int) -> dict[str, Any]:
        """What steps of a kind do: ``emits`` and ``next``, for each state and each combination of values read."""
        return self._core.table(kind)

    def run(self, worlds: torch.Tensor) -> torch.Tensor:
        """What the machine makes of worlds, int64 ``[n, variables]`` to ``[n, outputs]``."""
        return self._core.run(worlds)

    def svg(self, title: str = "") -> str:
        """A picture. Raises ValueError where a column has more than 24 states."""
        return self._core.svg(title)

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg()
        except ValueError:
            return None

    def __repr__(self) -> str:
        return f"Automaton({len(self.steps)} steps, {self.states} states)"


class Cnf:
    """A function said as a formula: its models are the pairs of a world and its output. Literals are as in DIMACS.

    Example:
        >>> import anesi
        >>> both = anesi.Cnf([2, 2], [2])  # y = w0 and w1
        >>> a, b, y = both.world(0, 1), both.world(1, 1), both.output(0, 1)
        >>> both.add([-a, -b, y]).add([a, -y]).add([b, -y])
        Cnf(3 variables, 3 clauses)
    """

    def __init__(self, worlds: int | Sequence[int], outputs: int | Sequence[int]) -> None:
        self._worlds, self._outputs = domains(worlds, "worlds"), domains(outputs, "outputs")
        self._core = _core.Cnf(self._worlds, self._outputs)

    def world(self, variable: int, value: int) -> int:
        """The literal that says that a world variable has a value."""
        _require_value(self._worlds, variable, value)
        return self._core.world(variable, value)

    def output(self, variable: int, value: int) -> int:
        """The literal that says that an output has a value."""
        _require_value(self._outputs, variable, value)
        return self._core.output(variable, value)

    def fresh_variable(self) -> int:
        """A further variable, which each pair must decide."""
        return self._core.fresh_variable()

    def add(self, clause: Sequence[int]) -> Cnf:
        """Adds a clause: one of its literals is true."""
        self._core.add(_arguments.literals(clause, "clause"))
        return self

    def exactly_one(self, literals: Sequence[int]) -> Cnf:
        """Adds clauses: just one of the literals is true."""
        self._core.exactly_one(_arguments.literals(literals, "literals"))
        return self

    @property
    def clauses(self) -> list[list[int]]:
        """All clauses."""
        return self._core.clauses

    def __repr__(self) -> str:
        return f"Cnf({self._core.variables} variables, {len(self.clauses)} clauses)"


def _require_value(sizes: list[int], variable: int, value: int) -> None:
    if not 0 <= variable < len(sizes):
        raise IndexError(f"variable {variable} of {len(sizes)}")
    if not 0 <= value < sizes[variable]:
        raise IndexError(f"value {value} of variable {variable}, which has {sizes[variable]} values")
