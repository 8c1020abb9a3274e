"""Saved models, of Python and of the command line."""

from __future__ import annotations

import os
from typing import Any, Callable

import torch

from . import _arguments
from . import _core
from .answers import Explanation, Prediction, ranked
from .facts import Cnf
from .function import Function
from .knowledge import Knowledge


class Run:
    """A model that ``anesi train`` trained: perception and q, ready to be asked.

    Inputs are what the task's perception takes; :func:`anesi.tasks.load` gives some.
    """

    def __init__(self, core: _core.Run) -> None:
        self._core = core
        self.task: str = core.task
        self.worlds: list[int] = core.worlds
        self.outputs: list[int] = core.outputs
        self.options: dict[str, str] = core.options

    def beliefs(self, inputs: torch.Tensor) -> torch.Tensor:
        """What perception believes of each variable, ``[batch, variables, values]``."""
        return self._core.beliefs(inputs)

    __call__ = beliefs

    def predict(self, inputs: torch.Tensor, *, top: int | None = None) -> Prediction:
        """The most likely outputs, as :meth:`Knowledge.predict` gives them."""
        return ranked(self._core.predict(self.beliefs(inputs), _arguments.count(1 if top is None else top, "top")), top)

    def explain(
        self, inputs: torch.Tensor, outputs: torch.Tensor | None = None, *, top: int = 5
    ) -> Explanation:
        """Which worlds stand behind outputs, or behind the predicted ones, as :meth:`Knowledge.explain` gives them."""
        beliefs = self.beliefs(inputs)
        top = _arguments.count(top, "top")
        worlds = torch.full((beliefs.shape[0], top, len(self.worlds)), -2)
        probability = torch.zeros(beliefs.shape[0], top, dtype=torch.float64)
        for row in range(beliefs.shape[0]):
            wanted = [] if outputs is None else outputs[row].reshape(-1).tolist()
            for place, (world, share) in enumerate(self._core.explain(beliefs[row : row + 1], wanted, top)[2]):
                worlds[row, place] = torch.tensor(world)
                probability[row, place] = share
        return Explanation(worlds, probability)

    def marginals(self, inputs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
        """What is believed of each variable once the output is known."""
        return self._core.marginals(self.beliefs(inputs), outputs)

    def function(self, worlds: torch.Tensor) -> torch.Tensor:
        """The task's function, int64 ``[n, variables]`` to ``[n, outputs]``."""
        return self._core.apply(worlds)

    def __repr__(self) -> str:
        return f"Run({self.task}, q: {self._core.architecture})"


def load(
    path: str | os.PathLike[str],
    function: Callable[..., Any] | None = None,
    *,
    pointwise: bool = False,
    numpy: bool = False,
    cnf: Cnf | None = None,
    data: str | os.PathLike[str] | None = None,
    verbose: bool = True,
) -> Knowledge | Run:
    """Opens what :meth:`Knowledge.save` or ``anesi train`` wrote. Nothing is unpickled, and no code in it runs.

    Args:
        path: the folder; of a run, or the ``model`` in it.
        function: the function that Knowledge was made from. It is not saved. Where a memory, tables, all its outputs or
            a formula were, it may be left out; those then stand for it.
        pointwise, numpy, cnf: as for Knowledge.
        data: the folder with a task's data.
        verbose: print what happens by itself.
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileNotFoundError(f"{name}: there is no such folder")
    manifest = _core.read_manifest(name)
    say = (lambda line: print(f"anesi: {line}", flush=True)) if verbose else None
    if manifest["task"]:
        if function is not None:
            raise ValueError(f"{name}: a model of the task {manifest['task']}, which brings its own function")
        return Run(_core.load_run(name, None if data is None else os.fspath(data), say))
    ask = None
    if function is not None:
        given = int(manifest["options"].get("knowledge.given", 0))
        ask = Function(function, len(manifest["outputs"]), given, pointwise, numpy)
    borrowed = None if ask is None else _arguments.Weakly(ask)
    core = _core.load(name, borrowed, manifest["worlds"], manifest["outputs"], None if cnf is None else cnf._core, say)
    return Knowledge._of(core, verbose, ask)
