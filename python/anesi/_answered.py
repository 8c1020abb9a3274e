"""Knowledge of a program and a query: what its outputs say, and what users call its answers."""

from __future__ import annotations

import itertools
from typing import Any, Callable, NamedTuple, Protocol, Sequence

import torch

from . import knowledge
from ._coding import Answer, Coding, Maybe, Truth, coding, in_order
from .answers import Prediction
from .knowledge import Logits


Answers = list[tuple[Answer, ...]]


class AnsweredPrediction(Prediction):
    """A prediction with what its outputs say."""

    answers: list[Answer]
    """The most likely answer of each example; with ``top``, a list of them."""


class Variable(NamedTuple):
    """What a variable of the world stands for."""

    network: str | None
    """The network that reads it; None where the program itself gives its probabilities."""
    inputs: tuple[str, ...]
    """The terms that the network reads; of a probabilistic fact, the atoms that it may make true."""
    values: tuple[Answer, ...]
    """The terms that its values stand for, in order."""
    probabilities: tuple[float, ...] | None = None
    """Of its values, where the program gives them."""
    learned: int | None = None
    """The clause, by its place in the program, whose variables learn these together: ``t(0.1) :: noisy(X)``."""

    def name(self) -> str:
        """What it is called in messages."""
        if self.network is None:
            return " or ".join(self.inputs)
        return f"{self.network}({', '.join(self.inputs)})" if self.inputs else self.network


class Ask(Protocol):
    """A program that is asked about worlds."""

    variables: list[Variable]
    """What the world's variables stand for."""
    answers: Answers
    """The values of the query's variables, one tuple an answer: all of them, or those of random worlds."""
    complete: bool
    """Whether these are all."""

    def __call__(self, worlds: torch.Tensor) -> tuple[torch.Tensor, Answers]:
        """The answer of each world by its place in a list, and this list; -1 for none, -2 for several."""


def drawn(size: int, count: int, generator: torch.Generator | None) -> torch.Tensor:
    """Random values of a variable. The first is the smallest and the last the largest: the answers' ends, as a rule."""
    values = torch.randint(size, (count,), generator=generator)
    values[0], values[-1] = 0, size - 1
    return values


class AllWorlds:
    """What all worlds give, where they are few: each is asked about once."""

    def __init__(self, sizes: Sequence[int], ask: Callable[[torch.Tensor], tuple[torch.Tensor, Answers]]) -> None:
        self._sizes = sizes
        self._places, self.answers = ask(torch.tensor(list(itertools.product(*(range(size) for size in sizes)))))

    def __call__(self, worlds: torch.Tensor) -> tuple[torch.Tensor, Answers]:
        row = torch.zeros(worlds.shape[0], dtype=torch.int64)
        for variable, size in enumerate(self._sizes):
            row = row * size + worlds[:, variable]
        return self._places[row], self.answers


class AnswerFunction:
    """Worlds to outputs, by asking a program.

    Args:
        ask: the program.
        query: its text.
        wanted: how many variables the query has. Without any, the output is whether it holds.
        answers: what the answers may be, where that is told.
        partial: whether a world may have none.
    """

    def __init__(self, ask: Ask, query: str, wanted: int, answers: Sequence[Answer] | None, partial: bool) -> None:
        self._ask, self.query, self._wanted, self._partial = ask, query, wanted, partial
        self.variables = ask.variables
        found = [self._answer(values) for values in ask.answers]
        if wanted and not found:
            raise ValueError(f"query: {query} has no answer in any world, or always several")
        plain = coding(found if answers is None else answers) if wanted else Truth()
        self.coding: Coding = Maybe(plain) if partial and wanted else plain
        self.answers: list[Answer] | None = None
        if not wanted:
            self.answers = [False, True]
        elif ask.complete:
            self.answers = [*in_order(found), *([None] * partial)]
        self._known = self._codes(ask.answers) if wanted and ask.complete else None

    def __call__(self, worlds: torch.Tensor) -> torch.Tensor:
        places, answers = self._ask(worlds)
        wrong = places < (-1 if self._partial or not self._wanted else 0)
        if wrong.any():
            row = int(wrong.nonzero()[0, 0])
            self._blame(worlds[row].tolist(), "no answer" if places[row] == -1 else "several answers")
        if not self._wanted:
            return places >= 0
        codes = self._codes(answers) if self._known is None else self._known
        return codes[places]  # -1, for none, is the last row

    def _codes(self, answers: Sequence[tuple[Answer, ...]]) -> torch.Tensor:
        rows = []
        for values in answers:
            try:
                rows.append(self.coding.encode(self._answer(values)))
            except KeyError:
                raise ValueError(
                    f"the query {self.query} is also answered with {self._answer(values)!r};"
                    " say what its answers may be: answers=range(…), or a list"
                ) from None
        return torch.tensor([*rows, [0] * len(self.coding.sizes)])

    def _answer(self, values: tuple[Answer, ...]) -> Answer:
        return values[0] if self._wanted == 1 else values

    def _blame(self, world: list[int], what: str) -> None:
        read = ", ".join(f"{each.name()} = {each.values[value]}" for each, value in zip(self.variables, world))
        remedy = "partial=True allows that" if what == "no answer" else "just one is expected"
        raise ValueError(f"the query {self.query} has {what} where {read}; {remedy}")


