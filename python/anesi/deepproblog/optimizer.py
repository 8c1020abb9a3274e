"""Steps of a model's networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .model import Model


class Optimizer:
    """Steps of all networks of a model, each by its own optimiser. Probabilities ``t(…)`` of the program stay as they are."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.epoch = 0

    def step_epoch(self) -> None:
        """An epoch begins."""
        self.epoch += 1
        for network in self.model.networks.values():
            network.step_epoch()

    def zero_grad(self) -> None:
        for network in self.model.networks.values():
            network.zero_grad()

    def step(self) -> None:
        for network in self.model.networks.values():
            network.step()
