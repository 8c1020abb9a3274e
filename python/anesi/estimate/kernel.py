"""A kernel between distributions of z, whose regressions are multilinear in P.

Of each variable there is a kernel c_i(z_i, z'_i): for a categorical the centred match (1 if equal, less if not, zero in the
mean over values), for a normal exp(-|z_i - z'_i| / length), which suits jumps. The elementary symmetric polynomial e_d, the
sum of the products of d of them over all sets of d variables, says how variables act d at a time. The kernel is the weighted
sum of e_0, e_1, ... Its expectation over z ~ P is closed: E[c_i] takes the place of c_i. So a regression on draws is also
the regression's expectation under any P, without sampling, and linear in each P_i, as E[g(z)] is.
"""

from __future__ import annotations

import math
from typing import Sequence

import torch

from .draws import Draws, Parameters, Sources, certain


class OrderKernel:
    """
    Args:
        most_orders: how many variables act together at most.
    """

    def __init__(self, sources: Sources, most_orders: int) -> None:
        self.sources, self._variables = sources, len(sources.categoricals) + sources.normals
        self.orders = 1 + min(most_orders, self._variables)  # with the constant, order 0
        domains = sources.inside.sum(1, keepdim=True).double()
        self._uniform = sources.inside / domains  # [variables, domain]
        self._scale = (domains / (domains - 1).clamp_min(1)).sqrt() * (domains > 1)  # [variables, 1]
        self._sets = [math.comb(self._variables, order) for order in range(self.orders)]  # of so many variables

    def features(self, at: Parameters) -> torch.Tensor:
        """Of the categoricals, ``[variables, batch, domain]``: <features(z)_i, features(z')_i> = c_i(z_i, z'_i)."""
        return (self._scale * (at.beliefs - self._uniform)).transpose(0, 1)

    def features_of(self, draws: Draws) -> torch.Tensor:
        return self.features(certain(draws, self.sources)).contiguous()

    def by_order(self, at: Parameters, draws: Draws, features: torch.Tensor, length: float) -> list[torch.Tensor]:
        """E[e_d(z, z')] over z ~ P of each order d, each ``[batch, rows]``.

        Args:
            features: of the draws, by :meth:`features_of`.
        """
        matches = list(self.features(at) @ features.transpose(1, 2))
        for normal in range(self.sources.normals):
            of_normal = (at.mean[:, normal], at.deviation[:, normal], draws.real[:, normal])
            matches.append(laplace_mean(*of_normal, length))
        sums = [torch.ones_like(matches[0])]
        for match in matches:  # e_d of one variable more: e_d + match e_(d-1)
            highest = [match * sums[-1]] if len(sums) < self.orders else []
            later = [torch.addcmul(own, match, before) for before, own in zip(sums, sums[1:])]
            sums = [sums[0], *later, *highest]
        return sums

    def weighted(self, weights: Sequence[float], sums: Sequence[torch.Tensor]) -> torch.Tensor:
        """The sum of :meth:`by_order` with these weights, of means over sets: each is 1 between a z and itself."""
        result = weights[0] * sums[0]
        for weight, sets, part in zip(weights[1:], self._sets[1:], sums[1:]):
            result = torch.add(result, part, alpha=weight / sets)
        return result

    def __call__(
        self, at: Parameters, draws: Draws, features: torch.Tensor, weights: Sequence[float], length: float
    ) -> torch.Tensor:
        """``[batch, rows]``. Differentiable in P."""
        return self.weighted(weights, self.by_order(at, draws, features, length))


def laplace_mean(mean: torch.Tensor, deviation: torch.Tensor, others: torch.Tensor, length: float) -> torch.Tensor:
    """E[exp(-|x - y| / length)] over x ~ N(mean, deviation^2), ``[batch, rows]`` of ``[batch]`` and y ``[rows]``.

    Each side of y is an integral of its own; the scaled complementary error function keeps both finite.
    """
    off = (mean.unsqueeze(1) - others).abs()
    if not deviation.requires_grad and not deviation.any():
        return (-off / length).exp()
    spread = deviation.unsqueeze(1)
    away, ratio, root = off / spread, spread / length, math.sqrt(2)
    bell = 0.5 * (-0.5 * away.square()).exp()
    inside = ratio - away  # negative if y is far from the mean
    scaled = bell * torch.special.erfcx(inside.clamp_min(0) / root)
    plain = 0.5 * (0.5 * ratio.square() - ratio * away).clamp_max(0).exp()
    plain = plain * torch.erfc(inside.clamp_max(0) / root)
    far: torch.Tensor = bell * torch.special.erfcx((ratio + away) / root)
    return far + torch.where(inside < 0, plain, scaled)
