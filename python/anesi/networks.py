"""Networks that look."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import max_pool2d

from . import _engine


class LeNet(torch.nn.Module):
    """The digit classifier that the paper uses for every MNIST task, and ``anesi train`` does: one image a variable.

    ``[batch, variables, 28, 28]`` to logits ``[batch, variables, classes]``. An ordinary module, with a faster kernel for
    pooling than torch's on the CPU; the results are the same.

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
        traced = torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
        if not traced and (images.dim() != 4 or images.shape[2:] != (28, 28)):
            raise ValueError(f"LeNet: images of shape {tuple(images.shape)}, expected (batch, variables, 28, 28)")
        x = images.reshape(-1, 1, 28, 28)
        for convolution in self.features:
            x = pooled_relu(convolution(x))
        first, second, last = self.classifier
        logits: torch.Tensor = last(second(first(x.flatten(1)).relu()).relu())
        return logits.view(images.shape[0], images.shape[1], logits.shape[1])


def pooled_relu(images: torch.Tensor) -> torch.Tensor:
    """``max_pool2d(images, 2).relu()`` of ``[batch, channels, height, width]``, to the last bit, as is its gradient."""
    by_kernel = (
        # What traces, compiles or transforms looks at operations of torch's.
        not torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
        and not torch.compiler.is_compiling()
        and not torch._C._are_functorch_transforms_active()
        and type(images) is torch.Tensor
        and images.dtype == torch.float32
        and images.device.type == "cpu"
        and (images.is_contiguous() or images.is_contiguous(memory_format=torch.channels_last))
        and images.shape[2] % 2 == images.shape[3] % 2 == 0
    )
    if not by_kernel:
        return max_pool2d(images, 2).relu()
    pooled: torch.Tensor = _PooledRelu.apply(images)  # type: ignore[no-untyped-call]
    return pooled


class _PooledRelu(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, images: torch.Tensor) -> torch.Tensor:
        layout = _format_of(images)
        pooled = torch.empty_like(images[:, :, ::2, ::2], memory_format=layout)
        _engine.pool_and_rectify(_pixels(images, layout), _pixels(pooled, layout), torch.get_num_threads())
        context.save_for_backward(images, pooled)
        return pooled

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> torch.Tensor:
        images, pooled = context.saved_tensors
        result: torch.Tensor
        if torch.is_grad_enabled():  # somebody wants the gradient's gradient
            again = max_pool2d(images, 2).relu()
            (result,) = torch.autograd.grad(again, images, gradient, create_graph=True)
            return result
        result, layout = torch.empty_like(images), _format_of(images)
        slope = gradient.contiguous(memory_format=layout)
        arrays = [_pixels(part, layout) for part in (images, pooled, slope, result)]
        _engine.gradient_of_pooling(arrays[0], arrays[1], arrays[2], arrays[3], torch.get_num_threads())
        return result


def _format_of(images: torch.Tensor) -> torch.memory_format:
    return torch.contiguous_format if images.is_contiguous() else torch.channels_last


def _pixels(images: torch.Tensor, layout: torch.memory_format) -> Any:
    """As the engine takes them: ``[images, height, width, channels]``, where a channel may be an image of its own."""
    values = images.detach()
    last = layout == torch.channels_last
    return (values.permute(0, 2, 3, 1) if last else values.flatten(0, 1).unsqueeze(3)).numpy()
