"""What a model is told about inference. Nothing depends on it: Knowledge says itself how it infers."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .model import Model


class ExactEngine:
    """Inference is exact wherever Knowledge says so."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def get_hyperparameters(self) -> dict[str, Any]:
        return {"type": type(self).__name__}


class ApproximateEngine(ExactEngine):
    """The same: proofs are not searched for, so neither their number nor the heuristic matters. A warning says so."""

    geometric_mean = ucs = None

    def __init__(self, model: Model, k: int = 1, heuristic: Any = None, exploration: bool = False, **more: Any) -> None:
        warnings.warn("ApproximateEngine: all proofs count here, as with ExactEngine, rather than the best", stacklevel=2)
        super().__init__(model)
