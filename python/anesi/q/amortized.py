"""The A-NeSI loss: -log q(y|P), with a q that is learned from samples of the function alone (sections 3.1 and 3.2).

    q = make_model(problem, "mlp")
    loss = Amortized(problem, q, make_prior(problem.worlds), Options(), seed=0)
    loss.pretrain()
    for x, y in loader:                      # Algorithm 2
        beliefs = net(x).softmax(2)
        loss.learn(beliefs)                  # Algorithm 1: one update of q
        loss.loss(beliefs, Labels(y)).backward()
        ...
"""

from __future__ import annotations

import copy
import math
from contextlib import contextmanager
from typing import Any, Iterator, NamedTuple

import torch

from . import pruning
from .beliefs import finite_logs, sample_worlds, world_log_prob
from .model import InferenceModel
from .observed import Labels, counted_log_prob, observed_log_prob
from .options import Options, Rate
from .priors import Prior
from .problem import Problem
from .search import Samples, sample
from .solutions import draw_solutions

IMPOSSIBLE_RATIO = 10.0  # how far an impossible sample counts as being off, in nats


class Exercise(NamedTuple):
    """What q learns from in an update."""

    beliefs: torch.Tensor
    worlds: torch.Tensor
    outputs: torch.Tensor  # of the worlds
    solutions: bool = False  # whether worlds are distributed as p(w|y,P)

    def rows(self, begin: int, end: int) -> Exercise:
        return Exercise(self.beliefs[begin:end], self.worlds[begin:end], self.outputs[begin:end], self.solutions)


