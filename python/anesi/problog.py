"""ProbLog programs with neural predicates, in DeepProbLog's syntax, as Knowledge. Needs the package ``problog``."""

from __future__ import annotations

import os
from typing import Any, Callable, Mapping, Sequence

import torch

from . import knowledge
from ._problog_coding import Coding, Maybe, Truth, coding, in_order
from ._problog_ground import GroundFunction, TooLarge
from ._problog_program import Answer, Program, Variable, plain, variables_of
from ._problog_worlds import WorldFunction
from .answers import Prediction
from .knowledge import Labels, Logits, Settings

_MANY_ANSWERS = 256  # of 512 random worlds

__all__ = ["AnsweredPrediction", "Knowledge", "Variable"]


class AnsweredPrediction(Prediction):
    """A prediction with what its outputs say."""

    answers: list[Answer]
    """The most likely answer of each example; with ``top``, a list of them."""


class Knowledge(knowledge.Knowledge):
    r"""A ProbLog program and a query, ready to be learned from.

    The world is what the networks of the program read: one variable for each network and inputs, in the order of
    :attr:`inputs`. Probabilistic facts of the program are further variables, whose probabilities you need not give.
    The output is what the query's variables are, or, where it has none, whether it holds.

    Args:
        program: the text, or a path (``pathlib.Path``) of a file.
        query: ``"addition(a, b, Z)"``: names for what networks read in small letters, what is labelled in capitals.
            By default the one ``query(…)`` in the program.
        answers: what the answers may be, where they are too many to be found by grounding: ``range(2000)``, or a list.
        partial: worlds without an answer are allowed; their answer is None.
        limit: ground nodes that ProbLog may make. Beyond them the program is run anew for each batch of worlds.
        architecture, settings, seed, verbose: as for :class:`anesi.Knowledge`.

    Example:
        >>> import torch, anesi.problog
        >>> know = anesi.problog.Knowledge('''
        ...     nn(net, [X], Y, [0, 1, 2]) :: digit(X, Y).
        ...     addition(X, Y, Z) :- digit(X, X2), digit(Y, Y2), Z is X2 + Y2.
        ... ''', query="addition(a, b, Z)", verbose=False)
        >>> know
        Knowledge(addition(a,b,Z), exact: all 9 worlds)
        >>> [(variable.network, variable.inputs) for variable in know.inputs]
        [('net', ('a',)), ('net', ('b',))]
        >>> logits = torch.zeros(2, 2, 3, requires_grad=True)
        >>> loss = know.loss(logits, [0, 4])  # only 0 + 0 and 2 + 2
        >>> round(loss.item(), 3)  # log(9)
        2.197
        >>> know.predict(logits).answers
        [2, 2]
    """

    def __init__(
        self,
        program: str | os.PathLike[str],
        query: str | None = None,
        *,
        answers: Sequence[Answer] | None = None,
        partial: bool = False,
        limit: int = 20_000,
        architecture: str | None = None,
        settings: Settings | None = None,
        seed: int = 0,
        verbose: bool = True,
    ) -> None:
        read = Program(program)
        asked = read.query(query)
        function = _Function(read, asked, answers, partial, limit)
        super().__init__(
            function,
            [len(variable.values) for variable in function.variables],
            function.coding.sizes,
            architecture=architecture,
            settings=settings,
            seed=seed,
            verbose=verbose,
        )
        self.query = str(asked)
        self._coding = function.coding
        self._answers = function.answers
        self._inputs = [variable for variable in function.variables if variable.network is not None]
        self._chances = [variable for variable in function.variables if variable.network is None]
        self._learned = torch.nn.ParameterDict()
        for place, variable in enumerate(self._chances):
            if variable.learned:
                self._learned[str(place)] = torch.tensor(variable.probabilities).log()

    # What it is about.

    @property
    def inputs(self) -> list[Variable]:
        """The variables that logits are of, in order: which network reads what."""
        return list(self._inputs)

    @property
    def chances(self) -> list[Variable]:
        """The variables that come after them in a world: what the program itself leaves to chance."""
        return list(self._chances)

    @property
    def answers(self) -> list[Answer] | None:
        """All that the query may be answered with; None where they are too many to be listed."""
        return None if self._answers is None else list(self._answers)

    def encode(self, answers: Sequence[Answer]) -> torch.Tensor:
        """Answers as outputs, int64 ``[batch, outputs]``: numbers, texts of terms, or lists of these."""
        rows = []
        for row, answer in enumerate(answers):
            try:
                rows.append(self._coding.encode(plain(answer)))
            except (KeyError, TypeError):
                raise ValueError(f"outputs: example {row}: {answer!r} is no answer of {self.query}{self._hint()}") from None
        return torch.tensor(rows, dtype=torch.int64).view(len(rows), len(self._coding.sizes))

    def decode(self, outputs: torch.Tensor) -> list[Answer]:
        """What outputs, int64 ``[batch, outputs]``, say."""
        return [self._coding.decode(row) for row in outputs.tolist()]

    def read(
        self, networks: Mapping[str, Callable[..., torch.Tensor]], tensors: Mapping[str, torch.Tensor]
    ) -> list[torch.Tensor]:
        """What the program's networks make of their inputs, as :meth:`loss` takes it.

        Args:
            networks: by their names in the program. Each is called once, with all that it reads in one batch.
            tensors: by their names in the query, ``[batch, …]`` each.

        Example:
            >>> import torch, anesi.problog
            >>> know = anesi.problog.Knowledge("nn(net, [X], Y, [no, yes]) :: hot(X, Y). alarm(X) :- hot(X, yes).",
            ...                                query="alarm(room)", verbose=False)
            >>> logits = know.read({"net": torch.nn.Linear(3, 2)}, {"room": torch.zeros(5, 3)})
            >>> know.loss(logits, [True] * 5).ndim
            0
        """
        for variable in self._inputs:
            if variable.network not in networks:
                raise ValueError(f"networks: the program names {variable.network!r}, which is not among {sorted(networks)}")
            for name in variable.inputs:
                if name not in tensors:
                    raise ValueError(f"tensors: the network {variable.network} reads {name!r}, which is not among {sorted(tensors)}")
        read: dict[int, torch.Tensor] = {}
        for network in dict.fromkeys(str(variable.network) for variable in self._inputs):
            places = [place for place, variable in enumerate(self._inputs) if variable.network == network]
            columns = zip(*(self._inputs[place].inputs for place in places))
            told = networks[network](*(torch.cat([tensors[name] for name in column]) for column in columns))
            read.update(zip(places, told.reshape(told.shape[0], -1).chunk(len(places))))
        return [read[place] for place in range(len(self._inputs))]

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

    # What is inside.

    def _hint(self) -> str:
        known = self._answers
        if known is None:
            return "; where answers= was left out, they were guessed from random worlds"
        return "" if len(known) > 20 else f", which are {known}"

    def _perceived(self) -> list[int]:
        return [len(variable.values) for variable in self._inputs]

    def _values(self, logits: Logits | None, beliefs: Logits | None) -> tuple[torch.Tensor, bool]:
        values, is_logits = super()._values(logits, beliefs)
        count, width = len(self._inputs), max(self._perceived())
        if values.dim() != 3 or values.shape[1:] != (count, width):
            name = "logits" if is_logits else "beliefs"
            raise ValueError(f"{name}: shape {tuple(values.shape)}, expected (batch, {count}, {width}) for {self._names()}")
        if not self._chances:
            return values, is_logits
        if values.dtype in (torch.float16, torch.bfloat16):
            values = values.float()
        width = max(self.worlds)
        rows = [torch.nn.functional.pad(values, (0, width - values.shape[2]))]
        for place, variable in enumerate(self._chances):
            row = self._chance_logits(place, variable).to(values)
            row = row if is_logits else row.softmax(0)
            rows.append(torch.nn.functional.pad(row, (0, width - len(row))).expand(len(values), 1, width))
        return torch.cat(rows, 1), is_logits

    def _chance_logits(self, place: int, variable: Variable) -> torch.Tensor:
        learned = self._learned[str(place)] if str(place) in self._learned else None
        return torch.tensor(variable.probabilities, dtype=torch.float64).log() if learned is None else learned

    def _names(self) -> str:
        names = [_name(variable) for variable in self._inputs]
        return ", ".join(names if len(names) <= 6 else [*names[:3], "…", names[-1]])

    def _labelled(self, outputs: Any) -> torch.Tensor | None:
        if outputs is None:
            return None
        if not isinstance(outputs, torch.Tensor):
            return self.encode(outputs.tolist() if hasattr(outputs, "tolist") else outputs)
        if outputs.dim() == 1 and len(self._coding.sizes) > 1:  # numbers of several digits
            return self.encode(outputs.tolist())
        return outputs


