"""Exact inference as PyTorch sees it: a back end of the engine, differentiable.

The engine computes on the CPU, in 64 bits, without Python's lock. Logits of 32 and 64 bits are read where they lie, and
softmax, labels and the gradient by the logits are one call. A second derivative recomputes in differentiable operations,
with the engine's product of the Hessian with a vector.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from . import _engine

UNKNOWN = -1  # in the world of a label: nothing is told of this variable
ENDED = -1  # in an output: past its end
OPEN = -2  # in an output: it may have any value

# How far below p(y|P) a belief of zero is taken to be while derivatives by it are computed, in nats: too little to
# change anything, and enough to be divided by again.
_NEARLY_NEVER, _LEAST_LOG = 400.0, -300.0


class Labels(NamedTuple):
    """What was observed of each example: an output, some or all variables of the world, or both."""

    outputs: torch.Tensor | None = None
    """Whole numbers ``[batch, outputs]`` or, of one output, ``[batch]``."""
    holds: torch.Tensor | None = None
    """bool ``[batch]``: False where the output is anything but that."""
    worlds: torch.Tensor | None = None
    """Whole numbers ``[batch, variables]``, -1 where a variable is not known."""
    joint: bool = False
    """Of whole worlds with their output: log p(w,y|P) rather than log p(w|y,P)."""


class Ranked(NamedTuple):
    """Worlds or outputs, most probable first."""

    values: torch.Tensor
    """int64 ``[batch, found, variables]``; -2 where a place is not filled."""
    log_prob: torch.Tensor
    """float64 ``[batch, found]``; -inf where a place is not filled."""
    proven: torch.Tensor
    """bool ``[batch]``: whether none is more probable. False if a search was cut short."""


class ExactInference:
    """Exact answers about tensors.

    Beliefs come as logits, ``[batch, variables, largest domain]``, or as probabilities (``logits=False``) of any floating
    type, on any device. Answers are on that device. Several threads may ask at once.

    Args:
        backend: of the engine.
        given: how many of the first variables of the world are known for certain. Values are of the others.
    """

    def __init__(self, backend: _engine.Backend, given: int = 0) -> None:
        self.backend, self.given_count = backend, given
        domains = backend.worlds
        self.given, self.worlds, self.outputs = domains[:given], domains[given:], backend.outputs
        self._shape = (len(self.worlds), max(self.worlds))
        places = torch.arange(self._shape[1])
        self._outside = places.unsqueeze(0) >= torch.tensor(self.worlds).unsqueeze(1)  # [variables, width]
        self._padded = bool(self._outside.any())

    def log_prob(
        self, values: torch.Tensor, labels: Labels, *, logits: bool = True, given: torch.Tensor | None = None
    ) -> torch.Tensor:
        """log of how likely each label is, ``[batch]``, -inf where it is impossible. Differentiable twice."""
        if logits:
            found = _log_prob(self._numbers(values, "logits"), self._asked(labels, given, softmax=True))
        else:
            found = self._through_logs(values, given, self._asked(labels, given))
        return self._as_asked(found, values)

    def loss(
        self, values: torch.Tensor, labels: Labels, *, logits: bool = True, given: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Minus the mean of :meth:`log_prob`. Raises ValueError if a label is impossible."""
        if logits and len(values) > 0:
            asked = self._asked(labels, given, softmax=True)
            found = _Loss.apply(self._numbers(values, "logits"), asked)  # type: ignore[no-untyped-call]
            return self._as_asked(found, values)
        log_prob = self.log_prob(values, labels, logits=logits, given=given)
        impossible = torch.isneginf(log_prob.detach()).nonzero()
        if len(impossible) > 0:
            raise _impossible(labels, int(impossible[0]), "which these beliefs rule out")
        return -log_prob.mean()

    def marginals(
        self,
        values: torch.Tensor,
        outputs: torch.Tensor,
        *,
        logits: bool = True,
        given: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """p(w_i = v|y,P), float64 ``[batch, variables, largest domain]``, differentiable once.

        Raises ValueError if an output is impossible. Of a belief that is 0 the derivative is left out.
        """
        logs = self._log_beliefs(values, logits, given)
        asked = self._asked(Labels(outputs), None)
        found = _slope(logs, asked, True)
        return found[:, self.given_count :, : self._shape[1]].to(values.device)

    def entropy(
        self, values: torch.Tensor, outputs: torch.Tensor, *, logits: bool = True, given: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Of p(w|y,P) in nats, float64 ``[batch]``, 0 if the output is impossible. Differentiable once."""
        logs = self._log_beliefs(values, logits, given)
        found: torch.Tensor = _Entropy.apply(logs, self._asked(Labels(outputs), None))  # type: ignore[no-untyped-call]
        return found.to(values.device)

    @torch.no_grad()
    def most_probable(
        self, values: torch.Tensor, outputs: torch.Tensor, *, logits: bool = True, given: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The most probable world that gives each output, and log p(w|P): -2 throughout and -inf if there is none."""
        logs = self._log_beliefs(values, logits, given)
        worlds = torch.empty(len(logs), len(self.backend.worlds), dtype=torch.int64)
        log_prob = torch.empty(len(logs), dtype=torch.float64)
        asked = self._asked(Labels(outputs), None)
        self.backend.most_probable(logs.numpy(), asked.outputs, worlds.numpy(), log_prob.numpy(), asked.threads)
        return worlds[:, self.given_count :].to(values.device), log_prob.to(values.device)

    @torch.no_grad()
    def sample(
        self,
        values: torch.Tensor,
        outputs: torch.Tensor,
        count: int = 1,
        *,
        seed: int,
        logits: bool = True,
        given: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Worlds from p(w|y,P), int64 ``[batch, count, variables]``. Raises RuntimeError if an output is impossible."""
        logs = self._log_beliefs(values, logits, given).repeat_interleave(count, 0)
        asked = self._asked(Labels(outputs.repeat_interleave(count, 0)), None)
        worlds = torch.empty(len(logs), len(self.backend.worlds), dtype=torch.int64)
        self.backend.sample(logs.numpy(), asked.outputs, worlds.numpy(), seed, asked.threads)
        return worlds.view(len(values), count, -1)[:, :, self.given_count :].to(values.device)

    @torch.no_grad()
    def ranked_worlds(
        self,
        values: torch.Tensor,
        outputs: torch.Tensor,
        top: int,
        *,
        logits: bool = True,
        given: torch.Tensor | None = None,
    ) -> Ranked:
        """The most probable worlds that give each output, at most ``top``, with log p(w|y,P)."""
        logs = self._log_beliefs(values, logits, given)
        asked = self._asked(Labels(outputs), None)
        total = torch.empty(len(logs), dtype=torch.float64)
        self.backend.log_prob(logs.numpy(), total.numpy(), outputs=asked.outputs, threads=asked.threads)
        worlds, log_prob, proven = self.backend.ranked_worlds(logs.numpy(), asked.outputs, top, asked.threads)
        # Where an output is impossible nothing was found, so that there is nothing to be divided by its probability.
        given_output = torch.from_numpy(log_prob) - total.masked_fill(torch.isneginf(total), 0).unsqueeze(1)
        return self._ranked(torch.from_numpy(worlds)[:, :, self.given_count :], given_output, proven, values)

    @torch.no_grad()
    def ranked_outputs(
        self, values: torch.Tensor, top: int, *, logits: bool = True, given: torch.Tensor | None = None
    ) -> Ranked:
        """The most probable outputs, at most ``top``, with log p(y|P)."""
        logs = self._log_beliefs(values, logits, given)
        outputs, log_prob, proven = self.backend.ranked_outputs(logs.numpy(), top, torch.get_num_threads())
        return self._ranked(torch.from_numpy(outputs), torch.from_numpy(log_prob), proven, values)

    # What is given, checked and brought into the engine's shape.

    def _ranked(self, points: torch.Tensor, log_prob: torch.Tensor, proven: list[bool], values: torch.Tensor) -> Ranked:
        return Ranked(points.to(values.device), log_prob.to(values.device), torch.tensor(proven, dtype=torch.bool))

    def _numbers(self, values: torch.Tensor, name: str) -> torch.Tensor:
        """On the CPU in one piece, in 32 or 64 bits."""
        if not values.is_floating_point():
            raise ValueError(f"{name}: floating-point numbers are expected, not {_type(values)}")
        if values.dim() != 3 or values.shape[1:] != self._shape:
            expected = f"(batch, {self._shape[0]}, {self._shape[1]})"
            raise ValueError(f"{name}: shape {tuple(values.shape)}, expected {expected}")
        if values.dtype != torch.float32 and values.dtype != torch.float64:
            values = values.float()
        return values if values.is_cpu and values.is_contiguous() else values.cpu().contiguous()

    def _asked(self, labels: Labels, given: torch.Tensor | None, softmax: bool = False) -> _Asked:
        asked = _Asked()
        asked.inference, asked.labels, asked.softmax, asked.joint = self, labels, softmax, labels.joint
        asked.backend, asked.threads = self.backend, torch.get_num_threads()
        asked.outputs, asked.worlds = _rows(labels.outputs, "outputs"), _rows(labels.worlds, "worlds")
        asked.holds = None if labels.holds is None else labels.holds.detach().to("cpu", torch.bool).contiguous().numpy()
        asked.given = self._given_rows(given) if softmax else None
        if not softmax and self.given_count > 0 and asked.worlds is not None:
            # Logarithms are of all variables, and so are labels.
            asked.worlds = np.concatenate([self._given_rows(given), asked.worlds], 1)
        return asked

    def _given_rows(self, given: torch.Tensor | None) -> Any:
        if (given is not None) != (self.given_count > 0):
            told = f"{self.given_count} extra inputs are expected" if self.given_count > 0 else "there are no extra inputs"
            raise ValueError(f"given: {told}")
        return _rows(given, "given")

    def _log_beliefs(self, values: torch.Tensor, logits: bool, given: torch.Tensor | None) -> torch.Tensor:
        """Logarithms, float64 ``[batch, all variables, width]``, in differentiable operations."""
        numbers = self._numbers(values, "logits" if logits else "beliefs").double()
        if logits:
            if self._padded:
                numbers = numbers.masked_fill(self._outside, -torch.inf)
            logs = numbers.log_softmax(2)
            self._require_numbers(logs)
        else:
            self._require_beliefs(numbers)
            none = numbers <= 0
            logs = numbers.masked_fill(none, 1).log().masked_fill(none, -torch.inf)
        return self._with_given(logs, given)

    def _with_given(self, logs: torch.Tensor, given: torch.Tensor | None) -> torch.Tensor:
        rows = self._given_rows(given)
        if rows is None:
            return logs.contiguous()
        told = torch.from_numpy(rows)
        sizes = torch.tensor(self.given)
        if told.shape != (len(logs), len(sizes)):
            raise ValueError(f"given: shape {tuple(told.shape)}, expected ({len(logs)}, {len(sizes)})")
        if ((told < 0) | (told >= sizes)).any():
            raise ValueError(f"given: the values are 0 to {[size - 1 for size in self.given]}")
        width = max(self.backend.worlds)
        logs = torch.nn.functional.pad(logs, (0, width - logs.shape[2]), value=-torch.inf)
        return torch.cat([torch.nn.functional.one_hot(told, width).double().log(), logs], 1).contiguous()

    def _require_numbers(self, logs: torch.Tensor) -> None:
        bad = logs.detach().isnan().any(2).nonzero()
        if len(bad) > 0:
            raise ValueError(f"logits: example {int(bad[0, 0])}, variable {int(bad[0, 1])}: not a number or infinite")

    def _require_beliefs(self, numbers: torch.Tensor) -> None:
        beliefs = numbers.detach()
        for what, wrong in (
            ("not a number", beliefs.isnan().any(2)),
            ("a probability is negative", (beliefs < 0).any(2)),
            ("there are probabilities past its values", ((beliefs != 0) & self._outside).any(2)),
            ("probabilities do not sum to 1", (beliefs.sum(2) - 1).abs() >= 1e-3),
        ):
            if wrong.any():
                row, variable = wrong.nonzero()[0].tolist()
                raise ValueError(f"beliefs: example {row}, variable {variable}: {what}")

    def _through_logs(self, values: torch.Tensor, given: torch.Tensor | None, asked: _Asked) -> torch.Tensor:
        """Of beliefs, differentiable in them also where they are 0."""
        logs = self._log_beliefs(values, False, given)
        found = _log_prob(logs, asked)
        if not (torch.is_grad_enabled() and values.requires_grad):
            return found
        numbers = values.cpu().double()
        none = (numbers <= 0) & ~self._outside
        if not none.any():
            return found
        # The derivative by a belief of zero is that by one that is nearly zero, beside any world there is. Where worlds
        # may be next to impossible there is no room below them, and that derivative is left out.
        result = found.detach()
        positive = numbers.masked_fill(numbers <= 0, 1).log()
        least_world = positive.detach().amin(2).sum(1).view(-1, 1, 1)
        floor = least_world.clamp_min(_LEAST_LOG) - _NEARLY_NEVER
        nearly = torch.where(
            none & (least_world > _LEAST_LOG),
            floor + numbers * (-floor).exp(),
            positive.masked_fill(numbers <= 0, -torch.inf),
        )
        near = _log_prob(self._with_given(nearly, given), asked)
        impossible = torch.isneginf(result)
        return torch.where(impossible, result, near + (result - near.detach()).masked_fill(impossible, 0))

    def _as_asked(self, found: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """In 64 bits if the values are, else in 32."""
        wide = values.dtype == torch.float64
        if found.dtype != (torch.float64 if wide else torch.float32):
            found = found.double() if wide else found.float()
        return found if values.is_cpu else found.to(values.device)


class _Asked:
    """Labels as the engine takes them, and whom to ask."""

    __slots__ = ("inference", "backend", "labels", "softmax", "joint", "threads", "given", "outputs", "holds", "worlds")
    inference: ExactInference
    backend: _engine.Backend
    labels: Labels
    softmax: bool  # whether numbers are logits; else they are logarithms of beliefs
    joint: bool
    threads: int
    given: Any
    outputs: Any
    holds: Any
    worlds: Any

    def about_logits(self) -> tuple[Any, ...]:
        return self.given, self.outputs, self.holds, self.worlds, self.joint, self.threads

    def about(self) -> dict[str, Any]:
        return {
            "outputs": self.outputs,
            "holds": self.holds,
            "worlds": self.worlds,
            "joint": self.joint,
            "threads": self.threads,
        }

    def of_logs(self) -> _Asked:
        """The same of logarithms."""
        given = None if self.given is None else torch.from_numpy(self.given)
        return self.inference._asked(self.labels, given) if self.softmax else self

    def gradient(self, numbers: torch.Tensor) -> torch.Tensor:
        """Of log_prob by logits or logarithms, in differentiable operations."""
        if not self.softmax:
            return _slope(numbers, self, False)
        inference = self.inference
        given = None if self.given is None else torch.from_numpy(self.given)
        logs = inference._log_beliefs(numbers, True, given)
        slope = _slope(logs, self.of_logs(), False)
        seen, logs = slope[:, inference.given_count :], logs[:, inference.given_count :]
        by_logits = seen - logs.exp() * seen.sum(2, keepdim=True)
        return by_logits[:, :, : inference._shape[1]].to(numbers.dtype)


class _LogProb(torch.autograd.Function):
    """log p(label) of each row."""

    @staticmethod
    def forward(ctx: Any, numbers: torch.Tensor, asked: _Asked) -> torch.Tensor:
        found = torch.empty(len(numbers), dtype=numbers.dtype)
        arrays = _arrays(ctx, numbers, found, asked)
        if asked.softmax:
            asked.backend.log_prob_of_logits(*arrays, *asked.about_logits())
        else:
            asked.backend.log_prob(*arrays, **asked.about())
        return found

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[torch.Tensor, None]:
        # With gradients enabled, somebody wants to differentiate once more.
        gradient = ctx.asked.gradient(*ctx.saved_tensors) if torch.is_grad_enabled() else ctx.gradient
        return upstream.view(-1, 1, 1) * gradient, None


class _Loss(torch.autograd.Function):
    """Minus the mean of log p(label), from logits. Every operation of torch's takes its microseconds: there are few."""

    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, asked: _Asked) -> torch.Tensor:
        loss = torch.empty((), dtype=logits.dtype)
        row = asked.backend.loss_of_logits(*_arrays(ctx, logits, loss, asked), *asked.about_logits())
        if row >= 0:
            raise _impossible(asked.labels, row, "and no world gives that")
        return loss

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[torch.Tensor, None]:
        if torch.is_grad_enabled():
            return upstream * ctx.asked.gradient(*ctx.saved_tensors) / -len(ctx.gradient), None
        return upstream * ctx.gradient, None


def _arrays(ctx: Any, numbers: torch.Tensor, answer: torch.Tensor, asked: _Asked) -> tuple[Any, Any, Any]:
    """What the engine reads and writes. The gradient is kept if somebody will want it."""
    if not ctx.needs_input_grad[0]:
        return numbers.detach().numpy(), answer.numpy(), None
    ctx.save_for_backward(numbers)
    detached = numbers.detach()
    ctx.asked, ctx.gradient = asked, torch.empty_like(detached)
    return detached.numpy(), answer.numpy(), ctx.gradient.numpy()


class _Slope(torch.autograd.Function):
    """The derivative of log p(label) by the logarithms of beliefs: of an output y, p(w_i = v|y,P)."""

    @staticmethod
    def forward(ctx: Any, logs: torch.Tensor, asked: _Asked, must_be_possible: bool) -> torch.Tensor:
        ctx.save_for_backward(logs)
        ctx.asked = asked
        slope, log_prob = torch.empty_like(logs), torch.empty(len(logs), dtype=logs.dtype)
        asked.backend.log_prob(logs.detach().numpy(), log_prob.numpy(), slope.numpy(), **asked.about())
        if must_be_possible and torch.isneginf(log_prob).any():
            row = int(log_prob.argmin())
            raise ValueError(f"outputs: no world that example {row} believes in gives {_in_words(asked.labels, row)}")
        return slope

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (logs,) = ctx.saved_tensors
        result = torch.empty_like(logs, requires_grad=False)
        arrays = logs.detach().numpy(), upstream.detach().contiguous().numpy(), result.numpy()
        ctx.asked.backend.hessian_product(*arrays, **ctx.asked.about())
        return _no_further(result, logs, upstream), None, None


class _Entropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logs: torch.Tensor, asked: _Asked) -> torch.Tensor:
        entropies = torch.empty(len(logs), dtype=logs.dtype)
        ctx.save_for_backward(logs)
        ctx.gradient = torch.empty_like(logs) if ctx.needs_input_grad[0] else None
        gradient = None if ctx.gradient is None else ctx.gradient.numpy()
        asked.backend.entropy(logs.detach().numpy(), asked.outputs, entropies.numpy(), gradient, asked.threads)
        return entropies

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[torch.Tensor, None]:
        return upstream.view(-1, 1, 1) * _no_further(ctx.gradient, *ctx.saved_tensors), None


class _NoFurther(torch.autograd.Function):
    """A derivative that was computed by hand. A further one would silently be zero; it is an error."""

    @staticmethod
    def forward(ctx: Any, derivative: torch.Tensor, *inputs: torch.Tensor) -> torch.Tensor:
        return derivative.view_as(derivative)

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> Any:
        raise RuntimeError("anesi: exact inference cannot be differentiated that often")


def _no_further(derivative: torch.Tensor, *inputs: torch.Tensor) -> torch.Tensor:
    if not torch.is_grad_enabled():
        return derivative
    return _NoFurther.apply(derivative, *inputs)  # type: ignore[no-any-return, no-untyped-call]


def _log_prob(numbers: torch.Tensor, asked: _Asked) -> torch.Tensor:
    return _LogProb.apply(numbers, asked)  # type: ignore[no-any-return, no-untyped-call]


def _slope(logs: torch.Tensor, asked: _Asked, must_be_possible: bool) -> torch.Tensor:
    return _Slope.apply(logs, asked, must_be_possible)  # type: ignore[no-any-return, no-untyped-call]


def _rows(values: torch.Tensor | None, name: str) -> Any:
    if values is None:
        return None
    if values.dtype != torch.int64:
        if values.is_floating_point() or values.is_complex():
            raise ValueError(f"{name}: whole numbers are expected (int64), not {_type(values)}")
        values = values.long()
    if not (values.is_cpu and values.is_contiguous()):
        values = values.cpu().contiguous()
    return values.numpy()


def _impossible(labels: Labels, row: int, why: str) -> ValueError:
    if labels.worlds is not None:
        why = "which contradicts what is told of its world, or these beliefs"
    return ValueError(f"outputs: example {row} is labelled {_in_words(labels, row)}, {why}")


def _in_words(labels: Labels, row: int) -> str:
    return "a world" if labels.outputs is None else str(labels.outputs[row].reshape(-1).tolist())


def _type(values: torch.Tensor) -> str:
    return str(values.dtype).removeprefix("torch.")
