"""Answers of exact inference, by the engine."""

from __future__ import annotations

import torch

from .. import _engine, q
from .._inference import ExactInference, Labels
from . import problem as of_problem
from .exact_model import ExactExplanation, ExactPrediction
from .perceived import Asked, Perceived, as_asked, full_precision, impossible_label, impossible_output
from .predicting import Predicted, with_symbolic


class ExactAnswers:
    """What a back end answers, exactly or approximately, of the problem."""

    dtype = torch.float64

    def __init__(self, problem: _engine.Problem, perceived: Perceived, backend: _engine.Backend) -> None:
        self.problem, self.perceived, self.backend = problem, perceived, backend
        self.exact = backend.exact
        self.inference = ExactInference(backend, len(perceived.given))
        self._of_all = ExactInference(backend)  # the same of beliefs of all variables
        self.ends = backend.lists_worlds and backend.outputs_end
        self.pruner: q.Pruner | None = None

    @property
    def model(self) -> q.InferenceModel:
        """The same as models that choose variables one after another."""
        automaton = self.problem.automaton if self.backend.name == "automaton" else None
        steps = [] if automaton is None else automaton.steps
        read = [variable for step in steps for variable in step["reads"]] or None
        emitted = [step["emits"] for step in steps if step["emits"] is not None] or None
        return q.InferenceModel(ExactPrediction(self._of_all, emitted), ExactExplanation(self._of_all, read))

    # Losses.

    def loss(
        self, asked: Asked, outputs: torch.Tensor | None, holds: torch.Tensor | None, worlds: torch.Tensor | None
    ) -> torch.Tensor:
        values, logits, given = asked
        try:
            if logits and len(values) > 0:
                return self.inference.loss(values, Labels(outputs, holds, worlds), given=given)
            log_prob = self._observed(asked, Labels(outputs, holds, worlds))
        except (ValueError, TypeError, RuntimeError):
            self._require_labels(asked, outputs, holds, worlds)
            raise
        impossible = torch.isneginf(log_prob.detach()).nonzero()
        if len(impossible) > 0:
            raise impossible_label(self._require_labels(asked, outputs, holds, worlds), int(impossible[0]), logits)
        return -log_prob.mean()

    def log_prob(
        self, asked: Asked, outputs: torch.Tensor | None, holds: torch.Tensor | None, worlds: torch.Tensor | None
    ) -> torch.Tensor:
        try:
            return self._observed(asked, Labels(outputs, holds, worlds))
        except (ValueError, TypeError, RuntimeError):
            self._require_labels(asked, outputs, holds, worlds)
            raise

    def _observed(self, asked: Asked, labels: Labels) -> torch.Tensor:
        values, logits, given = asked
        if len(values) == 0:
            self._require_labels(asked, *labels[:3])
            return as_asked(values.sum((1, 2)), values)
        with full_precision():
            return self.inference.log_prob(values, labels, logits=logits, given=given)

    def _require_labels(
        self, asked: Asked, outputs: torch.Tensor | None, holds: torch.Tensor | None, worlds: torch.Tensor | None
    ) -> q.Labels:
        """Raises ValueError, which says best what is wrong with a question."""
        self.perceived.check_shape(asked)
        labels = self.perceived.labels(asked, outputs, holds, worlds, end=self.ends)
        self.perceived.given_rows(asked)
        self.perceived.log_beliefs(asked)
        return labels

    # Answers.

    @torch.no_grad()
    def predict(self, asked: Asked, top: int) -> Predicted:
        logs = self._logs(asked)
        outputs = len(self.perceived.outputs)
        worlds = logs.argmax(2)
        if len(logs) == 0:
            none = torch.empty(0, top, outputs, dtype=torch.int64)
            empty = torch.empty(0, outputs, dtype=torch.int64)
            return Predicted(none, torch.empty(0, top), self.perceived.without_given(worlds, 1), empty)
        symbolic = of_problem.apply(self.problem, worlds)
        found, log_prob, proven = self.backend.ranked_outputs(logs.numpy(), top, torch.get_num_threads())
        ranked, probability = torch.from_numpy(found), torch.from_numpy(log_prob).exp()
        if not all(proven):
            of_symbolic = self._of_outputs(logs, symbolic).exp()
            of_world = logs.amax(2).sum(1).exp()
            ranked, probability = with_symbolic(ranked, probability, symbolic, of_symbolic, of_world)
        return Predicted(ranked, probability, self.perceived.without_given(worlds, 1), symbolic)

    @torch.no_grad()
    def explain(self, asked: Asked, outputs: torch.Tensor | None, top: int) -> tuple[torch.Tensor, torch.Tensor]:
        logs = self._logs(asked)
        if len(logs) == 0:
            return torch.empty(0, 0, len(self.perceived.domains), dtype=torch.int64), torch.empty(0, 0).double()
        wanted = self.predict(asked, 1).outputs[:, 0].contiguous() if outputs is None else self._rows(asked, outputs)
        threads = torch.get_num_threads()
        worlds, log_prob, _ = self.backend.ranked_worlds(logs.numpy(), wanted.numpy(), top, threads)
        total = self._of_outputs(logs, wanted)
        share = (torch.from_numpy(log_prob) - total.masked_fill(total.isneginf(), 0).unsqueeze(1)).clamp_max(0)
        return self.perceived.without_given(torch.from_numpy(worlds), 2), share.exp()

    def marginals(self, asked: Asked, outputs: torch.Tensor) -> torch.Tensor:
        rows = self._rows(asked, outputs)
        if len(rows) == 0:
            return torch.empty(0, len(self.perceived.domains), self.perceived.width, dtype=torch.float64)
        with full_precision():
            return self.inference.marginals(asked.values, rows, logits=asked.logits, given=asked.given)

    @torch.no_grad()
    def sample(self, asked: Asked, outputs: torch.Tensor, count: int, seed: int) -> torch.Tensor:
        rows, logs = self._rows(asked, outputs), self._logs(asked)
        batch = len(logs)
        drawn = torch.empty(batch * count, len(self.problem.worlds), dtype=torch.int64)
        if batch > 0:
            self._require_possible(logs, rows)
            many, wanted = logs.repeat_interleave(count, 0), rows.repeat_interleave(count, 0)
            self.backend.sample(many.numpy(), wanted.numpy(), drawn.numpy(), seed, torch.get_num_threads())
        return self.perceived.without_given(drawn.view(batch, count, len(self.problem.worlds)), 2)

    @torch.no_grad()
    def most_probable(
        self, asked: Asked, outputs: torch.Tensor, nats: float | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Whatever it costs: only a search has a limit of nats."""
        rows, logs = self._rows(asked, outputs, open_=True), self._logs(asked)
        worlds = torch.empty(len(logs), len(self.problem.worlds), dtype=torch.int64)
        log_prob = torch.empty(len(logs), dtype=torch.float64)
        if len(logs) > 0:
            self.backend.most_probable(logs.numpy(), rows.numpy(), worlds.numpy(), log_prob.numpy(), torch.get_num_threads())
        return self.perceived.without_given(worlds, 1), log_prob

    # What they have in common.

    def beliefs(self, asked: Asked) -> torch.Tensor:
        return self.perceived.beliefs(asked, self.dtype)

    def beliefs_to_learn_from(self, asked: Asked) -> torch.Tensor:
        """A few worlds are drawn of them, nothing else; the loss says what is wrong with them."""
        return self.perceived.beliefs(asked, torch.float32, checked=False)

    def _logs(self, asked: Asked) -> torch.Tensor:
        with full_precision():
            return self.perceived.log_beliefs(asked).contiguous()

    def _rows(self, asked: Asked, outputs: torch.Tensor, *, open_: bool = False) -> torch.Tensor:
        self.perceived.check_shape(asked)
        return self.perceived.output_rows(outputs, len(asked.values), end=self.ends, open_=open_)

    def _of_outputs(self, logs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
        """log p(y|P)"""
        found = torch.empty(len(logs), dtype=torch.float64)
        self.backend.log_prob(logs.numpy(), found.numpy(), outputs=outputs.numpy(), threads=torch.get_num_threads())
        return found

    def _require_possible(self, logs: torch.Tensor, outputs: torch.Tensor) -> None:
        impossible = self._of_outputs(logs, outputs).isneginf().nonzero()
        if len(impossible) > 0:
            raise impossible_output(int(impossible[0]), outputs[int(impossible[0])])
