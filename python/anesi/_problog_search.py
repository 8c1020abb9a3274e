"""Prolog's search, depth first, for many worlds at once.

What a network reads is a *column*: one value for each world of a batch. Arithmetic computes with whole columns. A
comparison, or a column that meets a term, narrows a branch of the search to the worlds where it holds. Only where a
single value is needed does the search branch on the values of a column. Adding two numbers of 15 digits takes as many
steps for one world as for a thousand.

A term is a number, an atom (str), a compound (tuple: its functor, then its arguments) or a Place. Nothing is tabled: a
program that recurs on the left does not end here, and a limit of steps says so.
"""
# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import operator
from typing import Any, Callable, Iterator, Protocol, Sequence, Union

from problog.logic import (
    Constant,
    Term,
    Var,
    _arithmetic_functions,
    list2term,
    unquote,
)


class Place:
    """A variable of the program, open or bound."""

    __slots__ = ("bound",)

    def __init__(self) -> None:
        self.bound: Any = None


class Column(Place):
    """A value for each world of the batch. It is bound where a branch of the search is about one value only."""

    __slots__ = ("values",)

    def __init__(self, values: list[Any]) -> None:
        super().__init__()
        self.values = values


class Slot(int):
    """The variable of a clause with this number, made anew each time the clause is used."""


class Rule:
    """A clause: its head, the goals of its body, and how many variables it has."""

    __slots__ = ("head", "body", "slots")

    def __init__(self, head: Any, body: list[Any], slots: int) -> None:
        self.head, self.body, self.slots = head, body, slots


class Source(Protocol):
    """Where a search finds clauses, and what worlds say."""

    def rules(self, name: str, arguments: int) -> list[Rule]: ...

    def column(
        self, choice: int, bindings: Any, inputs: Any, worlds: list[list[int]], count: int
    ) -> list[Any]: ...


class _Split(Exception):
    """A single value of this column is needed."""

    def __init__(self, column: Column) -> None:
        self.column = column


_DEEP = 16  # negations within negations: beyond, they are compared to find cycles

Goals = Any  # None, or a goal and the goals after it
Live = list[int]  # the worlds that a branch is about

