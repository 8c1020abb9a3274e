"""What a look at Knowledge found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping


@dataclass(frozen=True)
class Certificate:
    """A bound on the distance in total variation from the truth, from draws whose number was fixed beforehand."""

    bound: float
    level: float
    draws: int
    differing: int | None
    beliefs: str

    def __str__(self) -> str:
        seen = "" if self.differing is None else f" ({self.differing} of {self.draws:,} worlds differed)"
        return f"at most {self.bound:.2g} from the truth, {100 * self.level:.0f} % sure, on {self.beliefs}{seen}"


@dataclass(frozen=True)
class Exploits:
    """Whether beliefs that say nothing, or everything wrong, cost less than the truth."""

    truth: float
    cheapest: str
    cheapest_loss: float
    cheaper: list[str]

    @property
    def exploitable(self) -> bool:
        return not self.cheapest_loss > self.truth

    def __str__(self) -> str:
        if not self.cheaper:
            return f"none: the truth costs {self.truth + 0:.3g}, the cheapest lie ({self.cheapest}) {self.cheapest_loss:.3g}"
        return f"{len(self.cheaper)} beliefs cost no more than the truth ({self.truth + 0:.3g}): {', '.join(self.cheaper[:3])}"


@dataclass(frozen=True, repr=False)
class Check:
    """How far what is computed is from the truth, on some beliefs."""

    what: str
    beliefs: int
    distance: float | None
    divergence: float | None
    certificate: Certificate | None
    exploits: Exploits

    def __repr__(self) -> str:
        distance = "not known: there is no exact inference to compare with" if self.distance is None else f"{self.distance:.2g}"
        return "\n".join(
            [
                f"Check of {self.beliefs} beliefs ({self.what})",
                f"  distance     {distance}",
                f"  certificate  {self.certificate or 'none'}",
                f"  exploits     {self.exploits}",
            ]
        )


def check_from(figures: Mapping[str, Any], what: str) -> Check:
    certificate = figures["certificate"]
    return Check(
        what=what,
        beliefs=figures["beliefs"],
        distance=figures["distance"],
        divergence=figures["divergence"],
        certificate=None if certificate is None else Certificate(**certificate),
        exploits=Exploits(**figures["exploits"]),
    )
