"""The built-in tasks' data as ordinary PyTorch datasets.

Example:
    >>> import anesi
    >>> sorted(anesi.tasks.names())[:2]
    ['cnf', 'formula']
"""

from __future__ import annotations

import os
from typing import Any, Iterator

import torch

from . import _arguments
from . import _core
from .knowledge import _as_settings


class Examples(torch.utils.data.Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Inputs with labels. Works with any DataLoader; :meth:`batches` is much faster."""

    def __init__(self, core: _core.Examples) -> None:
        self._core = core
        self.outputs: torch.Tensor | None = core.outputs
        """int64 ``[examples, outputs]``."""
        self.holds: torch.Tensor | None = core.holds
        """bool ``[examples]``, False where a label says "not this output"; None where all hold."""
        self.worlds: torch.Tensor | None = core.worlds
        """int64 ``[examples, variables]``, the true worlds, to score with; None where they are not known."""

    def __len__(self) -> int:
        return self._core.size

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"example {index} of {len(self)}")
        row = torch.tensor([index % len(self)])
        return self.inputs(row)[0], self._labels()[row][0]

    def inputs(self, rows: torch.Tensor) -> torch.Tensor:
        """The inputs of some rows."""
        return self._core.inputs(rows)

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

    def __init__(self, core: _core.TaskData) -> None:
        self._core = core
        self.worlds: list[int] = core.worlds
        self.outputs: list[int] = core.outputs
        self.train, self.test = Examples(core.train), Examples(core.test)
        self.validation = None if core.validation is None else Examples(core.validation)

    @property
    def origin(self) -> str:
        """Where the data come from."""
        return self._core.origin

    def function(self, worlds: torch.Tensor) -> torch.Tensor:
        """The task's function, int64 ``[n, variables]`` to ``[n, outputs]``."""
        return self._core.apply(worlds)


def names() -> dict[str, str]:
    """The tasks, and what each is."""
    return dict(_core.task_names())


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
        verbose: print what is fetched or made.
        options: the task's own: ``digits=4``.
    """
    say = (lambda line: print(f"anesi: {line}", flush=True)) if verbose else None
    settings = _as_settings({f"task.{option}": value for option, value in options.items()})
    return Task(_core.load_task(name, settings, _arguments.seed(seed), None if data is None else os.fspath(data), validation, say))