class Search:
    """One run of a program for a batch of worlds."""

    def __init__(self, source: Source, worlds: list[list[int]], count: int, steps: int) -> None:
        self._source, self._told, self._worlds, self._limit = source, worlds, count, steps
        self._trail: list[Place] = []
        self._columns: dict[Any, Column] = {}
        self._negated: list[tuple[Any, Live]] = []  # the goals whose negation is being decided, and in which worlds
        self._steps = 0

    def solve(self, goal: Any, live: Live) -> Iterator[Live]:
        """The worlds of one solution after the other. Places are bound while a solution is looked at."""
        stack: list[Any] = [((goal, None), live, len(self._trail), None, None)]
        while stack:
            goals, live, mark, chosen, rule = stack.pop()
            self._undo(mark)
            if chosen is not None:
                self._bind(*chosen)
            while goals is not None:
                mark = len(self._trail)
                try:
                    after = self._step(goals, live, stack) if rule is None else self._use(rule, goals, live)
                except _Split as split:
                    self._undo(mark)
                    for value, part in reversed(_by_value(split.column, live)):
                        stack.append((goals, part, mark, (split.column, value), rule))
                    after = None
                if after is None:
                    break
                (goals, live), rule = after, None
            else:
                yield live

    def _use(self, rule: Rule, goals: Goals, live: Live) -> tuple[Goals, Live] | None:
        fresh = [Place() for _ in range(rule.slots)]
        narrowed = self._unify(goals[0], renamed(rule.head, fresh), live)
        if narrowed is None:
            return None
        rest = goals[1]
        for goal in reversed(rule.body):
            rest = (renamed(goal, fresh), rest)
        return rest, narrowed

    def _step(self, goals: Goals, live: Live, stack: list[Any]) -> tuple[Goals, Live] | None:
        self._steps += 1
        if self._steps > self._limit:
            raise ValueError(f"the program does not end within {self._limit:,} steps, or has no end")
        goal, rest = value_of(goals[0]), goals[1]
        if isinstance(goal, Place):
            raise _Split(goal) if isinstance(goal, Column) else ValueError("a goal of the program is an open variable")
        name, *arguments = goal if type(goal) is tuple else (goal,)
        test = _TESTS.get((name, len(arguments)))
        if test is not None:
            narrowed = test(self, arguments, live)
            return (rest, narrowed) if narrowed else None
        expand = _EXPANSIONS.get((name, len(arguments))) or (_called if name == "call" and arguments else None)
        if expand is not None:
            first, *others = expand(arguments)
            for other in reversed(others):
                stack.append(((other, rest), live, len(self._trail), None, None))
            return (first, rest), live
        if name == ",":
            return (arguments[0], (arguments[1], rest)), live
        for rule in reversed(self._source.rules(name, len(arguments))):
            stack.append((goals, live, len(self._trail), None, rule))
        return None

    def _choose(self, choice: int, bindings: Any, inputs: Any, term: Any, live: Live) -> Live | None:
        key = choice, resolved(bindings)
        if key not in self._columns:
            values = self._source.column(choice, key[1], resolved(inputs), self._told, self._worlds)
            self._columns[key] = Column(values)
        return self._unify(self._columns[key], term, live)

    def _without(self, goal: Any, live: Live) -> Live:
        """The worlds where a goal has no solution."""
        mark, goal = len(self._trail), value_of(goal)
        holds: set[int] = set()
        named = _variant(goal, {}) if len(self._negated) >= _DEEP else None
        if named and any(named == other and not set(live).isdisjoint(worlds) for other, worlds in self._negated):
            name, *arguments = goal if type(goal) is tuple else (goal,)
            raise ValueError(f"the program has a cycle through the negation of {name}/{len(arguments)}")
        self._negated.append((named, live))
        for found in self.solve(goal, live):
            holds.update(found)
            if len(holds) == len(live):
                break
        self._negated.pop()
        self._undo(mark)
        return [world for world in live if world not in holds]

    def _same(self, left: Any, right: Any, wanted: bool, live: Live) -> Live:
        left, right = value_of(left), value_of(right)
        if any(type(each) in (Place, tuple) for each in (left, right)):
            return live if (_resolved_or_open(left) == _resolved_or_open(right)) == wanted else []
        lefts, rights = self._as_list(left), self._as_list(right)
        return [w for w in live if (lefts[w] == rights[w] and type(lefts[w]) is type(rights[w])) == wanted]

    def _compare(self, holds: Callable[[Any, Any], bool], left: Any, right: Any, live: Live) -> Live:
        left, right = self._number(left, live), self._number(right, live)
        if not isinstance(left, Column) and not isinstance(right, Column):
            return live if holds(left, right) else []
        lefts, rights = self._as_list(left), self._as_list(right)
        return [world for world in live if holds(lefts[world], rights[world])]

    def _number(self, term: Any, live: Live) -> Any:
        """What arithmetic makes of a term: a number, or a column."""
        term = value_of(term)
        if type(term) in (int, float, Column):
            return term
        if isinstance(term, Place):
            raise ValueError("arithmetic of the program meets an open variable")
        name, *arguments = term if type(term) is tuple else (term,)
        function = _arithmetic_functions.get((name, len(arguments)))
        if function is None:
            raise ValueError(f"arithmetic of the program meets {as_problog(term)}, which is no number")
        numbers = [self._number(argument, live) for argument in arguments]
        try:
            if not any(isinstance(number, Column) for number in numbers):
                return function(*numbers)
            lists = [self._as_list(number) for number in numbers]
            if len(live) == self._worlds:
                return Column([function(*values) for values in zip(*lists)])
            results: list[Any] = [None] * self._worlds
            for world in live:
                results[world] = function(*(values[world] for values in lists))
            return Column(results)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise ValueError(f"arithmetic of the program, {name}: {error}") from None

    def _as_list(self, term: Any) -> list[Any]:
        return term.values if isinstance(term, Column) else [term] * self._worlds

    def _unify(self, left: Any, right: Any, live: Live) -> Live | None:
        """The worlds where two terms are made equal; None where there is none."""
        pairs = [(left, right)]
        while pairs:
            a, b = pairs.pop()
            a, b = value_of(a), value_of(b)
            if a is b:
                continue
            if type(a) is Place:
                self._bind(a, b)
            elif type(b) is Place:
                self._bind(b, a)
            elif isinstance(a, Column) or isinstance(b, Column):
                if type(a) is tuple or type(b) is tuple:
                    raise _Split(a if isinstance(a, Column) else b)
                live = self._same(a, b, True, live)
                if not live:
                    return None
            elif type(a) is tuple and type(b) is tuple:
                if a[0] != b[0] or len(a) != len(b):
                    return None
                pairs.extend(zip(a[:0:-1], b[:0:-1]))
            elif type(a) is not type(b) or a != b:
                return None
        return live

    def _bind(self, place: Place, value: Any) -> None:
        place.bound = value
        self._trail.append(place)

    def _undo(self, mark: int) -> None:
        while len(self._trail) > mark:
            self._trail.pop().bound = None


