"""A module by its name in the program."""

from __future__ import annotations

import os
from typing import IO, Any, Iterator, Union

import torch

from .._files import LARGEST_ARRAYS, open_regular

File = Union[str, "os.PathLike[str]", IO[bytes]]


class Network:
    """A module by its name in the program. It gives probabilities, as DeepProbLog's networks do.

    Args:
        network_module: from what the network reads to probabilities.
        name: as in ``nn(name, …)``.
        optimizer, scheduler: step with every batch, and as every epoch begins.
        k: None; that only the k likeliest values count is not supported.
        batching: whether the module takes all inputs of a batch at once.
    """

    def __init__(
        self,
        network_module: torch.nn.Module,
        name: str,
        optimizer: Any = None,
        scheduler: Any = None,
        k: int | None = None,
        batching: bool = False,
    ) -> None:
        if k is not None:
            raise ValueError(f"k: all values of a network count, so k={k!r} is not supported")
        self.network_module, self.name, self.batching = network_module, name, batching
        self.optimizer, self.scheduler = optimizer, scheduler

    def parameters(self) -> Iterator[torch.nn.Parameter]:
        return self.network_module.parameters()

    def __call__(self, *inputs: torch.Tensor) -> torch.Tensor:
        """Inputs ``[rows, …]`` to probabilities ``[rows, values]``."""
        if self.batching:
            told = self.network_module(*inputs)
        else:
            told = torch.stack([self.network_module(*row).reshape(-1) for row in zip(*inputs)])
        return torch.cat([1 - told, told], 1) if told.shape[1] == 1 else told  # of a neural fact: how likely it is

    def zero_grad(self) -> None:
        if self.optimizer is not None:
            self.optimizer.zero_grad()

    def step(self) -> None:
        if self.optimizer is not None:
            self.optimizer.step()

    def step_epoch(self) -> None:
        if self.scheduler is not None:
            self.scheduler.step()

    def train(self) -> None:
        self.network_module.train()

    def eval(self) -> None:
        self.network_module.eval()

    def state(self, complete: bool = False) -> dict[str, Any]:
        """The module's parameters; with ``complete``, also what its optimiser and scheduler remember."""
        parts = {"model": self.network_module}
        if complete:
            parts.update(optimizer=self.optimizer, scheduler=self.scheduler)
        return {f"{name}_state_dict": part.state_dict() for name, part in parts.items() if part is not None}

    def set_state(self, state: dict[str, Any]) -> None:
        """Takes over what :meth:`state` gave."""
        for name, part in {"model": self.network_module, "optimizer": self.optimizer, "scheduler": self.scheduler}.items():
            kept = state.get(f"{name}_state_dict")
            if kept is None:
                continue
            if part is None:
                raise ValueError(f"the network {self.name} was saved with its {name}, and has none")
            part.load_state_dict(kept)

    def save(self, location: File, complete: bool = False) -> None:
        torch.save(self.state(complete), location)

    def load(self, location: File) -> None:
        if not isinstance(location, (str, os.PathLike)):
            self.set_state(torch.load(location, weights_only=True))
            return
        with open_regular(location, LARGEST_ARRAYS) as file:
            self.set_state(torch.load(file, weights_only=True))

    def get_hyperparameters(self) -> dict[str, Any]:
        return {"name": self.name, "module": str(self.network_module), "optimizer": str(self.optimizer), "k": None}
