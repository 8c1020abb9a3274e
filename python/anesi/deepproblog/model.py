"""A program and its networks, and how likely queries are."""
# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import json
import math
import os
from typing import Any, Iterable, Iterator, NamedTuple, Sequence

import torch
from problog.logic import Term, Var

from .._files import LARGEST_ARRAYS, open_regular, read_text
from .._problog_program import plain
from ..problog import Knowledge
from .engines import ExactEngine
from .network import Network
from .optimizer import Optimizer
from .query import Query


class Result:
    """How likely each answer of a query is, by terms."""

    def __init__(self, result: dict[Any, torch.Tensor]) -> None:
        self.result = result

    def __iter__(self) -> Iterator[Any]:
        return iter(self.result)

    def __len__(self) -> int:
        return len(self.result)

    def __repr__(self) -> str:
        return repr(self.result)


class Model:
    """A program and its networks. Probabilities ``t(…)`` stay as they are, as under DeepProbLog's default optimiser.

    Args:
        program_string: the path of a program; with ``load=False`` the program itself.
        networks: each by its name in the program.
        embeddings: None; embeddings of terms are not supported.
        load: whether the first argument is a path.
        allow_python: as for :class:`anesi.problog.Knowledge`.
    """

    def __init__(
        self,
        program_string: str | os.PathLike[str],
        networks: Iterable[Network],
        embeddings: None = None,
        load: bool = True,
        allow_python: bool = False,
    ) -> None:
        if embeddings is not None:
            raise ValueError("embeddings: embeddings of terms are not supported")
        if load:
            self.program = read_text(program_string)
        else:
            self.program = str(program_string)
        self._allow_python = allow_python
        self.networks = {network.name: network for network in networks}
        self.tensor_sources: dict[str, Any] = {}
        self.optimizer = Optimizer(self)
        self._engine: ExactEngine | None = None
        self._known: dict[str, Knowledge] = {}

    def set_engine(self, engine: ExactEngine, **kwargs: Any) -> None:
        """Changes nothing: every query's shape is ground once and kept, whatever is said of a cache."""
        self._engine = engine

    def add_tensor_source(self, name: str, source: Any) -> None:
        """Where ``tensor(name(i))`` is found: as ``source[(i,)]``."""
        self.tensor_sources[name] = source

    def get_tensor(self, term: Any) -> torch.Tensor:
        """What ``tensor(name(i))`` stands for."""
        inner = term.args[0]
        if inner.functor not in self.tensor_sources:
            raise ValueError(f"{term}: there is no tensor source {inner.functor!r}; add_tensor_source adds one")
        tensor: torch.Tensor = self.tensor_sources[inner.functor][inner.args]
        return tensor

    def solve(self, batch: Sequence[Query]) -> list[Result]:
        """How likely queries are. One whose answer is a variable has all answers; where they are too many, the likeliest."""
        results: list[Result] = [Result({}) for _ in batch]
        with torch.no_grad():
            for group in self._groups(batch):
                for row, (number, asked) in enumerate(zip(group.numbers, group.queries)):
                    beliefs = [part[row : row + 1] for part in group.beliefs]
                    if group.answers[row] is not None:
                        found = {asked: group.know.log_prob(beliefs=beliefs, outputs=[group.answers[row]]).exp()[0]}
                    else:
                        found = _all_answers(group.know, beliefs, batch[number])
                    results[number].result.update(found)
        return results

    def loss(self, batch: Sequence[Query], name: str = "cross_entropy") -> torch.Tensor:
        """The mean over a batch: ``cross_entropy`` or ``mse`` between a query's p and how likely it is."""
        total = torch.zeros(())
        for group in self._groups(batch):
            wanted = torch.tensor([float(batch[number].p) for number in group.numbers])
            holds = group.know.log_prob(beliefs=group.beliefs, outputs=group.answers)
            if name == "mse":
                total = total + (holds.exp() - wanted).square().sum()
                continue
            total = total - (wanted * _kept_finite(holds))[wanted > 0].sum()
            rows = (wanted < 1).nonzero().flatten().tolist()
            if rows:
                beliefs, answers = [part[rows] for part in group.beliefs], [group.answers[row] for row in rows]
                fails = group.know.log_prob(beliefs=beliefs, outputs=answers, holds=torch.zeros(len(rows), dtype=torch.bool))
                total = total - ((1 - wanted[rows]) * _kept_finite(fails)).sum()
        return total / len(batch)

    def train(self) -> None:
        """Networks are to learn."""
        for network in self.networks.values():
            network.train()

    def eval(self) -> None:
        """Networks are to be evaluated."""
        for network in self.networks.values():
            network.eval()

    def save_state(self, filename: str | os.PathLike[str], complete: bool = False) -> None:
        """Writes the networks' parameters; with ``complete``, also what their optimisers and schedulers remember."""
        os.makedirs(os.path.dirname(os.path.abspath(filename)), exist_ok=True)
        torch.save({name: network.state(complete) for name, network in self.networks.items()}, filename)

    def load_state(self, filename: str | os.PathLike[str]) -> None:
        """Reads what :meth:`save_state` wrote."""
        with open_regular(filename, LARGEST_ARRAYS) as file:
            saved = torch.load(file, weights_only=True)
        for name, network in self.networks.items():
            if name not in saved:
                raise ValueError(f"{os.fspath(filename)}: the network {name!r} is not among {sorted(saved)}")
            network.set_state(saved[name])

    def get_hyperparameters(self) -> dict[str, Any]:
        """What this model is made of, in numbers and texts."""
        return {
            "solver": None if self._engine is None else {"engine": self._engine.get_hyperparameters()},
            "networks": [network.get_hyperparameters() for network in self.networks.values()],
            "program": self.program,
        }

    def hyperparameters_to_file(self, filename: str | os.PathLike[str]) -> None:
        """Writes :meth:`get_hyperparameters` as JSON."""
        with open(filename, "w") as file:
            json.dump(self.get_hyperparameters(), file)

    def _groups(self, batch: Sequence[Query]) -> list[_Group]:
        """The batch by the shapes of its queries, each read by the networks."""
        shapes: dict[str, list[tuple[int, Query, list[Any], Any]]] = {}
        for number, query in enumerate(batch):
            asked = query.substitute() if query.substitution else query
            shape, tensors, answer = _shape(asked)
            shapes.setdefault(shape, []).append((number, asked, tensors, answer))
        groups = []
        for shape, rows in shapes.items():
            know = self._knowledge(shape)
            columns = zip(*(tensors for _, _, tensors, _ in rows))
            told = {
                f"t{place}": torch.stack([self.get_tensor(term) for term in column]) for place, column in enumerate(columns)
            }
            numbers, queries, _, answers = zip(*rows)
            groups.append(
                _Group(know, know.read(self.networks, told), numbers, [each.query for each in queries], list(answers))
            )
        return groups

    def _knowledge(self, shape: str) -> Knowledge:
        if shape not in self._known:
            self._known[shape] = Knowledge(
                self.program, shape, partial=True, allow_python=self._allow_python, verbose=False
            )
        return self._known[shape]


