"""How q learns: the options ``q.*``, by the names that ``anesi train --help`` lists."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Mapping, NamedTuple, TypeVar

CHOICES = {
    "variant": ("predict", "explain", "prune"),
    "matching": ("joint", "forward_kl"),
    "policy": ("off", "on", "both", "solutions"),
    "schedule": ("constant", "cosine", "one_cycle"),
}


@dataclass(frozen=True)
class Options:
    """Defaults are those of the Python package: few samples and a fast start.

    Attributes:
        samples: beliefs sampled for an update of q.
        chunk: sampled output values that go through q at once; 0: all. Saves memory.
        perceived: learn from the beliefs that perception emits too, beside those of the prior.
        variant: ``predict``: q(y|P) alone; ``explain``: with an explanation model q(w|y,P); ``prune``: that under the
            problem's pruner.
        matching: how an explanation model learns: by the paper's ``joint`` matching, or ``forward_kl``: maximum likelihood
            of sampled worlds.
        policy: where joint matching takes its worlds from: the prior's beliefs (``off``), q itself (``on``), ``both``, or
            ``solutions`` of the one output that all labels are about, with beliefs around them.
        worlds: worlds sampled from q for each belief (on-policy training). With several, explanations are matched with
            each other and the prediction with their mean, which is less noisy.
        counted: worlds sampled from q for each example, by which perception's loss is estimated (importance sampling)
            instead of read from q; 0: read from q.
        on_policy_weight: of q's own samples if policy is ``both``.
        prediction_weight: of the prediction model's cross-entropy beside joint matching.
        temperature: at which q's own samples are drawn.
        clip: largest norm of an update's gradient; 0: no limit.
        pretrain: updates of q before perception starts.
        every: steps of perception for one update of q.
        frozen: train q before perception only, not beside it.
        lr: learning rate, or its peak.
        schedule: of the updates before perception starts: ``constant``; ``cosine`` falls to 2 %; ``one_cycle`` rises from
            4 %, then falls to nearly nothing.
        warmup: share of the steps that one_cycle spends rising.
        joint_lr: learning rate beside perception; 0: lr.
    """

    samples: int = 64
    chunk: int = 0
    perceived: bool = False
    variant: str = "predict"
    matching: str = "joint"
    policy: str = "off"
    worlds: int = 1
    counted: int = 0
    on_policy_weight: float = 1.0
    prediction_weight: float = 0.0
    temperature: float = 1.0
    clip: float = 0.0
    pretrain: int = 500
    every: int = 1
    frozen: bool = False
    lr: float = 0.002
    schedule: str = "constant"
    warmup: float = 0.2
    joint_lr: float = 0.0

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"q.{name}: {getattr(self, name)!r}; one of {', '.join(choices)}")
        for name, least in _LEAST.items():
            if not getattr(self, name) >= least:
                raise ValueError(f"q.{name}: {getattr(self, name)}; at least {least} is expected")

    @property
    def explains(self) -> bool:
        return self.variant != "predict"

    @property
    def prunes(self) -> bool:
        return self.variant == "prune"

    def rate(self, update: int, updates: int) -> Rate:
        """At one of the updates before perception starts."""
        return scheduled(self.schedule, self.lr, self.warmup, update, updates)

    def rate_beside(self) -> Rate:
        """Beside perception: nobody says how many steps there will be, so no schedule can be followed."""
        return Rate(self.joint_lr or self.lr)


_LEAST = {
    "samples": 1, "chunk": 0, "worlds": 1, "counted": 0, "on_policy_weight": 0, "prediction_weight": 0, "temperature": 0.01,
    "clip": 0, "pretrain": 0, "every": 1, "lr": 0, "warmup": 0, "joint_lr": 0,
}  # fmt: skip


class Rate(NamedTuple):
    """What the optimiser uses at a step."""

    lr: float
    beta1: float = 0.9


def scheduled(shape: str, lr: float, warmup: float, step: int, steps: int) -> Rate:
    """The rate at a step of ``steps``. One cycle moves the momentum against the learning rate."""
    t = min(step / max(steps - 1, 1), 1.0)
    if shape == "cosine":
        return Rate(_cosine(lr, lr * 0.02, t))
    if shape == "one_cycle":
        if t < warmup:
            return Rate(_cosine(lr / 25, lr, t / warmup), _cosine(0.95, 0.85, t / warmup))
        fall = (t - warmup) / (1 - warmup) if warmup < 1 else 1.0
        return Rate(_cosine(lr, lr / 25e4, fall), _cosine(0.85, 0.95, fall))
    return Rate(lr)


def _cosine(start: float, end: float, t: float) -> float:
    """From start to end along half a cosine as t goes from 0 to 1."""
    return end + (start - end) * (1 + math.cos(math.pi * t)) / 2


Chosen = TypeVar("Chosen")


def with_settings(options: Chosen, group: str, settings: Mapping[str, Any]) -> Chosen:
    """A copy of a dataclass of options with those settings that begin with the group: ``{"q.samples": 600}`` for ``"q"``.

    Values may be texts, as in the manifest of a saved model. ValueError if there is no such option.
    """
    fields = {field.name: field for field in dataclasses.fields(options)}  # type: ignore[arg-type]
    changes = {}
    for setting, value in settings.items():
        prefix, _, name = setting.partition(".")
        if prefix != group:
            continue
        if name not in fields:
            raise ValueError(f"{setting}: there is no such option; {group} has {', '.join(fields)}")
        changes[name] = _as_type(setting, value, type(getattr(options, name)))
    return dataclasses.replace(options, **changes)  # type: ignore[type-var]


def _as_type(name: str, value: Any, wanted: type) -> Any:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if wanted is bool:
        if text not in ("true", "false"):
            raise ValueError(f"{name}: {value!r}; true or false")
        return text == "true"
    try:
        return wanted(text)
    except ValueError:
        raise ValueError(f"{name}: {value!r} is not {'a whole number' if wanted is int else 'a number'}") from None
