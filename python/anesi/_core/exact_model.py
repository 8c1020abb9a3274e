"""Exact inference as models that choose one variable after another: for rollouts, records and functions of tables."""

from __future__ import annotations

from typing import Callable, Sequence

import torch

from .. import q
from .._inference import ExactInference, Labels
from ..q.beliefs import certain_beliefs, clamped, world_log_prob

# Log-probabilities of a variable, [rows, domain], from beliefs, outputs, what is chosen (UNSET elsewhere) and the variable.
Weigh = Callable[[torch.Tensor, "torch.Tensor | None", torch.Tensor, int], torch.Tensor]


class ExactPrediction(q.SequenceModel):
    """p(y|P). If tables of outputs share variables, their product, which is not exact."""

    def __init__(self, inference: ExactInference, order: Sequence[int] | None = None) -> None:
        super().__init__(inference.backend.outputs, order)
        self.inference = inference
        self.multilinear = inference.backend.exact

    def log_prob(self, beliefs: torch.Tensor, values: torch.Tensor, outputs: torch.Tensor | None = None) -> torch.Tensor:
        found = self.inference.log_prob(beliefs, Labels(values), logits=False)
        return found.to(beliefs.dtype)

    def partial_log_prob(self, beliefs: torch.Tensor, values: torch.Tensor, largest: int = 4096) -> torch.Tensor:
        return self.log_prob(beliefs, values)

    def begin(self, beliefs: torch.Tensor, outputs: torch.Tensor | None = None) -> q.Rollout:
        return _StepwiseRollout(self, beliefs, None, self._weigh)

    def _weigh(
        self, beliefs: torch.Tensor, outputs: torch.Tensor | None, chosen: torch.Tensor, variable: int
    ) -> torch.Tensor:
        domain = self.domains[variable]
        wanted = chosen.repeat_interleave(domain, 0)
        wanted[:, variable] = torch.arange(domain).repeat(len(chosen))
        return self.log_prob(beliefs.repeat_interleave(domain, 0), wanted).view(-1, domain)


class ExactExplanation(q.SequenceModel):
    """p(w|y,P)."""

    def __init__(self, inference: ExactInference, order: Sequence[int] | None = None) -> None:
        super().__init__(inference.backend.worlds, order)
        self.inference = inference

    def log_prob(self, beliefs: torch.Tensor, values: torch.Tensor, outputs: torch.Tensor | None = None) -> torch.Tensor:
        labels = Labels(_named(outputs))
        certain = certain_beliefs(values, beliefs.shape[2], beliefs.dtype)
        agrees = self.inference.log_prob(certain, labels, logits=False)
        return world_log_prob(beliefs, values) + agrees - self.inference.log_prob(beliefs, labels, logits=False)

    def begin(self, beliefs: torch.Tensor, outputs: torch.Tensor | None = None) -> q.Rollout:
        return _StepwiseRollout(self, beliefs, _named(outputs), self._weigh)

    def _weigh(
        self, beliefs: torch.Tensor, outputs: torch.Tensor | None, chosen: torch.Tensor, variable: int
    ) -> torch.Tensor:
        known = clamped(beliefs.double(), chosen)
        marginals = self.inference.marginals(known, _named(outputs), logits=False)
        return marginals[:, variable, : self.domains[variable]].log()


def _named(outputs: torch.Tensor | None) -> torch.Tensor:
    if outputs is None:
        raise ValueError("outputs: an explanation needs outputs to explain")
    return outputs


class _StepwiseRollout(q.Rollout):
    def __init__(
        self, model: q.SequenceModel, beliefs: torch.Tensor, outputs: torch.Tensor | None, weigh: Weigh
    ) -> None:
        self._model, self._beliefs, self._outputs, self._weigh = model, beliefs, outputs, weigh
        self._chosen = torch.full((len(beliefs), len(model.domains)), q.UNSET)
        self._step = 0

    @torch.no_grad()
    def next_log_probs(self) -> torch.Tensor:
        weights = self._weigh(self._beliefs, self._outputs, self._chosen, self._model.order[self._step])
        total = weights.logsumexp(1, keepdim=True)
        even = torch.zeros_like(weights).log_softmax(1)
        return torch.where(total.isneginf(), even, weights - total).to(self._beliefs.dtype)

    def advance(self, values: torch.Tensor) -> None:
        self._chosen = self._chosen.clone()
        self._chosen[:, self._model.order[self._step]] = values
        self._step += 1

    def select(self, rows: torch.Tensor) -> None:
        self._beliefs, self._chosen = self._beliefs[rows], self._chosen[rows]
        self._outputs = None if self._outputs is None else self._outputs[rows]