class _Function:
    """Worlds to outputs. The program is ground where that is small enough, else run for each batch of worlds."""

    def __init__(self, program: Program, query: Any, answers: Sequence[Answer] | None, partial: bool, limit: int) -> None:
        self._query, self._partial = query, partial
        self._wanted = list(variables_of(query))
        self._ask = _ground_or_run(program, query, limit)
        self.variables = self._ask.variables
        if not any(variable.network for variable in self.variables):
            raise ValueError(f"query: {query} depends on no neural predicate")
        found = [self._answer(values) for values in self._ask.answers]
        if self._wanted and not found:
            raise ValueError(f"query: {query} has no answer")
        plain = coding(found if answers is None else _told(answers)) if self._wanted else Truth()
        self.coding: Coding = Maybe(plain) if partial and self._wanted else plain
        self.answers: list[Answer] | None = None
        self._known: torch.Tensor | None = None
        if isinstance(self._ask, GroundFunction):
            self.answers = [*in_order(found), *([None] * partial)] if self._wanted else [False, True]
            self._known = self._codes(self._ask.answers) if self._wanted else None

    def __call__(self, worlds: torch.Tensor) -> torch.Tensor:
        places, answers = self._ask(worlds)
        if not self._wanted:
            return places >= 0
        wrong = places < (-1 if self._partial else 0)
        if wrong.any():
            row = int(wrong.nonzero()[0, 0])
            self._blame(worlds[row].tolist(), "no answer" if places[row] == -1 else "several answers")
        codes = self._codes(answers) if self._known is None else self._known
        return codes[places]  # -1, for none, is the last row

    def _codes(self, answers: Sequence[tuple[Answer, ...]]) -> torch.Tensor:
        rows = []
        for values in answers:
            try:
                rows.append(self.coding.encode(self._answer(values)))
            except KeyError:
                raise ValueError(
                    f"the query {self._query} is also answered with {self._answer(values)!r};"
                    " say what its answers may be: answers=range(…), or a list"
                ) from None
        return torch.tensor([*rows, [0] * len(self.coding.sizes)])

    def _answer(self, values: tuple[Answer, ...]) -> Answer:
        return values[0] if len(self._wanted) == 1 else values

    def _blame(self, world: list[int], what: str) -> None:
        read = ", ".join(f"{_name(each)} = {each.values[value]}" for each, value in zip(self.variables, world))
        remedy = "partial=True allows that" if what == "no answer" else "just one is expected"
        raise ValueError(f"the query {self._query} has {what} where {read}; {remedy}")


def _ground_or_run(program: Program, query: Any, limit: int) -> GroundFunction | WorldFunction:
    """Ground, unless random worlds show so many answers, or grounding so many nodes, that this leads nowhere."""
    try:
        run = WorldFunction(program, query, limit, steps=20_000)
    except (ValueError, RecursionError):  # if it is a mistake in the program, ProbLog will say so
        run = None
    if run is not None and len(run.answers) > _MANY_ANSWERS:
        return run
    try:
        return GroundFunction(program, query, limit)
    except TooLarge:
        return run or WorldFunction(program, query, limit)


def _name(variable: Variable) -> str:
    if variable.network is None:
        return " or ".join(variable.inputs)
    return f"{variable.network}({', '.join(variable.inputs)})"


def _told(answers: Sequence[Answer]) -> Sequence[Answer]:
    if not isinstance(answers, (range, list, tuple)) or not answers:
        raise TypeError(f"answers: a range or a list of answers is expected, not {answers!r}")
    return answers if isinstance(answers, range) else [plain(answer) for answer in answers]

