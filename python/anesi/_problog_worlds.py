"""A program run anew for each batch of worlds, where it is too large to be ground.

It knows Prolog's control, arithmetic and comparison, and the lists of ProbLog's library (_problog_search.py). The
world's variables and the answers are not known beforehand here: random worlds show them. A world that shows others
later is an error.
"""
# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import math
import pathlib
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Sequence

import problog
import torch
from problog.logic import AnnotatedDisjunction, Clause, Or, Term
from problog.program import PrologFile

from ._answered import AllWorlds, Answers, Variable, drawn
from ._problog_ground import chance
from ._problog_program import LISTS, Neural, Program, heads_of, network_inputs, variables_of
from ._problog_search import Place, Reader, Rule, Search, Slot, as_problog, in_worlds, renamed

_SAMPLED_WORLDS, _ALL_WORLDS = 512, 16_384


@dataclass
class _Choice:
    """What is left to a network or to chance: a variable of the world for each binding of the clause's variables."""

    name: Callable[[Any], Variable]
    values: list[Any]


class WorldFunction:
    """Which answer of the query each world gives, by its place in a list; -1 for none, -2 for several.

    The world's variables are those that random worlds come upon, and ``answers`` what these worlds give.
    """

    def __init__(self, program: Program, query: Any, limit: int, steps: int = 1_000_000) -> None:
        self._query, self._limit, self._steps = str(query), limit, steps
        self._rules: dict[tuple[str, int], list[Rule]] = {}
        self._choices: list[_Choice] = []
        for clause in program.clauses:
            self._add(clause)
        own = set(self._rules)
        for clause in PrologFile(str(pathlib.Path(problog.__file__).parent / "library" / "lists.pl")):
            self._add_library(clause, own)
        reader = Reader()
        self._goal = reader.term(query)
        self._wanted = [reader.term(variable) for variable in variables_of(query)]
        self._slots = reader.slots

        self._numbers: dict[Any, int] = {}  # of the world's variables, by choice and bindings
        self._generator: torch.Generator | None = torch.Generator().manual_seed(0)
        self.variables: list[Variable] = []
        self.complete = False
        self._all: AllWorlds | None = None
        _, self.answers = self._run([], _SAMPLED_WORLDS)
        self._generator = None
        self._steps = 1_000_000
        neural_first = sorted(range(len(self.variables)), key=lambda number: self.variables[number].network is None)
        self._columns = {number: place for place, number in enumerate(neural_first)}
        self.variables = [self.variables[number] for number in neural_first]

    def __call__(self, worlds: torch.Tensor) -> tuple[torch.Tensor, Answers]:
        if self._all is not None:
            return self._all(worlds)
        columns = worlds.t().tolist()
        return self._run([columns[self._columns[number]] for number in range(len(columns))], worlds.shape[0])

    def go_through_all(self) -> None:
        """Goes through all worlds now, where they are few, so that no answer comes later."""
        sizes = [len(variable.values) for variable in self.variables]
        if math.prod(sizes) <= _ALL_WORLDS:
            self._all = AllWorlds(sizes, self)
            self.answers = self._all.answers
            self.complete = True

    # Reading the program.

    def _add(self, clause: Any) -> None:
        if isinstance(clause, Neural):
            self._add_neural(clause)
        elif type(clause) in (AnnotatedDisjunction, Or):
            self._add_chance(heads_of(clause), clause.body if type(clause) is AnnotatedDisjunction else None)
        else:
            head, body = (clause.head, clause.body) if type(clause) is Clause else (clause, None)
            if head.probability is not None:
                self._add_chance([head], body)
            elif head.functor != "_directive":
                self._add_certain(head, body)
            elif str(body) != str(LISTS):
                raise self._unknown(f"the directive {body}")

    def _add_certain(self, head: Any, body: Any | None) -> None:
        reader = Reader()
        self._rule(reader.term(head), [] if body is None else [reader.term(body)], reader)

    def _add_neural(self, clause: Neural) -> None:
        reader = Reader()
        head, inputs = reader.term(clause.head), reader.term(clause.inputs)
        body = [] if clause.body is None else [reader.term(clause.body)]
        output = "true" if clause.output is None else reader.term(clause.output)
        bindings = ("", *(Slot(slot) for slot in range(reader.slots) if slot != output))

        def name(inputs: Any) -> Variable:
            return Variable(clause.network, network_inputs(as_problog(inputs)), clause.values())

        self._rule(head, [*body, ("$column", len(self._choices), bindings, inputs, output)], reader)
        self._choices.append(_Choice(name, [reader.term(value) for value in clause.domain]))

    def _add_chance(self, heads: Sequence[Any], told: Any | None) -> None:
        reader = Reader()
        read = [reader.term(head) for head in heads]
        probabilities = [head.probability for head in heads]
        body = [] if told is None else [reader.term(told)]
        bindings = ("", *(Slot(slot) for slot in range(reader.slots)))
        if not all(each.is_ground() for each in probabilities):
            raise self._unknown("a probability that is computed")

        def name(heads: Any) -> Variable:
            return chance([str(as_problog(head)) for head in heads[1:]], probabilities)

        size = len(chance([str(head) for head in heads], probabilities).values)
        number = len(self._choices)
        self._choices.append(_Choice(name, list(range(size))))
        for place, head in enumerate(read):
            self._rule(head, [*body, ("$column", number, bindings, ("", *read), place)], reader)

    def _add_library(self, clause: Any, own: set[tuple[str, int]]) -> None:
        """Adds a clause of the library, unless the program has that predicate itself."""
        head, body = (clause.head, clause.body) if type(clause) is Clause else (clause, None)
        if type(head) is Term and head.probability is None and head.functor != "_directive":
            if (str(head.functor), len(head.args)) not in own:
                self._add_certain(head, body)

    def _rule(self, head: Any, body: list[Any], reader: Reader) -> None:
        indicator = (head[0], len(head) - 1) if type(head) is tuple else (head, 0)
        self._rules.setdefault(indicator, []).append(Rule(head, body, reader.slots))

    # Running it.

    def _run(self, worlds: list[list[int]], count: int) -> tuple[torch.Tensor, Answers]:
        search = Search(self, worlds, count, self._steps)
        fresh = [Place() for _ in range(self._slots)]
        wanted = [renamed(term, fresh) for term in self._wanted]
        places = [-1] * count
        answers: Answers = []
        known: dict[str, int] = {}
        for live in _solutions(search, renamed(self._goal, fresh), count):
            parts = [in_worlds(each, live) for each in wanted]
            for row, world in enumerate(live):
                answer = tuple([part[row] for part in parts])
                place = known.setdefault(str(answer), len(answers))
                if place == len(answers):
                    answers.append(answer)
                places[world] = place if places[world] in (-1, place) else -2
        return torch.tensor(places), answers

    def column(self, choice: int, bindings: Any, inputs: Any, worlds: list[list[int]], count: int) -> list[Any]:
        """What the worlds of the batch say of a choice."""
        key = choice, bindings
        number = self._numbers.get(key)
        values = self._choices[choice].values
        if number is None:
            if self._generator is None:
                name = self._choices[choice].name(inputs)
                raise ValueError(
                    f"{name.network or 'the chance'} of {', '.join(name.inputs)} plays no part in {_SAMPLED_WORLDS} random"
                    f" worlds, but it does in others; a limit= of more than {self._limit} ground nodes may find all"
                )
            number = self._numbers[key] = len(self.variables)
            self.variables.append(self._choices[choice].name(inputs))
            worlds.append(drawn(len(values), count, self._generator).tolist())
        return [values[value] for value in worlds[number]]

    def rules(self, name: str, arguments: int) -> list[Rule]:
        found = self._rules.get((name, arguments))
        if found is None:
            raise self._unknown(f"{name}/{arguments}")
        return found

    def _unknown(self, what: str) -> ValueError:
        return ValueError(
            f"the query {self._query} has more than {self._limit} ground nodes, and {what} is not supported beyond them;"
            " a higher limit= may do"
        )


def _solutions(search: Search, goal: Any, count: int) -> Iterator[list[int]]:
    try:
        yield from search.solve(goal, list(range(count)))
    except RecursionError:
        raise ValueError("program: it recurs too deeply, or its terms are nested too deeply") from None
