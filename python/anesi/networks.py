"""Networks that look."""

from __future__ import annotations

import torch

from . import _core


class _PooledRelu(torch.nn.Module):
    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return _core.pooled_relu(images)


class LeNet(torch.nn.Module):
    """The digit classifier that the paper uses for every MNIST task, and ``anesi train`` does: one image a variable.

    ``[batch, variables, 28, 28]`` to logits ``[batch, variables, classes]``. An ordinary module; its pooling is a faster
    kernel than torch's, with the same results.

    Example:
        >>> import torch, anesi
        >>> anesi.LeNet(10)(torch.zeros(2, 8, 28, 28)).shape
        torch.Size([2, 8, 10])
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.features = torch.nn.Sequential(
            torch.nn.Conv2d(1, 6, 5), _PooledRelu(), torch.nn.Conv2d(6, 16, 5), _PooledRelu()
        ).to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's types forget it
        self.classifier = torch.nn.Sequential(
            torch.nn.Linear(256, 120),
            torch.nn.ReLU(),
            torch.nn.Linear(120, 84),
            torch.nn.ReLU(),
            torch.nn.Linear(84, classes),
        )

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        flat = images.reshape(-1, 1, 28, 28).contiguous(memory_format=torch.channels_last)
        logits: torch.Tensor = self.classifier(self.features(flat).flatten(1))
        return logits.view(images.shape[0], images.shape[1], -1)
