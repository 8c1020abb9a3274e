"""A learned stochastic finite-state transducer: a q that is multilinear in the beliefs.

A step reads world variables, moves and emits an output by a table T with stochastic rows:

    k[y, h'] = sum over the values a, b, ... read and the states h of  P_a * P_b * ... * h[h] * T[(a, b, ...), h, y, h']

It then conditions on the emitted y and goes on. Each P_i enters once and linearly, so q(y|P) is linear in each P_i, as
p(y|P) is: being right on worlds makes it right on every belief, and no prior over beliefs is needed. It fits functions that
can be read in the given order with a small memory.

The same table explains: q(w|y,P) follows by Bayes' rule, without a second network.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from .beliefs import certain_beliefs, world_log_prob
from .model import Rollout, SequenceModel
from .problem import UNSET, Problem, Step


@dataclass(frozen=True)
class TransducerOptions:
    """
    Attributes:
        states: latent states.
    """

    states: int = 4


class Transducer(SequenceModel):
    """q(y|P)."""

    multilinear = True

    def __init__(self, problem: Problem, options: TransducerOptions = TransducerOptions()) -> None:
        reading = problem.reading_order()
        super().__init__(problem.outputs, reading.emitted)
        self.steps, self.kinds, self.world_domains = list(reading.steps), reading.kinds, list(problem.worlds)
        self.world_order = reading.read
        self.states = options.states
        self.initial = torch.nn.Parameter(torch.zeros(self.states))
        for index, kind in enumerate(self.kinds):
            shape = (kind.combinations, self.states, kind.emit_domain * self.states)
            self.register_parameter(f"table{index}", torch.nn.Parameter(torch.randn(shape) * 0.5))

    def tables(self) -> list[torch.Tensor]:
        """Of each kind, ``[combinations read, states, emitted, next states]``; it sums to one over the last two."""
        logits = [getattr(self, f"table{index}") for index in range(len(self.kinds))]
        return [table.softmax(2).view(*table.shape[:2], -1, self.states) for table in logits]

    def start(self, batch: int) -> torch.Tensor:
        """The distribution over states before the first step, ``[batch, states]``."""
        return self.initial.softmax(0).expand(batch, -1)

    def combinations(self, step: Step, beliefs: torch.Tensor) -> torch.Tensor:
        """The probability of each combination of values read, ``[batch, combinations]``; the last variable runs fastest."""
        read = [beliefs[:, variable, : self.world_domains[variable]] for variable in step.reads]
        weights = read[0] if read else beliefs.new_ones(len(beliefs), 1)
        for belief in read[1:]:
            weights = (weights.unsqueeze(2) * belief.unsqueeze(1)).flatten(1)
        return weights

    def log_prob(self, beliefs: torch.Tensor, values: torch.Tensor, outputs: torch.Tensor | None = None) -> torch.Tensor:
        """As every model's; a value that is ``UNSET`` is summed over."""
        tables, state = self.tables(), self.start(len(beliefs))
        total = torch.zeros(len(beliefs), dtype=beliefs.dtype, device=beliefs.device)
        is_open = (values == UNSET).any(0).tolist()  # of each output, whether it is in some row
        for step in self.steps:
            joint = move(self.combinations(step, beliefs), state, tables[step.kind])
            if step.emits is None:  # nothing is lost: the weights still sum to what they did
                state = joint.squeeze(1)
                continue
            log_total, state = normalised(at_output(joint, values[:, step.emits], is_open[step.emits]))
            total = total + log_total
        return total

    def partial_log_prob(self, beliefs: torch.Tensor, values: torch.Tensor, largest: int = 4096) -> torch.Tensor:
        return self.log_prob(beliefs, values)

    def begin(self, beliefs: torch.Tensor, outputs: torch.Tensor | None = None) -> Rollout:
        return _TransducerRollout(self, beliefs)


