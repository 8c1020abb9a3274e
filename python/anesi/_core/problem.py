"""A problem of the engine's as q takes it: its function, its reading order and its pruner, on tensors."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np
import torch

from .. import _engine, q
from .rows import array, as_rows, tensor

Ask = Callable[[torch.Tensor], torch.Tensor]


def engine_problem(ask: Ask, worlds: Sequence[int], outputs: Sequence[int]) -> _engine.Problem:
    """Of a function of tensors."""

    def of_arrays(rows: Any) -> Any:
        return ask(tensor(rows)).numpy()

    return _engine.Problem(of_arrays, list(worlds), list(outputs))


def apply(problem: _engine.Problem, worlds: torch.Tensor) -> torch.Tensor:
    """The function, int64 ``[n, variables]`` to ``[n, outputs]``."""
    return tensor(problem.apply(array(worlds), torch.get_num_threads()))


class TaskFunction:
    """A built-in task's function, int64 ``[n, variables]`` to ``[n, outputs]``. It is pickled by its name.

    Args:
        settings: of the task's options, ``task.digits=4``.
    """

    def __init__(self, task: str, settings: Sequence[str]) -> None:
        self._made_of = task, list(settings)
        self.problem = _engine.task_problem(task, self._made_of[1])

    def __call__(self, worlds: torch.Tensor) -> torch.Tensor:
        return apply(self.problem, as_rows(worlds, len(worlds), len(self.problem.worlds), "worlds"))

    def __reduce__(self) -> tuple[Any, ...]:
        return TaskFunction, self._made_of


def q_problem(problem: _engine.Problem) -> q.Problem:
    """The same as a network q takes it."""
    return q.Problem(
        worlds=problem.worlds,
        outputs=problem.outputs,
        function=lambda worlds: apply(problem, worlds),
        order=_reading_order(problem),
        pruner=EnginePruner(problem) if problem.has_pruner else None,
        asked=problem.asked,
    )


def _reading_order(problem: _engine.Problem) -> q.ReadingOrder | None:
    steps = _engine.reading_steps(problem)
    if steps is None:
        return None
    return q.ReadingOrder(problem.worlds, problem.outputs, [q.Step(*step) for step in steps])


class EnginePruner:
    """What the problem's automaton, circuit or SAT solver says of choices (section 3.3 of the paper)."""

    def __init__(self, problem: _engine.Problem) -> None:
        self._problem = problem

    def allow_outputs(self, chosen: torch.Tensor, variable: int) -> torch.Tensor:
        return tensor(_engine.allow_outputs(self._problem, array(chosen), variable))

    def allow_worlds(self, outputs: torch.Tensor, chosen: torch.Tensor, variable: int) -> torch.Tensor:
        return tensor(_engine.allow_worlds(self._problem, array(outputs), array(chosen), variable))


def some_worlds(problem: _engine.Problem, count: int, seed: int = 0) -> torch.Tensor:
    """Drawn evenly, int64 ``[count, variables]``."""
    random = np.random.default_rng(seed)
    return torch.from_numpy(np.stack([random.integers(0, domain, count) for domain in problem.worlds], 1))


def all_worlds(problem: _engine.Problem) -> torch.Tensor:
    """Of few worlds: all of them, the last variable running fastest."""
    domains = problem.worlds
    places = torch.arange(int(problem.points))
    columns = []
    for domain in reversed(domains):
        columns.append(places % domain)
        places = places // domain
    return torch.stack(columns[::-1], 1)


# What was found of a function, as arrays by the names that saved models have.


def automaton_facts(automaton: _engine.Automaton) -> dict[str, Any]:
    steps: list[int] = []
    for step in automaton.steps:
        emits = -1 if step["emits"] is None else step["emits"]
        steps += [step["kind"], emits, len(step["reads"]), *step["reads"]]
    facts: dict[str, Any] = {"reading.steps": np.array(steps, np.int64), "automaton.start": np.array([automaton.start], np.int64)}
    for kind in range(1 + max(step["kind"] for step in automaton.steps)):
        table = automaton.table(kind)
        facts[f"automaton.{kind}.states"] = np.array([table["states"], table["next_states"]], np.int64)
        facts[f"automaton.{kind}.emits"] = np.array(table["emits"], np.int32)
        facts[f"automaton.{kind}.next"] = np.array(table["next"], np.int32)
    return facts


def table_facts(outputs: torch.Tensor, problem: _engine.Problem) -> dict[str, Any]:
    """Of the outputs of all worlds: a table for each output, by all variables."""
    variables = len(problem.worlds)
    rows = [variables, *range(variables)] * outputs.shape[1]
    values = outputs.T.reshape(-1).to(torch.int32).numpy()
    return {"tables.variables": np.array(rows, np.int64), "tables.values": np.ascontiguousarray(values)}


def function_of_tables(facts: dict[str, Any], worlds: Sequence[int], outputs: int) -> Ask:
    """What such facts say."""
    variables, values = facts["tables.variables"].tolist(), torch.from_numpy(np.array(facts["tables.values"], np.int64))

    def look_up(rows: torch.Tensor) -> torch.Tensor:
        columns, place, begin = [], 0, 0
        for _ in range(outputs):
            read = variables[place + 1 : place + 1 + variables[place]]
            place += 1 + len(read)
            index, entries = torch.zeros(len(rows), dtype=torch.int64), 1
            for variable in read:
                index, entries = index * worlds[variable] + rows[:, variable], entries * worlds[variable]
            columns.append(values[begin + index])
            begin += entries
        return torch.stack(columns, 1)

    return look_up
