"""Which core the package stands on: the compiled libtorch module, or Python on the torch-free engine.

The environment variable ``ANESI_CORE=engine`` chooses the latter, which imports nothing that is linked against libtorch.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

ON_ENGINE = os.environ.get("ANESI_CORE", "libtorch") == "engine"


def _require_torch() -> None:
    """Raises ImportError unless torch is the release that the compiled module was built against."""
    import torch

    from . import _built

    if torch.__version__.split("+")[0] != _built.TORCH:
        raise ImportError(
            f"anesi was built against torch {_built.TORCH}, and this is torch {torch.__version__}:"
            f" pip install torch=={_built.TORCH}, or install anesi again"
        )


if TYPE_CHECKING or not ON_ENGINE:
    _require_torch()
    from . import _core
else:
    from . import _native as _core

__all__ = ["ON_ENGINE", "_core"]
