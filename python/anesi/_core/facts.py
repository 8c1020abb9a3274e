"""What may be told of a function: automata and formulas, as the engine has them, of tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Sequence

import torch

from .. import _engine
from .rows import array, as_rows, tensor

Cnf = _engine.Cnf


class Automaton:
    """A machine with a finite memory; worlds and outputs are tensors."""

    def __init__(
        self,
        worlds: Sequence[int],
        outputs: Sequence[int],
        steps: Sequence[_engine.Step],
        states: int,
        start: int,
        rule: Callable[[int, list[int], int], tuple[int, int]],
    ) -> None:
        self.engine = _engine.Automaton(list(worlds), list(outputs), list(steps), states, start, rule)

    @classmethod
    def of(cls, engine: _engine.Automaton) -> Automaton:
        """What the engine found or was told."""
        automaton = cls.__new__(cls)
        automaton.engine = engine
        return automaton

    @property
    def states(self) -> int:
        return self.engine.states

    @property
    def start(self) -> int:
        return self.engine.start

    @property
    def widths(self) -> list[int]:
        return self.engine.widths

    @property
    def steps(self) -> list[Any]:
        return list(self.engine.steps)

    def table(self, kind: int) -> dict[str, Any]:
        return self.engine.table(kind)

    def run(self, worlds: torch.Tensor) -> torch.Tensor:
        variables = sum(len(step["reads"]) for step in self.engine.steps)
        rows = as_rows(worlds, len(worlds) if worlds.dim() > 0 else 0, variables, "worlds")
        return tensor(self.engine.run(array(rows)))

    def svg(self, title: str) -> str:
        return self.engine.svg(title)


@dataclass(frozen=True)
class FormulaOptions:
    """What a formula is to be as a function."""

    as_: str
    outputs: Sequence[int]
    told: Sequence[int]
    seconds: float
