"""The paper's prior: one Dirichlet a variable, fitted to the last beliefs that perception emitted (appendix F).

With n beliefs observed, V variables, E values in all, s[v,k] the mean over the beliefs of ln P[v,k], and
A[v] = sum over k of alpha[v,k], the fit minimises

    - n/V * sum over v of ( ln Gamma(A[v]) - sum over k of ln Gamma(alpha[v,k]) + sum over k of (alpha[v,k] - 1) s[v,k] )
    + L2/E * sum over v,k of alpha[v,k]^2

that is, minus n times the mean log-likelihood of a variable, plus L2 times the mean square of the concentrations. It depends
on the beliefs through s alone. Before each update of q the fit goes on from where it was: 50 steps of Adam on x, with
alpha = softplus(x), that keep their moments from one fit to the next; or Newton's method to the minimum.

L2 keeps early beliefs, which hardly differ, from driving the concentrations up until q sees one belief only. Its weight is
given for a full window and grows with the number of beliefs in it (``l2_per_belief``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Sequence

import torch

from .beliefs import domain_mask
from .priors import PAPER_WINDOW, BeliefWindow, Dirichlet, saved_tensor

SMALLEST_BELIEF = 1e-7  # smaller ones count as this: below the rounding of float beliefs they say nothing
UNITS_PER_NAT = 2.0**40  # sums of logarithms are kept as integers, so they are exact and do not drift
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # Adam's
LARGEST_TOTAL = 1e8  # without L2, beliefs that do not vary have no minimum: concentrations stop growing here


@dataclass(frozen=True)
class DirichletFit:
    """
    Attributes:
        window: beliefs that the fit sees.
        iterations: steps of Adam for each fit; for Newton's method, the most it may take.
        lr: Adam's learning rate.
        initial: concentrations before the first fit.
        l2: weight of the mean squared concentration.
        l2_per_belief: scale l2 with the number of beliefs seen so far.
        method: ``"adam"`` or ``"newton"``.
    """

    window: int = PAPER_WINDOW
    iterations: int = 50
    lr: float = 0.01
    initial: float = 0.1
    l2: float = 900000.0
    l2_per_belief: bool = True
    method: str = "adam"

    def __post_init__(self) -> None:
        if self.method not in ("adam", "newton"):
            raise ValueError(f"prior.method: {self.method!r}; adam or newton")
        if self.iterations < 0 or not self.lr > 0 or not self.initial > 0 or not self.l2 >= 0:
            raise ValueError("prior: iterations and l2 cannot be negative; lr and initial must be positive")


class Objective:
    """What the fit minimises. Concentrations are double ``[variables, domain]``; only values inside domains count."""

    def __init__(self, inside: torch.Tensor, mean_log_beliefs: torch.Tensor, beliefs: int, l2: float) -> None:
        self.inside, self.mean_log_beliefs, self.beliefs, self.l2 = inside, mean_log_beliefs, beliefs, l2
        self.is_full = bool(inside.all())
        self.likelihood_weight = beliefs / inside.shape[0]  # n / V
        self.square_weight = l2 / int(inside.sum())  # L2 / E

    def by_variable(self, alpha: torch.Tensor) -> torch.Tensor:
        """Each variable's part, ``[variables]``; their sum is the objective."""
        terms = (alpha - 1) * self.mean_log_beliefs - torch.lgamma(alpha)
        likelihood = torch.lgamma(self._total(alpha)).squeeze(1) + terms.masked_fill(~self.inside, 0).sum(1)
        squares = alpha.square().masked_fill(~self.inside, 0).sum(1)
        return self.square_weight * squares - self.likelihood_weight * likelihood

    def gradient(self, alpha: torch.Tensor) -> torch.Tensor:
        """With respect to the concentrations, ``[variables, domain]``."""
        log_ratio = alpha.digamma().sub_(self._total(alpha).digamma_()).sub_(self.mean_log_beliefs)
        return log_ratio.mul_(self.likelihood_weight).add_(alpha, alpha=2 * self.square_weight)

    def minimized(self, alpha: torch.Tensor, steps: int) -> torch.Tensor:
        """Newton's method from alpha, at most that many steps (Minka 2000, "Estimating a Dirichlet distribution").

        A variable's Hessian is a diagonal plus a constant, so a step is linear in the domain. Steps are shortened so that
        concentrations stay positive and the objective falls.
        """
        # A variable of one value has belief 1 whatever its concentration, so there is nothing to fit.
        going = self.inside.sum(1) > 1
        for _ in range(steps):
            going = going & (self._total(alpha).squeeze(1) <= LARGEST_TOTAL)
            if not going.any():
                break
            direction, decrement, length = self._newton_step(alpha)
            # So near the minimum the step squares the error, and rounding would mislead a line search.
            last = decrement <= 1e-12 * self.likelihood_weight
            before = self.by_variable(alpha)
            while True:
                candidate = alpha + length.unsqueeze(1) * direction
                falls = self.by_variable(candidate) <= before - 1e-4 * length * decrement
                stays = last | (length < 1e-10) | falls | ~going
                if stays.all():
                    break
                length = torch.where(stays, length, length / 2)
            alpha = torch.where(going.unsqueeze(1), candidate, alpha)
            going = going & ~last & (length >= 1e-10)
        return alpha

    def _newton_step(self, alpha: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The direction ``[variables, domain]``, its decrement, and how far it may be followed, ``[variables]``."""
        gradient = self.gradient(alpha)
        curvature = 2 * self.square_weight + self.likelihood_weight * torch.polygamma(1, alpha)
        common = -self.likelihood_weight * torch.polygamma(1, self._total(alpha))
        # The Hessian is diag(curvature) + common * 1 1^T, which the Sherman-Morrison formula inverts.
        scaled = (gradient / curvature).masked_fill(~self.inside, 0).sum(1, keepdim=True)
        scale = (1 / curvature).masked_fill(~self.inside, 0).sum(1, keepdim=True)
        direction = ((scaled / (1 / common + scale) - gradient) / curvature).masked_fill(~self.inside, 0)
        decrement = -(gradient * direction).sum(1)
        bound = torch.where(direction < 0, -0.9 * alpha / direction, 1.0)
        return direction, decrement, bound.amin(1).clamp_max(1.0)

    def _total(self, alpha: torch.Tensor) -> torch.Tensor:
        return (alpha if self.is_full else alpha.masked_fill(~self.inside, 0)).sum(1, keepdim=True)


def adam(
    objective: Objective, x: torch.Tensor, first: torch.Tensor, second: torch.Tensor, before: int, steps: int, lr: float
) -> None:
    """Steps of Adam on x, with alpha = softplus(x). Changes x and its moments, double ``[variables, domain]``, in place.

    Args:
        before: how many steps were taken before.
    """
    # Written out, in few operations: each costs more to call than these few numbers take to compute.
    for step in range(before + 1, before + steps + 1):
        gradient = objective.gradient(_softplus(x)).mul_(x.sigmoid())
        scale = math.sqrt(1 - BETA2**step)  # of sqrt(second)
        first.lerp_(gradient, 1 - BETA1)
        second.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
        x.addcdiv_(first, second.sqrt().add_(EPSILON * scale), value=-lr * scale / (1 - BETA1**step))


def add_logs(beliefs: torch.Tensor, sign: int, sums: torch.Tensor) -> None:
    """Adds sign times the logarithms of beliefs ``[n, variables, domain]`` to the sums, int64 ``[variables, domain]``, which
    are in units of 2^-40."""
    sums += sign * (beliefs.double().clamp_min(SMALLEST_BELIEF).log() * UNITS_PER_NAT).round().long().sum(0)


class FittedDirichlet(Dirichlet):
    """``state_dict`` names and shapes its tensors as the program does."""

    #: The arithmetic of a fit. Compiled functions of the same may take their place: the fit was half of an update of q.
    adam = staticmethod(adam)
    add_logs = staticmethod(add_logs)

    def __init__(self, domains: Sequence[int], options: DirichletFit = DirichletFit()) -> None:
        super().__init__(domains)
        self.options = options
        self._inside = domain_mask(domains)
        self._window = BeliefWindow(domains, options.window)
        self._log_sums = torch.zeros(self._inside.shape, dtype=torch.int64)
        initial = options.initial + math.log(-math.expm1(-options.initial))  # the inverse of softplus
        self._parameter = torch.full(self._inside.shape, initial, dtype=torch.float64)  # x
        self._first_moment = torch.zeros_like(self._parameter)
        self._second_moment = torch.zeros_like(self._parameter)
        self._steps = 0  # of Adam, over all fits

    @property
    def concentration(self) -> torch.Tensor:
        return _softplus(self._parameter).masked_fill(~self._inside, 0)

    def observe(self, beliefs: torch.Tensor) -> None:
        came, left = self._window.push(beliefs)
        self.add_logs(came, +1, self._log_sums)
        self.add_logs(left, -1, self._log_sums)

    def objective(self) -> Objective:
        """What the next fit would minimise."""
        count = self._window.size
        if count == 0:
            raise ValueError("prior.kind=fitted: no beliefs to fit yet; observe some first")
        filled = count / self._window.capacity if self.options.l2_per_belief else 1.0
        mean_logs = self._log_sums.double() / (UNITS_PER_NAT * count)
        return Objective(self._inside, mean_logs.masked_fill(~self._inside, 0), count, self.options.l2 * filled)

    @torch.no_grad()
    def fit(self) -> None:
        """Does nothing before the first belief."""
        if self._window.size == 0:
            return
        if self.options.method == "adam":
            moments = (self._first_moment, self._second_moment)
            self.adam(self.objective(), self._parameter, *moments, self._steps, self.options.iterations, self.options.lr)
            self._steps += self.options.iterations
        else:
            alpha = self.objective().minimized(_softplus(self._parameter), self.options.iterations)
            self._parameter = alpha + torch.log(-torch.expm1(-alpha))

    def state_dict(self) -> dict[str, torch.Tensor]:
        return {
            "beliefs": self._window.beliefs(),
            "parameter": self._parameter[self._inside],
            "first_moment": self._first_moment[self._inside],
            "second_moment": self._second_moment[self._inside],
            "steps": torch.tensor(self._steps),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        values = (int(self._inside.sum()),)
        names = ("parameter", "first_moment", "second_moment")
        parts = [saved_tensor(state, name, torch.float64, values) for name in names]
        steps = int(saved_tensor(state, "steps", torch.int64, ()))
        beliefs = self._window.checked(state)
        if steps < 0 or not (torch.stack(parts).isfinite().all() and (parts[2] >= 0).all()):
            raise ValueError("prior state: steps or moments below 0, or not a number")
        self._window.replace(beliefs)
        self._steps = steps
        for target, part in zip((self._parameter, self._first_moment, self._second_moment), parts):
            target[self._inside] = part
        self._log_sums.zero_()
        self.add_logs(beliefs, +1, self._log_sums)


def _softplus(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.softplus(x, threshold=40.0)
