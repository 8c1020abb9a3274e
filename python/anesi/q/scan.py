"""One recurrent cell that walks along a problem's reading order.

At every step it sees the beliefs of the world variables read there and the state left by the steps before. It gives the
probabilities of the next output, is told which value was chosen, and moves on. Steps of one kind share weights, so the
number of parameters does not depend on the length. Explanations: scan_explanation.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import Embedding, LayerNorm, Linear

from .model import Rollout, SequenceModel
from .problem import Problem, Step


@dataclass(frozen=True)
class ScanOptions:
    """
    Attributes:
        width: size of the recurrent state.
    """

    width: int = 128


class Scan(SequenceModel):
    """q(y|P)."""

    def __init__(self, problem: Problem, options: ScanOptions = ScanOptions()) -> None:
        reading = problem.reading_order()
        super().__init__(problem.outputs, reading.emitted)
        self.steps, self.kinds, self.world_domains = list(reading.steps), reading.kinds, list(problem.worlds)
        width = options.width
        self.first_state = torch.nn.Parameter(torch.zeros(width))
        self.from_state = Linear(width, width)
        self.before_head = Linear(width, width)
        self.before_move = Linear(width, width)
        self.move = Linear(width, width)
        self.norm = LayerNorm(width)
        for index, kind in enumerate(self.kinds):
            if kind.read_domains:
                self.add_module(f"encoder{index}", Linear(sum(kind.read_domains), width))
            if kind.emit_domain > 1:
                self.add_module(f"head{index}", Linear(width, kind.emit_domain))
                self.add_module(f"told{index}", Embedding(kind.emit_domain, width))

    def log_prob(self, beliefs: torch.Tensor, values: torch.Tensor, outputs: torch.Tensor | None = None) -> torch.Tensor:
        encoded, state = self.encode(beliefs), self.start(beliefs)
        # What each step saw and emitted, by kind: every head then runs once over all its steps.
        seen: list[list[torch.Tensor]] = [[] for _ in self.kinds]
        emitted: list[list[torch.Tensor]] = [[] for _ in self.kinds]
        for place, step in enumerate(self.steps):
            here = self.look(encoded[place], state)
            value = None if step.emits is None else values[:, step.emits]
            if value is not None:
                seen[step.kind].append(here)
                emitted[step.kind].append(value)
            if place + 1 < len(self.steps):
                state = self.next_state(step, here, value)
        total = torch.zeros(len(beliefs), dtype=beliefs.dtype, device=beliefs.device)
        for kind, here_by_step in enumerate(seen):
            if here_by_step:
                log_probs = self.emit(kind, torch.stack(here_by_step))  # [steps, batch, domain]
                total = total + log_probs.gather(2, torch.stack(emitted[kind]).unsqueeze(2)).squeeze(2).sum(0)
        return total

    def begin(self, beliefs: torch.Tensor, outputs: torch.Tensor | None = None) -> Rollout:
        return _ScanRollout(self, beliefs)

    # The parts of a step. `kind` names the weights; a part that a kind does not need is None.

    def _part(self, name: str, kind: int) -> torch.nn.Module | None:
        return self._modules.get(f"{name}{kind}")

    def start(self, beliefs: torch.Tensor) -> torch.Tensor:
        return self.first_state.expand(len(beliefs), -1)

    def encode(self, beliefs: torch.Tensor) -> list[torch.Tensor | None]:
        """The beliefs that each step reads, encoded, ``[batch, width]``; None if it reads nothing."""
        encoded: list[torch.Tensor | None] = [None] * len(self.steps)
        for kind in range(len(self.kinds)):
            encoder = self._part("encoder", kind)
            places = [place for place, step in enumerate(self.steps) if step.kind == kind]
            if encoder is None or not places:
                continue
            # All steps of a kind go through their encoder at once.
            read = [read_beliefs(beliefs, self.steps[place], self.world_domains) for place in places]
            for place, output in zip(places, encoder(torch.stack(read)).unbind(0)):
                encoded[place] = output
        return encoded

    def look(self, encoded: torch.Tensor | None, state: torch.Tensor) -> torch.Tensor:
        """What a step sees: the state and what it reads, ``[batch, width]``."""
        remembered: torch.Tensor = self.from_state(state)
        return (remembered if encoded is None else encoded + remembered).relu()

    def emit(self, kind: int, seen: torch.Tensor) -> torch.Tensor:
        """Log-probabilities of the output, ``[..., domain]``."""
        head = self._part("head", kind)
        if head is None:  # a domain of one value
            return torch.zeros(*seen.shape[:-1], 1, dtype=seen.dtype, device=seen.device)
        logits: torch.Tensor = head(self.before_head(seen).relu())
        return logits.log_softmax(-1)

    def next_state(self, step: Step, seen: torch.Tensor, value: torch.Tensor | None) -> torch.Tensor:
        """The state after a step; ``value`` is what it emitted, int64 ``[batch]``."""
        told = self._part("told", step.kind)
        before = self.before_move(seen)
        if value is not None and told is not None:
            before = before + told(value)
        state: torch.Tensor = self.norm(self.move(before.relu()))
        return state


class _ScanRollout(Rollout):
    _seen: torch.Tensor  # what the step whose output is chosen next saw, [rows, width]

    def __init__(self, model: Scan, beliefs: torch.Tensor) -> None:
        self._model, self._encoded, self._state = model, model.encode(beliefs), model.start(beliefs)
        self._place = 0
        self._read_until_emission()

    def next_log_probs(self) -> torch.Tensor:
        return self._model.emit(self._step.kind, self._seen)

    def advance(self, values: torch.Tensor) -> None:
        self._state = self._model.next_state(self._step, self._seen, values)
        self._place += 1
        self._read_until_emission()

    def select(self, rows: torch.Tensor) -> None:
        later = self._encoded[self._place + 1 :]
        self._encoded[self._place + 1 :] = [None if encoded is None else encoded[rows] for encoded in later]
        self._seen = self._seen[rows]

    @property
    def _step(self) -> Step:
        return self._model.steps[self._place]

    def _read_until_emission(self) -> None:
        while self._place < len(self._model.steps):
            self._seen = self._model.look(self._encoded[self._place], self._state)
            if self._step.emits is not None:
                return
            self._state = self._model.next_state(self._step, self._seen, None)
            self._place += 1


def read_beliefs(beliefs: torch.Tensor, step: Step, domains: list[int]) -> torch.Tensor:
    """The beliefs of the variables that a step reads, side by side, ``[batch, sum of their domains]``."""
    return torch.cat([beliefs[:, variable, : domains[variable]] for variable in step.reads], 1)
