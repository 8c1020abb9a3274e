"""The paper's inference models: a separate multilayer perceptron for every factor.

q(y_i | y_1..y_{i-1}, P) sees the flat belief and then the one-hot values chosen so far. q(w_i | w_1..w_{i-1}, y, P) sees
the one-hot output between them. Variables are chosen in their own order and share no parameters (appendix I.1), so the
number of weights grows with the square of the number of variables.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import nll_loss

from .model import Rollout, SequenceModel
from .problem import Problem

SMALLEST_BELIEF, SCALE_OF_LOGS = 1e-6, 0.25  # of the logarithms that `log_beliefs` shows; most are then about 1


@dataclass(frozen=True)
class MlpOptions:
    """
    Attributes:
        layers: hidden layers of each factor's network.
        width: units in a hidden layer.
        follow_beliefs: an explanation begins as the beliefs themselves and learns by how much to depart from them.
        log_beliefs: show the networks the logarithms of beliefs as well: small beliefs all look alike otherwise.
    """

    layers: int = 3
    width: int = 800
    follow_beliefs: bool = False
    log_beliefs: bool = False


class Mlp(SequenceModel):
    """Over outputs given beliefs or, if it ``explains``, over worlds given beliefs and outputs."""

    def __init__(self, problem: Problem, explains: bool = False, options: MlpOptions = MlpOptions()) -> None:
        super().__init__(problem.worlds if explains else problem.outputs)
        self.output_domains = list(problem.outputs) if explains else []
        self.largest_domain = max(problem.worlds)
        self.follows_beliefs = explains and options.follow_beliefs
        self.sees_logs = options.log_beliefs
        inputs = len(problem.worlds) * self.largest_domain * (2 if self.sees_logs else 1) + sum(self.output_domains)
        for variable, domain in enumerate(self.domains):
            network = factor_network(inputs, domain, options)
            if self.follows_beliefs:
                for parameter in network[-1].parameters():
                    torch.nn.init.zeros_(parameter)
            self.add_module(f"factor{variable}", network)
            inputs += domain

    def log_prob(self, beliefs: torch.Tensor, values: torch.Tensor, outputs: torch.Tensor | None = None) -> torch.Tensor:
        # The known values make every factor's input: each is a prefix of the same row.
        context = self.flat(beliefs, outputs)
        chosen = [columns(values[:, variable], domain, context) for variable, domain in enumerate(self.domains[:-1])]
        all_inputs = torch.cat([context, *chosen], 1) if chosen else context
        width, costs = context.shape[1], []
        for variable, domain in enumerate(self.domains):
            costs.append(nll_loss(self.factor(variable, all_inputs[:, :width]), values[:, variable], reduction="none"))
            width += domain
        return -(costs[0] if len(costs) == 1 else torch.stack(costs).sum(0))

    def begin(self, beliefs: torch.Tensor, outputs: torch.Tensor | None = None) -> Rollout:
        return _MlpRollout(self, self.flat(beliefs, outputs))

    def flat(self, beliefs: torch.Tensor, outputs: torch.Tensor | None) -> torch.Tensor:
        """The context as one row of numbers, ``[batch, width]``."""
        parts = [beliefs.flatten(1)]
        if self.sees_logs:
            parts.append(parts[0].clamp_min(SMALLEST_BELIEF).log() * SCALE_OF_LOGS)
        if self.output_domains:
            if outputs is None:
                raise ValueError("q: an explanation model needs outputs to explain")
            parts += [columns(outputs[:, variable], domain, beliefs) for variable, domain in enumerate(self.output_domains)]
        return torch.cat(parts, 1) if len(parts) > 1 else parts[0]

    def factor(self, variable: int, inputs: torch.Tensor) -> torch.Tensor:
        """Log-probabilities of a variable, ``[rows, its domain]``; inputs are the context and the values before it."""
        logits: torch.Tensor = self.get_submodule(f"factor{variable}")(inputs)
        if self.follows_beliefs:
            begin = variable * self.largest_domain  # beliefs stand first
            belief = inputs[:, begin : begin + self.domains[variable]]
            logits = logits + belief.clamp_min(torch.finfo(torch.float32).tiny).log()
        return logits.log_softmax(1)


class _MlpRollout(Rollout):
    def __init__(self, model: Mlp, inputs: torch.Tensor) -> None:
        self._model, self._inputs, self._variable = model, inputs, 0

    def next_log_probs(self) -> torch.Tensor:
        return self._model.factor(self._variable, self._inputs)

    def advance(self, values: torch.Tensor) -> None:
        chosen = columns(values, self._model.domains[self._variable], self._inputs)
        self._inputs = torch.cat([self._inputs, chosen], 1)
        self._variable += 1

    def select(self, rows: torch.Tensor) -> None:
        self._inputs = self._inputs[rows]


def factor_network(inputs: int, outputs: int, options: MlpOptions) -> torch.nn.Sequential:
    layers: list[torch.nn.Module] = []
    for layer in range(options.layers):
        layers += [torch.nn.Linear(inputs if layer == 0 else options.width, options.width), torch.nn.ReLU(inplace=True)]
    return torch.nn.Sequential(*layers, torch.nn.Linear(options.width, outputs))


def columns(values: torch.Tensor, domain: int, like: torch.Tensor) -> torch.Tensor:
    """One-hot columns ``[rows, domain]`` of int64 values ``[rows]``."""
    zeros = torch.zeros(len(values), domain, dtype=like.dtype, device=like.device)
    return zeros.scatter_(1, values.unsqueeze(1), 1.0)