class Amortized:
    """q, its prior and its optimiser.

    Between updates q is at rest: in evaluation mode, and its weights ask for no gradient, so perception's backward pass
    computes none of theirs.

    Args:
        problem: the function, and what is known of it.
        model: q, on the CPU. It needs an explanation model for the variants ``explain`` and ``prune``.
        prior: over beliefs of the problem's worlds.
        options: how q learns.
        seed: decides every draw.
    """

    def __init__(
        self, problem: Problem, model: InferenceModel, prior: Prior, options: Options = Options(), seed: int = 0
    ) -> None:
        if options.explains and model.explanation is None:
            raise ValueError(f"q.variant={options.variant}: q has no explanation model")
        if options.counted > 0 and model.explanation is None:
            raise ValueError("q.counted: only an explanation model can draw worlds; set q.variant=explain or prune")
        if options.prunes and problem.pruner is None:
            raise ValueError("q.variant=prune: this problem has no pruner; use explain")
        self.problem, self.model, self.prior, self.options = problem, model, prior, options
        self.generator = torch.Generator().manual_seed(seed)
        self.pruner = problem.pruner if options.prunes else None
        self.matches = model.learns_to_explain()  # whether an explanation model is learned too
        self._steps = 0  # of perception
        self._optimizer = torch.optim.Adam(model.parameters(), lr=options.lr, fused=True)
        self._set_learning(False)

    # Algorithm 1.

    def pretrain(self) -> float:
        """The updates before perception starts (``q.pretrain``). Returns the last loss."""
        updates = self.options.pretrain
        losses = [self.update(self.options.rate(update, updates)) for update in range(updates)]
        return losses[-1] if losses else 0.0

    def learn(self, beliefs: torch.Tensor) -> float | None:
        """One step beside perception: the prior takes note of the beliefs that it emitted, and q is updated if it is its
        turn (``q.every``, ``q.frozen``). Returns the loss of the update."""
        if self.options.frozen:
            return None
        self._steps += 1
        if (self._steps - 1) % self.options.every != 0:
            return None
        perceived = beliefs.detach()
        self.prior.observe(perceived)
        return self.update(self.options.rate_beside(), perceived if self.options.perceived else None)

    def update(self, rate: Rate | None = None, more: torch.Tensor | None = None) -> float:
        """Algorithm 1: fits the prior, samples beliefs from it and worlds from them, applies the function, and takes one
        step on q. Returns the loss.

        Args:
            rate: of the step; by default that of :meth:`learn`.
            more: beliefs to learn from beside the sampled ones.
        """
        rate = rate or self.options.rate_beside()
        if self.matches and self.options.policy == "solutions":
            return self._update_on_solutions(rate, more)
        self.prior.fit()
        beliefs, worlds = self.prior.sample_with_worlds(self.options.samples, self.generator)
        beliefs = beliefs.to(self._type)
        if more is not None:
            more = more.to(beliefs)
            beliefs = torch.cat([beliefs, more])
            worlds = torch.cat([worlds, sample_worlds(more, self.generator)])
        return self.update_on(Exercise(beliefs, worlds, self.problem.function(worlds)), rate)

    def _update_on_solutions(self, rate: Rate, more: torch.Tensor | None) -> float:
        drawn = draw_solutions(self.problem, self.options.samples, self.generator)
        loss = self.update_on(Exercise(drawn.beliefs.to(self._type), drawn.worlds, drawn.outputs, solutions=True), rate)
        if more is not None:  # where perception looks, q also learns from its own worlds
            outputs = drawn.outputs[:1].expand(len(more), -1)
            more = more.to(drawn.beliefs).to(self._type)
            self.update_on(Exercise(more, sample_worlds(more, self.generator), outputs), rate)
        return loss

    def update_on(self, exercise: Exercise, rate: Rate) -> float:
        """The last part of Algorithm 1: one step on what was sampled."""
        samples, outputs = exercise.outputs.shape
        chunk = max(1, self.options.chunk // outputs) if self.options.chunk else samples
        value = 0.0
        with self._learning():
            self._optimizer.zero_grad()
            for begin in range(0, samples, chunk):
                part = exercise.rows(begin, begin + chunk) if chunk < samples else exercise
                loss = self.q_loss(part) * (len(part.beliefs) / samples)
                value += loss.item()
                if loss.requires_grad:  # outputs of one value each: there is nothing to learn
                    loss.backward()  # type: ignore[no-untyped-call]
            if not math.isfinite(value):
                raise ValueError("q: the loss is not a finite number; a lower q.lr may help")
            if self.options.clip > 0:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.options.clip)
            for group in self._optimizer.param_groups:
                group["lr"], group["betas"] = rate.lr, (rate.beta1, group["betas"][1])
            self._optimizer.step()
            self._optimizer.zero_grad()
        return value

    def q_loss(self, exercise: Exercise) -> torch.Tensor:
        """What an update minimises, a scalar: the place to change how q learns."""
        beliefs, worlds, outputs, solutions = exercise
        options, explanation = self.options, self.model.explanation
        if not self.matches or explanation is None:  # eq. 6: the cross-entropy of sampled outputs
            return -self._prediction(beliefs, outputs).mean()
        if solutions:
            return self._solutions_loss(exercise)
        if options.policy == "solutions":
            return self._on_policy_loss(exercise)
        off_policy = options.policy != "on" or options.matching == "forward_kl"
        if not off_policy and options.prediction_weight == 0:
            return self._on_policy_loss(exercise)
        loss = torch.zeros((), dtype=beliefs.dtype, device=beliefs.device)
        log_prediction = self._prediction(beliefs, outputs)
        if off_policy:
            log_q = log_prediction + pruning.log_prob(explanation, beliefs, worlds, outputs, self.pruner)
            if options.matching == "forward_kl":
                return -log_q.mean()
            loss = loss + squared_log_ratio(log_q, world_log_prob(beliefs, worlds)).mean()  # eq. 9
        if options.prediction_weight > 0:
            loss = loss - options.prediction_weight * log_prediction.mean()
        if options.policy != "off":
            weight = 1.0 if options.policy == "on" else options.on_policy_weight
            loss = loss + weight * self._on_policy_loss(exercise)
        return loss

    def _prediction(self, beliefs: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
        """log q(y|P) as it is learned: under the pruner if there is an explanation model to learn beside it."""
        return pruning.log_prob(self.model.prediction, beliefs, outputs, None, self.pruner if self.matches else None)

    def _solutions_loss(self, exercise: Exercise) -> torch.Tensor:
        # The worlds are distributed as they should be, so likelihood teaches; then each says what q(y|P) should be.
        beliefs, worlds, outputs, _ = exercise
        assert self.model.explanation is not None
        of_worlds = pruning.log_prob(self.model.explanation, beliefs, worlds, outputs, self.pruner)
        of_outputs = world_log_prob(beliefs, worlds) - of_worlds.detach()
        return squared_log_ratio(self._prediction(beliefs, outputs), of_outputs).mean() - of_worlds.mean()

    def _on_policy_loss(self, exercise: Exercise) -> torch.Tensor:
        """Joint matching on worlds that q draws itself (appendix E.2: the gradient of the drawing is ignored)."""
        assert self.model.explanation is not None
        options = self.options
        y = self._outputs_to_explain(exercise.beliefs)
        beliefs = exercise.beliefs.repeat_interleave(options.worlds, 0)
        outputs = y.values.repeat_interleave(options.worlds, 0)
        w = self._draw(self.model.explanation, beliefs, outputs)
        fits = (self.problem.function(w.values) == outputs).all(1)
        log_p = world_log_prob(beliefs, w.values).masked_fill(~fits, -torch.inf)
        if options.worlds == 1:
            return squared_log_ratio(y.log_prob + w.log_prob, log_p).mean()
        # Each world says what log q(y|P) should be. Their mean weight is the best guess of all of them.
        guesses = (log_p - w.log_prob).detach().view(-1, options.worlds)
        pooled = guesses.logsumexp(1) - math.log(options.worlds)
        possible = pooled.isfinite()
        target = pooled.masked_fill(~possible, 0)
        of_prediction = torch.where(possible, y.log_prob - target, 0).square().mean()
        return of_prediction + squared_log_ratio(w.log_prob + target.repeat_interleave(options.worlds, 0), log_p).mean()

    def _outputs_to_explain(self, beliefs: torch.Tensor) -> Samples:
        """q's own outputs, or the one that all labels are about."""
        if self.problem.asked is None:
            return self._draw(self.model.prediction, beliefs, None)
        outputs = torch.tensor(self.problem.asked).expand(len(beliefs), -1)
        return Samples(outputs, self._prediction(beliefs, outputs))

    def _draw(self, half: Any, beliefs: torch.Tensor, outputs: torch.Tensor | None) -> Samples:
        temperature = self.options.temperature
        return sample(half, beliefs, outputs, generator=self.generator, pruner=self.pruner, temperature=temperature)

    # Algorithm 2.

    def loss(self, beliefs: torch.Tensor, labels: Labels, log_beliefs: torch.Tensor | None = None) -> torch.Tensor:
        """Minus the mean log-probability of the labels. Its gradient reaches the beliefs and nothing else.

        Args:
            log_beliefs: as :func:`observed_log_prob` takes them; by default those of the beliefs, kept finite.
        """
        if log_beliefs is None and labels.worlds is not None:
            log_beliefs = finite_logs(beliefs)
        return -self.log_prob(beliefs, labels, log_beliefs).mean()

    def log_prob(self, beliefs: torch.Tensor, labels: Labels, log_beliefs: torch.Tensor | None = None) -> torch.Tensor:
        """Of each example, ``[batch]``: observed.py says of which kinds labels are."""
        beliefs = beliefs.to(self._type)
        if self.options.counted > 0:
            count, pruner = self.options.counted, self.pruner
            return counted_log_prob(self.model, self.problem, beliefs, labels, count, self.generator, pruner)
        return observed_log_prob(
            self.model, beliefs, labels, pruner=self.pruner, prunes_prediction=self.matches, log_beliefs=log_beliefs
        )

    # To keep.

    def state_dict(self) -> dict[str, Any]:
        """All that the future depends on."""
        return {
            "model": self.model.tensors(),
            "optimizer": self._optimizer.state_dict(),
            "prior": self.prior.state_dict(),
            "generator": self.generator.get_state(),
            "steps": self._steps,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes up what :meth:`state_dict` gave, for the same problem and options. If it does not fit, nothing changes."""
        before = copy.deepcopy(self.state_dict())
        try:
            self._take(state)
        except Exception:
            self._take(before)
            raise

    def _take(self, state: dict[str, Any]) -> None:
        self.prior.load_state_dict(state["prior"])
        self.model.load_tensors(state["model"], "state")
        self._optimizer.load_state_dict(state["optimizer"])
        self.generator.set_state(state["generator"])
        self._steps = int(state["steps"])

    # q between updates.

    @property
    def _type(self) -> torch.dtype:
        return next((parameter.dtype for parameter in self.model.parameters()), torch.float32)

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """While it lasts q learns; then it is at rest again, whatever went wrong."""
        self._set_learning(True)
        try:
            with torch.enable_grad():
                yield
        finally:
            self._set_learning(False)

    def _set_learning(self, learns: bool) -> None:
        self.model.train(learns)
        self.model.requires_grad_(learns)


def squared_log_ratio(log_q: torch.Tensor, log_p: torch.Tensor) -> torch.Tensor:
    """(log q - log p)^2 for each row. If log p is -inf, the residual is taken as a constant number of nats, so that its
    gradient still lowers q."""
    impossible = log_p.isneginf()
    ratio = log_q - log_p.masked_fill(impossible, 0)
    return torch.where(impossible, IMPOSSIBLE_RATIO + log_q - log_q.detach(), ratio).square()
