"""The built-in tasks' data as ordinary PyTorch datasets.

Example:
    >>> import anesi
    >>> sorted(anesi.tasks.names())[:2]
    ['formula', 'grid-path']
"""

from __future__ import annotations

import os
from typing import Any, Iterator

import torch

from . import _arguments, _engine, _fetch_mnist
from ._core.problem import TaskFunction
from ._messages import say
from .knowledge import _as_settings

_INSTEAD = {  # of tasks that only the program has
    "cnf": "Knowledge.from_cnf() takes a formula of yours",
    "light-curtain": "train it with `anesi train light-curtain`",
}


class Examples(torch.utils.data.Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Inputs with labels. Works with any DataLoader; :meth:`batches` is much faster."""

    def __init__(self, arrays: _engine.Split) -> None:
        parts = {name: torch.from_numpy(part) for name, part in arrays.items()}
        self._inputs, self._index = parts["inputs"], parts.get("index")
        self.outputs: torch.Tensor | None = parts.get("outputs")
        """int64 ``[examples, outputs]``."""
        self.holds: torch.Tensor | None = parts.get("holds")
        """bool ``[examples]``, False where a label says "not this output"; None where all hold."""
        observed = parts.get("observed_worlds")
        self.observed: torch.Tensor | None = None if observed is None else observed.clamp_min(-1)
        """int64 ``[examples, variables]``, what labels tell of the worlds, -1 for nothing; None where they tell outputs."""
        self.worlds: torch.Tensor | None = parts.get("worlds")
        """int64 ``[examples, variables]``, the true worlds, to score with; None where they are not known."""

    def __len__(self) -> int:
        return len(self._inputs if self._index is None else self._index)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"example {index} of {len(self)}")
        row = torch.tensor([index % len(self)])
        return self.inputs(row)[0], self._labels()[row][0]

    def inputs(self, rows: torch.Tensor) -> torch.Tensor:
        """The inputs of some rows. Images are floats from -1 to 1, ``[batch, images of an example, …]``."""
        if self._index is None:
            return self._inputs.index_select(0, rows)
        images = self._index.index_select(0, rows)
        pixels = self._inputs.index_select(0, images.view(-1)).to(torch.float32).div_(127.5).sub_(1)
        return pixels.view(*images.shape, *self._inputs.shape[1:])

    def batches(
        self, batch: int, *, shuffle: bool = False, seed: int = 0
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Inputs and labels of batch after batch, in an order that the seed decides."""
        order = torch.arange(len(self))
        if shuffle:
            order = torch.randperm(len(self), generator=torch.Generator().manual_seed(seed))
        labels = self._labels()
        for rows in torch.split(order, batch):
            yield self.inputs(rows), labels[rows]

    def _labels(self) -> torch.Tensor:
        if self.outputs is None:
            raise ValueError("these examples are not labelled with outputs; look at worlds")
        if self.holds is not None:
            raise ValueError("these labels are more than outputs: take inputs(rows), and outputs and holds of the rows")
        return self.outputs


class Task:
    """A built-in task: its function, and data that are labelled with the function's outputs."""

    def __init__(self, function: TaskFunction, data: _engine.TaskData) -> None:
        self.function = function
        """The task's function, int64 ``[n, variables]`` to ``[n, outputs]``."""
        self.worlds: list[int] = function.problem.worlds
        self.outputs: list[int] = function.problem.outputs
        self.train, self.test = Examples(data["train"]), Examples(data["test"])
        self.validation = None if data["validation"] is None else Examples(data["validation"])
        self.origin: str = data["origin"]
        """Where the data come from."""


def names() -> dict[str, str]:
    """The tasks, and what each is."""
    return dict(_engine.task_names())


def load(
    name: str,
    *,
    seed: int = 0,
    data: str | os.PathLike[str] | None = None,
    validation: bool = False,
    verbose: bool = True,
    **options: Any,
) -> Task:
    """Loads a task's data, fetching or making them where they are not there.

    Args:
        name: one of :func:`names`.
        seed: decides how examples are put together.
        data: the folder with the data, as ``anesi train --data`` has it.
        validation: hold out a part of the training data.
        verbose: tell what is fetched or made.
        options: the task's own: ``digits=4``.
    """
    if name in _INSTEAD:
        raise ValueError(f"{name}: only the program has its data; {_INSTEAD[name]}")
    settings = _as_settings({f"task.{option}": value for option, value in options.items()})
    function = TaskFunction(name, settings)
    loaded = _engine.load_task(
        name,
        settings,
        seed=_arguments.seed(seed),
        data=None if data is None else os.fspath(data),
        validation=validation,
        say=say if verbose else None,
        sources=_fetch_mnist.sources(),
        threads=torch.get_num_threads(),
    )
    return Task(function, loaded)
