"""q and priors by name, with options by the names that ``anesi train --help`` lists."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

import torch

from .dirichlet import DirichletFit, FittedDirichlet
from .mlp import Mlp, MlpOptions
from .model import InferenceModel
from .options import with_settings
from .priors import Certain, FixedDirichlet, Observed, Prior
from .problem import Problem
from .scan import Scan, ScanOptions
from .scan_explanation import ScanExplanation
from .transducer import Transducer, TransducerExplanation, TransducerOptions

Settings = Mapping[str, Any]


def _mlp(problem: Problem, explains: bool, settings: Settings) -> InferenceModel:
    options = with_settings(MlpOptions(), "mlp", settings)
    return InferenceModel(Mlp(problem, False, options), Mlp(problem, True, options) if explains else None)


def _scan(problem: Problem, explains: bool, settings: Settings) -> InferenceModel:
    options = with_settings(ScanOptions(), "scan", settings)
    return InferenceModel(Scan(problem, options), ScanExplanation(problem, options) if explains else None)


def _transducer(problem: Problem, explains: bool, settings: Settings) -> InferenceModel:
    model = Transducer(problem, with_settings(TransducerOptions(), "transducer", settings))
    return InferenceModel(model, TransducerExplanation(model) if explains else None)


#: Makes q of a problem, with an explanation model if told so. Add your own here.
ARCHITECTURES: dict[str, Callable[[Problem, bool, Settings], InferenceModel]] = {
    "mlp": _mlp,
    "scan": _scan,
    "transducer": _transducer,
}


def make_model(
    problem: Problem, architecture: str, *, explains: bool = False, settings: Settings = {}, seed: int | None = None
) -> InferenceModel:
    """A q of that architecture, untrained: ``make_model(problem, "scan", settings={"scan.width": 64})``.

    Args:
        explains: with an explanation model.
        settings: options of architectures; those of others are ignored.
        seed: decides the weights and leaves torch's own generator as it is; by default that decides.
    """
    if architecture not in ARCHITECTURES:
        raise ValueError(f"q.architecture: {architecture!r}; one of {', '.join(ARCHITECTURES)}")
    make = ARCHITECTURES[architecture]
    if seed is None:
        return make(problem, explains, settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make(problem, explains, settings)


def make_prior(domains: Sequence[int], kind: str = "fitted", settings: Settings = {}) -> Prior:
    """The prior of that kind (``prior.kind``) over beliefs of variables with those domains.

    Args:
        kind: ``fitted`` (the paper's), ``fixed``, ``observed`` (no prior) or ``certain`` (worlds alone).
        settings: ``prior.concentration`` of a fixed one; the options of :class:`DirichletFit` as ``prior.window``, ...
    """
    concentration = float(settings.get("prior.concentration", 0.2))
    of_fit = {name: value for name, value in settings.items() if name not in ("prior.kind", "prior.concentration")}
    fit = with_settings(DirichletFit(), "prior", of_fit)
    makers: dict[str, Callable[[], Prior]] = {
        "fitted": lambda: FittedDirichlet(domains, fit),
        "fixed": lambda: FixedDirichlet(domains, concentration),
        "observed": lambda: Observed(domains, fit.window),
        "certain": lambda: Certain(domains),
    }
    if kind not in makers:
        raise ValueError(f"prior.kind: {kind!r}; one of {', '.join(makers)}")
    return makers[kind]()