def move(weights: torch.Tensor, state: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Emits and moves, ``[batch, emitted, next states]``; weights are ``[batch, combinations]``."""
    combinations, states, emitted, _ = table.shape
    joint = (weights.unsqueeze(2) * state.unsqueeze(1)).flatten(1)  # [batch, combinations * states]
    return (joint @ table.view(combinations * states, emitted * states)).view(-1, emitted, states)


def at_output(joint: torch.Tensor, value: torch.Tensor, is_open: bool = False) -> torch.Tensor:
    """Where emitting each row's value leads, ``[batch, next states]``.

    Args:
        is_open: whether some values are ``UNSET``, which stands for the sum of all.
    """
    place = (value.clamp_min(0) if is_open else value).view(-1, 1, 1).expand(-1, 1, joint.shape[2])
    chosen = joint.gather(1, place).squeeze(1)
    return torch.where((value == UNSET).unsqueeze(1), joint.sum(1), chosen) if is_open else chosen


def normalised(weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The logarithm of each row's sum, and the row divided by it.

    A row without weight is impossible: -inf, and no gradient; its distribution no longer matters and is even.
    """
    total = weights.sum(1)
    possible = total > 0
    if possible.all():
        return total.log(), weights / total.unsqueeze(1)
    safe = torch.where(possible, total, 1)
    shares = torch.where(possible.unsqueeze(1), weights / safe.unsqueeze(1), 1 / weights.shape[1])
    return safe.log().masked_fill(~possible, -torch.inf), shares


class _TransducerRollout(Rollout):
    _joint: torch.Tensor  # of the step whose output is chosen next, [rows, emitted, next states]

    def __init__(self, model: Transducer, beliefs: torch.Tensor) -> None:
        self._model, self._tables, self._state = model, model.tables(), model.start(len(beliefs))
        self._weights = [model.combinations(step, beliefs) for step in model.steps]
        self._place = 0
        self._read_until_emission()

    def next_log_probs(self) -> torch.Tensor:
        _, shares = normalised(self._joint.sum(2))
        return shares.log()

    def advance(self, values: torch.Tensor) -> None:
        _, self._state = normalised(at_output(self._joint, values))
        self._place += 1
        self._read_until_emission()

    def select(self, rows: torch.Tensor) -> None:
        self._weights[self._place + 1 :] = [weights[rows] for weights in self._weights[self._place + 1 :]]
        self._joint = self._joint[rows]

    def _read_until_emission(self) -> None:
        while self._place < len(self._model.steps):
            step = self._model.steps[self._place]
            self._joint = move(self._weights[self._place], self._state, self._tables[step.kind])
            if step.emits is not None:
                return
            _, self._state = normalised(self._joint.sum(1))
            self._place += 1


class TransducerExplanation(SequenceModel):
    """q(w|y,P) of a transducer, exact and without weights of its own.

    Rollouts and searches compute in double precision, so that neither length nor confident beliefs underflow. They raise
    ValueError if an output is impossible.
    """

    model: Transducer

    def __init__(self, model: Transducer) -> None:
        super().__init__(model.world_domains, model.world_order)
        object.__setattr__(self, "model", model)  # not a submodule: its weights are the prediction model's

    def log_prob(self, beliefs: torch.Tensor, values: torch.Tensor, outputs: torch.Tensor | None = None) -> torch.Tensor:
        """log p(w|P) + log q(y|w) - log q(y|P)"""
        wanted = _given(outputs)
        of_world = self.model.log_prob(certain_beliefs(values, beliefs.shape[2], beliefs.dtype), wanted)
        return world_log_prob(beliefs, values) + of_world - self.model.log_prob(beliefs, wanted)

    def begin(self, beliefs: torch.Tensor, outputs: torch.Tensor | None = None) -> Rollout:
        return _Backward(self.model, beliefs, _given(outputs))

    @torch.no_grad()
    def most_probable(self, beliefs: torch.Tensor, outputs: torch.Tensor | None = None) -> torch.Tensor | None:
        """The world on the most probable path through worlds and states (Viterbi); zeros if there is none."""
        return _viterbi(self.model, beliefs.double(), _given(outputs))


def _given(outputs: torch.Tensor | None) -> torch.Tensor:
    if outputs is None:
        raise ValueError("q: an explanation model needs outputs to explain")
    return outputs


def _table_at(
    tables: list[torch.Tensor], step: Step, outputs: torch.Tensor, combination: torch.Tensor | None = None
) -> torch.Tensor:
    """A step's table at each row's output, ``[batch, combinations, states, next states]``; at one combination of each row
    alone if they are named, int64 ``[batch]``."""
    table = tables[step.kind].permute(2, 0, 1, 3)  # [emitted, ...]
    if step.emits is None:
        return table.expand(len(outputs), -1, -1, -1) if combination is None else table[0, combination].unsqueeze(1)
    value = outputs[:, step.emits]
    if (value >= len(table)).any() or ((value < 0) & (value != UNSET)).any():
        raise ValueError(f"outputs: variable {step.emits} can be 0 to {len(table) - 1}")
    with_sum = torch.cat([table, table.sum(0, keepdim=True)])  # the last is for outputs that are open
    place = torch.where(value == UNSET, len(table), value)
    return with_sum[place] if combination is None else with_sum[place, combination].unsqueeze(1)


class _Backward(Rollout):
    """Chooses world variables as they are read, each from its exact conditional.

    Backward messages say how likely the outputs to come are from each state. At a step, all combinations of what it reads
    are weighed once; its variables are then chosen one after another among those that are left.
    """

    _left: torch.Tensor  # weights of the combinations that agree with what is chosen of the step, [rows, combinations]
    _combination: torch.Tensor  # of the variables of the step that are chosen, int64 [rows]

    def __init__(self, model: Transducer, beliefs: torch.Tensor, outputs: torch.Tensor) -> None:
        self._model, self._outputs, self._type = model, outputs, beliefs.dtype
        self._tables = [table.double() for table in model.tables()]
        self._weights = [model.combinations(step, beliefs.double()) for step in model.steps]
        self._messages = self._backward()
        self._state = model.start(len(beliefs)).double()  # given the worlds and outputs so far
        impossible = (self._state * self._messages[0]).sum(1) == 0
        if impossible.any():
            output = outputs[impossible.nonzero()[0, 0]].tolist()
            raise ValueError(f"no world of positive probability gives the output {output}")
        self._index, self._place = 0, 0
        self._enter()

    def _backward(self) -> list[torch.Tensor]:
        """Of the outputs from each step on, up to a factor, ``[rows, states]``; after the last step they are one."""
        message = torch.ones_like(self._model.start(len(self._outputs)), dtype=torch.float64)
        messages = [message]
        for step, weights in zip(reversed(self._model.steps), reversed(self._weights)):
            message = torch.einsum("bc,bcst,bt->bs", weights, self._table(step), message)
            largest = message.amax(1, keepdim=True)
            message = message / torch.where(largest > 0, largest, 1)
            messages.append(message)
        return messages[::-1]

    def next_log_probs(self) -> torch.Tensor:
        _, shares = normalised(self._by_value().sum(2))
        return shares.log().to(self._type)

    def advance(self, values: torch.Tensor) -> None:
        rows = torch.arange(len(values), device=values.device)
        left = self._by_value()
        self._combination = self._combination * left.shape[1] + values
        self._left = left[rows, values]
        self._place += 1
        step = self._model.steps[self._index]
        if self._place == len(step.reads):
            self._leave(self._table(step, self._combination)[:, 0])
            self._enter()

    def select(self, rows: torch.Tensor) -> None:
        here = slice(self._index, None)
        for held in (self._weights, self._messages):
            held[here] = [part[rows] for part in held[here]]
        self._outputs = self._outputs[rows]
        self._state, self._left, self._combination = self._state[rows], self._left[rows], self._combination[rows]

    def _by_value(self) -> torch.Tensor:
        """The weights that are left by the next variable's value, ``[rows, domain, combinations of the rest]``."""
        variable = self._model.steps[self._index].reads[self._place]
        return self._left.view(len(self._left), self._model.world_domains[variable], -1)

    def _table(self, step: Step, combination: torch.Tensor | None = None) -> torch.Tensor:
        return _table_at(self._tables, step, self._outputs, combination)

    def _leave(self, table: torch.Tensor) -> None:
        """Moves by each row's table, ``[rows, states, next states]``."""
        _, self._state = normalised(torch.einsum("bs,bst->bt", self._state, table))
        self._index, self._place = self._index + 1, 0

    def _enter(self) -> None:
        """Goes to the next step that reads something, and weighs its combinations."""
        steps = self._model.steps
        while self._index < len(steps) and not steps[self._index].reads:
            self._leave(self._table(steps[self._index])[:, 0])
        if self._index < len(steps):
            table = self._table(steps[self._index])
            fit = torch.einsum("bs,bcst,bt->bc", self._state, table, self._messages[self._index + 1])
            self._left = self._weights[self._index] * fit
            self._combination = torch.zeros(len(fit), dtype=torch.int64, device=fit.device)


def _viterbi(model: Transducer, beliefs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    tables = [table.double() for table in model.tables()]
    best = torch.zeros(len(beliefs), model.states, dtype=beliefs.dtype, device=beliefs.device)
    choices: list[torch.Tensor] = []  # of each step, the last first: (combination, next state) by state, [batch, states]
    for step in reversed(model.steps):
        weights = model.combinations(step, beliefs).log()
        scores = weights[:, :, None, None] + _table_at(tables, step, outputs).log() + best[:, None, None, :]
        best, choice = scores.transpose(1, 2).flatten(2).max(2)  # over combinations and next states
        choices.append(choice)
    score, state = (model.start(len(beliefs)).double().log() + best).max(1)
    worlds = torch.zeros(len(beliefs), len(model.world_domains), dtype=torch.int64, device=beliefs.device)
    for step, choice in zip(model.steps, reversed(choices)):
        chosen = choice.gather(1, state.unsqueeze(1)).squeeze(1)
        combination, state = chosen // model.states, chosen % model.states
        for variable in reversed(step.reads):
            domain = model.world_domains[variable]
            worlds[:, variable] = combination % domain
            combination = combination // domain
    return worlds.masked_fill(score.isneginf().unsqueeze(1), 0)
