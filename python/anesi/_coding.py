"""Answers of a query as outputs: whole numbers from 0, and back."""

from __future__ import annotations

from typing import Any, Protocol, Sequence

Answer = Any  # a whole number, a float, a bool, the text of another term, or a list of these

_ONE_OUTPUT = 100  # numbers below this are one output; larger ones are an output a digit


class Coding(Protocol):
    """How answers are told as outputs."""

    sizes: list[int]
    """How many values each output has."""

    def encode(self, answer: Answer) -> list[int]:
        """The outputs; raises KeyError where it is no answer."""

    def decode(self, outputs: Sequence[int]) -> Answer:
        """The answer again."""


class Terms:
    """One output: the place in a list of answers."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.answers = list(answers)
        self.sizes = [len(self.answers)]
        self._places = {key(answer): place for place, answer in enumerate(self.answers)}

    def encode(self, answer: Answer) -> list[int]:
        return [self._places[key(answer)]]

    def decode(self, outputs: Sequence[int]) -> Answer:
        return self.answers[outputs[0]]


class Truth:
    """One output: whether the query holds."""

    sizes = [2]

    def encode(self, answer: Answer) -> list[int]:
        if answer not in (0, 1):
            raise KeyError(answer)
        return [int(answer)]

    def decode(self, outputs: Sequence[int]) -> Answer:
        return bool(outputs[0])


class Maybe:
    """An answer or None: one output more, which tells whether there is one."""

    def __init__(self, answer: Coding) -> None:
        self._answer = answer
        self.sizes = [2, *answer.sizes]

    def encode(self, answer: Answer) -> list[int]:
        return [0] * len(self.sizes) if answer is None else [1, *self._answer.encode(answer)]

    def decode(self, outputs: Sequence[int]) -> Answer:
        return self._answer.decode(outputs[1:]) if outputs[0] else None


class WholeNumbers:
    """Numbers from low to high. Small ones are their own output; else there is a sign, where needed, and the digits."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high
        self._signed, largest = low < 0, max(-low, high)
        self._single = not self._signed and largest < _ONE_OUTPUT
        self._digits = len(str(largest))
        digits = [int(str(largest)[0]) + 1] + [10] * (self._digits - 1)
        self.sizes = [largest + 1] if self._single else [2] * self._signed + digits

    def encode(self, answer: Answer) -> list[int]:
        if type(answer) is not int or not self.low <= answer <= self.high:
            raise KeyError(answer)
        if self._single:
            return [answer]
        digits = [int(digit) for digit in str(abs(answer)).zfill(self._digits)]
        return [int(answer < 0), *digits] if self._signed else digits

    def decode(self, outputs: Sequence[int]) -> Answer:
        if self._single:
            return outputs[0]
        number = int("".join(map(str, outputs[self._signed :])))
        return -number if self._signed and outputs[0] else number


class Several:
    """A list of a known length, or the values of several variables: the outputs of each, one after the other."""

    def __init__(self, kind: type, parts: Sequence[Coding]) -> None:
        self.kind, self.parts = kind, parts
        self.sizes = [size for part in parts for size in part.sizes]

    def encode(self, answer: Answer) -> list[int]:
        if not isinstance(answer, (list, tuple)) or len(answer) != len(self.parts):
            raise KeyError(answer)
        return [output for part, value in zip(self.parts, answer) for output in part.encode(value)]

    def decode(self, outputs: Sequence[int]) -> Answer:
        values, first = [], 0
        for part in self.parts:
            values.append(part.decode(outputs[first : first + len(part.sizes)]))
            first += len(part.sizes)
        return self.kind(values)


def coding(answers: Sequence[Answer]) -> Coding:
    """What suits these answers."""
    if isinstance(answers, range):
        return WholeNumbers(min(answers), max(answers))
    if all(type(answer) is int for answer in answers):
        return WholeNumbers(min(answers), max(answers))
    kind = type(answers[0])
    if kind in (list, tuple) and answers[0] and all(type(a) is kind and len(a) == len(answers[0]) for a in answers):
        return Several(kind, [coding(place) for place in zip(*answers)])
    return Terms(in_order(answers))


def in_order(answers: Sequence[Answer]) -> list[Answer]:
    """Each once, numbers first."""
    distinct = {key(answer): answer for answer in answers}
    return [distinct[name] for name in sorted(distinct, key=_rank)]


def key(answer: Answer) -> Any:
    """Tells answers apart that Python takes for equal: 1, 1.0 and true."""
    if isinstance(answer, (list, tuple)):
        return tuple(key(part) for part in answer)
    return type(answer).__name__, answer


def _rank(name: Any) -> Any:
    numbers = isinstance(name[1], (int, float)) if len(name) == 2 and isinstance(name[0], str) else False
    return (0, float(name[1]), "") if numbers else (1, 0.0, str(name))
