"""How likely labels of every kind are under q: what perception's loss is minus the mean of (Algorithm 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable

import torch

from . import pruning
from .beliefs import certain_beliefs, clamped, finite_logs, known_log_prob
from .beliefs import log_beliefs as logs_of
from .model import InferenceModel, logsumexp_by_row
from .problem import UNSET, Problem, Pruner
from .search import sample

__all__ = ["Labels", "counted_log_prob", "observed_log_prob"]


@dataclass(frozen=True)
class Labels:
    """What was observed of each example: outputs, worlds, or both.

    Attributes:
        outputs: int64 ``[batch, outputs]``; ``UNSET`` if a value was not observed.
        worlds: int64 ``[batch, variables]``; ``UNSET`` if a variable was not observed.
        holds: bool ``[batch]``; False if the label says "not this output".
    """

    outputs: torch.Tensor | None = None
    worlds: torch.Tensor | None = None
    holds: torch.Tensor | None = None

    def __post_init__(self) -> None:
        if self.outputs is None and self.worlds is None:
            raise ValueError("a label is missing: outputs, worlds or both")
        if self.outputs is None and self.holds is not None:
            raise ValueError("holds: it says whether outputs hold, and there are none")

    def rows(self, rows: torch.Tensor) -> Labels:
        parts = (None if part is None else part[rows] for part in (self.outputs, self.worlds, self.holds))
        return Labels(*parts)

    def to(self, device: torch.device) -> Labels:
        parts = (None if part is None else part.to(device) for part in (self.outputs, self.worlds, self.holds))
        return Labels(*parts)

    def whole_worlds(self) -> torch.Tensor:
        """Rows whose world is known altogether and whose output holds, bool ``[batch]``."""
        assert self.worlds is not None
        whole = (self.worlds != UNSET).all(1)
        return whole if self.holds is None else whole & self.holds


#: log-probabilities of labels, ``[rows]``, from the rows' beliefs.
LogProb = Callable[[torch.Tensor, Labels], torch.Tensor]


def observed_log_prob(
    q: InferenceModel,
    beliefs: torch.Tensor,
    labels: Labels,
    *,
    pruner: Pruner | None = None,
    prunes_prediction: bool = False,
    log_beliefs: torch.Tensor | None = None,
) -> torch.Tensor:
    """Of each row, ``[batch]``, differentiable in the beliefs:

    - an output: log q(y|P), or log(1 - q(y|P)) if it does not hold;
    - a whole world and its output: log q(w|y,P), by the explanation model or, if q only predicts, by Bayes' rule,
      log p(w|P) + log q(y|w) - log q(y|P);
    - some variables S of the world and an output: log p(w_S, y|P) = sum over S of log P_i(w_i) + log q(y | P with S made
      certain). A model that chooses one variable after another cannot sum over the others, but beliefs can be made certain;
    - worlds without an output: log p(w_S|P), without q.

    Args:
        pruner: of the explanation model and, if ``prunes_prediction``, of the prediction model.
        log_beliefs: logarithms of the beliefs in double precision, which say more about known variables than beliefs that
            softmax rounded to zero.
    """

    def of_outputs(beliefs: torch.Tensor, labels: Labels) -> torch.Tensor:
        outputs = _outputs(labels)
        if (outputs == UNSET).any():
            if prunes_prediction and pruner is not None:
                raise ValueError("outputs: a pruned q needs whole outputs; some values are unset")
            log_prob = q.prediction.partial_log_prob(beliefs, outputs)
        else:
            log_prob = pruning.log_prob(q.prediction, beliefs, outputs, None, pruner if prunes_prediction else None)
        return _if_it_holds(log_prob, labels.holds)

    def of_whole_worlds(beliefs: torch.Tensor, labels: Labels) -> torch.Tensor:
        assert labels.worlds is not None
        outputs = _outputs(labels)
        if q.explanation is not None:
            return pruning.log_prob(q.explanation, beliefs, labels.worlds, outputs, pruner)
        of_world = q.prediction.log_prob(certain_beliefs(labels.worlds, beliefs.shape[2], beliefs.dtype), outputs)
        known = known_log_prob(logs_of(beliefs), labels.worlds).to(beliefs.dtype)
        return known + of_world - q.prediction.log_prob(beliefs, outputs)

    return _by_kind_of_label(beliefs, log_beliefs, labels, of_outputs, of_whole_worlds)


def _by_kind_of_label(
    beliefs: torch.Tensor, logs: torch.Tensor | None, labels: Labels, of_outputs: LogProb, of_whole_worlds: LogProb
) -> torch.Tensor:
    if labels.worlds is None:
        return of_outputs(beliefs, labels)
    logs = logs_of(beliefs) if logs is None else logs
    known = known_log_prob(logs, labels.worlds).to(beliefs.dtype)
    if labels.outputs is None:
        return known
    whole = labels.whole_worlds()
    rows, parts = [], []
    if whole.any():
        rows.append(whole.nonzero().squeeze(1))
        parts.append(of_whole_worlds(beliefs[whole], labels.rows(whole)))
    if not whole.all():
        others = ~whole
        rows.append(others.nonzero().squeeze(1))
        parts.append(known[others] + of_outputs(clamped(beliefs[others], labels.worlds[others]), labels.rows(others)))
    return torch.cat(parts)[torch.cat(rows).argsort()]


def _outputs(labels: Labels) -> torch.Tensor:
    assert labels.outputs is not None
    return labels.outputs


def _if_it_holds(log_prob: torch.Tensor, holds: torch.Tensor | None) -> torch.Tensor:
    return log_prob if holds is None else torch.where(holds, log_prob, log_one_minus_exp(log_prob))


def log_one_minus_exp(x: torch.Tensor) -> torch.Tensor:
    """log(1 - e^x) for x <= 0, without the loss of digits at either end (Maechler 2012).

    An x so near zero that 1 - e^x is nothing in its type is moved to where it is something, gradient and all: a loss stays
    finite and pushes hard.
    """
    nearest = torch.finfo(x.dtype).eps
    below = x - (x + nearest).clamp_min(0).detach()
    near = below > -0.6931471805599453  # -log 2
    # Each branch is given values that suit it, so that neither brings NaN into the other's gradient.
    of_near = (-torch.expm1(torch.where(near, below, -1.0))).log()
    return torch.where(near, of_near, torch.log1p(-torch.where(near, -1.0, below).exp()))


def counted_log_prob(
    q: InferenceModel,
    problem: Problem,
    beliefs: torch.Tensor,
    labels: Labels,
    samples: int,
    generator: torch.Generator,
    pruner: Pruner | None = None,
) -> torch.Tensor:
    """As :func:`observed_log_prob`, estimated by importance sampling with worlds drawn from q(w|y,P).

    In the limit of many draws the gradient is right whatever q is, and none of it goes through q. A world that was observed
    as a whole counts as one more draw, from a source that draws nothing else (weights by the balance heuristic), so it is
    never missed. If no draw gives the output, q says how likely it is.
    """
    explanation = q.explanation
    if explanation is None:
        raise ValueError("q.counted: only an explanation model can draw worlds; set q.variant=explain or prune")

    def log_prob_of_outputs(beliefs: torch.Tensor, outputs: torch.Tensor, worlds: torch.Tensor | None) -> torch.Tensor:
        rows = torch.arange(len(beliefs), device=beliefs.device)
        row = rows.repeat_interleave(samples)
        with torch.no_grad():
            drawn = sample(explanation, beliefs[row], outputs[row], generator=generator, pruner=pruner)
            values, log_q = drawn.values, drawn.log_prob.double()
            if worlds is not None:
                of_observed = pruning.log_prob(explanation, beliefs, worlds, outputs, pruner).double()
                values, log_q, row = torch.cat([values, worlds]), torch.cat([log_q, of_observed]), torch.cat([row, rows])
            log_expected = log_q + math.log(samples)
            if worlds is not None:  # the other source draws the observed world once, and nothing else
                is_observed = (values == worlds[row]).all(1)
                once = torch.zeros_like(log_expected).masked_fill(~is_observed, -torch.inf)
                log_expected = torch.logaddexp(log_expected, once)
        wanted = outputs[row]
        fits = ((problem.outputs_of(values) == wanted) | (wanted == UNSET)).all(1)
        log_weights = known_log_prob(finite_logs(beliefs)[row[fits]], values[fits]) - log_expected[fits]
        counted = logsumexp_by_row(log_weights, row[fits], len(beliefs)).to(beliefs.dtype)
        missed = counted.detach().isneginf()
        if not missed.any():
            return counted
        by_q = pruning.log_prob(q.prediction, beliefs, outputs, None, pruner)
        return torch.where(missed, by_q, counted.masked_fill(missed, 0))

    def of_outputs(beliefs: torch.Tensor, labels: Labels) -> torch.Tensor:
        return _if_it_holds(log_prob_of_outputs(beliefs, _outputs(labels), None), labels.holds)

    def of_whole_worlds(beliefs: torch.Tensor, labels: Labels) -> torch.Tensor:
        assert labels.worlds is not None
        of_world = known_log_prob(finite_logs(beliefs), labels.worlds).to(beliefs.dtype)
        return of_world - log_prob_of_outputs(beliefs, _outputs(labels), labels.worlds)

    return _by_kind_of_label(beliefs, finite_logs(beliefs), labels, of_outputs, of_whole_worlds)
