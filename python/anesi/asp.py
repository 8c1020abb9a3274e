"""Answer-set programs as Knowledge. Needs the package ``clingo``."""
# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import math
import os
import re
import threading
from typing import Any, Mapping, Sequence

import torch

try:
    import clingo
except ModuleNotFoundError as error:
    if error.name != "clingo":
        raise
    raise ImportError("anesi.asp needs clingo: pip install clingo==5.8.2") from None

from ._answered import AllWorlds, AnsweredKnowledge, AnswerFunction, Answers, Variable, drawn
from ._coding import Answer
from ._files import read_text
from .knowledge import Settings

__all__ = ["Knowledge"]

_ALL_WORLDS, _SAMPLED_WORLDS = 4096, 512
_VARIABLE = re.compile(r"(?<!\w)[A-Z]\w*")


class Knowledge(AnsweredKnowledge):
    """An answer-set program and a query, ready to be learned from.

    A world is a choice of one atom for each variable. It must have one stable model, or several that answer the query
    alike. The program is grounded once, and solved under assumptions for each world.

    Args:
        program: the text, or a path (``pathlib.Path``) of a file.
        choices: the world's variables and their values: ``{"digit(a, D)": range(10), "digit(b, D)": range(10)}``.
        query: ``"sum(Z)"``: what Z is; without a variable, whether it holds.
        answers: what the answers may be, where that is known; else those of all worlds, or of 512 where they are many.
        partial: worlds without an answer, or without a stable model, are allowed; their answer is None.
        architecture, settings, seed, verbose: as for :class:`anesi.Knowledge`.

    Example:
        >>> import torch, anesi.asp
        >>> know = anesi.asp.Knowledge(
        ...     "sum(X + Y) :- digit(a, X), digit(b, Y).",
        ...     choices={"digit(a, D)": range(3), "digit(b, D)": range(3)}, query="sum(Z)", verbose=False)
        >>> know
        Knowledge(sum(Z), exact: all 9 worlds)
        >>> know.log_prob(torch.zeros(1, 2, 3), [2]).exp()  # 0 + 2, 1 + 1, 2 + 0
        tensor([0.3333])
    """

    def __init__(
        self,
        program: str | os.PathLike[str],
        choices: Mapping[str, Sequence[Any]],
        query: str,
        *,
        answers: Sequence[Answer] | None = None,
        partial: bool = False,
        architecture: str | None = None,
        settings: Settings | None = None,
        seed: int = 0,
        verbose: bool = True,
    ) -> None:
        text = program if isinstance(program, str) else read_text(program)
        wanted = list(dict.fromkeys(_VARIABLE.findall(query)))
        ask = _Program(text, choices, query, wanted)
        function = AnswerFunction(ask, query, len(wanted), answers, partial)
        super().__init__(function, architecture=architecture, settings=settings, seed=seed, verbose=verbose)

    def _term(self, answer: Any) -> Answer:
        try:
            return _as_python(clingo.parse_term(answer)) if isinstance(answer, str) else answer
        except RuntimeError:
            return answer


class _Program:
    """The answer of each world by its place in a list; -1 for none, -2 for several."""

    def __init__(self, program: str, choices: Mapping[str, Sequence[Any]], query: str, wanted: list[str]) -> None:
        texts = []
        for template, values in choices.items():
            if len(set(_VARIABLE.findall(template))) != 1:
                raise ValueError(f"choices: {template!r} must have one variable, such as digit(a, D)")
            texts.append([_VARIABLE.sub(str(value), template) for value in values])
        if not texts:
            raise ValueError("choices: there must be a variable, such as {'digit(a, D)': range(10)}")
        self.variables = [Variable(template, (), tuple(values)) for template, values in choices.items()]
        head = f"anesi_answer({', '.join(wanted)})" if wanted else "anesi_answer"
        told = [f"1 {{ {'; '.join(each)} }} 1." for each in texts]
        told += [f"{head} :- {query}.", f"#project anesi_answer/{len(wanted)}.", f"#show anesi_answer/{len(wanted)}."]
        lines: list[str] = []
        self._control = clingo.Control(["2", "--project=project"], logger=lambda _, line: lines.append(line))
        try:
            self._control.add("base", [], program)
            self._control.add("base", [], "\n".join(told))
            self._control.ground([("base", [])])
            self._atoms = [[self._literal(text) for text in each] for each in texts]
        except RuntimeError as error:  # clingo logs some errors and raises others
            raise ValueError(f"program: {' '.join((' '.join(lines) or str(error)).split())}") from None
        self._lock = threading.Lock()  # a solver answers one question at a time
        sizes = [len(each) for each in texts]
        self._all: AllWorlds | None = None
        self.complete = math.prod(sizes) <= _ALL_WORLDS
        if self.complete:
            self._all = AllWorlds(sizes, self)
            self.answers = self._all.answers
        else:
            rng = torch.Generator().manual_seed(0)
            _, self.answers = self(torch.stack([drawn(size, _SAMPLED_WORLDS, rng) for size in sizes], 1))

    def _literal(self, text: str) -> int:
        atom = self._control.symbolic_atoms[clingo.parse_term(text)]
        if atom is None:
            raise ValueError(f"choices: {text} is no atom of the program")
        return int(atom.literal)

    def __call__(self, worlds: torch.Tensor) -> tuple[torch.Tensor, Answers]:
        if self._all is not None:
            return self._all(worlds)
        known: dict[tuple[Answer, ...], int] = {}
        places = []
        with self._lock:
            for world in worlds.tolist():
                found = self._models([literals[value] for literals, value in zip(self._atoms, world)])
                if len(found) == 1 and len(found[0]) == 1:
                    places.append(known.setdefault(found[0][0], len(known)))
                else:
                    places.append(-2 if any(found) else -1)
        return torch.tensor(places), list(known)

    def _models(self, assumed: list[int]) -> list[list[tuple[Answer, ...]]]:
        """The answers in each stable model; those of two models that differ in them are enough."""
        found = []
        with self._control.solve(yield_=True, assumptions=assumed) as models:
            for model in models:
                atoms = [atom for atom in model.symbols(shown=True) if atom.name == "anesi_answer"]
                found.append([tuple(_as_python(argument) for argument in atom.arguments) for atom in atoms])
        return found


def _as_python(symbol: Any) -> Answer:
    """A ground term as a number, a text or, for a tuple, a list."""
    if symbol.type == clingo.SymbolType.Number:
        return symbol.number
    if symbol.type == clingo.SymbolType.String:
        return symbol.string
    if symbol.type == clingo.SymbolType.Function and not symbol.name:
        return [_as_python(argument) for argument in symbol.arguments]
    return str(symbol)
