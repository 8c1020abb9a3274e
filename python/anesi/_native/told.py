"""Compares what was declared of a function, ``automaton=`` and ``cnf=``, with the function itself."""

from __future__ import annotations

from typing import Sequence

import torch

from .. import _engine
from .problem import all_worlds, apply, some_worlds

_FEW_WORLDS, _SOME = 1 << 10, 200
_FREE = 8  # world variables that the formula may choose for an output


def check_told(problem: _engine.Problem, cnf: _engine.Cnf | None) -> None:
    """Raises ValueError, which names a world, if something that was declared says something else than the function."""
    problem.check(threads=torch.get_num_threads())
    if cnf is not None and _engine.has_cadical:
        worlds = all_worlds(problem) if problem.points <= _FEW_WORLDS else some_worlds(problem, _SOME)
        _check_cnf(problem, cnf, worlds)


def _check_cnf(problem: _engine.Problem, cnf: _engine.Cnf, worlds: torch.Tensor) -> None:
    """With a world's literals the formula must have exactly one model, whose output is the function's; and worlds that the
    formula itself finds for such outputs, close to the first ones, must have those."""
    formula = Saying(cnf, problem)
    expected = apply(problem, worlds)
    near, wanted = [], []
    for row, (world, output) in enumerate(zip(worlds.tolist(), expected.tolist())):
        said = formula.output(world)
        if said != output:
            raise _other_output(said, world, output)
        if formula.has_two_models(world):
            raise ValueError(f"cnf: it has several models for the world {world}: each would be counted")
        found = formula.world_near(world, output, row)
        if found is not None:
            near.append(found)
            wanted.append(output)
    if near:
        for world, said, output in zip(near, wanted, apply(problem, torch.tensor(near)).tolist()):
            if said != output:
                raise _other_output(said, world, output)


def _other_output(said: list[int] | None, world: list[int], output: list[int]) -> ValueError:
    return ValueError(f"cnf: it gives {said or 'no output'} for the world {world}, and the function {output}")


class Saying:
    """What a formula says of worlds, one at a time."""

    def __init__(self, cnf: _engine.Cnf, problem: _engine.Problem) -> None:
        self._variables = cnf.variables
        self._worlds = [[cnf.world(place, value) for value in range(size)] for place, size in enumerate(problem.worlds)]
        self._outputs = [[cnf.output(place, value) for value in range(size)] for place, size in enumerate(problem.outputs)]
        self._models, self._twins = _engine.Sat(cnf.clauses), _engine.Sat(self._with_twin(cnf.clauses))

    def output(self, world: Sequence[int]) -> list[int] | None:
        """None if the formula gives it none."""
        model = self._models.model(self._literals(world), self._variables)
        return _values(self._outputs, model) if model else None

    def has_two_models(self, world: Sequence[int]) -> bool:
        """Whether two models differ anywhere that both have this world."""
        literals = self._literals(world)
        return self._twins.satisfiable(literals + [self._twin(literal) for literal in literals])

    def world_near(self, world: Sequence[int], output: Sequence[int], first: int) -> list[int] | None:
        """A world that gives the output and agrees with ``world`` but in a few variables, from ``first`` on."""
        count = len(world)
        kept = [(first + place) % count for place in range(_FREE, count)]
        literals = [self._worlds[variable][world[variable]] for variable in kept]
        literals += [self._outputs[place][value] for place, value in enumerate(output) if value >= 0]
        model = self._models.model(literals, self._variables)
        return _values(self._worlds, model) if model else None

    def _literals(self, world: Sequence[int]) -> list[int]:
        return [self._worlds[variable][value] for variable, value in enumerate(world)]

    def _twin(self, literal: int) -> int:
        return literal + self._variables if literal > 0 else literal - self._variables

    def _with_twin(self, clauses: list[list[int]]) -> list[list[int]]:
        """The formula and again with other names for its variables, and that some variable differs from its namesake."""
        twice = clauses + [[self._twin(literal) for literal in clause] for clause in clauses]
        some = []
        for variable in range(1, self._variables + 1):
            differs = 2 * self._variables + variable
            some.append(differs)
            twice += [[-differs, variable, self._twin(variable)], [-differs, -variable, -self._twin(variable)]]
        return twice + [some]


def _values(literals: list[list[int]], model: list[bool]) -> list[int]:
    """Of variables in a model; -1 if none of a variable's literals holds."""

    def holds(literal: int) -> bool:
        return model[abs(literal)] == (literal > 0)

    return [next((value for value, literal in enumerate(own) if holds(literal)), -1) for own in literals]
