"""What may be set of Knowledge, by the names that ``anesi train --help`` lists."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Sequence

from .. import _engine, q

AUTO, EXACT, TABLES, PROPAGATION = "auto", "exact", "tables", "propagation"
PROGRAMS_ARCHITECTURES = ("graph", "grid", "pairwise", "resnet", "set", "transformer", "resnet18", "walk")
PROGRAMS_PRIORS = ("flow", "mixture", "palette")
_OF_ARCHITECTURE = {"mlp": q.MlpOptions, "scan": q.ScanOptions, "transducer": q.TransducerOptions}
_DEFAULTS = {"mlp.width": "200"}  # the paper's 800 take minutes before anything can begin

# Options of the program that have no meaning here, and what there is instead.
_INSTEAD = {
    "q.from": "load a saved model with anesi.load() instead",
    "q.given": "what the function is told besides the world is passed as `given`",
    "q.trace": "a function tells no intermediate results; leave it at 0",
    "q.trace_weight": "a function tells no intermediate results; leave it as it is",
    "eval.decide": "predict() gives the best output that is known, most_probable() a world that gives a label",
    "eval.learned_threshold": "only the program prunes by a threshold; leave it at 0",
}


@dataclass(frozen=True)
class _Choice:
    """The options ``q.*`` that say which q there is."""

    architecture: str = AUTO
    from_: str = ""
    given: bool = True
    trace: int = 0
    trace_weight: float = 1.0


@dataclass(frozen=True)
class _PriorKind:
    """The options ``prior.*`` besides those of the fit."""

    kind: str = "fitted"
    concentration: float = 0.2


@dataclass(frozen=True)
class ExactOptions:
    """Exact inference: which back end, after how many seconds it is given up, and what memory it may take."""

    method: str = AUTO
    seconds: float = 60.0
    gigabytes: float = 8.0

    def settings(self) -> list[str]:
        """As the engine takes them."""
        return [f"exact.{name}={value}" for name, value in dataclasses.asdict(self).items()]


@dataclass(frozen=True)
class EvalOptions:
    """How answers are found.

    Attributes:
        beam: width of the beam search over outputs and worlds.
        prune: choose under the problem's pruner even if q did not learn under it.
        nats: largest cost of a world, against the most probable one, that is searched for.
        nodes: decisions after which that search gives up.
    """

    beam: int = 16
    prune: bool = False
    learned_threshold: float = 0.0
    decide: str = "symbolic"
    nats: float = 40.0
    nodes: int = 20000

    def __post_init__(self) -> None:
        for name, least in (("beam", 1), ("nats", 0), ("nodes", 1), ("learned_threshold", 0)):
            if not getattr(self, name) >= least:
                raise ValueError(f"eval.{name}: {getattr(self, name)}; at least {least} is expected")


@dataclass
class Options:
    """All options, from settings such as ``q.samples=64``. ValueError if there is no such option or value."""

    settings: Sequence[str]
    values: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.values = {**defaults(), **_DEFAULTS}
        self._told: list[str] = []
        for setting in self.settings:
            name, equals, value = setting.partition("=")
            if not equals:
                raise ValueError(f"{setting}: name=value is expected")
            self._set(name, value)
        self._choice = _with(_Choice(), "q", self.values)
        self.q = _with(q.Options(), "q", self.values)
        self.prior = _with(_PriorKind(), "prior", self.values)
        _with(q.DirichletFit(), "prior", self.values)
        self.exact = _with(ExactOptions(), "exact", self.values)
        self.eval = _with(EvalOptions(), "eval", self.values)

    def _set(self, name: str, value: str) -> None:
        group = name.partition(".")[0]
        if name not in defaults():
            if group in PROGRAMS_ARCHITECTURES + PROGRAMS_PRIORS:
                raise ValueError(f"{name}: the Python package has no {group}; train with the program (anesi train)")
            if group not in _OF_ARCHITECTURE:
                raise ValueError(f"{name}: there is no such option")
            q.with_settings(_OF_ARCHITECTURE[group](), group, {name: value})
            self._told.append(name)
        self.values[name] = value

    @property
    def architecture(self) -> str:
        name: str = self._choice.architecture
        return name

    @property
    def discover(self) -> list[str]:
        """As the engine takes them."""
        return [f"{name}={value}" for name, value in self.values.items() if name.startswith("discover.")]

    def number(self, name: str) -> float:
        """Of an option, which is a number."""
        try:
            return float(self.values[name])
        except ValueError:
            raise ValueError(f"{name}: {self.values[name]!r} is not a number") from None

    def require_used(self, architecture: str) -> None:
        """Raises ValueError, which says what to do instead, if an option was set that would change nothing.

        Args:
            architecture: of q, or ``""`` if it is chosen later.
        """
        for name, instead in _INSTEAD.items():
            if self.values[name] != defaults()[name]:
                raise ValueError(f"{name}: {instead}")
        for name in self._told:
            if architecture and name.partition(".")[0] != architecture:
                raise ValueError(f"{name}: it is of another architecture than {architecture}")


def defaults() -> dict[str, str]:
    """Of all options but those of architectures."""
    if not _defaults:
        for group, options in (("q", q.Options()), ("q", _Choice()), ("prior", _PriorKind()), ("prior", q.DirichletFit()),
                               ("exact", ExactOptions()), ("eval", EvalOptions())):  # fmt: skip
            _defaults.update({f"{group}.{name}": _text(value) for name, value in _fields(options)})
        _defaults.update({name: default for name, default, *_ in _engine.discover_options()})
    return _defaults


_defaults: dict[str, str] = {}


def option_names() -> list[str]:
    return list(defaults())


def known_settings(values: Mapping[str, str]) -> list[str]:
    """Those of a saved model that are options here."""
    known = [name for name in values if name in defaults() or name.partition(".")[0] in _OF_ARCHITECTURE]
    return [f"{name}={values[name]}" for name in known if name not in _INSTEAD]


def require_architecture(name: str) -> None:
    """Raises ValueError if q cannot be of this architecture here."""
    if name in (AUTO, EXACT, TABLES, PROPAGATION) or name in q.ARCHITECTURES:
        return
    if name in PROGRAMS_ARCHITECTURES:
        there = ", ".join((EXACT, *q.ARCHITECTURES))
        raise ValueError(
            f"q.architecture: {name} is not in the Python package, which has {there}; train with the program (anesi train)"
        )
    raise ValueError(f"q.architecture: {name!r}; one of {', '.join((AUTO, EXACT, TABLES, *q.ARCHITECTURES))}")


def _fields(options: Any) -> Iterable[tuple[str, Any]]:
    return ((entry.name.rstrip("_"), getattr(options, entry.name)) for entry in dataclasses.fields(options))


def _with(options: Any, group: str, values: Mapping[str, str]) -> Any:
    """The options with those values that they have."""
    names = {f"{group}.{entry.name.rstrip('_')}": entry.name for entry in dataclasses.fields(options)}
    return q.with_settings(options, group, {f"{group}.{own}": values[name] for name, own in names.items()})


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
