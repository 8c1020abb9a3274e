"""Answers of a q that is no exact inference: a network, or tables whose outputs share variables."""

from __future__ import annotations

import torch

from .. import _engine, q
from ..q.beliefs import clamped, sample_values, world_log_prob
from . import problem as of_problem
from .options import EvalOptions
from .perceived import Asked, Perceived, as_asked, full_precision, impossible_label, impossible_output
from .predicting import Predicted, with_symbolic
from .rows import array, tensor

_ROWS_AT_ONCE = 4096  # that go through q where values are made certain one after another


class LearnedAnswers:
    """Args:
    learned: how q learns, if it does; its loss then counts as the options say.
    """

    exact = False
    ends = False

    def __init__(
        self,
        problem: _engine.Problem,
        perceived: Perceived,
        model: q.InferenceModel,
        options: EvalOptions,
        pruner: q.Pruner | None,
        learned: q.Amortized | None,
    ) -> None:
        self.problem, self.perceived, self.model = problem, perceived, model
        self.options, self.pruner, self.learned = options, pruner, learned
        self._weight = next(self.model.parameters(), None)  # any: it says what q computes in

    @property
    def dtype(self) -> torch.dtype:
        """What it computes in."""
        return torch.float64 if self._weight is None else self._weight.dtype

    def beliefs(self, asked: Asked) -> torch.Tensor:
        return self.perceived.beliefs(asked, self.dtype)

    beliefs_to_learn_from = beliefs

    # Losses.

    def loss(
        self, asked: Asked, outputs: torch.Tensor | None, holds: torch.Tensor | None, worlds: torch.Tensor | None
    ) -> torch.Tensor:
        labels = self._labels(asked, outputs, holds, worlds)
        log_prob = self._observed(asked, labels)
        impossible = ~(log_prob.detach() > -torch.inf)  # -inf, or 0 / 0
        if impossible.any():
            raise impossible_label(labels, int(impossible.nonzero()[0]), asked.logits)
        return as_asked(-log_prob.mean(), asked.values)

    def log_prob(
        self, asked: Asked, outputs: torch.Tensor | None, holds: torch.Tensor | None, worlds: torch.Tensor | None
    ) -> torch.Tensor:
        log_prob = self._observed(asked, self._labels(asked, outputs, holds, worlds))
        impossible = ~(log_prob.detach() > -torch.inf)
        return as_asked(log_prob.masked_fill(impossible, -torch.inf) if impossible.any() else log_prob, asked.values)

    def _labels(
        self, asked: Asked, outputs: torch.Tensor | None, holds: torch.Tensor | None, worlds: torch.Tensor | None
    ) -> q.Labels:
        self.perceived.check_shape(asked)
        return self.perceived.labels(asked, outputs, holds, worlds)

    def _observed(self, asked: Asked, labels: q.Labels) -> torch.Tensor:
        if len(asked.values) == 0:
            return asked.values.cpu().sum((1, 2))
        with full_precision():
            beliefs = self.beliefs(asked)
            logs = None if labels.worlds is None else self.perceived.log_beliefs(asked)
            if self.learned is not None:
                return self.learned.log_prob(beliefs, labels, logs)
            return q.observed_log_prob(self.model, beliefs, labels, log_beliefs=logs)

    # Answers.

    @torch.no_grad()
    def predict(self, asked: Asked, top: int) -> Predicted:
        beliefs = self.beliefs(asked)
        batch, outputs = len(beliefs), len(self.perceived.outputs)
        if batch == 0:
            none = torch.empty(0, top, outputs, dtype=torch.int64)
            worlds = torch.empty(0, len(self.perceived.domains), dtype=torch.int64)
            return Predicted(none, torch.empty(0, top), worlds, torch.empty(0, outputs, dtype=torch.int64))
        worlds = beliefs.argmax(2)
        symbolic = of_problem.apply(self.problem, worlds)
        beam = q.beam_search(self.model.prediction, beliefs, width=max(top, self.options.beam), pruner=self.pruner)
        of_symbolic = self._of_outputs(beliefs, symbolic).exp()
        ranked = with_symbolic(
            beam.values[:, :top], beam.log_prob[:, :top].exp(), symbolic, of_symbolic, world_log_prob(beliefs, worlds).exp()
        )
        return Predicted(*ranked, self.perceived.without_given(worlds, 1), symbolic)

    @torch.no_grad()
    def explain(self, asked: Asked, outputs: torch.Tensor | None, top: int) -> tuple[torch.Tensor, torch.Tensor]:
        batch, variables = len(asked.values), len(self.problem.worlds)
        worlds = torch.full((batch, top, variables), q.UNSET)
        probability = torch.zeros(batch, top, dtype=torch.float64)
        if batch > 0:
            beliefs = self.beliefs(asked)
            wanted = self.predict(asked, 1).outputs[:, 0] if outputs is None else self._rows(asked, outputs)
            of_outputs = self._of_outputs(beliefs, wanted)
            possible = (~of_outputs.isneginf()).nonzero().squeeze(1)
            if len(possible) > 0:
                logs = self._logs(asked)[possible]
                part = self._behind(beliefs[possible], logs, wanted[possible], of_outputs[possible].exp(), top)
                found = part[0].shape[1]
                worlds[possible, :found], probability[possible, :found] = part[0], part[1].double()
        filled = int((probability > 0).sum(1).max()) if batch > 0 else 0
        worlds = worlds.masked_fill((probability == 0).unsqueeze(2), q.UNSET)
        return self.perceived.without_given(worlds[:, :filled], 2), probability[:, :filled]

    def _behind(
        self, beliefs: torch.Tensor, logs: torch.Tensor, outputs: torch.Tensor, of_outputs: torch.Tensor, top: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Worlds ``[rows, found, variables]`` and how likely they are, now that the output is known."""
        if self.model.explanation is not None:
            width = max(top, self.options.beam)
            ranked = q.explain(self.model.explanation, beliefs, outputs, width=width, pruner=self.pruner)
            return ranked.values[:, :top], ranked.log_prob[:, :top].exp()
        worlds, log_prob = self._searched(logs, outputs)
        share = (log_prob.exp() / of_outputs.double()).clamp_max(1)  # one world of many: Bayes' rule
        return worlds.unsqueeze(1), share.masked_fill(log_prob.isneginf(), 0).unsqueeze(1)

    def marginals(self, asked: Asked, outputs: torch.Tensor) -> torch.Tensor:
        rows = self._possible(asked, outputs)
        beliefs = self.beliefs(asked).detach()
        result = self._marginals(beliefs, rows) if len(beliefs) > 0 else beliefs.double()
        return self.perceived.without_given(result, 1)[:, :, : self.perceived.width]

    def _marginals(self, beliefs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
        if self.model.prediction.multilinear:
            # P_i(v) times the derivative of log q by it, because q is linear in each P_i.
            with torch.inference_mode(False), torch.enable_grad():
                leaf = beliefs.clone().requires_grad_()
                total = self.model.prediction.log_prob(leaf, outputs.clone()).sum()
                (slope,) = torch.autograd.grad(total, leaf)
            return (leaf * slope).detach().double()
        result = torch.zeros(beliefs.shape, dtype=torch.float64)
        with torch.no_grad():
            for variable, domain in enumerate(self.problem.worlds):
                result[:, variable, :domain] = _shares(self._clamped_weights(beliefs, outputs, variable))
        return result

    def _clamped_weights(self, beliefs: torch.Tensor, outputs: torch.Tensor, variable: int) -> torch.Tensor:
        """log of P_i(v) q(y | P with w_i = v made certain), ``[rows, domain of the variable]``."""
        columns = []
        for value in range(self.problem.worlds[variable]):
            known = torch.full(beliefs.shape[:2], q.UNSET)
            known[:, variable] = value
            of_output = self.model.prediction.log_prob(clamped(beliefs, known), outputs).double()
            columns.append(of_output + beliefs[:, variable, value].double().log())
        return torch.stack(columns, 1)

    @torch.no_grad()
    def sample(self, asked: Asked, outputs: torch.Tensor, count: int, seed: int) -> torch.Tensor:
        rows = self._possible(asked, outputs).repeat_interleave(count, 0)
        beliefs = self.beliefs(asked).repeat_interleave(count, 0)
        generator = torch.Generator().manual_seed(seed)
        if len(rows) == 0:
            drawn = torch.empty(0, len(self.problem.worlds), dtype=torch.int64)
        elif self.model.explanation is not None:
            drawn = q.sample(self.model.explanation, beliefs, rows, generator=generator, pruner=self.pruner).values
        else:
            parts = zip(beliefs.split(_ROWS_AT_ONCE), rows.split(_ROWS_AT_ONCE))  # type: ignore[no-untyped-call]
            drawn = torch.cat([self._drawn_in_turn(*part, generator) for part in parts])
        return self.perceived.without_given(drawn.view(len(asked.values), count, len(self.problem.worlds)), 2)

    def _drawn_in_turn(self, beliefs: torch.Tensor, outputs: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Variable by variable, from what q says once those before are known."""
        known = torch.full(beliefs.shape[:2], q.UNSET)
        for variable in range(beliefs.shape[1]):
            shares = _shares(self._clamped_weights(clamped(beliefs, known), outputs, variable))
            if (shares.sum(1) == 0).any():
                raise RuntimeError("no world of positive probability gives the output")
            known = known.clone()
            known[:, variable] = sample_values(shares, generator)
        return known

    @torch.no_grad()
    def most_probable(
        self, asked: Asked, outputs: torch.Tensor, nats: float | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        self.perceived.check_shape(asked)
        rows = self.perceived.output_rows(outputs, len(asked.values), open_=True)
        logs = self._logs(asked)
        if nats is not None:  # the best there is: q's proposals need not be
            worlds, log_prob = self._searched(logs, rows, nats)
            return self.perceived.without_given(worlds, 1), log_prob
        worlds, log_prob = self._proposed(self.beliefs(asked), logs, rows)
        left = log_prob.isneginf().nonzero().squeeze(1)
        if len(left) > 0:
            worlds[left], log_prob[left] = self._searched(logs[left], rows[left])
        return self.perceived.without_given(worlds, 1), log_prob

    def _proposed(
        self, beliefs: torch.Tensor, logs: torch.Tensor, outputs: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Of the worlds that q proposes, the most probable one that the function confirms."""
        batch, variables, _ = beliefs.shape
        worlds = torch.full((batch, variables), q.UNSET)
        log_prob = torch.full((batch,), -torch.inf, dtype=torch.float64)
        whole = (outputs != q.UNSET).all(1).nonzero().squeeze(1)  # a network is told whole outputs
        if self.model.explanation is None or len(whole) == 0:
            return worlds, log_prob
        whole = whole[~self._of_outputs(beliefs[whole], outputs[whole]).isneginf()]
        if len(whole) == 0:
            return worlds, log_prob
        ranked = q.explain(
            self.model.explanation, beliefs[whole], outputs[whole], width=self.options.beam, pruner=self.pruner
        )
        proposed = ranked.values.flatten(0, 1)
        each = whole.repeat_interleave(ranked.values.shape[1])
        fits = (of_problem.apply(self.problem, proposed) == outputs[each]).all(1)
        of_worlds = logs[each].gather(2, proposed.unsqueeze(2)).squeeze(2).sum(1).masked_fill(~fits, -torch.inf)
        best, place = of_worlds.view(len(whole), -1).max(1)
        chosen = ranked.values[torch.arange(len(whole)), place]
        worlds[whole], log_prob[whole] = chosen.masked_fill(best.isneginf().unsqueeze(1), q.UNSET), best
        return worlds, log_prob

    def _searched(
        self, logs: torch.Tensor, outputs: torch.Tensor, nats: float | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """By search, with what is known of the problem: worlds, and log p(w|P)."""
        worlds, gaps, _ = _engine.most_probable_worlds(
            self.problem,
            array(logs),
            array(outputs),
            nats=self.options.nats if nats is None else nats,
            nodes=self.options.nodes,
            threads=torch.get_num_threads(),
        )
        return tensor(worlds), logs.amax(2).sum(1) - tensor(gaps)

    # What they have in common.

    def _logs(self, asked: Asked) -> torch.Tensor:
        return self.perceived.log_beliefs(asked).detach().contiguous()

    def _of_outputs(self, beliefs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
        if self.pruner is not None:
            from ..q import pruning

            return pruning.log_prob(self.model.prediction, beliefs, outputs, None, self.pruner)
        return self.model.prediction.log_prob(beliefs, outputs)

    def _rows(self, asked: Asked, outputs: torch.Tensor) -> torch.Tensor:
        self.perceived.check_shape(asked)
        return self.perceived.output_rows(outputs, len(asked.values))

    @torch.no_grad()
    def _possible(self, asked: Asked, outputs: torch.Tensor) -> torch.Tensor:
        """The outputs. Raises ValueError if one is impossible."""
        rows = self._rows(asked, outputs)
        if len(rows) > 0:
            impossible = self.model.prediction.log_prob(self.beliefs(asked), rows).isneginf().nonzero()
            if len(impossible) > 0:
                raise impossible_output(int(impossible[0]), rows[int(impossible[0])])
        return rows


def _shares(log_weights: torch.Tensor) -> torch.Tensor:
    """Of what is possible; nothing if nothing is."""
    total = log_weights.logsumexp(1, keepdim=True)
    return torch.where(total.isneginf(), 0, (log_weights - total).exp())
