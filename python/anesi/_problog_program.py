"""ProbLog programs with neural predicates: read, checked, and put into ProbLog's own terms."""
# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import os
import pathlib
import re
from dataclasses import dataclass
from typing import Any, Iterator, Union

try:
    import problog
except ModuleNotFoundError as error:
    if error.name != "problog":
        raise
    raise ImportError("anesi.problog needs ProbLog: pip install problog==2.3.0") from None

from problog.errors import ProbLogError
from problog.logic import (
    And,
    AnnotatedDisjunction,
    Clause,
    Constant,
    Or,
    Term,
    Var,
    is_list,
    term2list,
    unquote,
)
from problog.clausedb import ClauseDB
from problog.parser import ParseError
from problog.program import PrologString, SimpleProgram

from ._coding import Answer
from ._files import read_text

UNTOLD = "untold"  # in the place of _ in t(_) :: fact, which ProbLog does not ground
_ROUNDING = 1e-6  # of the sum of probabilities
_LIBRARY = pathlib.Path(problog.__file__).resolve().parent / "library"
LISTS = Term("use_module", Term("library", Term("lists")))

@dataclass
class Neural:
    """``nn(network, inputs, output, domain) :: head :- body``; without an output, ``nn(network, inputs) :: head``."""

    network: str
    inputs: Any
    output: Any | None
    domain: list[Any]
    head: Any
    body: Any | None

    def values(self) -> tuple[Answer, ...]:
        return tuple(as_python(value) for value in self.domain)

    def as_disjunction(self, number: int) -> Any:
        """The annotated disjunction that ProbLog grounds. Its probabilities are terms that tell network and value."""
        heads = []
        for place, value in enumerate(self.domain):
            head = self.head.with_probability(Term("nn", Constant(number), self.inputs, Constant(place)))
            if self.output is not None:
                heads.append(head.apply_term({self.output: value}))
            elif place == 1:
                heads.append(head)
        if self.body is None:
            return Or.from_list(heads)
        return AnnotatedDisjunction(heads, self.body)


class Program:
    """The clauses of a program and of the files that it consults, neural predicates apart.

    Names of files are relative to the folder of the file that names them, or to the working directory where the program
    is given as a text.
    """

    def __init__(self, source: str | os.PathLike[str], allow_python: bool = False) -> None:
        self.allow_python = allow_python
        self.clauses: list[Union[Neural, Any]] = []
        self.queries: list[Any] = []
        self._consulted: set[pathlib.Path] = set()
        if isinstance(source, str):
            self._add_all(_clauses_of(source), pathlib.Path.cwd())
        else:
            path = pathlib.Path(source).absolute()
            self._consulted.add(path.resolve())
            self._add_all(_clauses_of(read_text(source)), path.parent)
        if not any(isinstance(clause, Neural) for clause in self.clauses):
            raise ValueError("program: it has no neural predicate, such as nn(net, [X], Y, [0, 1]) :: bit(X, Y).")

    def _add_all(self, clauses: list[Any], folder: pathlib.Path) -> None:
        for clause in clauses:
            heads = heads_of(clause)
            refuse_evidence(clause)
            if heads[0].functor == "_directive":
                for goal in _conjuncts(clause.body):
                    self._direct(goal, folder)
            elif heads[0].functor == "query" and len(heads[0].args) == 1:
                self.queries.append(clause)
            else:
                _check_probabilities(heads)
                self.clauses.append(_neural(_numbered(clause, len(self.clauses))))

    def _direct(self, goal: Any, folder: pathlib.Path) -> None:
        """Reads what a directive consults; any other directive is a clause as others are."""
        if isinstance(goal, Term) and goal.functor == "." and goal.arity == 2:
            for file in term2list(goal, False):
                self._direct(Term("consult", file), folder)
            return
        named = goal.args[0] if isinstance(goal, Term) and goal.functor in ("consult", "use_module") and goal.args else None
        if isinstance(named, Term) and named.arity == 0 and not isinstance(named, Constant):
            path = _existing(folder / unquote(str(named)))
            if path is None:
                raise ValueError(f"program: {goal}: there is no such file in {folder}")
            if path.suffix != ".py" and self._consult(goal, path):
                return
            goal = goal.with_args(Term(f"'{path}'"), *goal.args[1:])
        self.clauses.append(Clause(Term("_directive"), goal))

    def _consult(self, goal: Any, path: pathlib.Path) -> bool:
        """Reads a file, once, unless it is a module: ProbLog knows what these export."""
        clauses = _clauses_of(read_text(path))
        if clauses and _is_module(clauses[0]):
            return False
        if path.resolve() not in self._consulted:
            self._consulted.add(path.resolve())
            self._add_all(clauses, path.parent)
        return True

    def neural(self, number: int) -> Neural:
        found = self.clauses[number]
        assert isinstance(found, Neural)
        return found

    def as_problog(self) -> Any:
        """The program as ProbLog grounds it, with the predicates of library(lists) as in DeepProbLog."""
        program = SimpleProgram()
        for number, clause in enumerate(self.clauses):
            program.add_clause(clause.as_disjunction(number) if isinstance(clause, Neural) else clause)
        program.add_clause(Clause(Term("_directive"), LISTS))
        return program

    def query(self, text: str | None) -> Any:
        """The query as a term: the one that is told, or the only one in the program."""
        if text is None:
            if len(self.queries) != 1:
                raise ValueError(f"query: the program has {len(self.queries)} queries; say which, as query='sum(a, b, Z)'")
            if type(self.queries[0]) is not Term:
                raise ValueError(f"query: {self.queries[0]}: queries with a body are not supported; say query='sum(a, b, Z)'")
            return self.queries[0].args[0]
        if not isinstance(text, (str, Term)):
            raise TypeError(f"query: the text of a term is expected, not {type(text).__name__}")
        try:
            return Term.from_string(text.rstrip(" .\n")) if isinstance(text, str) else text
        except (ProbLogError, ParseError, ValueError, TypeError, IndexError) as error:
            raise ValueError(f"query: {text!r} is not a term: {_line(error)}") from None


