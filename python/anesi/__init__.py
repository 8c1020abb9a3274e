"""A-NeSI: train perception from what is known of its outputs.

    know = anesi.Knowledge(lambda w: w.sum(1), worlds=[10, 10], outputs=[19])
    loss = know.loss(net(x), y)

docs/python.md tells the rest.
"""

from anesi._which import VERSION as __version__  # first: it looks for torch

from anesi import flow, markov, tasks
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
    "flow",
    "load",
    "markov",
    "refine",
    "tasks",
]
