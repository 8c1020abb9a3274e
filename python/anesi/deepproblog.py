"""The names that DeepProbLog's training scripts use, on :class:`anesi.problog.Knowledge`. Needs the package ``problog``.

    from anesi.deepproblog import DataLoader, Dataset, ExactEngine, Model, Network, Query, get_confusion_matrix, train_model

With this line in place of DeepProbLog's imports a script that trains and evaluates goes on as it is. Queries of one shape
share one Knowledge, and all that a network reads in a batch goes through it at once. For new code :mod:`anesi.problog` is
the better beginning: it is a loss for a loop of your own.
"""
# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import os
import random
import time
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence

import torch

from ._problog_program import plain  # first, since it says what to install
from problog.logic import Term, Var  # isort: skip

from .problog import Knowledge

__all__ = [
    *("DataLoader", "Dataset", "ExactEngine", "Model", "Network"),
    *("Query", "Result", "get_confusion_matrix", "train_model"),
]


class Query:
    """A query with its answer in place.

    Args:
        query: a term of ProbLog, such as ``addition(a, b, 7)``.
        substitution: what stands for which of its atoms: ``{Term("a"): Term("tensor", …)}``.
        p: how likely it is; the label.
        output_ind: which arguments are the answer; the last one by default.
    """

    def __init__(
        self, query: Any, substitution: Mapping[Any, Any] | None = None, p: float = 1.0, output_ind: Sequence[int] = (-1,)
    ) -> None:
        self.query, self.substitution, self.p, self.output_ind = query, dict(substitution or {}), p, tuple(output_ind)

    def substitute(self) -> Query:
        """With tensors in place of the atoms that stand for them."""
        return Query(self.query.apply_term(self.substitution), None, self.p, self.output_ind)

    def variable_output(self) -> Query:
        """With variables in place of the answer."""
        arguments = list(self.query.args)
        for place in self.output_ind:
            arguments[place] = Var(f"X_{place % len(arguments)}")
        return Query(self.query.with_args(*arguments), self.substitution, self.p, self.output_ind)

    def output_values(self) -> list[Any]:
        """The answer."""
        return [self.query.args[place] for place in self.output_ind]

    def __repr__(self) -> str:
        return f"({self.p}::{self.query}, {self.substitution})"


class Dataset:
    """Examples as queries: derive from it and write ``__len__`` and ``to_query``."""

    def __len__(self) -> int:
        raise NotImplementedError

    def to_query(self, i: int) -> Query:
        """Example number i."""
        raise NotImplementedError

    def to_queries(self) -> list[Query]:
        """All of them."""
        return [self.to_query(i) for i in range(len(self))]


