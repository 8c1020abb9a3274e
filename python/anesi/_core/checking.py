"""How far q is from the truth on some beliefs, whether that is certified, and whether perception could exploit it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .. import _engine
from .._inference import ExactInference, Labels
from ..q.beliefs import certain_beliefs, sample_worlds
from .exploits import check_exploits
from .options import PROPAGATION
from .perceived import Asked
from .problem import apply
from .rows import array

if TYPE_CHECKING:
    from .core import Core

_GIVEN, _LEVEL = "the beliefs that were given", 0.95
_MOST_COMPARED = 1 << 14  # worlds of a problem that is compared with exact inference


def check(core: Core, asked: Asked, samples: int) -> dict[str, Any]:
    beliefs = core.answers.beliefs(asked)
    if len(beliefs) == 0:
        raise ValueError("check: there are no beliefs to look at")
    generator = torch.Generator().manual_seed(core.seed)
    figures: dict[str, Any] = {"beliefs": len(beliefs), "distance": None, "divergence": None, "certificate": None}
    if core.learns_q or core.found.architecture == PROPAGATION:
        _look_at_q(core, beliefs, samples, generator, figures)
    else:
        bound = _certificate(core, beliefs, samples, generator)
        figures["certificate"] = bound
        if core.exact:
            figures["distance"] = 0.0 if bound is None else bound["differing"] / bound["draws"]
            figures["divergence"] = 0.0
    figures["exploits"] = check_exploits(core.answers.model.prediction, core.problem, sample_worlds(beliefs, generator), beliefs.dtype)
    return figures


def _certificate(core: Core, beliefs: torch.Tensor, samples: int, generator: torch.Generator) -> Any:
    problem, many = core.problem, samples * len(beliefs)
    seed = int(torch.randint(2**62, (), generator=generator))
    threads = torch.get_num_threads()
    logs = array(beliefs.double().log())
    bound = _engine.certify(problem, logs, draws=max(100, many), seed=seed, threads=threads)
    if bound is not None and problem.automaton is None and problem.has_tables:
        bound["beliefs"] += ", each output by itself"
    return bound


def _look_at_q(
    core: Core, beliefs: torch.Tensor, samples: int, generator: torch.Generator, figures: dict[str, Any]
) -> None:
    prediction, problem = core.answers.model.prediction, core.problem
    if prediction.multilinear:
        count = max(2, samples)
        many = beliefs.repeat_interleave(count, 0)
        worlds = sample_worlds(many, generator)
        certain = certain_beliefs(worlds, beliefs.shape[2], beliefs.dtype)
        errors = -torch.expm1(prediction.log_prob(certain, apply(problem, worlds)).double()).view(len(beliefs), count)
        margins = 1.96 * errors.std(1) / count**0.5
        bound = float(errors.mean() + margins.square().sum().sqrt() / len(beliefs))
        draws = samples * len(beliefs)
        figures["certificate"] = {"bound": bound, "level": _LEVEL, "draws": draws, "differing": None, "beliefs": _GIVEN}
    if problem.points <= _MOST_COMPARED or problem.has_cnf or problem.has_circuit:
        try:
            exact = ExactInference(_engine.Backend(problem, settings=["exact.seconds=1"], threads=torch.get_num_threads()))
        except RuntimeError:
            return
        many = beliefs.repeat_interleave(samples, 0)
        outputs = apply(problem, sample_worlds(many, generator))
        log_ratio = prediction.log_prob(many, outputs).double() - exact.log_prob(many.double(), Labels(outputs), logits=False)
        figures["distance"] = float((1 - log_ratio.exp()).clamp_min(0).mean())
        figures["divergence"] = -float(log_ratio.mean())
