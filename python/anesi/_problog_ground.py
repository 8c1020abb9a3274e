"""A ground program as a function of worlds.

ProbLog grounds the query once, with all its answers. What comes out is a graph of conjunctions and disjunctions over the
values of the world's variables. It is computed for many worlds at once: a node is a whole number with one bit a world.
"""
# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

from typing import Any, Iterable

import torch
from problog.engine import DefaultEngine
from problog.errors import ProbLogError
from problog.formula import LogicDAG, LogicFormula
from problog.logic import Term, Var

from ._answered import Variable
from ._coding import Answer
from ._problog_program import UNTOLD, Database, Program, _line, as_python, heads_of, network_inputs, variables_of

_WORLDS_AT_ONCE = 8192


class TooLarge(Exception):
    """The ground program has more nodes than allowed."""


class GroundFunction:
    """Which answer of the query each world gives, by its place in a list; -1 for none, -2 for several."""

    complete = True

    def __init__(self, program: Program, query: Any, limit: int) -> None:
        graph = _ground(program, query, limit)
        variables, atoms = _variables(program, graph)
        order = sorted(range(len(variables)), key=lambda place: variables[place].network is None)  # neural ones first
        self.variables = [variables[place] for place in order]
        place_of = {variable: place for place, variable in enumerate(order)}
        self._atoms = {key: (place_of[variable], value) for key, (variable, value) in atoms.items()}
        self._nodes = [(key, kind == "conj", list(node.children)) for key, node, kind in graph if kind != "atom"]
        found: dict[Any, list[int]] = {}
        names: dict[Any, tuple[Answer, ...]] = {}
        wanted = list(variables_of(query))
        for term, key in graph.queries():
            if key is not None:
                answer = _bindings(query, term, wanted)
                names.setdefault(str(answer), answer)
                found.setdefault(str(answer), []).append(key)
        self.answers = list(names.values())
        self._keys = list(found.values())

    def __call__(self, worlds: torch.Tensor) -> tuple[torch.Tensor, list[tuple[Answer, ...]]]:
        return torch.cat([self._places(part) for part in torch.split(worlds, _WORLDS_AT_ONCE)]), self.answers

    def _places(self, worlds: torch.Tensor) -> torch.Tensor:
        count = worlds.shape[0]
        everywhere = (1 << count) - 1
        values: dict[int, int] = {0: everywhere}
        for key, (variable, value) in self._atoms.items():
            values[key] = _as_bits(worlds[:, variable] == value)
        for key, conjunction, children in self._nodes:
            holds = everywhere if conjunction else 0
            for child in children:
                part = values[child] if child >= 0 else everywhere ^ values[-child]
                holds = holds & part if conjunction else holds | part
            values[key] = holds
        places = torch.full((count,), -1)
        seen = several = 0
        for place, keys in enumerate(self._keys):
            holds = 0
            for key in keys:
                holds |= values[key] if key >= 0 else everywhere ^ values[-key]
            if holds:
                places[_as_mask(holds, count)] = place
                several |= seen & holds
                seen |= holds
        if several:
            places[_as_mask(several, count)] = -2
        return places


def _limited(limit: int) -> Any:
    """An empty formula for so many nodes, and so are those that ProbLog makes of its class, for findall."""

    class Limited(LogicFormula):  # type: ignore[misc, unused-ignore]
        def _add(self, *arguments: Any, **more: Any) -> Any:
            if len(self) > limit:
                raise TooLarge
            return super()._add(*arguments, **more)

        def enumerate_branches(self, index: Any, anc: Any = ()) -> Any:
            """The proofs of a node, for findall. ProbLog takes one that needs itself, or what is false, for a proof."""
            if index not in anc and not self.is_false(index):
                yield from super().enumerate_branches(index, anc)

    return Limited()


class _Engine(DefaultEngine):  # type: ignore[misc, unused-ignore]
    def prepare(self, db: Any) -> Any:
        """Executes what directives are left. ProbLog would copy the database into one that allows everything."""
        db.engine = self
        self._process_directives(db)
        return db


def _ground(program: Program, query: Any, limit: int) -> Any:
    engine = _Engine()
    try:
        database = Database.create_from(program.as_problog(), builtins=engine.get_builtins())
        database.allow_python = program.allow_python
        formula = engine.ground(database, query, target=_limited(limit), label=LogicFormula.LABEL_QUERY)
        if database.refused:
            raise database.refused[0]
        return LogicDAG.create_from(formula)
    except ProbLogError as error:
        raise ValueError(f"program: {_line(error)}") from None
    except RecursionError:
        raise ValueError("program: it recurs too deeply to be ground, or its terms are nested too deeply") from None


