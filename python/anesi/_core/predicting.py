"""The best outputs that are known: those that a model ranks, and that of the most likely world."""

from __future__ import annotations

from typing import NamedTuple

import torch


class Predicted(NamedTuple):
    """What Knowledge.predict gives, on the CPU."""

    outputs: torch.Tensor  # int64 [batch, found, outputs], most likely first
    probability: torch.Tensor  # [batch, found]
    worlds: torch.Tensor  # int64 [batch, variables]: the most likely world
    symbolic: torch.Tensor  # int64 [batch, outputs]: the function of it


def with_symbolic(
    outputs: torch.Tensor, probability: torch.Tensor, symbolic: torch.Tensor, of_symbolic: torch.Tensor, of_world: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Ranked outputs with that of the most likely world in front if it is known to be more likely.

    The world itself gives its output, so that p(y|P) is at least p(w|P), whatever a model says, and that of any other
    output at most 1 - p(w|P).

    Args:
        outputs: int64 ``[batch, found, outputs]``, most likely first.
        probability: theirs, ``[batch, found]``.
        symbolic: the function of the most likely world, int64 ``[batch, outputs]``.
        of_symbolic: the model's probability of that.
        of_world: p(w|P) of that world.
    """
    is_symbolic = (outputs == symbolic.unsqueeze(1)).all(2)
    rest = (1 - of_world).unsqueeze(1)
    best_known = torch.maximum(of_symbolic, of_world).unsqueeze(1)
    score = torch.where(is_symbolic, best_known, torch.minimum(probability, rest))
    missing = ~is_symbolic.any(1)
    if missing.any():
        # It takes the last place if it deserves one, before all are put in order.
        wins = missing & (best_known[:, 0] >= score[:, -1])
        outputs, score = outputs.clone(), score.clone()
        outputs[wins, -1], score[wins, -1] = symbolic[wins], best_known[wins, 0].to(score.dtype)
    order = score.argsort(dim=1, descending=True, stable=True)
    return outputs.gather(1, order.unsqueeze(2).expand_as(outputs)), score.gather(1, order)
