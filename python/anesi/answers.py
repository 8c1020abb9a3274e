"""What Knowledge answers with."""

from __future__ import annotations

from typing import Iterable, NamedTuple

import torch


class Prediction(NamedTuple):
    """What is most likely. With ``top``, outputs and probability have one more dimension after the batch."""

    outputs: torch.Tensor
    """int64 ``[batch, outputs]``: the most likely output, all worlds counted."""
    probability: torch.Tensor
    """``[batch]``: how likely it is."""
    world: torch.Tensor
    """int64 ``[batch, variables]``: the most likely world; of a hard constraint, the most likely one that keeps it."""
    symbolic: torch.Tensor
    """int64 ``[batch, outputs]``: what the function makes of that world."""


def ranked(found: Iterable[torch.Tensor], top: int | None) -> Prediction:
    """A prediction whose outputs stand in order; of the first alone where ``top`` is None."""
    outputs, probability, world, symbolic = found
    if outputs.shape[1] == 0:
        raise ValueError("predict: exact inference by a circuit for each output tells how likely an output is, and chooses none")
    if top is None:
        outputs, probability = outputs[:, 0], probability[:, 0]
    return Prediction(outputs, probability, world, symbolic)


class Explanation(NamedTuple):
    """The worlds behind an output, most probable first."""

    worlds: torch.Tensor
    """int64 ``[batch, found, variables]``; -2 where a place is not filled."""
    probability: torch.Tensor
    """``[batch, found]``: of each world, now that the output is known; 0 where a place is not filled."""


class MostProbable(NamedTuple):
    """The most probable world that gives an output."""

    worlds: torch.Tensor
    """int64 ``[batch, variables]``; -2 throughout where no world was found."""
    log_prob: torch.Tensor
    """``[batch]``: log p(w|P); -inf where no world was found."""
