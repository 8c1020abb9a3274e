"""The choices that lead to an output and on to a world, with everything that was on offer."""

from __future__ import annotations

from typing import Any, Sequence

import torch

from .. import q
from ..q import pruning


def record(
    model: q.InferenceModel, belief: torch.Tensor, output: Sequence[int], world: Sequence[int], pruner: q.Pruner | None
) -> list[dict[str, Any]]:
    """Of one belief ``[1, variables, domain]``; the choices of the world only if the model explains."""
    outputs = torch.tensor([list(output)])
    steps = _along(model.prediction, belief, None, outputs, pruner, True)
    if model.explanation is not None and len(world) > 0:
        steps += _along(model.explanation, belief, outputs, torch.tensor([list(world)]), pruner, False)
    return steps


def _along(
    half: q.SequenceModel,
    belief: torch.Tensor,
    outputs: torch.Tensor | None,
    values: torch.Tensor,
    pruner: q.Pruner | None,
    is_output: bool,
) -> list[dict[str, Any]]:
    rollout = pruning.begin(half, belief, outputs, pruner)
    steps = []
    for variable in half.order:
        probabilities = rollout.next_log_probs()[0].exp()
        chosen = values[:, variable]
        steps.append(
            {
                "output": is_output,
                "variable": variable,
                "chosen": int(chosen),
                "probabilities": probabilities.double().tolist(),
                "allowed": (probabilities > 0).tolist() if pruner is not None else [True] * len(probabilities),
            }
        )
        rollout.advance(chosen)
    return steps
