"""The exact expectation, by asking g about every z once.

The outcomes are kept as a decision diagram, one layer a variable, equal parts once: the smallest automaton that reads the
variables in order and knows the outcome at the end. An expectation costs as much as it has nodes, however many z there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Iterable

import torch

from .draws import Ask, Draws, Parameters, Sources
from .method import Method
from .one_changed import require_no_normals
from .options import number

ASKED_AT_ONCE = 1 << 14


@dataclass(frozen=True)
class ExactOptions:
    """
    Attributes:
        points: how many different z may be asked about at most.
    """

    points: int = number(1 << 21, 1, 1 << 30)


class Exact(Method):
    Options = ExactOptions

    def __init__(self, sources: Sources, outcomes: int, options: Any, generator: torch.Generator) -> None:
        super().__init__(sources, outcomes, options, generator)
        require_no_normals("exact", sources)
        points, most = math.prod(sources.categoricals), options.points
        if points > most:
            there = f"{Decimal(points):.3g} different z"
            raise ValueError(f"exact: there are {there}, and at most {most} may be asked about (points)")
        self._diagram: Diagram | None = None

    def estimate(self, at: Parameters, ask: Ask, generator: torch.Generator) -> torch.Tensor:
        if self._diagram is None:
            points = math.prod(self.sources.categoricals)
            with torch.no_grad():
                answers = [ask(self._draws(points, begin)) for begin in range(0, points, ASKED_AT_ONCE)]
            self._diagram = Diagram(self.sources.categoricals, torch.cat(answers))
        return self._diagram.expectation(at.beliefs)

    def _draws(self, points: int, begin: int) -> Draws:
        """The z from one place on, the last variable running fastest."""
        places = torch.arange(begin, min(begin + ASKED_AT_ONCE, points))
        columns = []
        for domain in reversed(self.sources.categoricals):
            columns.append(places % domain)
            places = places // domain
        return Draws(torch.stack(columns[::-1], 1), torch.zeros(len(places), 0, dtype=torch.float64))


class Diagram:
    """A function of a finite space as a decision diagram.

    Args:
        domains: of the variables.
        outcomes: of each point of the space, the last variable running fastest, double ``[points, outcomes]``.
    """

    def __init__(self, domains: list[int], outcomes: torch.Tensor) -> None:
        numbers = _numbered(outcomes.T)  # of what follows each beginning of a point; a layer shorter at each turn
        self.outcomes = _one_of_each(numbers, outcomes)  # [leaves, outcomes]
        self.children: list[torch.Tensor] = []  # a layer each: [nodes, values], places in the next layer
        for domain in reversed(domains):
            children = numbers.view(-1, domain)
            numbers = _numbered(children.T)
            self.children.insert(0, _one_of_each(numbers, children))

    def expectation(self, beliefs: torch.Tensor) -> torch.Tensor:
        """E[outcomes], ``[batch, outcomes]``."""
        values = self.outcomes.expand(len(beliefs), -1, -1)  # [batch, nodes, outcomes]
        for variable in reversed(range(len(self.children))):
            children = self.children[variable]
            belief = beliefs[:, variable, : children.shape[1]]
            values = torch.einsum("bv,bnvo->bno", belief, values[:, children])
        return values[:, 0]

    @property
    def nodes(self) -> int:
        return len(self.outcomes) + sum(len(layer) for layer in self.children)


def _numbered(columns: Iterable[torch.Tensor]) -> torch.Tensor:
    """Rows by number, from 0 on without gaps: equal ones have the same. Columns one by one are quicker than whole rows."""
    numbers: torch.Tensor | None = None
    for column in columns:
        values, places = torch.unique(column, return_inverse=True)
        numbers = places if numbers is None else torch.unique(numbers * len(values) + places, return_inverse=True)[1]
    assert numbers is not None
    return numbers


def _one_of_each(numbers: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """A row for each number."""
    result = rows.new_empty(int(numbers.max()) + 1, rows.shape[1])
    result[numbers] = rows
    return result
