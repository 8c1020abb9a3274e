"""Samples and most likely points of q, for any architecture.

With a pruner, only points that satisfy the knowledge are drawn or found.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from . import pruning
from .beliefs import sample_values
from .model import InferenceModel, Ranked, SequenceModel
from .problem import UNSET, Pruner


class Samples(NamedTuple):
    values: torch.Tensor  # int64 [batch, variables]
    log_prob: torch.Tensor  # [batch]; under the pruned model if there is a pruner


def sample(
    model: SequenceModel,
    beliefs: torch.Tensor,
    outputs: torch.Tensor | None = None,
    *,
    generator: torch.Generator,
    pruner: Pruner | None = None,
    temperature: float = 1.0,
) -> Samples:
    """One point for each row. Gradients of ``log_prob`` flow; that of the drawing is ignored (appendix E.2).

    Args:
        temperature: above one, draws are more even than the model. ``log_prob`` stays the model's.
    """
    rollout = pruning.begin(model, beliefs, outputs, pruner)
    values = torch.full((len(beliefs), len(model.domains)), UNSET, dtype=torch.int64, device=beliefs.device)
    total = torch.zeros(len(beliefs), dtype=beliefs.dtype, device=beliefs.device)
    for variable in model.order:
        log_probs = rollout.next_log_probs()  # [batch, domain]
        tempered = log_probs.detach() if temperature == 1 else (log_probs.detach() / temperature).log_softmax(1)
        chosen = sample_values(tempered.exp(), generator)
        total = total + log_probs.gather(1, chosen.unsqueeze(1)).squeeze(1)
        values[:, variable] = chosen
        rollout.advance(chosen)
    return Samples(values, total)


@torch.no_grad()
def beam_search(
    model: SequenceModel,
    beliefs: torch.Tensor,
    outputs: torch.Tensor | None = None,
    *,
    width: int,
    pruner: Pruner | None = None,
) -> Ranked:
    """Up to ``width`` points of each row; exact if no more prefixes than that exist. A width of one is greedy decoding.

    A place that nothing fills repeats the best one, at -inf.
    """
    start = torch.zeros(len(beliefs), 1, dtype=beliefs.dtype, device=beliefs.device)
    values, total, _ = _continued(model, beliefs, outputs, start, width, pruner)
    return Ranked(values.view(len(beliefs), total.shape[1], -1), total)


def greedy(
    model: SequenceModel, beliefs: torch.Tensor, outputs: torch.Tensor | None = None, *, pruner: Pruner | None = None
) -> torch.Tensor:
    """The point found by taking the most likely value of each variable in turn, int64 ``[batch, variables]``."""
    return beam_search(model, beliefs, outputs, width=1, pruner=pruner).values[:, 0]


class JointBeam(NamedTuple):
    outputs: torch.Tensor  # int64 [batch, found, outputs]
    worlds: torch.Tensor  # int64 [batch, found, world variables]
    log_prob: torch.Tensor  # [batch, found], log q(w,y|P)


@torch.no_grad()
def joint_beam_search(q: InferenceModel, beliefs: torch.Tensor, *, width: int, pruner: Pruner | None = None) -> JointBeam:
    """The same for q(w,y|P) = q(y|P) q(w|y,P): outputs first, then worlds, in one beam."""
    if q.explanation is None:
        raise ValueError("q: a joint search needs an explanation model")
    outputs = beam_search(q.prediction, beliefs, width=width, pruner=pruner)
    batch, found, _ = outputs.values.shape
    flat = outputs.values.flatten(0, 1)
    worlds, total, origin = _continued(
        q.explanation, beliefs.repeat_interleave(found, 0), flat, outputs.log_prob, width, pruner
    )
    kept = total.shape[1]
    return JointBeam(flat[origin].view(batch, kept, -1), worlds.view(batch, kept, -1), total)


def _continued(
    model: SequenceModel,
    beliefs: torch.Tensor,
    outputs: torch.Tensor | None,
    total: torch.Tensor,
    width: int,
    pruner: Pruner | None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Continues a beam that stands at ``total``, ``[batch, found]``; beliefs and outputs have batch * found rows.

    Returns values ``[batch * kept, variables]``, log-probabilities ``[batch, kept]``, and which row each continues.
    """
    if width < 1:
        raise ValueError(f"beam search: a width of {width} finds nothing")
    batch, found = total.shape
    rollout = pruning.begin(model, beliefs, outputs, pruner)
    values = torch.full((batch * found, len(model.domains)), UNSET, dtype=torch.int64, device=beliefs.device)
    origin = torch.arange(batch * found, device=beliefs.device)
    example = torch.arange(batch, device=beliefs.device).unsqueeze(1)
    for variable in model.order:
        log_probs = rollout.next_log_probs()  # [batch * found, domain]
        domain = log_probs.shape[1]
        candidates = (total.reshape(-1, 1) + log_probs).view(batch, found * domain)
        total, index = candidates.topk(min(width, found * domain), 1)
        # A place that nothing fills follows the best one, so that every row stays a prefix that can be completed.
        index = torch.where(total.isneginf(), index[:, :1], index)
        rows = (example * found + index // domain).flatten()
        chosen = (index % domain).flatten()
        values, origin = values[rows], origin[rows]
        values[:, variable] = chosen
        rollout.select(rows)
        rollout.advance(chosen)
        found = total.shape[1]
    return values, total, origin


@torch.no_grad()
def explain(
    explanation: SequenceModel,
    beliefs: torch.Tensor,
    outputs: torch.Tensor,
    *,
    width: int,
    pruner: Pruner | None = None,
) -> Ranked:
    """The most probable worlds behind outputs: a beam over q(w|y,P), headed by the model's own most probable world if it
    knows one that is better. ``log_prob`` is log q(w|y,P)."""
    beam = beam_search(explanation, beliefs, outputs, width=width, pruner=pruner)
    best = None if pruner is not None else explanation.most_probable(beliefs, outputs)
    if best is None:
        return beam
    log_prob = explanation.log_prob(beliefs, best, outputs)
    is_there = (beam.values == best.unsqueeze(1)).all(2).any(1)
    better = ((log_prob > beam.log_prob[:, 0]) & ~is_there).unsqueeze(1)
    values = torch.cat([best.unsqueeze(1), beam.values[:, :-1]], 1)
    log_probs = torch.cat([log_prob.unsqueeze(1), beam.log_prob[:, :-1]], 1)
    return Ranked(torch.where(better.unsqueeze(2), values, beam.values), torch.where(better, log_probs, beam.log_prob))