class Database(ClauseDB):  # type: ignore[misc, unused-ignore]
    """What ProbLog makes of a program, of modules and of clauses that are asserted: all of it is seen here."""

    allow_python = False

    def __init__(self, **more: Any) -> None:
        self.refused: list[ValueError] = []  # kept, since try_call of a program goes on after any error
        super().__init__(**more)

    def extend(self) -> Any:
        """The database in which ProbLog runs goals of findall, forall and the like."""
        inner = Database(parent=self, builtins=self.engine.get_builtins())
        inner.engine, inner.allow_python, inner.refused = self.engine, self.allow_python, self.refused
        return inner

    def add_statement(self, clausefact: Any, scope: Any = None) -> None:
        try:
            refuse_evidence(clausefact)
        except ValueError as error:
            self.refused.append(error)
            raise
        super().add_statement(clausefact, scope)

    def load_external_module(self, filename: str) -> Any:
        if not self.allow_python and _LIBRARY not in pathlib.Path(filename).resolve().parents:
            error = ValueError(f"program: it runs the Python file {filename}; allow_python=True allows that, if you trust it")
            self.refused.append(error)
            raise error
        return super().load_external_module(filename)


def refuse_evidence(clause: Any) -> None:
    for head in heads_of(clause):
        if isinstance(head, Term) and head.functor == "evidence" and head.arity in (1, 2):
            raise ValueError(f"program: {clause}: evidence is not supported; make it part of the query")


def _clauses_of(text: str) -> list[Any]:
    text = re.sub(r"\bt\(\s*_\w*\s*\)(?=\s*::)", f"t({UNTOLD})", text)
    try:
        return list(PrologString(text))
    except (ProbLogError, ParseError) as error:
        raise ValueError(f"program: {_line(error)}") from None
    except RecursionError:
        raise ValueError("program: a term is nested too deeply") from None


def _conjuncts(goal: Any) -> Iterator[Any]:
    if isinstance(goal, And):
        yield from _conjuncts(goal.op1)
        yield from _conjuncts(goal.op2)
    else:
        yield goal


def _existing(path: pathlib.Path) -> pathlib.Path | None:
    """The file that ProbLog takes for this name."""
    return next((each for ending in ("", ".pl", ".py") if (each := path.with_name(path.name + ending)).exists()), None)


def _is_module(clause: Any) -> bool:
    return type(clause) is Clause and clause.head.functor == "_directive" and clause.body.signature == "module/2"


def _check_probabilities(heads: list[Any]) -> None:
    """ProbLog asks only about the heads that a query needs, so this is where all are seen together."""
    told = [head.probability for head in heads if type(head) is Term and head.probability is not None]
    numbers = [number for number in map(_number, told) if number is not None]
    if numbers and (min(numbers) < 0 or sum(numbers) > 1 + _ROUNDING):
        shown = "; ".join(map(str, heads))
        raise ValueError(f"program: {shown}: probabilities must lie in 0 to 1 and add up to at most 1")


