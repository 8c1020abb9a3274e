"""A-NeSI: train perception from what is known of its outputs."""

from anesi import _built

# torch comes first: anesi._core is linked against its libraries, and against one version of them only.
try:
    import torch
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ImportError(f"anesi needs torch: pip install torch=={_built.TORCH}") from None
if torch.__version__.split("+")[0] != _built.TORCH:
    raise ImportError(f"anesi was built against torch {_built.TORCH}, and this is torch {torch.__version__}:"
                      f" pip install torch=={_built.TORCH}, or install anesi again")

from anesi import _core  # noqa: E402

__version__ = _built.VERSION
