"""What q needs to know of a problem: plain data, and the function itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Callable, Protocol, Sequence

import torch

UNSET = -2  # in a world or an output: a value that is not chosen yet, or not known


class Pruner(Protocol):
    """Says which choices can still be completed (section 3.3 of the paper).

    Both methods are asked about many rows at once and return bool ``[n, domain of the variable]``: True where some world
    agrees with what is chosen so far (the rest is ``UNSET``) and has that value at ``variable``. They may allow too much,
    never too little.
    """

    def allow_outputs(self, chosen: torch.Tensor, variable: int) -> torch.Tensor:
        """``chosen``: outputs, int64 ``[n, outputs]``. Some world must give such an output."""
        ...

    def allow_worlds(self, outputs: torch.Tensor, chosen: torch.Tensor, variable: int) -> torch.Tensor:
        """``chosen``: worlds, int64 ``[n, variables]``. The world must give the outputs, int64 ``[n, outputs]``."""
        ...


@dataclass(frozen=True)
class Problem:
    """A function from worlds to outputs, and what is known of it.

    Attributes:
        worlds: how many values each world variable has.
        outputs: how many values each output has.
        function: int64 ``[n, variables]`` to int64 ``[n, outputs]``.
        order: in which order the world is read and outputs are known; needed by ``scan`` and ``transducer``, which
            otherwise read the whole world before the first output.
        pruner: for the variant ``prune`` and the policy ``solutions``.
        asked: the one output that all labels are about, if there is one (a constraint that holds).
    """

    worlds: list[int]
    outputs: list[int]
    function: Callable[[torch.Tensor], torch.Tensor]
    order: ReadingOrder | None = None
    pruner: Pruner | None = None
    asked: list[int] | None = None

    def outputs_of(self, worlds: torch.Tensor) -> torch.Tensor:
        """The function's outputs, on the worlds' device. The function itself always sees the CPU."""
        return self.function(worlds.cpu()).to(worlds.device)

    def reading_order(self) -> ReadingOrder:
        return self.order or ReadingOrder.all_then_emit(self.worlds, self.outputs)


@dataclass(frozen=True)
class Step:
    """Reads some world variables, after which one output is known (or none)."""

    reads: Sequence[int]
    emits: int | None = None
    kind: int = 0  # steps of one kind share weights; they read and emit variables of the same domains


@dataclass(frozen=True)
class Kind:
    """What all steps of a kind have in common."""

    read_domains: tuple[int, ...]
    emit_domain: int = 1  # 1 if nothing is emitted

    @property
    def combinations(self) -> int:
        """Of the values read."""
        return prod(self.read_domains)


@dataclass(frozen=True)
class ReadingOrder:
    """Which world variables are read before which output is known.

    Addition reads two digits, writes one and keeps a carry. The order says which digits, not what to remember: that is
    learned. Each world variable is read once and each output emitted once; kinds are numbered from 0.
    """

    worlds: Sequence[int]
    outputs: Sequence[int]
    steps: Sequence[Step]
    kinds: list[Kind] = field(init=False)

    def __post_init__(self) -> None:
        _require_each_once(self.read, len(self.worlds), "world")
        _require_each_once(self.emitted, len(self.outputs), "output")
        shapes: dict[int, Kind] = {}
        for step in self.steps:
            emit_domain = 1 if step.emits is None else self.outputs[step.emits]
            shape = Kind(tuple(self.worlds[variable] for variable in step.reads), emit_domain)
            if shapes.setdefault(step.kind, shape) != shape:
                raise ValueError(f"reading order: steps of kind {step.kind} differ in what they read or emit")
        if sorted(shapes) != list(range(len(shapes))):
            raise ValueError(f"reading order: kinds are {sorted(shapes)}; number them from 0 on")
        object.__setattr__(self, "kinds", [shapes[kind] for kind in range(len(shapes))])

    @property
    def read(self) -> list[int]:
        """World variables in the order in which they are read."""
        return [variable for step in self.steps for variable in step.reads]

    @property
    def emitted(self) -> list[int]:
        """Outputs in the order in which they are emitted."""
        return [step.emits for step in self.steps if step.emits is not None]

    @classmethod
    def all_then_emit(cls, worlds: Sequence[int], outputs: Sequence[int]) -> ReadingOrder:
        """Every world variable in turn, then every output. Fits any function if the memory suffices.

        World variables of one domain share a kind; each output has its own, since nothing says that two are alike.
        """
        domains = list(dict.fromkeys(worlds))
        reads = [Step([variable], None, domains.index(domain)) for variable, domain in enumerate(worlds)]
        emits = [Step([], variable, len(domains) + variable) for variable in range(len(outputs))]
        return cls(worlds, outputs, reads + emits)


def _require_each_once(variables: list[int], count: int, what: str) -> None:
    for variable in variables:
        if not 0 <= variable < count:
            raise ValueError(f"reading order: {what} variable {variable} does not exist; there are {count}")
        if variables.count(variable) > 1:
            raise ValueError(f"reading order: {what} variable {variable} appears twice")
    missing = set(range(count)) - set(variables)
    if missing:
        raise ValueError(f"reading order: {what} variable {min(missing)} is missing")
