"""A saved model: written so that C++ reads it too, and opened again."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any, Callable, Sequence

import torch

from .. import _engine
from .facts import Automaton, Cnf
from .manifest import FORMAT, FOUND, MANIFEST, WEIGHTS, folder_of, read_arrays, read_manifest, write_model
from .options import EXACT, known_settings
from .problem import Ask, all_worlds, apply, automaton_facts, engine_problem, function_of_tables, table_facts

if TYPE_CHECKING:
    from .core import Core

Say = Callable[[str], None]
_MOST_WORLDS_SAVED = 1 << 16
_GIVEN = "knowledge.given"
_MOST_MEGABYTES_OF_FORMULA = 4


def save(core: Core, path: str) -> None:
    """Writes the folder, or replaces the model in it as a whole; a failure leaves what was there."""
    target = os.path.normpath(path)
    if os.path.exists(target):
        is_ours = os.path.isdir(target) and (not os.listdir(target) or os.path.exists(os.path.join(target, MANIFEST)))
        if not is_ours:
            raise RuntimeError(f"{target}: there is something else than a saved model; choose another place")
    fresh = target + ".new"
    try:
        shutil.rmtree(fresh, ignore_errors=True)
        os.makedirs(fresh)
        model = core.answers.model.tensors() if core.learns_q else {}
        write_model(fresh, _manifest_of(core), model, facts_to_save(core), core.found.reason)
        _replace(fresh, target)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _replace(fresh: str, target: str) -> None:
    if not os.path.exists(target):
        os.rename(fresh, target)
        return
    old = target + ".old"
    shutil.rmtree(old, ignore_errors=True)
    os.rename(target, old)
    os.rename(fresh, target)
    shutil.rmtree(old, ignore_errors=True)


def _manifest_of(core: Core) -> dict[str, Any]:
    model = core.answers.model
    return {
        "format": FORMAT,
        "architecture": core.found.architecture,
        "multilinear": model.prediction.multilinear,
        "explains": model.explanation is not None,
        "prunes": core.answers.pruner is not None,
        "q_learned": True,
        "members": 1,
        "worlds": core.problem.worlds,
        "outputs": core.problem.outputs,
        "options": {**core.options.values, _GIVEN: str(len(core.given))},
    }


def facts_to_save(core: Core) -> dict[str, Any]:
    """What stands for the function, so that it need not be brought again."""
    problem = core.problem
    if problem.automaton is not None:
        return {**problem.found, **automaton_facts(problem.automaton)}
    if problem.asked is None and core.found.architecture == EXACT and problem.points <= _MOST_WORLDS_SAVED:
        outputs = apply(problem, all_worlds(problem))
        if (outputs >= 0).all():
            return {**problem.found, **table_facts(outputs, problem)}
    if problem.has_cnf or problem.has_circuit:
        return {**problem.found, **_engine.saved_formula(problem)}
    return problem.found


def load(
    path: str,
    ask: Ask | None,
    worlds: Sequence[int],
    outputs: Sequence[int],
    cnf: Cnf | None,
    say: Say | None,
) -> Core:
    """Without a function, what was saved of it stands for it."""
    from .core import Core

    folder = folder_of(path)
    saved = read_manifest(folder)
    found = read_arrays(folder, FOUND, saved["found_sha256"]) if saved["found_sha256"] else {}
    if ask is None:
        problem = remembered(folder, saved["worlds"], saved["outputs"], found, saved["found"])
    else:
        problem = engine_problem(ask, worlds, outputs)
        if cnf is not None:
            problem = problem.with_cnf(cnf)
        problem.check(threads=torch.get_num_threads())
    chosen = {
        "architecture": saved["architecture"],
        "reason": saved["found"] or saved["architecture"],
        "facts": {name: torch.from_numpy(part.copy()) for name, part in found.items()},
        "calls": 0,
        "seconds": 0.0,
        "certificate": None,
    }
    core = Core.of_problem(problem, _given_of(folder, saved), "", known_settings(saved["options"]), 0, say, chosen, ask, cnf)
    _load_weights(core, folder, saved)
    return core


def _load_weights(core: Core, folder: str, saved: dict[str, Any]) -> None:
    weights = {name: torch.from_numpy(part.copy()) for name, part in read_arrays(folder, WEIGHTS, saved["weights_sha256"]).items()}
    if core.learning is None:
        return
    core.to_double(any(part.dtype == torch.float64 for part in weights.values()))
    try:
        core.answers.model.load_tensors(weights, os.path.join(folder, WEIGHTS))
    except ValueError as error:
        raise RuntimeError(str(error)) from None


def _given_of(folder: str, saved: dict[str, Any]) -> int:
    text = saved["options"].get(_GIVEN, "0")
    if not text.isdigit() or int(text) > len(saved["worlds"]):
        name = os.path.join(folder, MANIFEST)
        raise RuntimeError(f"{name}: {_GIVEN} is no number of its world variables; the file is damaged")
    return int(text)


def remembered(
    where: str, worlds: list[int], outputs: list[int], found: dict[str, Any], summary: str
) -> _engine.Problem:
    """The function as an automaton, tables or a formula say that were saved. ValueError, which begins with ``where``, if
    none of them was."""

    def nothing(rows: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("there is no function")

    told = engine_problem(nothing, worlds, outputs).with_found(found, summary)
    if told.automaton is not None:
        return engine_problem(Automaton.of(told.automaton).run, worlds, outputs)
    if told.has_tables:
        return engine_problem(function_of_tables(found, worlds, len(outputs)), worlds, outputs)
    problem = _engine.problem_of_formula(told)
    if problem is not None:
        return problem
    if any(name.startswith("formula.") for name in found):
        raise ValueError(
            f"{where}: its formula is too large to be saved, over {_MOST_MEGABYTES_OF_FORMULA} MB; make it again with"
            " Knowledge.from_cnf(…), and keep what changes with state_dict()"
        )
    raise ValueError(f"{where}: the function itself is not saved; give it as `function`")
