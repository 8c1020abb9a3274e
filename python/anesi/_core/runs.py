"""A run of the program: q and perception as they were saved, around the function of a built-in task."""

from __future__ import annotations

import os
from typing import Any, Callable, Mapping, NamedTuple

import torch

from .. import _engine, q
from .core import Core
from .exact_answers import ExactAnswers
from .learned_answers import LearnedAnswers
from .manifest import FOUND, MANIFEST, WEIGHTS, folder_of, read_arrays, read_manifest
from .options import EXACT, TABLES, known_settings
from .perception import perception_of
from .problem import TaskFunction

Say = Callable[[str], None]
_INSTEAD = "ask the program, by `anesi predict` or `anesi serve`"


class Opened(NamedTuple):
    """What a run is made of."""

    saved: dict[str, Any]  # its manifest
    core: Core
    perception: torch.nn.Module  # inputs to logits


def open_run(path: str, say: Say | None) -> Opened:
    """ValueError, which says to use the program, if the package has not its task, its q or its network."""
    folder = folder_of(path)
    saved = read_manifest(folder)
    task, architecture = saved["task"], saved["architecture"]
    if task not in dict(_engine.task_names()):
        raise ValueError(f"{path}: only the program has the task {task}; {_INSTEAD}")
    if architecture not in (EXACT, TABLES, *q.ARCHITECTURES):
        raise ValueError(f"{path}: only the program has a q of the architecture {architecture}; {_INSTEAD}")
    weights = {
        name: torch.from_numpy(part.copy())
        for name, part in read_arrays(folder, WEIGHTS, saved["weights_sha256"]).items()
    }
    prefix = "perception."
    own = {name.removeprefix(prefix): part for name, part in weights.items() if name.startswith(prefix)}
    perception = perception_of(own)
    if perception is None:
        raise ValueError(f"{path}: its network is not made of LeNets, and only the program has others; {_INSTEAD}")
    core = _core_of(folder, saved, say)
    if core.learning is not None:
        try:
            core.answers.model.load_tensors(weights, os.path.join(folder, WEIGHTS))
        except ValueError as error:
            raise RuntimeError(str(error)) from None
    return Opened(saved, core, perception.eval())


def _core_of(folder: str, saved: Mapping[str, Any], say: Say | None) -> Core:
    options = saved["options"]
    known = {name for name, *_ in _engine.task_options(saved["task"])}
    function = TaskFunction(saved["task"], [f"{name}={value}" for name, value in options.items() if name in known])
    problem = function.problem
    if (problem.worlds, problem.outputs) != (saved["worlds"], saved["outputs"]):
        name = os.path.join(folder, MANIFEST)
        raise RuntimeError(f"{name}: a model of another problem: its worlds or outputs are not those of {saved['task']}")
    found = read_arrays(folder, FOUND, saved["found_sha256"]) if saved["found_sha256"] else {}
    chosen = {
        "architecture": saved["architecture"],
        "reason": saved["found"] or saved["architecture"],
        "facts": {name: torch.from_numpy(part.copy()) for name, part in found.items()},
        "calls": 0,
        "seconds": 0.0,
        "certificate": None,
    }
    prunes = "true" if saved["prunes"] else "false"
    return Core.of_problem(problem, 0, "", known_settings({**options, "eval.prune": prunes}), 0, say, chosen, function)


@torch.no_grad()
def ranked_by_q(core: Core, beliefs: torch.Tensor, top: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """As the program predicts: outputs as q alone ranks them, their probabilities, the world that is read, its output."""
    answers = core.answers
    worlds = beliefs.argmax(2)
    if isinstance(answers, ExactAnswers) and answers.backend.name == "conditioned":
        # A circuit for each output that is asked about: the program ranks none.
        outputs = torch.empty(len(beliefs), 0, len(core.outputs), dtype=torch.int64)
        return outputs, torch.empty(len(beliefs), 0), worlds, core.apply(worlds)
    if len(beliefs) == 0 or not isinstance(answers, LearnedAnswers):
        outputs, probability, *_ = core.predict(beliefs, False, None, top)
    else:
        width = max(top, answers.options.beam)
        beam = q.beam_search(answers.model.prediction, beliefs.to(answers.dtype), width=width, pruner=answers.pruner)
        outputs, probability = beam.values[:, :top], beam.log_prob[:, :top].exp()
    return outputs, probability, worlds, core.apply(worlds)


def to_explain(core: Core, beliefs: torch.Tensor) -> torch.Tensor:
    """The outputs that the program explains if none are named, int64 ``[batch, outputs]``."""
    predicted = ranked_by_q(core, beliefs, 1)[0]
    searches = predicted.shape[1] == 0 or core.answers.model.explanation is None
    if core.asked is not None and searches:
        return torch.tensor(core.asked).expand(len(beliefs), -1).contiguous()
    return predicted[:, 0]
