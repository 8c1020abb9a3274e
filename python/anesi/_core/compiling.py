"""What torch.compile leaves as it is: the engine is no part of a graph."""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable, TypeVar, cast

import torch

Method = TypeVar("Method", bound=Callable[..., Any])


def opaque(method: Method) -> Method:
    """torch.compile calls it as it is. The compiler is not imported to be told so."""
    disabled: list[Callable[..., Any]] = []

    @functools.wraps(method)
    def call(*arguments: Any) -> Any:
        if not _is_compiling():
            return method(*arguments)
        if not disabled:
            disabled.append(torch.compiler.disable(method))  # type: ignore[no-untyped-call]
        return disabled[0](*arguments)

    return cast(Method, call)


def _is_compiling() -> bool:
    """Whether calls from here would be compiled."""
    if torch.compiler.is_compiling():
        return True
    frames = sys.modules.get("torch._C._dynamo.eval_frame")
    if frames is None:
        return False
    callback = getattr(frames, "get_eval_frame_callback", None)
    return callback is None or callback() is not None
