"""ProbLog programs with neural predicates, in DeepProbLog's syntax, as Knowledge. Needs the package ``problog``."""

from __future__ import annotations

import os
from typing import Any, Callable, Mapping, Sequence

import torch

from ._problog_program import Program, plain, variables_of  # first, since it says what to install

from ._answered import AnsweredKnowledge, AnsweredPrediction, AnswerFunction, Variable
from ._coding import Answer
from ._problog_ground import GroundFunction, TooLarge
from ._problog_worlds import WorldFunction
from .knowledge import Logits, Settings, widened

_MANY_ANSWERS = 128  # of 512 random worlds

__all__ = ["AnsweredPrediction", "Knowledge", "Variable"]


class Knowledge(AnsweredKnowledge):
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
        allow_python: whether the program may run Python files, as with ``use_module('file.py')``. They can do anything
            that you can, so allow it only for programs that you trust.
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
        allow_python: bool = False,
        architecture: str | None = None,
        settings: Settings | None = None,
        seed: int = 0,
        verbose: bool = True,
    ) -> None:
        read = Program(program, allow_python)
        asked = read.query(query)
        ask = _ground_or_run(read, asked, limit)
        if not any(variable.network for variable in ask.variables):
            raise ValueError(f"query: {asked} depends on no neural predicate")
        told = None if answers is None else _told(answers)
        function = AnswerFunction(ask, str(asked), len(list(variables_of(asked))), told, partial)
        super().__init__(function, architecture=architecture, settings=settings, seed=seed, verbose=verbose)
        self._inputs = [variable for variable in function.variables if variable.network is not None]
        self._chances = [variable for variable in function.variables if variable.network is None]
        self._learned = torch.nn.ParameterDict()
        for variable in self._chances:
            if variable.learned is not None:
                self._learned[str(variable.learned)] = torch.tensor(variable.probabilities).log()

    # What it is about.

    @property
    def inputs(self) -> list[Variable]:
        """The variables that logits are of, in order: which network reads what."""
        return list(self._inputs)

    @property
    def chances(self) -> list[Variable]:
        """The variables that come after them in a world: what the program itself leaves to chance."""
        return list(self._chances)

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

    # What is inside.

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
        rows = [widened(values, width)]
        for variable in self._chances:
            row = self._chance_logits(variable).to(values)
            row = row if is_logits else row.softmax(0)
            rows.append(widened(row, width).expand(len(values), 1, width))
        return torch.cat(rows, 1), is_logits

    def _chance_logits(self, variable: Variable) -> torch.Tensor:
        if variable.learned is not None:
            learned: torch.Tensor = self._learned[str(variable.learned)]
            return learned
        return torch.tensor(variable.probabilities, dtype=torch.float64).log()

    def _names(self) -> str:
        names = [variable.name() for variable in self._inputs]
        return ", ".join(names if len(names) <= 6 else [*names[:3], "…", names[-1]])

    def _term(self, answer: Any) -> Answer:
        return plain(answer)


def _ground_or_run(program: Program, query: Any, limit: int) -> GroundFunction | WorldFunction:
    """Ground, unless random worlds show so many answers, or grounding so many nodes, that this leads nowhere."""
    try:
        run = WorldFunction(program, query, limit, steps=20_000)
    except ValueError:  # if it is a mistake in the program, ProbLog will say so
        run = None
    if run is None or len(run.answers) <= _MANY_ANSWERS:
        try:
            return GroundFunction(program, query, limit)
        except TooLarge:
            run = run or WorldFunction(program, query, limit)
    run.go_through_all()
    return run


def _told(answers: Sequence[Answer]) -> Sequence[Answer]:
    if not isinstance(answers, (range, list, tuple)) or not answers:
        raise TypeError(f"answers: a range or a list of answers is expected, not {answers!r}")
    return answers if isinstance(answers, range) else [plain(answer) for answer in answers]

