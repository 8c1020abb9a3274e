"""A Core as plain objects, for copy and pickle: what it was made of, what was found, and its state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .. import _arguments, _engine
from .problem import Ask, TaskFunction, automaton_facts, engine_problem
from .rows import tensor
from .saving import facts_to_save, remembered
from .state import load_state, state_of

if TYPE_CHECKING:
    from .core import Core


def copied(core: Core) -> Core:
    """Shares what never changes: the problem with its function, and the back end."""
    parts = _parts(core)
    parts["chosen"]["backend"] = None if core.learns_q else getattr(core.answers, "backend", None)
    return _made(core.problem, core.ask, core.cnf, parts)


def pickled(core: Core) -> tuple[Any, ...]:
    """What ``__reduce__`` returns. The function is pickled by Python's usual rules."""
    problem, parts = core.problem, _parts(core)
    # As arrays: torch hands tensors over to spawned processes by shared memory, which it may have too little of.
    parts["state"] = {name: part.numpy() for name, part in parts["state"].items()}
    parts["chosen"]["facts"] = dict(core.found.facts)
    parts["domains"] = problem.worlds, problem.outputs
    if core.ask is None:
        parts["remembered"] = facts_to_save(core)
    elif problem.automaton is not None and not problem.found:
        parts["automaton"] = automaton_facts(problem.automaton)
    if core.cnf is not None:
        parts["cnf"] = core.cnf.variables, core.cnf.clauses
    ask = core.ask.owned if isinstance(core.ask, _arguments.Weakly) else core.ask
    return unpickled, (ask, parts)


def unpickled(ask: Ask | None, parts: dict[str, Any]) -> Core:
    worlds, outputs = parts["domains"]
    parts["state"] = {name: torch.from_numpy(part) for name, part in parts["state"].items()}
    parts["chosen"]["facts"] = {name: tensor(part) for name, part in parts["chosen"]["facts"].items()}
    if isinstance(ask, TaskFunction):
        return _made(ask.problem, ask, None, parts)
    if ask is None:
        facts = parts["remembered"]
        return _made(remembered("Knowledge", worlds, outputs, facts, parts["chosen"]["reason"]), None, None, parts)
    borrowed = _arguments.Weakly(ask)
    problem = engine_problem(borrowed, worlds, outputs)
    if "automaton" in parts:
        told = problem.with_found(parts["automaton"], "").automaton
        assert told is not None
        problem = problem.with_automaton(told)
    cnf = _cnf(worlds, outputs, *parts["cnf"]) if "cnf" in parts else None
    if cnf is not None:
        problem = problem.with_cnf(cnf)
    return _made(problem, borrowed, cnf, parts)


def _parts(core: Core) -> dict[str, Any]:
    found = core.found
    chosen = {
        "architecture": found.architecture,
        "reason": found.reason,
        "facts": {name: tensor(part) for name, part in found.facts.items()},
        "calls": found.calls,
        "seconds": found.seconds,
        "certificate": found.certificate,
    }
    return {
        "given": len(core.given), "settings": list(core.options.settings), "seed": core.seed, "say": core.say,
        "chosen": chosen, "state": state_of(core),
    }  # fmt: skip


def _made(problem: _engine.Problem, ask: Ask | None, cnf: _engine.Cnf | None, parts: dict[str, Any]) -> Core:
    from .core import Core

    told = parts["given"], "", parts["settings"], parts["seed"], parts["say"], parts["chosen"]
    core = Core.of_problem(problem, *told, ask, cnf)
    with torch.inference_mode(False):
        load_state(core, parts["state"])
    return core


def _cnf(worlds: list[int], outputs: list[int], variables: int, clauses: list[list[int]]) -> _engine.Cnf:
    cnf = _engine.Cnf(worlds, outputs)
    for _ in range(variables - cnf.variables):
        cnf.fresh_variable()
    own = {tuple(clause) for clause in cnf.clauses}
    for clause in clauses:
        if tuple(clause) not in own:
            cnf.add(clause)
    return cnf
