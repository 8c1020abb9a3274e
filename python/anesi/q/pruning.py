"""Rollouts that only offer what can still be completed.

Sampling and beam search go through here, so no architecture knows of pruning. What is left of each choice is renormalised,
and the normaliser is part of the graph, so gradients are those of the pruned model.
"""

from __future__ import annotations

import torch

from .model import Rollout, SequenceModel, follow
from .problem import UNSET, Pruner


def begin(
    model: SequenceModel, beliefs: torch.Tensor, outputs: torch.Tensor | None = None, pruner: Pruner | None = None
) -> Rollout:
    """The model's rollout, pruned if there is a pruner."""
    rollout = model.begin(beliefs, outputs)
    return rollout if pruner is None else PrunedRollout(rollout, model, beliefs, outputs, pruner)


def log_prob(
    model: SequenceModel,
    beliefs: torch.Tensor,
    values: torch.Tensor,
    outputs: torch.Tensor | None = None,
    pruner: Pruner | None = None,
) -> torch.Tensor:
    """log q(values) under pruning, ``[batch]``: the model's own without a pruner."""
    if pruner is None:
        return model.log_prob(beliefs, values, outputs)
    return follow(begin(model, beliefs, outputs, pruner), model.order, values)


class PrunedRollout(Rollout):
    """Asks the pruner at every step: about worlds if there are outputs to explain, else about outputs.

    Raises ValueError if nothing completes a row, which a pruner that allows too much may lead into.
    """

    def __init__(
        self, rollout: Rollout, model: SequenceModel, beliefs: torch.Tensor, outputs: torch.Tensor | None, pruner: Pruner
    ) -> None:
        self._rollout, self._pruner, self._outputs = rollout, pruner, outputs
        self._domains, self._order = model.domains, model.order
        shape = (len(beliefs), len(model.domains))
        self._chosen = torch.full(shape, UNSET, dtype=torch.int64, device=beliefs.device)
        self._step = 0

    def next_log_probs(self) -> torch.Tensor:
        log_probs = self._rollout.next_log_probs()
        return restricted(log_probs, self._allowed().to(log_probs.device))

    def advance(self, values: torch.Tensor) -> None:
        self._chosen = self._chosen.clone()  # a pruner may have kept it
        self._chosen[:, self._order[self._step]] = values
        self._rollout.advance(values)
        self._step += 1

    def select(self, rows: torch.Tensor) -> None:
        self._chosen = self._chosen[rows]
        self._outputs = None if self._outputs is None else self._outputs[rows]
        self._rollout.select(rows)

    def _allowed(self) -> torch.Tensor:
        variable = self._order[self._step]
        chosen = self._chosen.cpu()
        if self._outputs is None:
            allowed = self._pruner.allow_outputs(chosen, variable)
        else:
            allowed = self._pruner.allow_worlds(self._outputs.cpu(), chosen, variable)
        expected = (len(self._chosen), self._domains[variable])
        if tuple(allowed.shape) != expected:
            raise ValueError(f"pruner: a mask {tuple(allowed.shape)} for variable {variable}, expected {expected}")
        dead = (~allowed).all(1)
        if dead.any():
            row = int(dead.nonzero()[0, 0])
            what = "an output" if self._outputs is None else f"a world for output {self._outputs[row].tolist()}"
            where = f"{chosen[row].tolist()} at variable {variable} ({UNSET}: not chosen yet)"
            raise ValueError(f"pruner: no completion of {where} is {what}")
        return allowed


def restricted(log_probs: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    """Log-probabilities ``[rows, domain]`` of what is allowed, renormalised.

    If the model gives nothing to all that is allowed, each allowed value is as likely as the other.
    """
    kept = log_probs.masked_fill(~allowed, -torch.inf)
    lost = kept.isneginf().all(1, keepdim=True)
    even = torch.zeros_like(kept).masked_fill(~allowed, -torch.inf)
    return torch.where(lost, even, kept).log_softmax(1)
