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
from typing import Any, Callable, Iterator, NamedTuple

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


class Partners(NamedTuple):
    """Processes that share out the samples of an update."""

    rank: int = 0
    size: int = 1
    #: Adds up a float64 vector on the CPU over all partners, in place: ``torch.distributed.all_reduce``.
    add_up: Callable[[torch.Tensor], object] = lambda message: None


class Amortized:
    """q, its prior and its optimiser.

    Between updates q is at rest: in evaluation mode, and its weights ask for no gradient, so perception's backward pass
    computes none of theirs.

    Args:
        problem: the function, and what is known of it.
        model: q, on any device and in any floating type; from here on :meth:`to` moves it. It needs an explanation model
            for the variants ``explain`` and ``prune``.
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
        self._weights = list(model.parameters())
        self._parts = list(model.modules())
        self._parts_are_plain = all(map(_is_plain, self._parts))
        self._partners = Partners()
        self._optimizer = torch.optim.Adam(self._weights, lr=options.lr, fused=True)
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
        with torch.inference_mode(False):
            perceived = beliefs.detach().clone()
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
        with torch.inference_mode(False), self._in_full_precision():  # whatever the caller is in
            if self.matches and self.options.policy == "solutions":
                return self._update_on_solutions(rate, more)
            return self._update_on_prior(rate, more)

    def _update_on_prior(self, rate: Rate, more: torch.Tensor | None) -> float:
        self.prior.fit()
        drawn = self.prior.sample_with_worlds(self.options.samples, self.generator)
        beliefs, worlds = drawn[0].to(self._device, self._type), drawn[1].to(self._device)
        if more is not None:
            more = more.to(beliefs)
            beliefs = torch.cat([beliefs, more])
            worlds = torch.cat([worlds, sample_worlds(more, self.generator)])
        return self.update_on(Exercise(beliefs, worlds, self.problem.outputs_of(worlds)), rate)

    def _update_on_solutions(self, rate: Rate, more: torch.Tensor | None) -> float:
        drawn = draw_solutions(self.problem, self.options.samples, self.generator)
        beliefs, worlds, outputs = (part.to(self._device) for part in drawn)
        loss = self.update_on(Exercise(beliefs.to(self._type), worlds, outputs, solutions=True), rate)
        if more is not None:  # where perception looks, q also learns from its own worlds
            outputs = outputs[:1].expand(len(more), -1)
            more = more.to(self._device, self._type)
            self.update_on(Exercise(more, sample_worlds(more, self.generator), outputs), rate)
        return loss

    def update_on(self, exercise: Exercise, rate: Rate) -> float:
        """The last part of Algorithm 1: one step on what was sampled."""
        samples, outputs = exercise.outputs.shape
        chunk = max(1, self.options.chunk // outputs) if self.options.chunk else samples
        first, last = (samples * (self._partners.rank + turn) // self._partners.size for turn in (0, 1))
        value = 0.0
        with self._learning():
            for begin in range(first, last, chunk):
                part = exercise.rows(begin, min(begin + chunk, last))
                loss = self.q_loss(part)
                if len(part.beliefs) < samples:
                    loss = loss * (len(part.beliefs) / samples)
                value += loss.item()
                if loss.requires_grad:  # outputs of one value each: there is nothing to learn
                    loss.backward()  # type: ignore[no-untyped-call]
            if self._partners.size > 1:
                value = self._added_up(value)
            if not math.isfinite(value):
                raise ValueError("q: the loss is not a finite number; a lower q.lr may help")
            if self.options.clip > 0:
                torch.nn.utils.clip_grad_norm_(self._weights, self.options.clip)
            for group in self._optimizer.param_groups:
                group["lr"], group["betas"] = rate.lr, (rate.beta1, group["betas"][1])
            self._optimizer.step()
        return value

    def _added_up(self, value: float) -> float:
        """Adds up the gradients of all partners, and their losses, in one message."""
        numbers = [torch.tensor([value], dtype=torch.float64)]
        for weight in self._weights:
            gradient = torch.zeros_like(weight) if weight.grad is None else weight.grad
            numbers.append(gradient.flatten().double().cpu())
        message = torch.cat(numbers)
        self._partners.add_up(message)
        total, *gradients = torch.split(message, [len(part) for part in numbers])
        for weight, gradient in zip(self._weights, gradients):
            weight.grad = gradient.view_as(weight).to(weight)
        return float(total)

    def join(self, partners: Partners) -> None:
        """From here on each update is shared with the same loss in other processes, which has the same state. ValueError
        if q learns from its own samples: those differ from process to process."""
        own = self.options.policy in ("on", "both") or (self.options.policy == "solutions" and self.options.perceived)
        if partners.size > 1 and self.matches and own:
            message = "several processes cannot learn from worlds that q draws itself; set it to off, or to solutions"
            raise ValueError(f"q.policy={self.options.policy}: {message} with q.perceived=false")
        self._partners = partners

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
        fits = (self.problem.outputs_of(w.values) == outputs).all(1)
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
        outputs = torch.tensor(self.problem.asked, device=beliefs.device).expand(len(beliefs), -1)
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
        device, beliefs, labels = beliefs.device, beliefs.to(self._device, self._type), labels.to(self._device)
        logs = None if log_beliefs is None else log_beliefs.to(self._device)
        with self._in_full_precision():
            if self.options.counted > 0:
                count, pruner = self.options.counted, self.pruner
                return counted_log_prob(self.model, self.problem, beliefs, labels, count, self.generator, pruner).to(device)
            return observed_log_prob(
                self.model, beliefs, labels, pruner=self.pruner, prunes_prediction=self.matches, log_beliefs=logs
            ).to(device)

    # To keep.

    def to(self, *where: Any) -> Amortized:
        """Moves q to another device or floating type, its optimiser with it."""
        self.model.to(*where)
        self._optimizer.load_state_dict(self._optimizer.state_dict())
        return self

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

    def __getstate__(self) -> dict[str, Any]:
        # Generators are not copied by themselves; a copy has no partners.
        return {**self.__dict__, "generator": self.generator.get_state(), "_partners": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _partners=Partners())
        self.generator = torch.Generator()
        self.generator.set_state(state["generator"])

    # q between updates.

    @property
    def _type(self) -> torch.dtype:
        return self._weights[0].dtype

    @property
    def _device(self) -> torch.device:
        return self._weights[0].device

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """While it lasts q learns; then it is at rest again, whatever went wrong."""
        self._set_learning(True)
        try:
            with torch.enable_grad():
                yield
        finally:
            self._optimizer.zero_grad()
            self._set_learning(False)

    def _in_full_precision(self) -> torch.autocast:
        return torch.autocast(self._device.type, enabled=False)

    def _set_learning(self, learns: bool) -> None:
        if self._parts_are_plain:  # as train() does, in 2 instead of 37 microseconds, twice an update
            for part in self._parts:
                part.__dict__["training"] = learns
        else:
            self.model.train(learns)
        for weight in self._weights:
            weight.requires_grad_(learns)


def _is_plain(part: torch.nn.Module) -> bool:
    """Whether its mode is an attribute like any other."""
    return type(part).train is torch.nn.Module.train and type(part).__setattr__ is torch.nn.Module.__setattr__


def squared_log_ratio(log_q: torch.Tensor, log_p: torch.Tensor) -> torch.Tensor:
    """(log q - log p)^2 for each row. If log p is -inf, the residual is taken as a constant number of nats, so that its
    gradient still lowers q."""
    impossible = log_p.isneginf()
    ratio = log_q - log_p.masked_fill(impossible, 0)
    return torch.where(impossible, IMPOSSIBLE_RATIO + log_q - log_q.detach(), ratio).square()