# What the search knows besides the program's clauses. A test narrows a branch to the worlds where it holds; an expansion
# puts goals in the place of one, to be tried one after the other.

_Test = Callable[[Search, Sequence[Any], Live], Union[Live, None]]


def _comparison(holds: Callable[[Any, Any], bool]) -> _Test:
    return lambda search, told, live: search._compare(holds, told[0], told[1], live)


def _type(holds: Callable[[Any], bool]) -> _Test:
    return lambda search, told, live: live if holds(_single(told[0])) else None


def _length(search: Search, told: Sequence[Any], live: Live) -> Live | None:
    elements = _elements(told[0])
    if elements is None:
        raise ValueError("length/2 of the program meets something that is no list of a known length")
    return search._unify(told[1], len(elements), live)


def _rounded(number: Any) -> Any:
    """Floats as ProbLog keeps them."""
    if isinstance(number, Column):
        return Column([_rounded(value) for value in number.values]) if float in map(type, number.values) else number
    return Constant(number).value if type(number) is float else number


_TESTS: dict[tuple[str, int], _Test] = {
    ("$column", 4): lambda search, told, live: search._choose(told[0], told[1], told[2], told[3], live),
    ("true", 0): lambda search, told, live: live,
    ("fail", 0): lambda search, told, live: None,
    ("false", 0): lambda search, told, live: None,
    ("\\+", 1): lambda search, told, live: search._without(told[0], live),
    ("not", 1): lambda search, told, live: search._without(told[0], live),
    ("=", 2): lambda search, told, live: search._unify(told[0], told[1], live),
    ("\\=", 2): lambda search, told, live: search._without(("=", *told), live),
    ("==", 2): lambda search, told, live: search._same(told[0], told[1], True, live),
    ("\\==", 2): lambda search, told, live: search._same(told[0], told[1], False, live),
    ("is", 2): lambda search, told, live: search._unify(told[0], _rounded(search._number(told[1], live)), live),
    ("<", 2): _comparison(operator.lt),
    (">", 2): _comparison(operator.gt),
    ("=<", 2): _comparison(operator.le),
    (">=", 2): _comparison(operator.ge),
    ("=:=", 2): _comparison(operator.eq),
    ("=\\=", 2): _comparison(operator.ne),
    ("atom", 1): _type(lambda term: type(term) is str),
    ("number", 1): _type(lambda term: type(term) in (int, float)),
    ("integer", 1): _type(lambda term: type(term) is int),
    ("float", 1): _type(lambda term: type(term) is float),
    ("atomic", 1): _type(lambda term: type(term) in (int, float, str)),
    ("compound", 1): _type(lambda term: type(term) is tuple),
    ("is_list", 1): _type(lambda term: _elements(term) is not None),
    ("var", 1): lambda search, told, live: live if type(value_of(told[0])) is Place else None,
    ("nonvar", 1): lambda search, told, live: None if type(value_of(told[0])) is Place else live,
    ("ground", 1): lambda search, told, live: None if any(type(part) is Place for part in _parts(told[0])) else live,
    ("length", 2): _length,
}


def _called(told: Sequence[Any]) -> list[Any]:
    first = _single(told[0])
    goal = (*(first if type(first) is tuple else (first,)), *told[1:])
    return [goal if len(goal) > 1 else goal[0]]


def _between(told: Sequence[Any]) -> list[Any]:
    return [("=", told[2], number) for number in range(_single(told[0]), _single(told[1]) + 1)] or ["fail"]


