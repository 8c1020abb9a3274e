"""Outcome models q(r|P): how the outcomes r = g(z) are distributed if z ~ P (appendix C of the paper).

Several outcomes are independent given P. A new model is a subclass, and a name in ``MODELS`` of learned.py.
"""

from __future__ import annotations

from typing import ClassVar, Mapping

import torch

from .draws import Draws, Parameters
from .method import State


class OutcomeModel:
    """
    Attributes:
        multilinear: whether E_q[r] is linear in each variable's belief. Then its error at P is at most the mean of its
            errors at z ~ P.
    """

    multilinear: ClassVar[bool] = False

    @property
    def has_learned(self) -> bool:
        """Whether it has learned from anything: before, :meth:`mean` cannot be asked."""
        raise NotImplementedError

    def mean(self, at: Parameters) -> torch.Tensor:
        """E_q[r], ``[batch, outcomes]``. Differentiable in P."""
        raise NotImplementedError

    def log_prob(self, at: Parameters, outcomes: torch.Tensor) -> torch.Tensor:
        """log q(r|P) of outcomes ``[batch, outcomes]``, ``[batch]``."""
        raise NotImplementedError

    def learn(self, at: Parameters, draws: Draws, outcomes: torch.Tensor, generator: torch.Generator) -> float:
        """Learns from parameters, a draw of each and its outcomes. Returns the mean of -log q(r|P) of these afterwards."""
        raise NotImplementedError

    def state(self) -> State:
        raise NotImplementedError

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Takes up what :meth:`state` gave, in a model that has not learned yet."""
        raise NotImplementedError
