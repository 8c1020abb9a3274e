"""What the package stands on: the torch-free engine ``anesi._engine`` and ``anesi.q``, put together.

To read in this order:

- core.py: Core, which Knowledge stands on; choosing.py: which q suits a function; problem.py, facts.py: the function
- exact_answers.py, learned_answers.py: what can be asked of exact inference and of a network
- learning.py: a network that learns; watching.py: an automaton that is compared with the function
- perceived.py, rows.py: what callers give, checked; options.py: options by name
- state.py, saving.py, manifest.py, copying.py: what outlives a Core; runs.py, perception.py: what the program trained
- checking.py, exploits.py: how far answers are from the truth
"""

from .. import _engine
from .core import Core, formula_core
from .facts import Automaton, Cnf, FormulaOptions
from .manifest import read_manifest
from .markov import Markov
from .options import option_names
from .saving import load

build = _engine.build

__all__ = [
    "Automaton",
    "Cnf",
    "Core",
    "FormulaOptions",
    "Markov",
    "build",
    "formula_core",
    "load",
    "option_names",
    "read_manifest",
]
