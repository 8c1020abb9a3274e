"""When a training ends. Conditions can be joined: ``Threshold("Accuracy", 1.0) | EpochStop(3)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..train import TrainObject


class StopCondition:
    """Asked as an epoch begins and after every step: derive from it and write ``is_stop``."""

    def is_stop(self, train_object: TrainObject) -> bool:
        raise NotImplementedError

    def __or__(self, other: StopCondition) -> StopCondition:
        return Or(self, other)

    def __and__(self, other: StopCondition) -> StopCondition:
        return And(self, other)

    __add__, __mul__ = __or__, __and__


class EpochStop(StopCondition):
    """After so many epochs."""

    def __init__(self, max_epoch: int) -> None:
        self.max_epoch = max_epoch

    def is_stop(self, train_object: TrainObject) -> bool:
        return train_object.epoch >= self.max_epoch

    def __str__(self) -> str:
        return f"for {self.max_epoch} epoch(s)"


class Threshold(StopCondition):
    """Once the last ``duration`` values of a name are at least so high."""

    def __init__(self, attribute: str, maximum: float, duration: int = 1) -> None:
        self.attribute, self.maximum, self.duration = attribute, maximum, duration

    def is_stop(self, train_object: TrainObject) -> bool:
        last = train_object.logger.get_attribute(self.attribute)[-self.duration :]
        return len(last) == self.duration and min(last) >= self.maximum

    def __str__(self) -> str:
        return f"until {self.attribute} reaches {self.maximum}"


class _Unchanged(StopCondition):
    """What StopOnPlateau and StopOnNoChange share: values of a name after the first ``warm_up``, and which of them moves."""

    def __init__(self, attribute: str, delta: float = 0.01, patience: int = 5, warm_up: int = 5) -> None:
        self.attribute, self.delta, self.patience, self.warm_up = attribute, delta, patience, warm_up

    def moves(self, value: float, kept: float) -> bool:
        """Whether a value counts as a change from the last that did."""
        raise NotImplementedError

    def since(self, train_object: TrainObject) -> int | None:
        """How many values there are from the last that counted on, itself among them; None while warming up."""
        values = train_object.logger.get_attribute(self.attribute)[self.warm_up :]
        kept = 0
        for place, value in enumerate(values):
            if self.moves(value, values[kept]):
                kept = place
        return len(values) - kept if values else None


class StopOnPlateau(_Unchanged):
    """Once there are ``patience`` values of a name from the best on: none is higher than it by the share ``delta``."""

    def moves(self, value: float, kept: float) -> bool:
        return value > kept + kept * self.delta

    def is_stop(self, train_object: TrainObject) -> bool:
        since = self.since(train_object)
        return since is not None and since >= self.patience

    def __str__(self) -> str:
        return f"until plateau in {self.attribute}"


class StopOnNoChange(_Unchanged):
    """Once there are more than ``patience`` values of a name that are, within the share ``delta``, the same."""

    def moves(self, value: float, kept: float) -> bool:
        return abs(value - kept) > kept * self.delta

    def is_stop(self, train_object: TrainObject) -> bool:
        since = self.since(train_object)
        return since is not None and since > self.patience

    def __str__(self) -> str:
        return f"until no change in {self.attribute}"


class _Joined(StopCondition):
    def __init__(self, *criteria: StopCondition) -> None:
        self.criteria = criteria


class Or(_Joined):
    """Where one of several conditions holds."""

    def is_stop(self, train_object: TrainObject) -> bool:
        return any(each.is_stop(train_object) for each in self.criteria)

    def __str__(self) -> str:
        return " or ".join(map(str, self.criteria))


class And(_Joined):
    """Where all of several conditions hold."""

    def is_stop(self, train_object: TrainObject) -> bool:
        return all(each.is_stop(train_object) for each in self.criteria)

    def __str__(self) -> str:
        return " and ".join(map(str, self.criteria))
