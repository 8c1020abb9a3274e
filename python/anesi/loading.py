"""Saved models, of Python and of the command line."""

from __future__ import annotations

import os
from typing import Any, Callable

import torch

from . import _arguments, _core
from ._core import runs
from ._messages import say
from .answers import Explanation, Prediction, ranked
from .facts import Cnf
from .function import Function
from .knowledge import Knowledge


class Run:
    """A model that ``anesi train`` trained: perception and q, ready to be asked.

    Inputs are what the task's perception takes; :func:`anesi.tasks.load` gives some.
    """

    def __init__(self, opened: runs.Opened, verbose: bool) -> None:
        self.perception: torch.nn.Module = opened.perception
        """The network, from inputs to logits ``[batch, variables, values]``: ``know.loss(run.perception(x), y)``."""
        self.knowledge = Knowledge._of(opened.core, verbose).eval()
        """The task's function with the run's q. It learns no further unless you call ``train()``."""
        self.task: str = opened.saved["task"]
        self.options: dict[str, str] = opened.saved["options"]

    @property
    def worlds(self) -> list[int]:
        """How many values each variable has."""
        return self.knowledge.worlds

    @property
    def outputs(self) -> list[int]:
        """How many values each output has."""
        return self.knowledge.outputs

    def beliefs(self, inputs: torch.Tensor) -> torch.Tensor:
        """What perception believes of each variable, ``[batch, variables, values]``."""
        with torch.no_grad():
            beliefs: torch.Tensor = self.perception(inputs).softmax(2)
        return beliefs

    __call__ = beliefs

    def predict(self, inputs: torch.Tensor, *, top: int | None = None) -> Prediction:
        """The outputs that q finds the most likely, as ``anesi predict`` prints them.

        ``run.knowledge.predict(beliefs=run(inputs))`` also looks at what the function makes of the most likely world.
        """
        beliefs = self.beliefs(inputs)
        found = runs.ranked_by_q(self.knowledge._core, beliefs, _arguments.count(1 if top is None else top, "top"))
        return ranked(found, top)

    def explain(
        self, inputs: torch.Tensor, outputs: torch.Tensor | None = None, *, top: int = 5
    ) -> Explanation:
        """Which worlds stand behind outputs, or behind the predicted ones, as :meth:`Knowledge.explain` gives them.

        If all labels of the task are about one output ("a valid puzzle") and q does not explain, then that one is explained.
        """
        beliefs = self.beliefs(inputs)
        if outputs is None:
            outputs = runs.to_explain(self.knowledge._core, beliefs)
        return self.knowledge.explain(outputs=outputs, beliefs=beliefs, top=top)

    def marginals(self, inputs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
        """What is believed of each variable once the output is known."""
        return self.knowledge.marginals(outputs=outputs, beliefs=self.beliefs(inputs))

    def function(self, worlds: torch.Tensor) -> torch.Tensor:
        """The task's function, int64 ``[n, variables]`` to ``[n, outputs]``."""
        return self.knowledge.function(worlds)

    def __repr__(self) -> str:
        return f"Run({self.task}, q: {self.knowledge.architecture})"


def load(
    path: str | os.PathLike[str],
    function: Callable[..., Any] | None = None,
    *,
    pointwise: bool = False,
    numpy: bool = False,
    cnf: Cnf | None = None,
    verbose: bool = True,
) -> Knowledge | Run:
    """Opens what :meth:`Knowledge.save` or ``anesi train`` wrote. Nothing is unpickled, and no code in it runs.

    Args:
        path: the folder; of a run, or the ``model`` in it.
        function: the function that Knowledge was made from. It is not saved. Where a memory, tables, all its outputs or
            a formula were, it may be left out; those then stand for it.
        pointwise, numpy, cnf: as for Knowledge.
        verbose: print what happens by itself.
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileNotFoundError(f"{name}: there is no such folder")
    manifest = _core.read_manifest(name)
    told = say if verbose else None
    if manifest["task"]:
        if function is not None:
            raise ValueError(f"{name}: a model of the task {manifest['task']}, which brings its own function")
        return Run(runs.open_run(name, told), verbose)
    ask = None
    if function is not None:
        given = int(manifest["options"].get("knowledge.given", 0))
        ask = Function(function, len(manifest["outputs"]), given, pointwise, numpy)
    borrowed = None if ask is None else _arguments.Weakly(ask)
    core = _core.load(name, borrowed, manifest["worlds"], manifest["outputs"], None if cnf is None else cnf._core, told)
    return Knowledge._of(core, verbose, ask)
