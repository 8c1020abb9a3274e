"""The networks of runs that are made of LeNets, from their weights."""

from __future__ import annotations

from typing import Mapping

import torch

from ..networks import LeNet

Weights = Mapping[str, torch.Tensor]
_LENET = {
    "features.0": (6, 1, 5, 5),
    "features.2": (16, 6, 5, 5),
    "classifier.0": (120, 256),
    "classifier.2": (84, 120),
    "classifier.4": (-1, 84),
}
"""The layers and the shapes of their weights; the last one has an output a class."""


def perception_of(weights: Weights) -> torch.nn.Module | None:
    """Inputs to logits ``[batch, variables, values]``. None if the weights are of other networks."""
    parts: dict[str, dict[str, torch.Tensor]] = {}
    for name, weight in weights.items():
        part, _, rest = name.partition(".")
        parts.setdefault(part, {})[rest] = weight
    if set(parts) == {"digits", "operators"}:
        halves = [_lenet(parts["digits"]), _lenet(parts["operators"])]
        return None if None in halves else _InTurn(halves)  # type: ignore[arg-type]
    if parts and set(parts) == {f"member{place}" for place in range(len(parts))}:
        members = [perception_of(parts[f"member{place}"]) for place in range(len(parts))]
        return None if None in members else _Ensemble(members)  # type: ignore[arg-type]
    return _lenet(weights)


def _lenet(weights: Weights) -> LeNet | None:
    shapes = {f"{layer}.weight": shape for layer, shape in _LENET.items()}
    shapes.update({f"{layer}.bias": shape[:1] for layer, shape in _LENET.items()})
    if set(weights) != set(shapes) or not all(_fits(weights[name], shape) for name, shape in shapes.items()):
        return None
    lenet = LeNet(len(weights["classifier.4.weight"]))
    ordered = [weights[f"{layer}.{kind}"] for layer in _LENET for kind in ("weight", "bias")]
    with torch.no_grad():
        for parameter, weight in zip(lenet.parameters(), ordered):
            parameter.copy_(weight)
    return lenet


def _fits(weight: torch.Tensor, shape: tuple[int, ...]) -> bool:
    return weight.dim() == len(shape) and all(want in (-1, size) for want, size in zip(shape, weight.shape))


class _InTurn(torch.nn.Module):
    """One network for the first variable, the third and so on, and one for those between, which have fewer values."""

    def __init__(self, halves: list[torch.nn.Module]) -> None:
        super().__init__()
        self.digits, self.operators = halves

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.digits(images[:, ::2])
        if images.shape[1] == 1:
            return logits
        operators: torch.Tensor = self.operators(images[:, 1::2])
        all_ = logits.new_full((*images.shape[:2], logits.shape[2]), -torch.inf)
        all_[:, ::2] = logits
        all_[:, 1::2, : operators.shape[2]] = operators
        return all_


class _Ensemble(torch.nn.Module):
    """The mean of what several networks believe."""

    def __init__(self, members: list[torch.nn.Module]) -> None:
        super().__init__()
        self.members = torch.nn.ModuleList(members)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        beliefs = [member(images).softmax(2) for member in self.members]
        return torch.stack(beliefs).mean(0).log()
