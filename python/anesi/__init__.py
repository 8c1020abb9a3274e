"""A-NeSI: train a network when only a known function of its outputs is labelled.

    know = anesi.Knowledge(lambda w: w.sum(1), worlds=[10, 10], outputs=[19])
    loss = know.loss(net(x), y)

docs/python.md tells the rest.
"""

try:
    import torch as _torch
except ModuleNotFoundError as _error:
    if _error.name != "torch":
        raise
    raise ImportError("anesi needs torch, version 2.4 or newer: pip install torch") from None

from anesi import markov, q, tasks
from anesi._engine import version as __version__
from anesi.answers import Explanation, MostProbable, Prediction
from anesi.checks import Certificate, Check, Exploits
from anesi.estimator import Estimator
from anesi.facts import Automaton, Cnf
from anesi.knowledge import Knowledge
from anesi.loading import Run, load
from anesi.networks import LeNet
from anesi.refinement import ExplainedLabels, refine

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
    "load",
    "markov",
    "q",
    "refine",
    "tasks",
]
