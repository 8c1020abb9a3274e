"""Networks that look."""

from __future__ import annotations

import torch

from . import _core


class LeNet(torch.nn.Module):
    """The digit classifier that the paper uses for every MNIST task, and ``anesi train`` does: one image a variable.

    ``[batch, variables, 28, 28]`` to logits ``[batch, variables, classes]``. An ordinary module, computed in one call, with
    a faster kernel for pooling than torch's; the results are the same.

    Example:
        >>> import torch, anesi
        >>> anesi.LeNet(10)(torch.zeros(2, 8, 28, 28)).shape
        torch.Size([2, 8, 10])
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.features = torch.nn.ModuleList([torch.nn.Conv2d(1, 6, 5), torch.nn.Conv2d(6, 16, 5)])
        self.classifier = torch.nn.ModuleList(
            [torch.nn.Linear(256, 120), torch.nn.Linear(120, 84), torch.nn.Linear(84, classes)]
        )
        self.features.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        # Tracing and compiling look at layers, not into other libraries.
        if torch.jit.is_tracing() or torch.compiler.is_compiling():  # type: ignore[attr-defined, no-untyped-call]
            return self._in_layers(images)
        if images.dim() != 4 or images.shape[2:] != (28, 28):
            raise ValueError(f"LeNet: images of shape {tuple(images.shape)}, expected (batch, variables, 28, 28)")
        return _core.lenet(images, list(self.parameters()))

    def _in_layers(self, images: torch.Tensor) -> torch.Tensor:
        x = images.reshape(-1, 1, 28, 28)
        for convolution in self.features:
            x = torch.nn.functional.max_pool2d(convolution(x), 2).relu()
        first, second, last = self.classifier
        logits: torch.Tensor = last(second(first(x.flatten(1)).relu()).relu())
        return logits.view(images.shape[0], images.shape[1], -1)
