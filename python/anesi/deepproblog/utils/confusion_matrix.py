"""How often each answer was predicted as what."""

from __future__ import annotations

import collections
from typing import Sequence, Union

import torch

Class = Union[str, int]
_SHOWN = 40  # classes


class ConfusionMatrix:
    """How often each answer was predicted as what. It grows by the answers that come."""

    def __init__(self, classes: int | Sequence[Class] = 0) -> None:
        self.classes: list[Class] = list(range(classes)) if isinstance(classes, int) else list(classes)
        self._places = {each: place for place, each in enumerate(self.classes)}
        self._counts: collections.Counter[tuple[int, int]] = collections.Counter()

    @property
    def n(self) -> int:
        return len(self.classes)

    @property
    def matrix(self) -> torch.Tensor:
        """int64 ``[predicted, actual]``, in the order of ``classes``."""
        counts = torch.zeros(self.n, self.n, dtype=torch.int64)
        for place, count in self._counts.items():
            counts[place] = count
        return counts

    def get_index(self, c: Class) -> int:
        """The place of a class, which is added where it is new."""
        if c not in self._places:
            self._places[c] = len(self.classes)
            self.classes.append(c)
        return self._places[c]

    def add_item(self, predicted: Class, actual: Class) -> None:
        self._counts[self.get_index(predicted), self.get_index(actual)] += 1

    def accuracy(self) -> float:
        """The share of answers that were predicted."""
        right = sum(count for (predicted, actual), count in self._counts.items() if predicted == actual)
        return right / max(1, sum(self._counts.values()))

    def __str__(self) -> str:
        if self.n > _SHOWN:
            wrong = [(pair, count) for pair, count in self._counts.most_common() if pair[0] != pair[1]][:10]
            told = ", ".join(f"{self.classes[p]} for {self.classes[a]} ({count})" for (p, a), count in wrong)
            return f"{self.n:,} classes; most often mistaken: {told or 'none'}"
        rows = [["Predicted \\ Actual", *map(str, self.classes)]]
        rows += [[str(each), *map(str, counts)] for each, counts in zip(self.classes, self.matrix.tolist())]
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows)
