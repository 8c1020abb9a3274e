"""What Knowledge stands on, in Python on the engine: choosing q, asking it, learning, watching.

Several threads may ask one Core at once, but only one may learn, and nobody may ask meanwhile.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence, Union

import torch

from .. import _engine, q
from ..q.amortized import Partners
from . import checking, choosing, copying, recording, saving, state
from .compiling import opaque
from .exact_answers import ExactAnswers
from .exact_model import ExactPrediction
from .facts import Automaton, Cnf, FormulaOptions
from .kernels import compiled
from .learned_answers import LearnedAnswers
from .learning import LearnedQ
from .options import AUTO, EXACT, PROPAGATION, TABLES, Options, require_architecture
from .perceived import Asked, Perceived, full_precision
from .predicting import Predicted
from .problem import Ask, apply, engine_problem, q_problem
from .rows import as_rows, check_values, tensor
from .watching import Watch

Say = Callable[[str], None]
Label = Union[torch.Tensor, None]
_ANY_COST = 1e6  # nats
_MOST_LISTED = 1 << 21  # worlds that exact inference may list


class Core:
    """Made by the constructor from a function, by :func:`formula_core` from a formula, by :func:`load` from a folder."""

    ask: Ask | None
    """The function; None if a formula stands for it, or something that was saved."""
    cnf: Cnf | None
    """What was declared of it."""

    def __init__(
        self,
        ask: Ask,
        worlds: Sequence[int],
        outputs: Sequence[int],
        given: int,
        architecture: str,
        settings: Sequence[str],
        seed: int,
        say: Say | None,
        order: Sequence[int],
        automaton: Automaton | None,
        cnf: Cnf | None,
        chosen: Mapping[str, Any] | None,
    ) -> None:
        problem = engine_problem(ask, worlds, outputs)
        if automaton is not None:
            problem = problem.with_automaton(automaton.engine)
        if cnf is not None:
            problem = problem.with_cnf(cnf)
        problem.check(threads=torch.get_num_threads())
        self.ask, self.cnf = ask, cnf
        self._make(problem, given, architecture, settings, seed, say, list(order), chosen)

    @classmethod
    def of_problem(
        cls,
        problem: _engine.Problem,
        given: int,
        architecture: str,
        settings: Sequence[str],
        seed: int,
        say: Say | None,
        chosen: Mapping[str, Any] | None,
        ask: Ask | None = None,
        cnf: Cnf | None = None,
    ) -> Core:
        core = cls.__new__(cls)
        core.ask, core.cnf = ask, cnf
        core._make(problem, given, architecture, settings, seed, say, [], chosen)
        return core

    def _make(
        self,
        problem: _engine.Problem,
        given: int,
        architecture: str,
        settings: Sequence[str],
        seed: int,
        say: Say | None,
        order: list[int],
        chosen: Mapping[str, Any] | None,
    ) -> None:
        self.options, self.seed, self.say = Options(settings), seed, say
        self.perceived = Perceived(problem.worlds, given, problem.outputs)
        self.learning: LearnedQ | None = None
        named = architecture or self.options.architecture
        if chosen is None:
            require_architecture(named)
            self.options.require_used("" if named == AUTO else named)
            if self.options.eval.prune and not problem.has_pruner:
                raise ValueError("eval.prune: this function has no pruner; leave it false")
        with torch.inference_mode(False):  # q learns, whatever the caller does without gradients
            found = self._chosen(problem, named, order, chosen)
            self.problem = found.problem
            self.found = found
            self.answers = self._answers(found)
            self.watching = Watch(self)
            if self.learning is not None and chosen is None:
                with full_precision(), torch.enable_grad():
                    self.learning.learn_alone(self.options.number("discover.seconds"), say)

    # Choosing.

    def _chosen(
        self, problem: _engine.Problem, named: str, order: list[int], chosen: Mapping[str, Any] | None
    ) -> choosing.Chosen:
        if chosen is not None:
            facts = {name: part.numpy() for name, part in chosen["facts"].items()}
            told = problem.with_found(facts, chosen["reason"]) if facts else problem
            calls, seconds, certificate = chosen["calls"], chosen["seconds"], chosen["certificate"]
            architecture, reason = chosen["architecture"], chosen["reason"]
            choice = choosing.Chosen(told, architecture, reason, facts, calls, seconds, certificate, chosen.get("backend"))
        elif named != AUTO:
            choice = choosing.Chosen(problem, named, choosing.reason_of(named, problem))
        else:
            choice = choosing.choose(problem, self.options, order, self.seed, self.say)
        require_architecture(choice.architecture)
        return choice

    def _answers(self, found: choosing.Chosen) -> ExactAnswers | LearnedAnswers:
        problem, options = found.problem, self.options
        if found.architecture in (EXACT, TABLES, PROPAGATION):
            settings = options.exact.settings() if found.architecture == EXACT else [f"exact.method={found.architecture}"]
            backend = found.backend or _engine.Backend(problem, settings=settings, threads=torch.get_num_threads())
            exact = ExactAnswers(problem, self.perceived, backend)
            if backend.exact or found.architecture == PROPAGATION:
                return exact
            marginal = q.InferenceModel(ExactPrediction(exact._of_all))
            return LearnedAnswers(problem, self.perceived, marginal, options.eval, None, None)
        of_q = q_problem(problem)
        model = choosing.make_network(of_q, found.architecture, options, self.seed)
        settings_of_prior = {name: value for name, value in options.values.items() if name.startswith("prior.")}
        kind = options.prior.kind
        prior = q.Certain(problem.worlds) if model.prediction.multilinear else q.make_prior(problem.worlds, kind, settings_of_prior)
        self.learning = LearnedQ(of_q, model, compiled(prior), options.q, self.seed)
        prunes = (options.q.prunes or options.eval.prune) and of_q.pruner is not None
        return LearnedAnswers(
            problem, self.perceived, model, options.eval, of_q.pruner if prunes else None, self.learning
        )

    # What was found.

    @property
    def worlds(self) -> list[int]:
        return self.perceived.domains

    @property
    def given(self) -> list[int]:
        return self.perceived.given

    @property
    def outputs(self) -> list[int]:
        return self.perceived.outputs

    @property
    @opaque
    def asked(self) -> list[int] | None:
        return self.problem.asked

    @property
    def choice(self) -> dict[str, Any]:
        found = self.found
        return {
            "architecture": found.architecture,
            "reason": found.reason,
            "facts": {name: tensor(part) for name, part in found.facts.items()},
            "calls": found.calls,
            "seconds": found.seconds,
            "certificate": found.certificate,
        }

    @property
    def exact(self) -> bool:
        return self.answers.exact

    @property
    def learns(self) -> bool:
        return (self.learns_q and not self.options.q.frozen) or self.watching.watches

    @property
    def learns_q(self) -> bool:
        return self.learning is not None

    @property
    def grown(self) -> int:
        return self.watching.grown

    @property
    def automaton(self) -> Automaton | None:
        automaton = self.problem.automaton
        return None if automaton is None else Automaton.of(automaton)

    @property
    def generator(self) -> torch.Generator:
        """What everything draws from that happens by itself."""
        return self.watching.generator if self.learning is None else self.learning.generator

    # To ask.

    @opaque
    def apply(self, worlds: torch.Tensor) -> torch.Tensor:
        domains = self.problem.worlds
        rows = as_rows(worlds, len(worlds) if worlds.dim() > 0 else 0, len(domains), "worlds")
        check_values(rows, domains, "worlds")
        return apply(self.problem, rows)

    @opaque
    def beliefs(self, values: torch.Tensor, logits: bool, given: Label) -> torch.Tensor:
        with full_precision():
            return self.answers.beliefs_to_learn_from(Asked(values, logits, given))

    @opaque
    def loss(
        self, values: torch.Tensor, logits: bool, given: Label, outputs: Label, holds: Label, worlds: Label
    ) -> torch.Tensor:
        return self.answers.loss(Asked(values, logits, given), outputs, holds, worlds)

    @opaque
    def log_prob(
        self, values: torch.Tensor, logits: bool, given: Label, outputs: Label, holds: Label, worlds: Label
    ) -> torch.Tensor:
        return self.answers.log_prob(Asked(values, logits, given), outputs, holds, worlds)

    @opaque
    def predict(
        self, values: torch.Tensor, logits: bool, given: Label, top: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        asked = Asked(values, logits, given)
        with full_precision():
            found = self.answers.predict(asked, top)
            return found if self.asked is None else self._keeping_the_constraint(asked, found)

    def _keeping_the_constraint(self, asked: Asked, found: Predicted) -> Predicted:
        """With the most probable world that keeps a hard constraint, if there is one, in place of the most likely one."""
        holds = torch.tensor(self.asked).expand(len(found.worlds), -1)
        worlds, log_prob = self.answers.most_probable(asked, holds, nats=_ANY_COST)
        keeps = ~log_prob.isneginf().unsqueeze(1)
        return found._replace(
            worlds=torch.where(keeps, worlds, found.worlds), symbolic=torch.where(keeps, holds, found.symbolic)
        )

    @opaque
    def explain(
        self, values: torch.Tensor, logits: bool, given: Label, outputs: Label, top: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        with full_precision():
            return self.answers.explain(Asked(values, logits, given), outputs, top)

    @opaque
    def marginals(self, values: torch.Tensor, logits: bool, given: Label, outputs: torch.Tensor) -> torch.Tensor:
        with full_precision():
            return self.answers.marginals(Asked(values, logits, given), outputs)

    @opaque
    def sample(
        self, values: torch.Tensor, logits: bool, given: Label, outputs: torch.Tensor, count: int, seed: int
    ) -> torch.Tensor:
        with full_precision():
            return self.answers.sample(Asked(values, logits, given), outputs, count, seed)

    @opaque
    def most_probable(
        self, values: torch.Tensor, logits: bool, given: Label, outputs: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        with full_precision():
            return self.answers.most_probable(Asked(values, logits, given), outputs)

    def check(self, values: torch.Tensor, logits: bool, given: Label, samples: int) -> dict[str, Any]:
        with full_precision(), torch.no_grad():
            return checking.check(self, Asked(values, logits, given), samples)

    def record(
        self, values: torch.Tensor, logits: bool, given: Label, output: Sequence[int], world: Sequence[int]
    ) -> list[dict[str, Any]]:
        with full_precision(), torch.no_grad():
            beliefs = self.answers.beliefs(Asked(values, logits, given))
            return recording.record(self.answers.model, beliefs, output, world, self.answers.pruner)

    # To learn.

    @opaque
    def learn(self, beliefs: torch.Tensor) -> float | None:
        if self.learning is None:
            return None
        with torch.inference_mode(False), full_precision(), torch.enable_grad():
            return self.learning.learn(beliefs)

    @opaque
    def watch(self, beliefs: torch.Tensor) -> torch.Tensor | None:
        with torch.inference_mode(False), torch.no_grad():
            return self.watching.watch(beliefs)

    @opaque
    def grow(self, wrong: torch.Tensor) -> None:
        with torch.inference_mode(False), torch.no_grad():
            self.watching.grow(wrong)

    def take_memory(self, problem: _engine.Problem) -> None:
        """Another automaton in place of the one that was found."""
        self.problem = problem
        backend = _engine.Backend(problem, threads=torch.get_num_threads())
        self.answers = ExactAnswers(problem, self.perceived, backend)

    def join(self, rank: int, size: int, add_up: Callable[[torch.Tensor], None]) -> None:
        if self.learning is not None:
            self.learning.join(Partners(rank, size, add_up))

    def to_double(self, wide: bool) -> None:
        if self.learning is not None:
            with torch.inference_mode(False):
                self.learning.to(torch.float64 if wide else torch.float32)

    # To keep.

    def state(self) -> dict[str, torch.Tensor]:
        return state.state_of(self)

    def load_state(self, saved: Mapping[str, torch.Tensor]) -> None:
        with torch.inference_mode(False):
            state.load_state(self, saved)

    def save(self, path: str) -> None:
        saving.save(self, path)

    def __deepcopy__(self, memo: Any) -> Core:
        return copying.copied(self)

    def __reduce__(self) -> Any:
        return copying.pickled(self)


def formula_core(
    path: str | None,
    text: str,
    options: FormulaOptions,
    given: int,
    architecture: str,
    settings: Sequence[str],
    seed: int,
    say: Say | None,
    chosen: Mapping[str, Any] | None,
) -> Core:
    """A formula as knowledge: from a file, or from clauses as text in DIMACS."""
    told: dict[str, Any] = {"as_": options.as_, "outputs": options.outputs, "given": options.told, "seconds": options.seconds, "warn": say}
    problem = _engine.parse_formula(text, **told) if path is None else _engine.read_formula(path, **told)
    if not architecture and options.as_ == "constraint" and not (problem.has_circuit or problem.points <= _MOST_LISTED):
        architecture = PROPAGATION
    return Core.of_problem(problem, given, architecture, settings, seed, say, chosen)
