"""Networks that DeepProbLog's scripts use."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import torch
from torch import nn

ALEXNET = "https://download.pytorch.org/models/alexnet-owt-4df8aa71.pth"


class MLP(nn.Module):
    """Linear layers of these sizes. ``batch=False``: inputs come without a batch, and one is put around them."""

    def __init__(
        self, *sizes: int, activation: Callable[[], nn.Module] = nn.ReLU, softmax: bool = True, batch: bool = True
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before, after in zip(sizes, sizes[1:]):
            layers += [nn.Linear(before, after), activation()]
        layers[-1:] = [nn.Softmax(-1)] if softmax else []
        self.nn, self.batch = nn.Sequential(*layers), batch

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        told: torch.Tensor = self.nn(x if self.batch else x.unsqueeze(0))
        return told


class SmallNet(nn.Module):
    """AlexNet's convolutions and a small classifier: images ``[batch, 3, *size]``, 128 x 128 by default, to probabilities."""

    def __init__(self, num_classes: int = 1000, size: Sequence[int] | None = None) -> None:
        super().__init__()
        self.num_classes = num_classes

        def layer(before: int, after: int, width: int, padding: int, stride: int = 1) -> list[nn.Module]:
            return [nn.Conv2d(before, after, width, stride, padding), nn.ReLU(inplace=True)]

        self.features = nn.Sequential(  # numbered as in torchvision's AlexNet, whose weights they may take
            *layer(3, 64, 11, padding=2, stride=4),
            nn.MaxPool2d(3, 2),
            *layer(64, 192, 5, padding=2),
            nn.MaxPool2d(3, 2),
            *layer(192, 384, 3, padding=1),
            *layer(384, 256, 3, padding=1),
            *layer(256, 256, 3, padding=1),
            nn.MaxPool2d(3, 2),
        )
        with torch.no_grad():
            self.N = self.features(torch.zeros(1, 3, *(size or (128, 128)))).numel()
        last = nn.Sigmoid() if num_classes == 1 else nn.Softmax(1)
        self.classifier = nn.Sequential(nn.Linear(self.N, 100), nn.ReLU(inplace=True), nn.Linear(100, num_classes), last)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        told: torch.Tensor = self.classifier(self.features(x).flatten(1))
        return told


def smallnet(pretrained: bool = False, model: nn.Module | None = None, **kwargs: Any) -> nn.Module:
    """A :class:`SmallNet`, or your model. ``pretrained``: with AlexNet's convolutions, from torch's cache or the network."""
    model = SmallNet(**kwargs) if model is None else model
    if pretrained:
        try:
            weights = torch.hub.load_state_dict_from_url(ALEXNET, map_location="cpu")
        except OSError as error:
            raise OSError(f"smallnet: AlexNet's weights are neither in torch's cache nor at {ALEXNET}: {error}") from None
        kept = {name: weight for name, weight in weights.items() if name.startswith("features.")}
        model.load_state_dict(kept, strict=False)
    return model