def _kept_finite(log_prob: torch.Tensor) -> torch.Tensor:
    """log(p + 1e-12), DeepProbLog's bound on the loss of a query that its networks rule out."""
    return torch.logaddexp(log_prob, torch.full_like(log_prob, math.log(1e-12)))


class _Group(NamedTuple):
    know: Knowledge
    beliefs: list[torch.Tensor]
    numbers: Sequence[int]
    queries: Sequence[Any]
    answers: list[Any]
    """None where the answer is a variable."""


def _shape(query: Query) -> tuple[str, list[Any], Any]:
    """A query with names for its tensors and variables for its answer; these tensors; and this answer."""
    tensors: list[Any] = []

    def named(term: Any) -> Any:
        if not isinstance(term, Term) or isinstance(term, Var):
            return term
        if term.functor == "tensor" and term.args:
            if term not in tensors:
                tensors.append(term)
            return Term(f"t{tensors.index(term)}")
        return term.with_args(*(named(part) for part in term.args)) if term.args else term

    term = query.query
    outputs = {place % len(term.args) for place in query.output_ind} if term.args else set()
    arguments, answers = [], []
    for place, argument in enumerate(term.args):
        before = len(tensors)
        arguments.append(named(argument))
        if place in outputs and len(tensors) == before and "tensor(" not in str(argument):
            arguments[-1] = Var(f"X_{place}")
            answers.append(None if isinstance(argument, Var) else plain(argument))
    shape = str(term.with_args(*arguments)) if arguments else str(term)
    if not answers:
        return shape, tensors, True
    if None in answers:
        return shape, tensors, None
    return shape, tensors, answers[0] if len(answers) == 1 else tuple(answers)


def _all_answers(know: Knowledge, beliefs: list[torch.Tensor], query: Query) -> dict[Any, torch.Tensor]:
    """Each answer as a query of its own."""
    told = know.answers
    if told is None:
        found = know.predict(beliefs=beliefs)
        answers, probabilities = found.answers, found.probability
    else:
        answers = [answer for answer in told if answer is not None]
        every = [part.expand(len(answers), part.shape[1]) for part in beliefs]
        probabilities = know.log_prob(beliefs=every, outputs=answers).exp()
    results = {}
    for answer, probability in zip(answers, probabilities):
        parts = answer if len(query.output_ind) > 1 else (answer,)
        arguments = list(query.substitute().query.args)
        for place, part in zip(query.output_ind, parts):
            arguments[place] = Term.from_string(str(part).replace("'", ""))
        results[query.query.with_args(*arguments)] = probability
    return results