def _variables(program: Program, graph: Any) -> tuple[list[Variable], dict[int, tuple[int, int]]]:
    """The world's variables, and for each atom of the graph which variable it is of, and which of its values."""
    groups: dict[Any, list[tuple[int, Any]]] = {}
    for key, node, kind in graph:
        if kind == "atom" and not node.is_extra:
            groups.setdefault(node.identifier if node.group is None else node.group, []).append((key, node))
    variables: list[Variable] = []
    atoms: dict[int, tuple[int, int]] = {}
    for group in groups.values():
        probability = group[0][1].probability
        if isinstance(probability, Term) and probability.functor == "nn":
            neural = program.neural(int(probability.args[0]))
            variables.append(Variable(neural.network, network_inputs(probability.args[1]), neural.values()))
            places = [int(node.probability.args[2]) for _, node in group]
        elif isinstance(probability, Term) and probability.functor == "t":
            heads = heads_of(program.clauses[int(probability.args[1])])  # all of them, so that groups are alike
            places = [int(node.probability.args[2]) for _, node in group]
            named = {place: _atom_name(node) for place, (_, node) in zip(places, group)}
            names = [named.get(place, str(head.with_probability(None))) for place, head in enumerate(heads)]
            variables.append(chance(names, [head.probability for head in heads]))
        else:
            variables.append(chance([_atom_name(node) for _, node in group], [node.probability for _, node in group]))
            places = list(range(len(group)))
        for (key, _), place in zip(group, places):
            atoms[key] = len(variables) - 1, place
    return variables, atoms


def chance(names: list[str], probabilities: Iterable[Any]) -> Variable:
    """The variable of a probabilistic fact or an annotated disjunction. Its last value is that none of them is true."""
    terms = list(probabilities)
    learned = int(terms[0].args[1]) if isinstance(terms[0], Term) and terms[0].functor == "t" else None
    numbers = [_probability(term, 1 / (len(terms) + 1)) for term in terms]
    rest = 1 - sum(numbers)
    if rest < -1e-6 or min(numbers) < 0:
        raise ValueError(f"program: the probabilities of {'; '.join(names)} must lie in 0 to 1 and add up to at most 1")
    values = list(names)
    if rest > 1e-9:
        values.append("none" if len(names) > 1 else f"\\+{names[0]}")
        numbers.append(rest)
    return Variable(None, tuple(names), tuple(values), tuple(number / sum(numbers) for number in numbers), learned)


def _probability(term: Any, default: float) -> float:
    if isinstance(term, Term) and term.functor == "t":
        term = term.args[0]
        if str(term) == UNTOLD:
            return default
    try:
        return float(term)
    except (TypeError, ValueError, ProbLogError):
        raise ValueError(f"program: {term} is not a probability") from None


def _atom_name(node: Any) -> str:
    name = node.name
    return str(name.args[2]) if isinstance(name, Term) and name.functor == "choice" else str(name)


def _bindings(query: Any, answer: Any, wanted: list[Any]) -> tuple[Answer, ...]:
    found: dict[Any, Any] = {}

    def walk(part: Any, of: Any) -> None:
        if isinstance(part, Var):
            found[part] = of
        elif isinstance(part, Term):
            for inner, inner_of in zip(part.args, of.args):
                walk(inner, inner_of)

    walk(query, answer)
    for variable in wanted:
        if not found[variable].is_ground():
            raise ValueError(f"query: an answer leaves {variable} open: {answer}")
    return tuple(as_python(found[variable]) for variable in wanted)


def _as_bits(mask: torch.Tensor) -> int:
    padded = torch.nn.functional.pad(mask.to(torch.int32), (0, -len(mask) % 8)).view(-1, 8)
    return int.from_bytes(bytes((padded << torch.arange(8, dtype=torch.int32)).sum(1).tolist()), "little")


def _as_mask(bits: int, count: int) -> torch.Tensor:
    packed = torch.frombuffer(bytearray(bits.to_bytes(-(-count // 8), "little")), dtype=torch.uint8).to(torch.int32)
    return ((packed.unsqueeze(1) >> torch.arange(8, dtype=torch.int32)) & 1).bool().flatten()[:count]
