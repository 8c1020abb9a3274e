"""A-NeSI: train perception from what is known of its outputs.

    know = anesi.Knowledge(lambda w: w.sum(1), worlds=[10, 10], outputs=[19])
    loss = know.loss(net(x), y)

docs/python.md tells the rest.
"""

from anesi import _built

# torch comes first: anesi._core is linked against its libraries, and against one version of them only.
try:
    import torch
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ImportError(f"anesi needs torch: pip install torch=={_built.TORCH}") from None
if torch.__version__.split("+")[0] != _built.TORCH:
    raise ImportError(
        f"anesi was built against torch {_built.TORCH}, and this is torch {torch.__version__}:"
        f" pip install torch=={_built.TORCH}, or install anesi again"
    )

from anesi import flow, markov, tasks  # noqa: E402
from anesi.answers import Explanation, MostProbable, Prediction  # noqa: E402
from anesi.checks import Certificate, Check, Exploits  # noqa: E402
from anesi.estimator import Estimator  # noqa: E402
from anesi.facts import Automaton, Cnf  # noqa: E402
from anesi.knowledge import Knowledge  # noqa: E402
from anesi.loading import Run, load  # noqa: E402
from anesi.networks import LeNet  # noqa: E402
from anesi.refinement import ExplainedLabels, refine  # noqa: E402

__version__ = _built.VERSION

__all__ = [
    "Automaton",
    "Certificate",
    "Check",
    "Cnf",
    "Estimator",
    "ExplainedLabels",
    "Explanation",
    "Exploits",
    "Knowledge",
    "LeNet",
    "MostProbable",
    "Prediction",
    "Run",
    "flow",
    "load",
    "markov",
    "refine",
    "tasks",
]