class AnsweredKnowledge(knowledge.Knowledge):
    """Knowledge whose outputs are answers of a query."""

    def __init__(self, function: AnswerFunction, **more: Any) -> None:
        sizes = [len(variable.values) for variable in function.variables]
        super().__init__(function, sizes, function.coding.sizes, **more)
        self.query = function.query
        self._coding, self._answers = function.coding, function.answers

    @property
    def answers(self) -> list[Answer] | None:
        """All that the query may be answered with; None where they are too many to be listed."""
        return None if self._answers is None else list(self._answers)

    def encode(self, answers: Sequence[Answer]) -> torch.Tensor:
        """Answers as outputs, int64 ``[batch, outputs]``: numbers, texts of terms, or lists of these."""
        rows = []
        for row, answer in enumerate(answers):
            try:
                rows.append(self._coding.encode(self._plain(answer)))
            except (KeyError, TypeError):
                raise ValueError(f"outputs: example {row}: {answer!r} is no answer of {self.query}{self._hint()}") from None
        return torch.tensor(rows, dtype=torch.int64).view(len(rows), len(self._coding.sizes))

    def decode(self, outputs: torch.Tensor) -> list[Answer]:
        """What outputs, int64 ``[batch, outputs]``, say."""
        return [self._coding.decode(row) for row in outputs.tolist()]

    def predict(
        self,
        logits: Logits | None = None,
        *,
        beliefs: Logits | None = None,
        given: torch.Tensor | None = None,
        top: int | None = None,
    ) -> AnsweredPrediction:
        """The most likely answers, as ``answers`` and as outputs; else as :meth:`anesi.Knowledge.predict`."""
        found = AnsweredPrediction(*super().predict(logits, beliefs=beliefs, given=given, top=top))
        found.answers = self.decode(found.outputs) if top is None else [self.decode(each) for each in found.outputs]
        return found

    def __repr__(self) -> str:
        return f"Knowledge({self.query}, {self._summary()})"

    def _hint(self) -> str:
        known = self._answers
        if known is None:
            return "; where answers= was left out, they were guessed from random worlds"
        return "" if len(known) > 20 else f", which are {known}"

    def _labelled(self, outputs: Any) -> torch.Tensor | None:
        if outputs is None:
            return None
        if not isinstance(outputs, torch.Tensor):
            return self.encode(outputs.tolist() if hasattr(outputs, "tolist") else outputs)
        if outputs.dim() == 1 and len(self._coding.sizes) > 1:  # numbers of several digits
            return self.encode(outputs.tolist())
        return outputs

    def _plain(self, answer: Any) -> Answer:
        """A label as answers come out of the program."""
        if hasattr(answer, "tolist"):  # a number of torch or numpy
            return answer.tolist()
        if isinstance(answer, (list, tuple)):
            return type(answer)(self._plain(part) for part in answer)
        return self._term(answer)

    def _term(self, answer: Any) -> Answer:
        """The same, of what is no list."""
        return answer
