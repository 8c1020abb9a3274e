"""The interface of q(y|P) and q(w|y,P): distributions over outputs or worlds, chosen one variable after another.

A new architecture is a subclass of :class:`SequenceModel` with one method, :meth:`~SequenceModel.begin`. If a complete
point can be scored in one pass, override :meth:`~SequenceModel.log_prob`, too: it is what training calls. Sampling, beam
search and pruning are written once for all architectures (search.py, pruning.py).

For a network of your own, :class:`Stepwise` does both.
"""

from __future__ import annotations

from typing import NamedTuple, Sequence

import torch

from .problem import UNSET


class Rollout:
    """A batch of partly chosen points, one a row. Begins with one row for each belief."""

    def next_log_probs(self) -> torch.Tensor:
        """Of the next variable's values given those chosen so far, ``[rows, domain of that variable]``."""
        raise NotImplementedError

    def advance(self, values: torch.Tensor) -> None:
        """Chooses the next variable's value in every row, int64 ``[rows]``."""
        raise NotImplementedError

    def select(self, rows: torch.Tensor) -> None:
        """Keeps the given rows, in that order; a row may be named more than once. int64 ``[new rows]``."""
        raise NotImplementedError


class Ranked(NamedTuple):
    """Points of each row, the most likely first."""

    values: torch.Tensor  # int64 [batch, found, variables]
    log_prob: torch.Tensor  # [batch, found]


class SequenceModel(torch.nn.Module):
    """q over the points of a space, given beliefs (and, for an explanation, outputs).

    Shapes: ``beliefs`` are ``[batch, world variables, largest domain]``, ``outputs`` int64 ``[batch, outputs]`` (only for
    an explanation), ``values`` int64 ``[batch, variables of this space]``.

    Args:
        domains: how many values each variable of the space has.
        order: the order in which variables are chosen; by default the first to the last.
    """

    #: Whether q(y|P) is linear in each P_i, as p(y|P) is. Such a model is right on every belief if it is on worlds.
    multilinear = False

    def __init__(self, domains: Sequence[int], order: Sequence[int] | None = None) -> None:
        super().__init__()
        self.domains = list(domains)
        self.order = list(range(len(self.domains))) if order is None else list(order)

    def begin(self, beliefs: torch.Tensor, outputs: torch.Tensor | None = None) -> Rollout:
        """A rollout that has chosen nothing yet. Gradients flow through it."""
        raise NotImplementedError

    def log_prob(self, beliefs: torch.Tensor, values: torch.Tensor, outputs: torch.Tensor | None = None) -> torch.Tensor:
        """log q(values), ``[batch]``. Differentiable in beliefs and weights."""
        return follow(self.begin(beliefs, outputs), self.order, values)

    def forward(self, beliefs: torch.Tensor, values: torch.Tensor, outputs: torch.Tensor | None = None) -> torch.Tensor:
        """The same as :meth:`log_prob`."""
        return self.log_prob(beliefs, values, outputs)

    def most_probable(self, beliefs: torch.Tensor, outputs: torch.Tensor | None = None) -> torch.Tensor | None:
        """The most likely point of each row, int64 ``[batch, variables]``, if the model knows it without a search."""
        return None

    def partial_log_prob(self, beliefs: torch.Tensor, values: torch.Tensor, largest: int = 4096) -> torch.Tensor:
        """log q of what is known of the values, ``[batch]``; ``UNSET`` values are summed over.

        Variables chosen after the last known one cost nothing. The others are enumerated: ValueError if a row has more than
        ``largest`` completions. A model that can sum by itself overrides this.
        """
        return _enumerated(self, beliefs, values, largest) if (values == UNSET).any() else self.log_prob(beliefs, values)


def follow(rollout: Rollout, order: Sequence[int], values: torch.Tensor) -> torch.Tensor:
    """The log-probability of values along a rollout, ``[batch]``: the sum of its steps."""
    total = None
    for variable in order:
        chosen = values[:, variable]
        log_prob = rollout.next_log_probs().gather(1, chosen.unsqueeze(1)).squeeze(1)
        total = log_prob if total is None else total + log_prob
        rollout.advance(chosen)
    assert total is not None, "a space has at least one variable"
    return total


def _enumerated(model: SequenceModel, beliefs: torch.Tensor, values: torch.Tensor, largest: int) -> torch.Tensor:
    """Sums over unset values: rows branch at an unset variable and stop after their last known one."""
    batch = len(values)
    known = values[:, model.order] != UNSET  # [batch, steps]
    steps = torch.arange(1, known.shape[1] + 1, device=values.device)
    length = (known * steps).amax(1)  # of each row, up to its last known variable
    rollout = model.begin(beliefs)
    example = torch.arange(batch, device=values.device)  # of each branch
    total = torch.zeros(batch, dtype=beliefs.dtype, device=beliefs.device)
    for step, variable in enumerate(model.order[: int(length.max())]):
        log_probs = rollout.next_log_probs()
        # Finished rows take any value and add nothing. Unset variables branch into all values.
        asked = values[example, variable]
        open_ = (asked == UNSET) & (step < length[example])
        counts = torch.where(open_, model.domains[variable], 1)
        branch = torch.arange(len(example), device=values.device).repeat_interleave(counts)
        if int(torch.bincount(example[branch], minlength=batch).max()) > largest:
            raise ValueError(f"outputs: more than {largest} completions of a partial output; tell more of it")
        first = (counts.cumsum(0) - counts)[branch]
        place = torch.arange(len(branch), device=values.device) - first
        value = torch.where(open_[branch], place, asked[branch].clamp_min(0))
        counted = (step < length[example])[branch]
        log_prob = log_probs[branch].gather(1, value.unsqueeze(1)).squeeze(1)
        total = total[branch] + log_prob.masked_fill(~counted, 0)
        example = example[branch]
        rollout.select(branch)
        rollout.advance(value)
    return logsumexp_by_row(total, example, batch)