def _number(probability: Any) -> float | None:
    """A probability that the program gives as a number; None where it is computed, or a network's."""
    if isinstance(probability, Term) and probability.functor == "t" and probability.arity == 1:
        probability = probability.args[0]
    try:
        return float(probability)
    except (TypeError, ValueError, ArithmeticError, ProbLogError):
        return None


def heads_of(clause: Any) -> list[Any]:
    """What a clause that is left to chance may make true; else its head alone."""
    if type(clause) is AnnotatedDisjunction:
        return list(clause.heads)
    if type(clause) is Or:
        return list(clause.to_list())
    return [clause.head] if type(clause) is Clause else [clause]


def _numbered(clause: Any, number: int) -> Any:
    """A clause whose probabilities are learned, ``t(0.1)``, with terms in their place that tell clause and head as well."""
    heads = heads_of(clause)
    learned = [type(head) is Term and head.probability is not None and head.probability.functor == "t" for head in heads]
    if not any(learned):
        return clause
    if not all(learned):
        raise ValueError(f"program: {clause}: of one clause, all probabilities are learned, or none")
    heads = [
        head.with_probability(Term("t", head.probability.args[0], Constant(number), Constant(place)))
        for place, head in enumerate(heads)
    ]
    if type(clause) is AnnotatedDisjunction:
        return AnnotatedDisjunction(heads, clause.body)
    if type(clause) is Or:
        return Or.from_list(heads)
    return Clause(heads[0], clause.body) if type(clause) is Clause else heads[0]


def _neural(clause: Any) -> Union[Neural, Any]:
    """A clause whose head is neural as such; any other clause as it is."""
    head, body = (clause.head, clause.body) if type(clause) is Clause else (clause, None)
    declared = head.probability if type(head) is Term else None
    if declared is None or declared.functor != "nn":
        return clause
    head = head.with_probability(None)
    if len(declared.args) not in (2, 3, 4):
        raise ValueError(f"program: {declared}: nn takes a network, its inputs, its output and that one's values")
    network, inputs = str(declared.args[0]), declared.args[1]
    if not is_list(inputs):
        raise ValueError(f"program: {declared}: the inputs must be a list, such as [X]")
    if len(declared.args) == 2:
        return Neural(network, inputs, None, [Term("false"), Term("true")], head, body)
    output = declared.args[2]
    if not isinstance(output, Var):
        raise ValueError(f"program: {declared}: the output must be a variable")
    if len(declared.args) == 3:  # a network that gives no probabilities: its output is one more tensor
        named = {output: Term("tensor", Term("nn", declared.args[0], inputs))}
        head = head.apply_term(named)
        return head if body is None else Clause(head, body.apply_term(named))
    domain = declared.args[3]
    if not is_list(domain) or not term2list(domain, False) or not domain.is_ground():
        raise ValueError(f"program: {declared}: the values must be a list of terms, such as [0, 1]")
    return Neural(network, inputs, output, term2list(domain, False), head, body)


def as_python(term: Any) -> Answer:
    """A ground term as a number, a text, or a list."""
    if isinstance(term, Constant):
        value = term.value
        return value.strip('"') if isinstance(value, str) else value
    if is_list(term):
        return [as_python(part) for part in term2list(term, False)]
    return str(term)


def plain(answer: Any) -> Answer:
    """A term or its text as answers come out of a program, without needless blanks."""
    if isinstance(answer, Term):
        return as_python(answer)
    if isinstance(answer, str) and not answer.isalnum():
        try:
            return as_python(Term.from_string(answer))
        except (ProbLogError, ParseError, ValueError, TypeError, IndexError):
            return answer
    return answer


def variables_of(term: Any) -> Iterator[Any]:
    """The variables of a term in order, each once, without those that are called _."""
    seen = set()
    for variable in _all_variables(term):
        if variable not in seen and not variable.name.startswith("_"):
            seen.add(variable)
            yield variable


def _all_variables(term: Any) -> Iterator[Any]:
    if isinstance(term, Var):
        yield term
    elif isinstance(term, Term):
        for part in term.args:
            yield from _all_variables(part)


def network_inputs(inputs: Any) -> tuple[str, ...]:
    return tuple(str(term) for term in term2list(inputs, False))


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