_EXPANSIONS: dict[tuple[str, int], Callable[[Sequence[Any]], list[Any]]] = {
    (";", 2): list,
    ("between", 3): _between,
}


# Terms.


def value_of(term: Any) -> Any:
    while isinstance(term, Place) and term.bound is not None:
        term = term.bound
    return term


def renamed(term: Any, fresh: list[Place]) -> Any:
    """A term of a clause with places for its variables."""
    if type(term) is Slot:
        return fresh[term]
    if type(term) is tuple:
        return tuple([part if type(part) is str else renamed(part, fresh) for part in term])
    return term


def resolved(term: Any) -> Any:
    """The term without places. Branches on its columns, and raises where it is open."""
    found = _resolved_or_open(term)
    if any(type(part) is Place for part in _parts(found)):
        raise ValueError("a network or a probabilistic fact of the program is met with an open variable")
    return found


def _resolved_or_open(term: Any) -> Any:
    term = _single(term)
    return tuple([_resolved_or_open(part) for part in term]) if type(term) is tuple else term


def _single(term: Any) -> Any:
    term = value_of(term)
    if isinstance(term, Column):
        raise _Split(term)
    return term


def _parts(term: Any) -> Iterator[Any]:
    term = value_of(term)
    if type(term) is tuple:
        for part in term:
            yield from _parts(part)
    else:
        yield term


def _variant(term: Any, names: dict[int, int]) -> Any:
    """The same for terms that differ in the names of open variables only. A column is itself."""
    term = value_of(term)
    if isinstance(term, Place):
        return ("column", id(term)) if isinstance(term, Column) else ("open", names.setdefault(id(term), len(names)))
    return (type(term), *(_variant(part, names) for part in term)) if type(term) is tuple else (type(term), term)


def _elements(term: Any) -> list[Any] | None:
    """Of a list; None where it is none."""
    found, term = [], value_of(term)
    while type(term) is tuple and term[0] == "." and len(term) == 3:
        found.append(term[1])
        term = value_of(term[2])
    return found if term == "[]" else None


def _by_value(column: Column, live: Live) -> list[tuple[Any, Live]]:
    found: dict[Any, tuple[Any, Live]] = {}
    for world in live:
        value = column.values[world]
        found.setdefault((type(value), value), (value, []))[1].append(world)
    return list(found.values())


def in_worlds(term: Any, live: Live) -> list[Any]:
    """What a term is in each world, as users see it."""
    term = value_of(term)
    if isinstance(term, Column):
        return [_as_python(term.values[world]) for world in live]
    if isinstance(term, Place):
        raise ValueError("an answer of the program leaves a variable of the query open")
    elements = _elements(term)
    if elements:
        return [list(row) for row in zip(*(in_worlds(element, live) for element in elements))]
    if type(term) is tuple and any(isinstance(part, Column) for part in _parts(term)):
        rows = zip(*(in_worlds(part, live) for part in term[1:]))
        return [str(Term(term[0], *(Term(str(part)) for part in row))) for row in rows]
    return [_as_python(term)] * len(live)


def _as_python(term: Any) -> Any:
    elements = _elements(term)
    if elements is not None:
        return [_as_python(element) for element in elements]
    return term if type(term) in (int, float) else str(as_problog(term))


def as_problog(term: Any) -> Any:
    """ProbLog's own term."""
    term = value_of(term)
    elements = _elements(term)
    if elements is not None:
        return list2term([as_problog(element) for element in elements])
    if type(term) is tuple:
        return Term(term[0], *(as_problog(part) for part in term[1:]))
    return Constant(term) if type(term) in (int, float) else Term(str(term))


class Reader:
    """Terms of one clause, from ProbLog's."""

    def __init__(self) -> None:
        self._slots: dict[str, Slot] = {}
        self.slots = 0

    def term(self, term: Any) -> Any:
        if isinstance(term, Var):
            if term.name not in self._slots or term.name == "_":
                self._slots[term.name] = Slot(self.slots)
                self.slots += 1
            return self._slots[term.name]
        if isinstance(term, Constant):
            return term.value
        name = unquote(str(term.functor))
        return (name, *(self.term(part) for part in term.args)) if term.args else name