class DataLoader:
    """Batches of queries, shuffled anew in each epoch."""

    def __init__(self, dataset: Dataset, batch_size: int, shuffle: bool = True, seed: int | None = None) -> None:
        self._queries, self._size, self._shuffle = dataset.to_queries(), batch_size, shuffle
        self._random = random.Random(seed)

    def __len__(self) -> int:
        return -(-len(self._queries) // self._size)

    def __iter__(self) -> Iterator[list[Query]]:
        order = list(self._queries)
        if self._shuffle:
            self._random.shuffle(order)
        return (order[first : first + self._size] for first in range(0, len(order), self._size))


class Network:
    """A module by its name in the program. It gives probabilities, as DeepProbLog's networks do."""

    def __init__(
        self, network_module: torch.nn.Module, name: str, optimizer: Any = None, scheduler: Any = None, batching: bool = False
    ) -> None:
        self.network_module, self.name, self.batching = network_module, name, batching
        self.optimizer, self.scheduler = optimizer, scheduler

    def parameters(self) -> Iterator[torch.nn.Parameter]:
        return self.network_module.parameters()

    def __call__(self, *inputs: torch.Tensor) -> torch.Tensor:
        """Inputs ``[rows, …]`` to probabilities ``[rows, values]``."""
        if self.batching:
            told = self.network_module(*inputs)
        else:
            told = torch.stack([self.network_module(*row).reshape(-1) for row in zip(*inputs)])
        return torch.cat([1 - told, told], 1) if told.shape[1] == 1 else told  # of a neural fact: how likely it is


class ExactEngine:
    """Inference is exact wherever Knowledge says so. There is no other engine."""

    def __init__(self, model: Model) -> None:
        self.model = model


class Result(NamedTuple):
    """How likely each answer of a query is."""

    result: dict[Any, torch.Tensor]


class Model:
    """A program and its networks. Probabilities ``t(…)`` stay as they are, as under DeepProbLog's default optimiser.

    Args:
        program_string: the path of a program; with ``load=False`` the program itself.
        networks: each by its name in the program.
        load: whether the first argument is a path.
    """

    def __init__(self, program_string: str | os.PathLike[str], networks: Iterable[Network], load: bool = True) -> None:
        if load:
            with open(program_string) as file:
                self.program = file.read()
        else:
            self.program = str(program_string)
        self.networks = {network.name: network for network in networks}
        self.tensor_sources: dict[str, Any] = {}
        self._known: dict[str, Knowledge] = {}

    def set_engine(self, engine: ExactEngine, cache: bool = True) -> None:
        """Does nothing: every query's shape is ground once and kept."""

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
            total = total - (wanted * holds)[wanted > 0].sum()
            rows = (wanted < 1).nonzero().flatten().tolist()
            if rows:
                beliefs, answers = [part[rows] for part in group.beliefs], [group.answers[row] for row in rows]
                fails = group.know.log_prob(beliefs=beliefs, outputs=answers, holds=torch.zeros(len(rows), dtype=torch.bool))
                total = total - ((1 - wanted[rows]) * fails).sum()
        return total / len(batch)

    def train(self) -> None:
        """Networks are to learn."""
        for network in self.networks.values():
            network.network_module.train()

    def eval(self) -> None:
        """Networks are to be evaluated."""
        for network in self.networks.values():
            network.network_module.eval()

    def save_state(self, filename: str | os.PathLike[str]) -> None:
        """Writes the networks' parameters."""
        os.makedirs(os.path.dirname(os.path.abspath(filename)), exist_ok=True)
        torch.save({name: network.network_module.state_dict() for name, network in self.networks.items()}, filename)

    def load_state(self, filename: str | os.PathLike[str]) -> None:
        """Reads what :meth:`save_state` wrote."""
        for name, state in torch.load(filename, weights_only=True).items():
            self.networks[name].network_module.load_state_dict(state)

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
            told = {f"t{place}": torch.stack([self.get_tensor(term) for term in column]) for place, column in enumerate(columns)}
            numbers, queries, _, answers = zip(*rows)
            groups.append(_Group(know, know.read(self.networks, told), numbers, [each.query for each in queries], list(answers)))
        return groups

    def _knowledge(self, shape: str) -> Knowledge:
        if shape not in self._known:
            self._known[shape] = Knowledge(self.program, shape, partial=True, verbose=False)
        return self._known[shape]


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


class ConfusionMatrix(dict[tuple[str, str], int]):
    """How often each answer (second) was predicted as what (first)."""

    def accuracy(self) -> float:
        """The share of answers that were predicted."""
        right = sum(count for (predicted, actual), count in self.items() if predicted == actual)
        return right / max(1, sum(self.values()))


def get_confusion_matrix(model: Model, dataset: Dataset, verbose: int = 0) -> ConfusionMatrix:
    """What a model predicts for the queries of a dataset."""
    matrix = ConfusionMatrix()
    model.eval()
    queries = dataset.to_queries()
    with torch.no_grad():
        for first in range(0, len(queries), 100):
            for group in model._groups([query.variable_output() for query in queries[first : first + 100]]):
                predicted = group.know.predict(beliefs=group.beliefs).answers
                for number, answer in zip(group.numbers, predicted):
                    values = [plain(value) for value in queries[first + number].output_values()]
                    pair = str(answer), str(values[0] if len(values) == 1 else tuple(values))
                    matrix[pair] = matrix.get(pair, 0) + 1
    if verbose:
        print("Accuracy", matrix.accuracy(), flush=True)
    return matrix


def train_model(
    model: Model,
    loader: DataLoader,
    stop_condition: int,
    *,
    log_iter: int = 100,
    test: Callable[[Model], Any] | None = None,
    test_iter: int = 1000,
    verbose: int = 1,
    loss_function_name: str = "cross_entropy",
    profile: int = 0,
    infoloss: float = 0,
) -> None:
    """Trains the networks with their optimisers for some epochs. profile and infoloss do nothing, as in DeepProbLog 2.1."""
    if isinstance(stop_condition, bool) or not isinstance(stop_condition, int):
        raise TypeError(f"stop_condition: how many epochs, not {stop_condition!r}")
    if loss_function_name not in ("cross_entropy", "mse"):
        raise ValueError(f"loss_function_name: cross_entropy or mse is expected, not {loss_function_name!r}")
    optimizers = [network.optimizer for network in model.networks.values() if network.optimizer is not None]
    schedulers = [network.scheduler for network in model.networks.values() if network.scheduler is not None]
    step, total, start = 0, 0.0, time.perf_counter()
    for _ in range(stop_condition):
        for batch in loader:
            model.train()
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss = model.loss(batch, loss_function_name)
            loss.backward()  # type: ignore[no-untyped-call]
            for optimizer in optimizers:
                optimizer.step()
            step, total = step + 1, total + loss.item()
            if verbose and step % log_iter == 0:
                print(f"step {step}: loss {total / log_iter:.4f}, {time.perf_counter() - start:.1f} s", flush=True)
                total = 0.0
            if test is not None and step % test_iter == 0:
                print(f"step {step}: {test(model)}", flush=True)
        for scheduler in schedulers:
            scheduler.step()
