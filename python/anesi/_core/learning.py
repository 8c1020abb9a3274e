"""A q that learns from samples of the function: alone at first, then beside perception."""

from __future__ import annotations

import time
import warnings
from typing import Any, Callable, Mapping

import torch

from .. import q

Say = Callable[[str], None]

LEARNING_AGAINST_ASKING = 3.0  # time for q's first learning, for each second that discovery may take
_LOOKED_AT = 512  # of the last samples, to see whether q learned anything
_LEAST_GAIN = 0.01  # nats by which q must be better than guessing
_LEAST_UPDATES = 100  # after fewer, nobody expects that


class LearnedQ(q.Amortized):
    """The same, which sees what q has learned alone, and says its state as tensors."""

    def __init__(self, problem: q.Problem, model: q.InferenceModel, prior: q.Prior, options: q.Options, seed: int) -> None:
        super().__init__(problem, model, prior, options, seed)
        self._recent: list[q.Exercise] | None = None  # the last samples, while it learns alone

    # Learning.

    def learn_alone(self, seconds: float, say: Say | None) -> None:
        """The updates before perception starts, as many as there is time for."""
        updates, begin, limit = self.options.pretrain, time.monotonic(), LEARNING_AGAINST_ASKING * seconds
        done = 0
        recent = self._recent = []
        while done < updates:
            loss = self.update(self.options.rate(done, updates))
            done += 1
            if time.monotonic() - begin > limit:
                if say is not None:
                    say(
                        f"q has learned for {limit:.0f} s, and had {done} of {updates} updates (q.pretrain);"
                        " it goes on learning beside you"
                    )
                break
            if say is not None and done % 250 == 0:
                say(f"q has learned from {done * self.options.samples} samples of the function, loss {loss:.3f}")
        self._recent = None
        if done >= _LEAST_UPDATES:
            self._warn_if_nothing_was_learned(recent)

    def update_on(self, exercise: q.Exercise, rate: q.Rate) -> float:
        if self._recent is not None:
            self._recent.append(exercise)
            while sum(len(one.outputs) for one in self._recent[1:]) >= _LOOKED_AT:
                self._recent.pop(0)
        return super().update_on(exercise, rate)

    # What was learned.

    @torch.no_grad()
    def _warn_if_nothing_was_learned(self, recent: list[q.Exercise]) -> None:
        """If q knows no more of the last samples than how frequent each value of an output is in them."""
        beliefs = torch.cat([one.beliefs for one in recent])
        outputs = torch.cat([one.outputs for one in recent])
        if (outputs == outputs[0]).all():
            warnings.warn(
                f"anesi: the function gave {outputs[0].tolist()} for all of {len(outputs)} sampled worlds, so q has learned"
                " nothing of when it gives anything else. Describe the function with cnf= or automaton=, or split it",
                stacklevel=2,
            )
            return
        loss = -float(self.model.prediction.log_prob(beliefs, outputs).double().mean())
        guessing = _loss_of_guessing(outputs)
        if loss > guessing - _LEAST_GAIN * outputs.shape[1]:
            warnings.warn(
                f"anesi: q has learned nothing of the function: its loss is {loss:.3f}, that of guessing {guessing:.3f}."
                " Give it more updates (q.pretrain) or another architecture, or describe the function with order=,"
                " automaton= or cnf=",
                stacklevel=2,
            )

    # To keep.

    def tensors(self) -> dict[str, torch.Tensor]:
        """All but the generator that learning depends on, by name."""
        state = dict(self.model.tensors())
        state.update({f"loss.prior.{name}": part for name, part in self.prior.state_dict().items()})
        state.update(self._optimizer_tensors())
        state["loss.steps"] = torch.tensor(self._steps)
        return state

    def load(self, state: Mapping[str, torch.Tensor]) -> None:
        """Takes up what :meth:`tensors` gave. Raises ValueError if it does not fit; then some of it may be taken."""
        self.prior.load_state_dict(_below(state, "loss.prior."))
        self.model.load_tensors(dict(state), "state")
        self._load_optimizer(state)
        self._steps = int(_of_type(state, "loss.steps", torch.int64, ()))

    def _optimizer_tensors(self) -> dict[str, torch.Tensor]:
        moments = self._optimizer.state_dict()["state"]
        return {f"loss.adam.{place}.{name}": part for place, parts in moments.items() for name, part in parts.items()}

    def _load_optimizer(self, state: Mapping[str, torch.Tensor]) -> None:
        parameters = list(self.model.parameters())
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name, part in _below(state, "loss.adam.").items():
            place, _, what = name.partition(".")
            if not place.isdigit() or int(place) >= len(parameters) or what not in ("step", "exp_avg", "exp_avg_sq"):
                raise ValueError(f"state: loss.adam.{name} is not of this q")
            parameter = parameters[int(place)]
            expected = (torch.float32, ()) if what == "step" else (parameter.dtype, tuple(parameter.shape))
            moments.setdefault(int(place), {})[what] = _of_type(state, f"loss.adam.{name}", *expected).clone()
        if any(len(parts) != 3 for parts in moments.values()):  # weights that never had a gradient have none
            raise ValueError("state: some of loss.adam is missing")
        if any((parts["step"] < 0) or (parts["exp_avg_sq"] < 0).any() for parts in moments.values()):
            raise ValueError("state: some of loss.adam is below 0")
        self._optimizer.load_state_dict({**self._optimizer.state_dict(), "state": moments})


def _below(state: Mapping[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): part for name, part in state.items() if name.startswith(prefix)}


def _of_type(state: Mapping[str, Any], name: str, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    part = state.get(name)
    if part is None:
        raise ValueError(f"state: {name} is missing")
    if part.dtype != dtype or tuple(part.shape) != shape:
        raise ValueError(f"state: {name} is of another type or shape")
    found: torch.Tensor = part
    return found


def _loss_of_guessing(outputs: torch.Tensor) -> float:
    """Of saying how frequent each value is, output by output."""
    total = 0.0
    for column in outputs.T:
        counts = torch.unique(column, return_counts=True)[1].double()
        shares = counts / counts.sum()
        total -= float((shares * shares.log()).sum())
    return total
