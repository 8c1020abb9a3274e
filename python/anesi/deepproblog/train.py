"""Training."""

from __future__ import annotations

import os
import time
from typing import Any, Callable

from .dataset import DataLoader
from .model import Model
from .query import Query
from .utils.logger import Logger
from .utils.stop_condition import EpochStop, StopCondition


class TrainObject:
    """A training: where it stands, and what it logged. Hooks are pairs (n, function of this) for every n-th step."""

    def __init__(self, model: Model) -> None:
        self.model, self.logger = model, Logger()
        self.i = 1  # the first step makes it 2, as in DeepProbLog, so that logs of both can be compared
        self.epoch = 0
        self.accumulated_loss = 0.0
        self.interrupt = False
        self.hooks: list[tuple[int, Callable[[TrainObject], Any]]] = []

    def train(
        self,
        loader: DataLoader,
        stop_criterion: int | StopCondition,
        verbose: int = 1,
        loss_function_name: str = "cross_entropy",
        with_negatives: bool = False,
        log_iter: int = 100,
        initial_test: bool = True,
        *,
        test: Callable[[Model], Any] | None = None,
        test_iter: int = 1000,
        snapshot_name: str | os.PathLike[str] | None = None,
        snapshot_iter: int | None = None,
        profile: int = 0,
        infoloss: float = 0,
    ) -> Logger:
        """Trains the networks with their optimisers.

        Args:
            loader: batches of queries.
            stop_criterion: how many epochs, or a :class:`~anesi.deepproblog.utils.stop_condition.StopCondition`.
            verbose: 0 prints nothing, and logs nothing but tests.
            loss_function_name: ``cross_entropy`` or ``mse``.
            with_negatives: not supported.
            log_iter: after how many steps the mean loss and the time are logged.
            initial_test: whether to test before the first step.
            test: given the model, pairs of a name and a value, which are logged and which conditions may ask for.
            test_iter: after how many steps to test.
            snapshot_name, snapshot_iter: where to save the model's state, and after how many steps.
            profile, infoloss: nothing, as in DeepProbLog 2.1.
        """
        stop = _condition(stop_criterion)
        if loss_function_name not in ("cross_entropy", "mse"):
            raise ValueError(f"loss_function_name: cross_entropy or mse is expected, not {loss_function_name!r}")
        if with_negatives:
            raise ValueError("with_negatives: not supported; give negative examples as queries with p=0")
        if not len(loader):
            raise ValueError("loader: there are no queries to learn from")
        start = logged = time.perf_counter()
        if test is not None and initial_test:
            self._test(test, verbose)
        if verbose:
            print("Training", stop, flush=True)
        while not (stop.is_stop(self) or self.interrupt):
            self.model.optimizer.step_epoch()
            for batch in loader:
                self._step(batch, loss_function_name)
                if verbose and self.i % log_iter == 0:
                    self._log(log_iter, start, logged)
                    logged = time.perf_counter()
                if snapshot_name is not None and snapshot_iter and self.i % snapshot_iter == 0:
                    self.model.save_state(f"{os.fspath(snapshot_name)}_iter_{self.i}.mdl")
                if test is not None and self.i % test_iter == 0:
                    self._test(test, verbose)
                for every, hook in self.hooks:
                    if self.i % every == 0:
                        hook(self)
                if stop.is_stop(self) or self.interrupt:
                    break
            self.epoch += 1
        if snapshot_name is not None:
            self.model.save_state(f"{os.fspath(snapshot_name)}_final.mdl")
        return self.logger

    def write_to_file(self, name: str | os.PathLike[str]) -> None:
        """Writes what was logged."""
        self.logger.write_to_file(name)

    def _step(self, batch: list[Query], loss_function_name: str) -> None:
        self.i += 1
        self.model.train()
        self.model.optimizer.zero_grad()
        loss = self.model.loss(batch, loss_function_name)
        loss.backward()  # type: ignore[no-untyped-call]
        self.model.optimizer.step()
        self.accumulated_loss += loss.item()

    def _log(self, steps: int, start: float, logged: float) -> None:
        now, loss = time.perf_counter(), self.accumulated_loss / steps
        print(f"Iteration: {self.i}\ts: {now - logged:.4f}\tAverage Loss: {loss}", flush=True)
        self.logger.log("time", self.i, now - start)
        self.logger.log("loss", self.i, loss)
        self.accumulated_loss = 0.0

    def _test(self, test: Callable[[Model], Any], verbose: int) -> None:
        found = test(self.model)
        try:
            self.logger.log_list(self.i, found)
        except (TypeError, ValueError):
            raise TypeError(f"test: pairs of a name and a value are expected, not {found!r}") from None
        if verbose:
            print("Test:", found, flush=True)


def _condition(told: Any) -> StopCondition:
    if isinstance(told, StopCondition):
        return told
    if isinstance(told, bool) or not isinstance(told, int):
        raise TypeError(f"stop_condition: how many epochs, or a StopCondition, is expected, not {told!r}")
    return EpochStop(told)


def train_model(model: Model, loader: DataLoader, stop_condition: int | StopCondition, **kwargs: Any) -> TrainObject:
    """Trains a model; the arguments are those of :meth:`TrainObject.train`."""
    training = TrainObject(model)
    training.train(loader, stop_condition, **kwargs)
    return training
