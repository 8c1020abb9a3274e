"""When a training ends. Conditions can be joined: ``Threshold("Accuracy", 1.0) | EpochStop(3)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


class _Changing(StopCondition):
    """Ends where a name's values stay for long as they were, once there are more than ``warm_up`` of them."""

    def __init__(self, attribute: str, delta: float = 0.01, patience: int = 5, warm_up: int = 5) -> None:
        self.attribute, self.delta, self.patience, self.warm_up = attribute, delta, patience, warm_up

    def moves(self, value: float, kept: float) -> bool:
        """Whether a value counts as a change from the one that counted last."""
        raise NotImplementedError

    def _unmoved(self, train_object: TrainObject) -> int:
        """How many values there are from the last that counted on, itself among them; 0 before the end of the warm-up."""
        values = train_object.logger.get_attribute(self.attribute)
        kept = self.warm_up
        for place in range(self.warm_up + 1, len(values)):
            if self.moves(values[place], values[kept]):
                kept = place
        return max(0, len(values) - kept)


class StopOnPlateau(_Changing):
    """Once ``patience`` values of a name in a row, the best one first, bring no improvement by the share ``delta``."""

    def moves(self, value: float, kept: float) -> bool:
        return value > kept + kept * self.delta

    def is_stop(self, train_object: TrainObject) -> bool:
        unmoved = self._unmoved(train_object)
        return unmoved > 0 and unmoved >= self.patience

    def __str__(self) -> str:
        return f"until plateau in {self.attribute}"


class StopOnNoChange(_Changing):
    """Once more than ``patience`` values of a name in a row are, within the share ``delta``, the same."""

    def moves(self, value: float, kept: float) -> bool:
        return abs(value - kept) > kept * self.delta

    def is_stop(self, train_object: TrainObject) -> bool:
        unmoved = self._unmoved(train_object)
        return unmoved > 0 and unmoved > self.patience

    def __str__(self) -> str:
        return f"until no change in {self.attribute}"


class Or(StopCondition):
    """Where one of several conditions holds."""

    def __init__(self, *criteria: StopCondition) -> None:
        self.criteria = criteria

    def is_stop(self, train_object: TrainObject) -> Any:
        return any(each.is_stop(train_object) for each in self.criteria)

    def __str__(self) -> str:
        return " or ".join(map(str, self.criteria))


class And(Or):
    """Where all of several conditions hold."""

    def is_stop(self, train_object: TrainObject) -> Any:
        return all(each.is_stop(train_object) for each in self.criteria)

    def __str__(self) -> str:
        return " and ".join(map(str, self.criteria))
