"""q(w|y,P) by two walks along a problem's reading order.

What a world variable was depends on the output of its own step, on what was chosen before and on the outputs to come
(whether a carry was needed shows only in the next digit). So one recurrent cell walks from the last step to the first and
leaves a message about what lies ahead. Another walks forward and chooses the variables of each step, given the step's
beliefs and output, the message and every choice so far. Steps of one kind share weights.

The exact conditional is P_i(v) times how well v fits the rest, so the network only gives the second factor: its logits are
added to log P_i.
"""

from __future__ import annotations

from typing import cast

import torch
from torch.nn import Embedding, LayerNorm, Linear

from .mlp import columns
from .model import Rollout, SequenceModel
from .problem import Problem, Step
from .scan import ScanOptions, read_beliefs


class ScanExplanation(SequenceModel):
    """q(w|y,P)."""

    def __init__(self, problem: Problem, options: ScanOptions = ScanOptions()) -> None:
        reading = problem.reading_order()
        super().__init__(problem.worlds, reading.read)
        self.steps, self.kinds = list(reading.steps), reading.kinds
        width = options.width
        self.first_state = torch.nn.Parameter(torch.zeros(width))
        self.last_message = torch.nn.Parameter(torch.zeros(width))
        self.from_message = Linear(width, width)
        self.message = Linear(width, width)
        self.from_ahead = Linear(width, width)
        self.from_state = Linear(width, width)
        self.before_head = Linear(width, width)
        self.before_move = Linear(width, width)
        self.move = Linear(width, width)
        self.message_norm = LayerNorm(width)
        self.state_norm = LayerNorm(width)
        for index, kind in enumerate(self.kinds):
            self.add_module(f"encoder{index}", Linear(sum(kind.read_domains) + kind.emit_domain, width))
            for place, domain in enumerate(kind.read_domains):
                self.add_module(f"head{index}_{place}", Linear(width, domain))
                self.add_module(f"told{index}_{place}", Embedding(domain, width))

    def log_prob(self, beliefs: torch.Tensor, values: torch.Tensor, outputs: torch.Tensor | None = None) -> torch.Tensor:
        inputs, state = self.look_ahead(beliefs, outputs), self.start(beliefs)
        # What was seen before each choice, by kind and place: every head then runs once over all its steps.
        choices: dict[tuple[int, int], list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]] = {}
        for index, step in enumerate(self.steps):
            before = inputs[index] + self.from_state(state)
            for place, variable in enumerate(step.reads):
                value = values[:, variable]
                here = (before.relu(), self.belief_of(beliefs, variable), value)
                choices.setdefault((step.kind, place), []).append(here)
                before = before + self.told(step, place, value)
            if index + 1 < len(self.steps):
                state = self.next_state(before)
        total = torch.zeros(len(beliefs), dtype=beliefs.dtype, device=beliefs.device)
        for (kind, place), here_by_step in choices.items():
            seen, believed, chosen = (torch.stack(parts) for parts in zip(*here_by_step))
            log_probs = self.choose(kind, place, seen, believed)  # [steps, batch, domain]
            total = total + log_probs.gather(2, chosen.unsqueeze(2)).squeeze(2).sum(0)
        return total

    def begin(self, beliefs: torch.Tensor, outputs: torch.Tensor | None = None) -> Rollout:
        return _ScanExplanationRollout(self, beliefs, self.look_ahead(beliefs, outputs))

    def start(self, beliefs: torch.Tensor) -> torch.Tensor:
        return self.first_state.expand(len(beliefs), -1)

    def look_ahead(self, beliefs: torch.Tensor, outputs: torch.Tensor | None) -> list[torch.Tensor]:
        """What does not depend on choices: each step's encoded input with the message from ahead, ``[batch, width]``."""
        if outputs is None:
            raise ValueError("q: an explanation model needs outputs to explain")
        encoded = self._encode(beliefs, outputs)
        messages = [self.last_message.expand(len(beliefs), -1)]  # the last step's first
        for here in encoded[:0:-1]:
            seen = (here + self.from_message(messages[-1])).relu()
            messages.append(self.message_norm(self.message(seen)))
        ahead = self.from_ahead(torch.stack(messages[::-1])).unbind(0)
        return [here + message for here, message in zip(encoded, ahead)]

    def _encode(self, beliefs: torch.Tensor, outputs: torch.Tensor) -> list[torch.Tensor]:
        encoded: dict[int, torch.Tensor] = {}
        for index, kind in enumerate(self.kinds):
            places = [place for place, step in enumerate(self.steps) if step.kind == index]
            # All steps of a kind go through their encoder at once.
            inputs = torch.stack([self._input(self.steps[place], kind.emit_domain, beliefs, outputs) for place in places])
            encoded.update(zip(places, self.get_submodule(f"encoder{index}")(inputs).unbind(0)))
        return [encoded[place] for place in range(len(self.steps))]

    def _input(self, step: Step, emit_domain: int, beliefs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
        """The beliefs read and the one-hot output; zeros if nothing is emitted."""
        if step.emits is None:
            emitted = torch.zeros(len(beliefs), emit_domain, dtype=beliefs.dtype, device=beliefs.device)
        else:
            emitted = columns(outputs[:, step.emits], emit_domain, beliefs)
        return torch.cat([read_beliefs(beliefs, step, self.domains), emitted], 1) if step.reads else emitted

    def belief_of(self, beliefs: torch.Tensor, variable: int) -> torch.Tensor:
        return beliefs[:, variable, : self.domains[variable]]

    def choose(self, kind: int, place: int, seen: torch.Tensor, belief: torch.Tensor) -> torch.Tensor:
        """Log-probabilities of the variable at a place of a step, ``[..., domain]``."""
        fit = self.get_submodule(f"head{kind}_{place}")(self.before_head(seen).relu())
        # Zero is as good as impossible, but its logarithm must stay a number.
        logits: torch.Tensor = fit + belief.clamp_min(torch.finfo(torch.float32).tiny).log()
        return logits.log_softmax(-1)

    def told(self, step: Step, place: int, values: torch.Tensor) -> torch.Tensor:
        return cast(torch.Tensor, self.get_submodule(f"told{step.kind}_{place}")(values))

    def next_state(self, before: torch.Tensor) -> torch.Tensor:
        """The state after a step whose cell holds ``before``, ahead of its rectifier."""
        return cast(torch.Tensor, self.state_norm(self.move(self.before_move(before.relu()).relu())))


class _ScanExplanationRollout(Rollout):
    def __init__(self, model: ScanExplanation, beliefs: torch.Tensor, inputs: list[torch.Tensor]) -> None:
        self._model, self._beliefs, self._inputs = model, beliefs, inputs
        self._index = self._place = 0  # the variable chosen next: reads[place] of the step
        self._before = inputs[0] + model.from_state(model.start(beliefs))
        self._skip_steps_that_read_nothing()

    def next_log_probs(self) -> torch.Tensor:
        belief = self._model.belief_of(self._beliefs, self._step.reads[self._place])
        return self._model.choose(self._step.kind, self._place, self._before.relu(), belief)

    def advance(self, values: torch.Tensor) -> None:
        self._before = self._before + self._model.told(self._step, self._place, values)
        self._place += 1
        self._skip_steps_that_read_nothing()

    def select(self, rows: torch.Tensor) -> None:
        self._inputs[self._index + 1 :] = [later[rows] for later in self._inputs[self._index + 1 :]]
        self._beliefs, self._before = self._beliefs[rows], self._before[rows]

    @property
    def _step(self) -> Step:
        return self._model.steps[self._index]

    def _skip_steps_that_read_nothing(self) -> None:
        while self._place == len(self._step.reads) and self._index + 1 < len(self._inputs):
            state = self._model.next_state(self._before)
            self._index, self._place = self._index + 1, 0
            self._before = self._inputs[self._index] + self._model.from_state(state)
