"""Which core the package stands on: the compiled libtorch module, or Python on the torch-free engine.

The environment variable ``ANESI_CORE=engine`` chooses the latter, which imports nothing that is linked against libtorch.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

ON_ENGINE = os.environ.get("ANESI_CORE", "libtorch") == "engine"


def _require_torch(version: str | None) -> None:
    """Raises ImportError unless there is a torch, of this version if one is needed."""
    wanted = "torch" if version is None else f"torch=={version}"
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(f"anesi needs torch: pip install {wanted}") from None
    if version is not None and torch.__version__.split("+")[0] != version:
        raise ImportError(
            f"anesi was built against torch {version}, and this is torch {torch.__version__}:"
            f" pip install {wanted}, or install anesi again"
        )


# torch comes first: the compiled module is linked against its libraries.
if TYPE_CHECKING or not ON_ENGINE:
    from ._built import TORCH, VERSION

    _require_torch(TORCH)
    from . import _core
else:
    _require_torch(None)
    from . import _native as _core
    from ._engine import version as VERSION

__all__ = ["ON_ENGINE", "VERSION", "_core"]
