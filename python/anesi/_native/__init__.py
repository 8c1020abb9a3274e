"""The core of the package in Python, on the torch-free engine ``anesi._engine`` and on ``anesi.q``.

It has the interface of the compiled module ``anesi._core`` (see _core.pyi). To read in this order:

- core.py: Core, which Knowledge stands on; choosing.py: which q suits a function; problem.py, facts.py: the function
- exact_answers.py, learned_answers.py: what can be asked of exact inference and of a network
- learning.py: a network that learns; watching.py: an automaton that is compared with the function
- perceived.py, rows.py: what callers give, checked; options.py: options by name
- state.py, saving.py, manifest.py: what outlives a Core
- checking.py, exploits.py: how far answers are from the truth
"""

from .. import _engine
from .core import Core, formula_core
from .facts import Automaton, Cnf, FormulaOptions
from .lenet import lenet
from .manifest import read_manifest
from .markov import Markov
from .missing import FlowNetwork, load_run, load_task, task_names
from .options import option_names
from .saving import load

build = _engine.build

__all__ = [
    "Automaton",
    "Cnf",
    "Core",
    "FlowNetwork",
    "FormulaOptions",
    "Markov",
    "build",
    "formula_core",
    "lenet",
    "load",
    "load_run",
    "load_task",
    "option_names",
    "read_manifest",
    "task_names",
]
