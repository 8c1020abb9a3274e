"""The state of a Core, as tensors by name: all that the future depends on besides the function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

import torch

from .options import EXACT
from .rows import as_rows, check_values, tensor

if TYPE_CHECKING:
    from .core import Core

_MOST_WATCHED = 1_000_000  # the largest value of discover.watched


def state_of(core: Core) -> dict[str, torch.Tensor]:
    """What :func:`load_state` takes up."""
    watching = core.watching
    state = {} if core.learning is None else core.learning.tensors()
    state["generator"] = core.generator.get_state()
    state["grown"] = torch.tensor(watching.grown)
    state["watching"] = torch.tensor(watching.worlds)
    if watching.unwatched is not None:
        state["unwatched"] = watching.unwatched
    state.update({f"found.{name}": tensor(part) for name, part in core.problem.found.items()})
    state["reason"] = _as_bytes(core.found.reason)
    state["architecture"] = _as_bytes(core.found.architecture)
    state["worlds"], state["outputs"] = torch.tensor(core.problem.worlds), torch.tensor(core.problem.outputs)
    return {name: part.detach().clone() for name, part in state.items()}


def load_state(core: Core, state: Mapping[str, torch.Tensor]) -> None:
    """All is looked at before anything changes: after a ValueError, everything is as it was."""
    architecture, reason = _text(state, "architecture"), _text(state, "reason")
    if architecture != core.found.architecture:
        here = core.found.architecture
        raise ValueError(f"state: it is of a q of architecture {architecture}, and this one is {here}")
    for name, own in (("worlds", core.problem.worlds), ("outputs", core.problem.outputs)):
        if _part(state, name, torch.int64, 1).tolist() != own:
            raise ValueError(f"state: it is of another function: its {name} have other domains")
    generator = _generator(state)
    grown, watching = _count(state, "grown"), _count(state, "watching")
    facts = _facts(core, state)
    problem = core.problem.with_found(facts, reason) if facts is not None else core.problem
    if watching > _MOST_WATCHED or (watching > 0 and problem.automaton is None):
        raise ValueError(f"state: watching is {watching}, and there is no memory to watch on so many worlds")
    unwatched = _unwatched(core, state)
    _load_learned(core, state)
    if facts is not None:
        core.found.facts, core.found.reason = facts, reason
        if grown > 0:
            core.found.certificate = None
        core.take_memory(problem)
    core.generator.set_state(generator)
    core.watching.grown, core.watching.worlds, core.watching.unwatched = grown, watching, unwatched


def _facts(core: Core, state: Mapping[str, torch.Tensor]) -> dict[str, Any] | None:
    """What was found, if it takes the place of what is here; an automaton may have grown, nothing else changes."""
    saved = {name.removeprefix("found."): part for name, part in state.items() if name.startswith("found.")}
    own = {name: tensor(part) for name, part in core.problem.found.items()}
    if not saved and core.found.architecture == EXACT:
        return None
    for name in own:
        is_table = name.startswith("automaton.") and name != "automaton.start"
        if name not in saved and not is_table:
            raise ValueError(f"state: found.{name} is missing")
    if core.found.architecture == EXACT:
        return {name: part.contiguous().numpy().copy() for name, part in saved.items()}
    same = len(saved) == len(own) and all(
        name in own and own[name].dtype == part.dtype and torch.equal(own[name], part) for name, part in saved.items()
    )
    if not same:
        raise ValueError("state: what was found of the function is not what was found here")
    return None


def _unwatched(core: Core, state: Mapping[str, torch.Tensor]) -> torch.Tensor | None:
    if "unwatched" not in state:
        return None
    worlds, domains = _part(state, "unwatched", torch.int64, 2), core.problem.worlds
    rows = as_rows(worlds, len(worlds), len(domains), "state: unwatched")
    check_values(rows, domains, "state: unwatched")
    return rows.clone()


def _load_learned(core: Core, state: Mapping[str, torch.Tensor]) -> None:
    learning = core.learning
    if learning is None:
        return
    for name, part in state.items():
        if name.startswith(("q.", "explanation.", "loss.")) and part.is_floating_point() and part.isnan().any():
            raise ValueError(f"state: {name} has what is not a number")
    own = learning.tensors()
    dtype, before = core.answers.dtype, {name: part.clone() for name, part in own.items()}
    types = {part.dtype for name, part in state.items() if name.startswith("q.") and part.is_floating_point()}
    wide = torch.float64 if torch.float64 in types else torch.float32
    try:
        learning.to(wide)
        for name in own:
            if name.startswith(("q.", "explanation.")) and (name not in state or state[name].dtype != wide):
                raise ValueError(f"state: {name} is missing or of another type")
        learning.load(state)
    except BaseException:
        learning.to(dtype)
        learning.load(before)
        raise


def _as_bytes(text: str) -> torch.Tensor:
    return torch.tensor(list(text.encode()), dtype=torch.uint8)


def _part(state: Mapping[str, torch.Tensor], name: str, dtype: torch.dtype, dims: int) -> torch.Tensor:
    if name not in state:
        raise ValueError(f"state: {name} is missing; it is not a Knowledge's")
    part = state[name]
    if part.dtype != dtype or part.dim() != dims:
        raise ValueError(f"state: {name} is of another type or shape")
    return part


def _text(state: Mapping[str, torch.Tensor], name: str) -> str:
    letters = bytes(_part(state, name, torch.uint8, 1).tolist())
    try:
        text = letters.decode()
    except UnicodeDecodeError:
        text = ""
    if not text.isprintable() or (letters and not text):
        raise ValueError(f"state: {name} is no text")
    return text


def _count(state: Mapping[str, torch.Tensor], name: str) -> int:
    count = int(_part(state, name, torch.int64, 0))
    if count < 0:
        raise ValueError(f"state: {name} is {count}")
    return count


def _generator(state: Mapping[str, torch.Tensor]) -> torch.Tensor:
    saved = _part(state, "generator", torch.uint8, 1).contiguous()
    try:
        torch.Generator().set_state(saved)
    except (RuntimeError, TypeError):
        raise ValueError("state: generator is not a generator's") from None
    return saved
