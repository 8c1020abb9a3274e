"""A-NeSI: train perception from what is known of its outputs.

    know = anesi.Knowledge(lambda w: w.sum(1), worlds=[10, 10], outputs=[19])
    loss = know.loss(net(x), y)

docs/python.md tells the rest.
"""

# torch comes first: the compiled module is linked against its libraries, and against one version of them only.
try:
    import torch
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ImportError("anesi needs torch: pip install torch") from None
from anesi._which import ON_ENGINE  # noqa: E402

if ON_ENGINE:
    from anesi._engine import version as __version__  # noqa: E402
else:
    from anesi._built import VERSION as __version__  # noqa: E402

from anesi import flow, markov, tasks  # noqa: E402
from anesi.answers import Explanation, MostProbable, Prediction  # noqa: E402
from anesi.checks import Certificate, Check, Exploits  # noqa: E402
from anesi.estimator import Estimator  # noqa: E402
from anesi.facts import Automaton, Cnf  # noqa: E402
from anesi.knowledge import Knowledge  # noqa: E402
from anesi.loading import Run, load  # noqa: E402
from anesi.networks import LeNet  # noqa: E402
from anesi.refinement import ExplainedLabels, refine  # noqa: E402

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
