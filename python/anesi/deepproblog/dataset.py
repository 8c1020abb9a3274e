"""Examples as queries, and batches of them."""
# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import os
import pathlib
import random
from typing import Any, Callable, Iterator, Sequence, TextIO

from problog.logic import term2list
from problog.program import PrologFile

from .._files import LARGEST_TEXT, open_regular
from .query import Query


class Dataset:
    """Examples as queries: derive from it and write ``__len__`` and ``to_query``."""

    def __len__(self) -> int:
        raise NotImplementedError

    def to_query(self, i: int) -> Query:
        """Example number i."""
        raise NotImplementedError

    def to_queries(self) -> list[Query]:
        """All of them."""
        return [self.to_query(i) for i in range(len(self))]

    def subset(self, i: int, j: int | None = None) -> Dataset:
        """The first i examples; with j, those from i to j."""
        first, end = (0, i) if j is None else (i, j)
        return _Chosen(self, range(first, min(end, len(self))))

    def fold(self, n: int, i: int) -> tuple[Dataset, Dataset]:
        """Fold i of n for cross-validation: examples to learn from, and every n-th from i on to test with."""
        held_out = range(i, len(self), n)
        return _Chosen(self, [place for place in range(len(self)) if place not in held_out]), _Chosen(self, held_out)

    def __add__(self, other: Dataset) -> Dataset:
        return QueryDataset(self.to_queries() + other.to_queries())

    def to_file_repr(self, i: int) -> str:
        """Example number i as a line of a file."""
        return self.to_query(i).to_text_query()

    def write_to_file(self, f: TextIO) -> None:
        """Writes a line for each example."""
        f.writelines(self.to_file_repr(i) + "\n" for i in range(len(self)))

    def __str__(self) -> str:
        return "\n".join(str(self.to_query(i)) for i in range(min(5, len(self))))


class _Chosen(Dataset):
    """Some examples of another dataset."""

    def __init__(self, dataset: Any, places: Sequence[int]) -> None:
        self.dataset, self._places = dataset, places

    def __len__(self) -> int:
        return len(self._places)

    def to_query(self, i: int) -> Query:
        query: Query = self.dataset.to_query(self._places[i])
        return query

    def to_file_repr(self, i: int) -> str:
        return str(self.dataset.to_file_repr(self._places[i]))

    def __getitem__(self, i: int) -> Any:
        return self.dataset[self._places[i]]


class QueryDataset(Dataset):
    """Queries of a list, or of a file: a term a line, perhaps with its probability, or ``p::subs(term, [[atom, tensor], …])``."""

    def __init__(self, queries: Sequence[Query] | str | os.PathLike[str]) -> None:
        self.queries = load(queries) if isinstance(queries, (str, os.PathLike)) else list(queries)

    def __len__(self) -> int:
        return len(self.queries)

    def to_query(self, i: int) -> Query:
        return self.queries[i]


def load(filename: str | os.PathLike[str], max_size: int | None = None) -> list[Query]:
    """The queries of a file, at most so many."""
    queries = []
    for term in PrologFile(os.fspath(filename)):
        p = 1.0 if term.probability is None else float(term.probability)
        term, told = term.with_probability(), {}
        if term.functor == "subs" and len(term.args) == 2:
            told = dict(term2list(pair, False) for pair in term2list(term.args[1], False))
            term = term.args[0]
        queries.append(Query(term, told, p))
    return queries[:max_size]


class MutatingDataset(Dataset):
    """Another dataset's queries after ``mutator(i, query)``."""

    def __init__(self, inner_dataset: Dataset, mutator: Callable[[int, Query], Query]) -> None:
        self.inner_dataset, self.mutator = inner_dataset, mutator

    def __len__(self) -> int:
        return len(self.inner_dataset)

    def to_query(self, i: int) -> Query:
        return self.mutator(i, self.inner_dataset.to_query(i))


class NoiseMutatorDecorator:
    """A mutator that changes a share p of the queries, always the same ones, and leaves the others as they are."""

    def __init__(self, p: float, inner_mutator: Callable[[int, Query], Query], seed: int | None = None) -> None:
        self.p, self.inner_mutator = p, inner_mutator
        self.seed = random.SystemRandom().getrandbits(64) if seed is None else seed

    def __call__(self, index: int, query: Query) -> Query:
        changes = random.Random(self.seed ^ index).random() < self.p
        return self.inner_mutator(index, query) if changes else query


class ImageDataset(Dataset):
    """A dataset that is also a source of tensors: image i is the file ``root/i.png``. Needs the package ``pillow``."""

    def __init__(
        self, root: str | os.PathLike[str], extension: str = "png", transform: Callable[[Any], Any] | None = None
    ) -> None:
        self.root, self.extension, self.transform = pathlib.Path(root), extension, transform

    def __getitem__(self, index: Any) -> Any:
        from PIL import Image

        number = index[0] if isinstance(index, tuple) else index
        with open_regular(self.root / f"{number}.{self.extension}", LARGEST_TEXT) as file, Image.open(file) as opened:
            image = opened.convert("RGB")
        return image if self.transform is None else self.transform(image)


class DataLoader:
    """Batches of queries; with ``shuffle`` (or where it says so of an epoch) in an order of its own in each epoch."""

    def __init__(
        self, dataset: Dataset, batch_size: int, shuffle: bool | Callable[[int], bool] = True, seed: int | None = None
    ) -> None:
        self.dataset, self.batch_size, self.shuffle = dataset.to_queries(), batch_size, shuffle
        self.epoch = 0
        self._random = random.Random(seed)

    def __len__(self) -> int:
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self) -> Iterator[list[Query]]:
        order = list(self.dataset)
        if self.shuffle(self.epoch) if callable(self.shuffle) else self.shuffle:
            self._random.shuffle(order)
        self.epoch += 1
        return (order[first : first + self.batch_size] for first in range(0, len(order), self.batch_size))
