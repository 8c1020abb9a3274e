"""Explanations are labels: the worlds behind training labels, to train on as if they had been told."""

from __future__ import annotations

from typing import Callable, Iterable

import torch

from .knowledge import Knowledge


class ExplainedLabels(torch.utils.data.Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Inputs with the worlds that explain their labels, or with what is believed of each variable.

    ``dataset[i]`` is an input and its world, int64 ``[variables]``; with ``marginals``, probabilities ``[variables,
    values]``. Both are what ``torch.nn.functional.cross_entropy`` takes as a target.
    """

    def __init__(self, inputs: torch.Tensor, targets: torch.Tensor, kept: int, seen: int) -> None:
        self.inputs, self.targets = inputs, targets
        self.kept, self.seen = kept, seen
        """How many labels had an explanation, out of how many."""

    def __len__(self) -> int:
        return self.kept

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.inputs[index], self.targets[index]

    def __repr__(self) -> str:
        return f"ExplainedLabels({self.kept} of {self.seen} labels)"


@torch.no_grad()
def refine(
    model: Callable[[torch.Tensor], torch.Tensor],
    know: Knowledge,
    loader: Iterable[tuple[torch.Tensor, torch.Tensor]],
    *,
    marginals: bool = False,
) -> ExplainedLabels:
    """The most probable world behind each training label, as labels to train a fresh network on.

    A perception that is nearly right, and a label, leave little doubt about the world. Train for a while through
    ``know.loss``, then call this, then train a new network on what it returns by cross-entropy, with all that supervised
    learning knows: augmentation, label smoothing, single inputs in a batch.

    Args:
        model: inputs to logits, as for ``know.loss``.
        know: what is known.
        loader: batches of inputs and outputs.
        marginals: give what is believed of each variable in place of the most probable world; better where a label says
            little of each.

    Example:
        >>> import torch, anesi
        >>> know = anesi.Knowledge(lambda w: w.sum(1), [3, 3], [5], verbose=False)
        >>> batches = [(torch.zeros(2, 2, 3), torch.tensor([4, 0]))]
        >>> anesi.refine(lambda x: x, know, batches)[0][1].tolist()
        [2, 2]
    """
    was_training = isinstance(model, torch.nn.Module) and model.training
    if isinstance(model, torch.nn.Module):
        model.eval()
    inputs, targets, seen = [], [], 0
    try:
        for x, outputs in loader:
            logits = model(x)
            found = know.most_probable(logits, outputs)
            rows = (found.worlds >= 0).all(1)
            seen += rows.numel()
            inputs.append(x[rows])
            if marginals:
                targets.append(know.marginals(logits[rows], outputs[rows]).to(logits.dtype))
            else:
                targets.append(found.worlds[rows])
    finally:
        if was_training:
            assert isinstance(model, torch.nn.Module)
            model.train()
    if not inputs:
        raise ValueError("refine: the loader gave no batches")
    kept = torch.cat(targets)
    return ExplainedLabels(torch.cat(inputs), kept, kept.shape[0], seen)
