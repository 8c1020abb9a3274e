"""An automaton that was found is compared with the function on worlds that perception believes in, and found again if it
differs there: draws of mixed beliefs did not tell the two apart, but perception may look elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .. import _engine
from ..q.beliefs import sample_worlds
from .options import EXACT
from .rows import array, tensor

if TYPE_CHECKING:
    from .core import Core

_AT_ONCE = 64  # worlds that the function is asked about: what it costs is mostly the call


class Watch:
    """Of a Core."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.generator = torch.Generator().manual_seed(core.seed)
        is_found = core.found.architecture == EXACT and "automaton.start" in core.found.facts
        self.worlds = int(core.options.number("discover.watched")) if is_found else 0  # of each step; 0: not watched
        self.watches = self.worlds > 0  # at first; it may not be any more
        self.unwatched: torch.Tensor | None = None  # worlds on which the two are still to be compared
        self.grown = 0

    def watch(self, beliefs: torch.Tensor) -> torch.Tensor | None:
        """Those of a few worlds of these beliefs on which the two differ. The function is asked every few calls."""
        if self.worlds == 0 or len(beliefs) == 0:
            return None
        rows = torch.randint(len(beliefs), (self.worlds,), generator=self.generator)
        worlds = sample_worlds(beliefs.detach()[rows], self.generator)
        self.unwatched = worlds if self.unwatched is None else torch.cat([self.unwatched, worlds])
        if len(self.unwatched) < _AT_ONCE:
            return None
        compared, self.unwatched = self.unwatched, None
        wrong = tensor(_engine.wrong_worlds(self._core.problem, array(compared), threads=torch.get_num_threads()))
        return wrong if len(wrong) > 0 else None

    def grow(self, wrong: torch.Tensor) -> None:
        """Finds the automaton again so that it is right on those, too. If that fails, it stays and is not watched."""
        core, before = self._core, self._core.problem.automaton
        assert before is not None
        self.grown += 1
        again = _engine.discover_again(
            core.problem, array(wrong.cpu()), settings=core.options.discover, seed=(core.seed + self.grown) % 2**64,
            threads=torch.get_num_threads(),
        )  # fmt: skip
        after = again.problem.automaton
        if not again.has_automaton or after is None:
            self.worlds = 0  # it would be so at every step from here on
            if core.say is not None:
                core.say(f"the memory that was found differs from c on a perceived world, and stays: {again.reason}")
            return
        if core.say is not None:
            core.say(
                "the memory that was found differed from c on a perceived world:"
                f" it has {after.states} states now, {before.states} before"
            )
        core.found.reason = (
            f"exact inference: a memory of {after.states} states was found, {after.states - before.states} of them after"
            f" {self.grown} perceived worlds told it from c"
        )
        core.found.facts, core.found.certificate = again.facts, None  # the certificate was about another automaton
        core.take_memory(core.problem.with_found(again.facts, core.found.reason))