def logsumexp_by_row(logs: torch.Tensor, row: torch.Tensor, rows: int) -> torch.Tensor:
    """log of the sum of each row's terms, from the logarithms of the terms, ``[rows]``; -inf if a row has none."""
    empty = torch.full((rows,), -torch.inf, dtype=logs.dtype, device=logs.device)
    largest = empty.scatter_reduce(0, row, logs.detach(), "amax").nan_to_num(0, 0, 0)
    total = torch.zeros_like(empty).index_add(0, row, (logs - largest[row]).exp())
    return total.log() + largest


class Stepwise(SequenceModel):
    """Makes q of a network that gives the logits of the next variable.

    The network is called with the beliefs ``[rows, world variables, domain]`` and the values chosen so far, int64
    ``[rows, number chosen]`` in the order in which they were chosen; to explain, with the outputs ``[rows, outputs]`` as
    well. It returns logits (or log-probabilities) of the next variable, ``[rows, its domain]``.

    Example:
        >>> import torch
        >>> class Mine(torch.nn.Module):  # q(y|P) for two digits and their sum's two digits
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.first, self.second = torch.nn.Linear(20, 2), torch.nn.Linear(21, 10)
        ...     def forward(self, beliefs, outputs_so_far):
        ...         seen = torch.cat([beliefs.flatten(1), outputs_so_far.to(beliefs)], 1)
        ...         return self.second(seen) if outputs_so_far.shape[1] else self.first(seen)
        >>> q = Stepwise(Mine(), domains=[2, 10])
        >>> q.log_prob(torch.full((4, 2, 10), 0.1), torch.zeros(4, 2, dtype=torch.int64)).shape
        torch.Size([4])
    """

    def __init__(self, network: torch.nn.Module, domains: Sequence[int], order: Sequence[int] | None = None) -> None:
        super().__init__(domains, order)
        self.network = network

    def begin(self, beliefs: torch.Tensor, outputs: torch.Tensor | None = None) -> Rollout:
        return _StepwiseRollout(self, beliefs, outputs)


class _StepwiseRollout(Rollout):
    def __init__(self, model: Stepwise, beliefs: torch.Tensor, outputs: torch.Tensor | None) -> None:
        self._model = model
        self._context = [beliefs] if outputs is None else [beliefs, outputs]
        self._chosen = torch.empty(len(beliefs), 0, dtype=torch.int64, device=beliefs.device)

    def next_log_probs(self) -> torch.Tensor:
        beliefs, *outputs = self._context
        logits: torch.Tensor = self._model.network(beliefs, self._chosen, *outputs)
        variable = self._model.order[self._chosen.shape[1]]
        expected = (len(beliefs), self._model.domains[variable])
        if tuple(logits.shape) != expected:
            shape = tuple(logits.shape)
            raise ValueError(f"q: the network gave logits {shape} for variable {variable}, expected {expected}")
        return logits.log_softmax(1)

    def advance(self, values: torch.Tensor) -> None:
        self._chosen = torch.cat([self._chosen, values.unsqueeze(1)], 1)

    def select(self, rows: torch.Tensor) -> None:
        self._context = [context[rows] for context in self._context]
        self._chosen = self._chosen[rows]


class InferenceModel(torch.nn.Module):
    """The whole of q: what predicts, q(y|P), and what explains, q(w|y,P), if it does.

    :meth:`tensors` names the weights as files of the program do: ``q.factor0.0.weight``, ``explanation.first_state``.
    """

    def __init__(self, prediction: SequenceModel, explanation: SequenceModel | None = None) -> None:
        super().__init__()
        self.prediction = prediction
        self.explanation = explanation

    def learns_to_explain(self) -> bool:
        """Whether the explanation model has weights of its own: the transducer's follows from the prediction model."""
        return self.explanation is not None and any(True for _ in self.explanation.parameters())

    def _halves(self) -> dict[str, SequenceModel]:
        named = {"q.": self.prediction, "explanation.": self.explanation}
        return {prefix: half for prefix, half in named.items() if half is not None}

    def tensors(self) -> dict[str, torch.Tensor]:
        """All weights by the names that model files have."""
        return {
            prefix + name: tensor for prefix, half in self._halves().items() for name, tensor in half.state_dict().items()
        }

    def load_tensors(self, tensors: dict[str, torch.Tensor], origin: str = "weights") -> None:
        """Takes up weights by those names; others are ignored. ValueError, and nothing changes, if one does not fit."""
        own = self.tensors()
        for name, tensor in own.items():
            if name not in tensors or tensors[name].shape != tensor.shape:
                raise ValueError(f"{origin}: {name} is missing or has another shape; it belongs to another configuration")
        with torch.no_grad():
            for name, tensor in own.items():
                tensor.copy_(tensors[name])
