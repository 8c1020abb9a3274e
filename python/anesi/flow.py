"""Inference as a flow network: how probability flows from beliefs through outputs to worlds (appendix D of the paper)."""

from __future__ import annotations

from typing import NamedTuple, Sequence

import torch

from . import _arguments
from ._which import _core
from .knowledge import Knowledge, Logits


class State(NamedTuple):
    """What has been chosen so far. -2 stands where nothing is."""

    output: list[int]
    world: list[int]
    depth: int
    """How many choices lead to it."""


class Action(NamedTuple):
    """A choice, which leads from one state to another. Both are places in :attr:`Network.states`."""

    start: int
    end: int
    sets: str
    """``"output"``, ``"world"`` or, where it stops and leads to the sink, ``"nothing"``."""
    variable: int
    value: int


class End(NamedTuple):
    """Where a world comes out."""

    world: list[int]
    state: int
    stop: int
    """The place of the action that leads from there to the sink."""


class Network:
    """The flow network of knowledge: everything that can be chosen, one choice after another.

    Args:
        know: a small problem: every world is looked at.
        view: what a state is. ``"tree"``: choices in one order; ``"assignments"``: choices in any order;
            ``"lattice"``: the variables that are not 0, in any order.

    Example:
        >>> import torch, anesi
        >>> either = anesi.Knowledge(lambda w: w[:, 0] | w[:, 1], worlds=[2, 2], outputs=[2], verbose=False)
        >>> network = anesi.flow.Network(either, view="lattice")
        >>> network.nodes, anesi.flow.Network(either, view="tree").nodes
        (6, 10)
        >>> flow = network.exact(beliefs=torch.tensor([[0.7, 0.3], [0.4, 0.6]]))
        >>> round(flow.of_output([1]), 6)  # P_A + P_B - P_A P_B
        0.72
        >>> learned = network.learn(beliefs=torch.tensor([[0.7, 0.3], [0.4, 0.6]]), steps=500)
        >>> abs(learned.of_output([1]) / 0.72 - 1) < 0.01
        True
    """

    def __init__(self, know: Knowledge, *, view: str = "tree") -> None:
        if not isinstance(know, Knowledge):
            raise TypeError(f"know: anesi.Knowledge is expected, not {type(know).__name__}")
        if know.given:
            raise ValueError("know: flows are of knowledge without given variables")
        self.view = view
        self._know = know
        self._network = _core.FlowNetwork(know._core, view)
        self.states = [State(*state) for state in self._network.states]
        """The source comes first, the sink last, and no state before one that leads to it."""
        self.actions = [Action(*action) for action in self._network.actions]
        self.ends = [End(*end) for end in self._network.ends]
        """One for each world."""

    @property
    def nodes(self) -> int:
        """How many states there are but the sink, which every view has."""
        return self._network.nodes

    def __repr__(self) -> str:
        return f"Network({self.view}: {self.nodes} nodes, {len(self.actions)} actions)"

    def exact(self, logits: Logits | None = None, *, beliefs: Logits | None = None) -> Flow:
        """By summation, in 64 bits. Where several ways lead to a state, all are taken alike backwards.

        Logits or beliefs are ``[variables, values]``, of one example.
        """
        return Flow(self, **self._network.exact(self._belief(logits, beliefs)))

    def learn(
        self,
        logits: Logits | None = None,
        *,
        beliefs: Logits | None = None,
        objective: str = "joint_on",
        backward: str = "uniform",
        steps: int = 1000,
        seed: int = 0,
    ) -> Flow:
        """From samples, by trajectory balance or what it is compared with.

        Args:
            objective: ``"joint_on"``, ``"joint_off"``, ``"joint_both"``, ``"forward_kl"``, ``"reverse_kl"``,
                ``"hellinger"``.
            backward: what P_B is meanwhile: ``"uniform"``, ``"learned"``, or that of the ``"flow"`` itself.
        """
        if steps < 1:
            raise ValueError(f"steps: at least 1 is expected, not {steps}")
        found = self._network.learned(self._belief(logits, beliefs), objective, backward, steps, _arguments.seed(seed))
        return Flow(self, **found)

    def _belief(self, logits: Logits | None, beliefs: Logits | None) -> torch.Tensor:
        def as_row(values: Logits | None) -> Logits | None:
            return values.unsqueeze(0).double() if isinstance(values, torch.Tensor) and values.dim() == 2 else values

        values, is_logits = self._know._values(as_row(logits), as_row(beliefs))
        if len(values) != 1:
            raise ValueError(f"a flow is of one example, not of {len(values)}")
        found: torch.Tensor = self._know._core.beliefs(values.detach().double(), is_logits, None)
        return found[0].double()


class Flow:
    """What flows through a network. Numbers stand at the places of its states and actions."""

    def __init__(
        self,
        network: Network,
        states: Sequence[float],
        actions: Sequence[float],
        forward: Sequence[float],
        backward: Sequence[float],
    ) -> None:
        self.network = network
        self.states = torch.tensor(states, dtype=torch.float64)
        self.actions = torch.tensor(actions, dtype=torch.float64)
        self.forward = torch.tensor(forward, dtype=torch.float64)
        """P_F: an action's share of what flows out of its state."""
        self.backward = torch.tensor(backward, dtype=torch.float64)
        """P_B: its share of what flows into the next."""

    def of_world(self, world: Sequence[int]) -> float:
        """What comes out at a world: p(w|P)."""
        wanted = list(world)
        for end in self.network.ends:
            if end.world == wanted:
                return float(self.actions[end.stop])
        raise ValueError(f"world: there is none such as {wanted}")

    def of_output(self, output: Sequence[int]) -> float:
        """What comes out at all worlds of an output: p(y|P); 0 where there are none."""
        wanted, states = list(output), self.network.states
        return sum(float(self.actions[end.stop]) for end in self.network.ends if states[end.state].output == wanted)

    def imbalance(self) -> float:
        """By how much what flows into a state and out of it differ at most."""
        return self.network._network.imbalance(self.states.tolist(), self.actions.tolist())

    def svg(self, *, title: str = "", worlds: Sequence[str] = (), outputs: Sequence[str] = ()) -> str:
        """A picture, for small networks.

        Args:
            worlds: what variables are called; by default ``w0``, ``w1``, …
            outputs: the same of outputs.
        """
        know = self.network._know
        for name, words, variables in (("worlds", worlds, know.worlds), ("outputs", outputs, know.outputs)):
            if words and len(words) != len(variables):
                raise ValueError(f"{name}: {len(words)} names for {len(variables)} variables")
        return self.network._network.svg(self.states.tolist(), self.actions.tolist(), title, list(worlds), list(outputs))

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"Flow({self.network.view}: {len(self.states)} states, {len(self.actions)} actions)"
