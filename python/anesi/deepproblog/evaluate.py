"""How often a model is right."""
# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

from typing import Any

import torch

from .._problog_program import plain
from .dataset import Dataset
from .model import Model
from .utils.confusion_matrix import ConfusionMatrix

_ROWS = 100  # queries at once


def get_confusion_matrix(model: Model, dataset: Dataset, verbose: int = 0, eps: float | None = None) -> ConfusionMatrix:
    """What a model predicts for the queries of a dataset.

    Args:
        model: its networks are set to be evaluated.
        dataset: queries with their answers.
        verbose: 1 prints matrix and accuracy, 2 every wrong prediction too.
        eps: answers are numbers, and one that is less than this away is right.
    """
    matrix = ConfusionMatrix()
    model.eval()
    queries = dataset.to_queries()
    for first in range(0, len(queries), _ROWS):
        batch = queries[first : first + _ROWS]
        for query, answer in zip(batch, _predictions(model, batch)):
            values = [plain(value) for value in query.output_values()]
            actual: Any = values[0] if len(values) == 1 else tuple(values)
            if eps is not None and answer is not None:
                actual, answer = float(actual), float(answer)
                answer = actual if abs(actual - answer) < eps else answer
            predicted = "no_answer" if answer is None else str(answer)
            matrix.add_item(predicted, str(actual))
            if verbose > 1 and predicted != str(actual):
                print(f"{query}: {predicted} is predicted", flush=True)
    if verbose:
        print(matrix)
        print("Accuracy", matrix.accuracy(), flush=True)
    return matrix


def _predictions(model: Model, batch: list[Any]) -> list[Any]:
    """The likeliest answer to each query; None where there is none."""
    found = [None] * len(batch)
    with torch.no_grad():
        for group in model._groups([query.variable_output() for query in batch]):
            for number, answers in zip(group.numbers, group.know.predict(beliefs=group.beliefs, top=2).answers):
                found[number] = next((answer for answer in answers if answer is not None), None)
    return found


def get_fact_accuracy(
    model: Model, dataset: Dataset, verbose: int = 0, threshold: float = 0.5, empty_answer: str = "false"
) -> ConfusionMatrix:
    """How often a query is found true (at least ``threshold`` likely) that is, and false that is. ``empty_answer`` is not needed."""
    matrix = ConfusionMatrix()
    model.eval()
    for query in dataset.to_queries():
        (probability,) = model.solve([query])[0].result.values()
        matrix.add_item(str(bool(probability >= threshold)).lower(), str(query.p >= threshold).lower())
    if verbose:
        print(matrix)
        print("Accuracy", matrix.accuracy(), flush=True)
    return matrix
