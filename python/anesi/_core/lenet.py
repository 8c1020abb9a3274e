"""LeNet by PyTorch's own operations."""

from __future__ import annotations

from typing import Sequence

import torch
from torch.nn.functional import conv2d, linear, max_pool2d


def lenet(images: torch.Tensor, weights: Sequence[torch.Tensor]) -> torch.Tensor:
    """``[batch, variables, 28, 28]`` to logits ``[batch, variables, classes]``."""
    if len(weights) != 10:
        raise ValueError("lenet: ten weights are expected")
    x = images.reshape(-1, 1, 28, 28).contiguous(memory_format=torch.channels_last)
    x = max_pool2d(conv2d(x, weights[0], weights[1]), 2).relu()
    x = max_pool2d(conv2d(x, weights[2], weights[3]), 2).relu().flatten(1)
    x = linear(x, weights[4], weights[5]).relu()
    x = linear(x, weights[6], weights[7]).relu()
    return linear(x, weights[8], weights[9]).view(images.shape[0], images.shape[1], -1)
