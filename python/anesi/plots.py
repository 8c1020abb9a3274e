"""Pictures of what Knowledge knows, as matplotlib figures.

Each function returns a ``matplotlib.figure.Figure`` that no window and no global state knows of: save it with
``figure.savefig("memory.png")``. matplotlib is wanted only here. The methods of Knowledge, ``know.plot_machine()``,
``know.plot_rollout(…)`` and ``know.plot_calibration(…)``, call these functions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import torch

from ._machine_plot import MachineDrawing, modules, spaced

if TYPE_CHECKING:
    from .knowledge import Knowledge, Logits

# Blue and orange that differ for every kind of eye, and in grey.
_OUTPUT, _WORLD = "#08519c", "#d95f02"

def machine(know: Knowledge, title: str | None = None) -> Any:
    """The memory that was found or told: its states column by column, and what leads from each to the next.

    An edge is labelled with the values that are read, a slash, and the value that is emitted. Of many steps, the first
    ones and the last one are drawn. Labels that have no room without covering others are left out, and the picture says
    how many.

    Raises:
        ValueError: there is no memory, or a column has more than 24 states, or a step more than 150 edges.

    Example:
        >>> import anesi
        >>> carry = anesi.Automaton([2] * 4, [2, 2], [([0, 2], 0), ([1, 3], 1)], 2, lambda kind, read, state: (
        ...     (sum(read) + state) % 2, (sum(read) + state) // 2))
        >>> know = anesi.Knowledge(carry.run, [2] * 4, [2, 2], automaton=carry, verbose=False)
        >>> know.plot_machine(title="a carry").savefig("carry.png")  # doctest: +SKIP
    """
    figure = modules("figure")["figure"]
    automaton = know.automaton
    if automaton is None:
        raise ValueError(f"machine: there is no memory to draw; {know.reason}")
    drawing = MachineDrawing(automaton, know.given + know.worlds, len(know.given))
    return drawing.drawn(figure.Figure, f"a memory of {know.states} states" if title is None else title)


def rollout(
    know: Knowledge,
    logits: Logits | None = None,
    outputs: torch.Tensor | None = None,
    *,
    beliefs: Logits | None = None,
    given: torch.Tensor | None = None,
) -> Any:
    """How q chooses an output and, where q explains, a world behind it: choice by choice, with all that was on offer.

    Of the first example. The output is the one named, else the most likely; the world is the most probable behind it.
    A value is crossed out where the pruner knows that it cannot be completed.

    Raises:
        ValueError: there is no example, or the output is impossible or none of the function's.

    Example:
        >>> import torch, anesi
        >>> know = anesi.Knowledge(lambda w: w.sum(1), [3, 3], [5], verbose=False)
        >>> figure = know.plot_rollout(torch.randn(1, 2, 3), torch.tensor([2]))  # doctest: +SKIP
    """
    parts = modules("figure", "collections", "lines", "patches")
    values, is_logits = know._values(logits, beliefs)
    if values.shape[0] == 0:
        raise ValueError("rollout: there is no example to follow")
    values, given = values[:1].detach(), None if given is None else given[:1]
    asked: dict[str, Any] = {"logits" if is_logits else "beliefs": values, "given": given}
    output = know.predict(**asked).outputs if outputs is None else _as_labels(know, outputs[:1], 1, "rollout")
    if math.isinf(know.log_prob(outputs=output, **asked).item()):
        raise ValueError(f"rollout: the output {spaced(output[0].tolist())} is impossible for this example")
    steps = know._core.record(values, is_logits, given, output[0].tolist(), _world_behind(know, output, asked))
    told = len(know.given)
    choices = [
        _Choice(
            step["output"],
            step["variable"] - (0 if step["output"] else told),
            step["chosen"],
            step["probabilities"],
            step["allowed"],
        )
        for step in steps
        if step["output"] or step["variable"] >= told  # what is given was not chosen
    ]
    return _draw_choices(parts, choices)


def calibration(
    know: Knowledge,
    logits: Logits | None = None,
    outputs: torch.Tensor | None = None,
    *,
    beliefs: Logits | None = None,
    given: torch.Tensor | None = None,
    bins: int = 10,
) -> Any:
    """How often predictions are right, against how sure they are: a reliability diagram with the counts under it.

    Predictions are put into bins of equal width by their probability. A dot is a bin: its mean probability and the
    share of it that is right, with the 95 % interval of that share (Wilson). The expected calibration error is the mean
    distance of the two, weighted by the counts.

    Raises:
        TypeError: outputs, the true ones, are missing.
        ValueError: there are no examples, or fewer than one bin.

    Example:
        >>> import torch, anesi
        >>> know = anesi.Knowledge(lambda w: w.sum(1), [3, 3], [5], verbose=False)
        >>> truth = torch.randint(5, (100,))
        >>> figure = know.plot_calibration(torch.randn(100, 2, 3), truth)  # doctest: +SKIP
    """
    figure = modules("figure")["figure"]
    if outputs is None:
        raise TypeError("calibration: outputs, the true ones, are missing")
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise ValueError(f"bins: a whole number of at least 1 is expected, not {bins!r}")
    values, is_logits = know._values(logits, beliefs)
    if values.shape[0] == 0:
        raise ValueError("calibration: there are no examples")
    truth = _as_labels(know, outputs, values.shape[0], "calibration")
    asked: dict[str, Any] = {"logits" if is_logits else "beliefs": values.detach(), "given": given}
    found = know.predict(**asked)
    right = (found.outputs.cpu() == truth).all(1)
    return _draw_reliability(figure.Figure, _reliability(found.probability.cpu().double(), right, bins))


# Rollouts.


class _Choice(NamedTuple):
    output: bool
    variable: int
    chosen: int
    probabilities: list[float]
    allowed: list[bool]


def _world_behind(know: Knowledge, output: torch.Tensor, asked: dict[str, Any]) -> list[int]:
    """The most probable world that gives the output, what is given first; empty where none was found."""
    world: list[int] = know.most_probable(outputs=output, **asked).worlds[0].tolist()
    if any(value < 0 for value in world):
        return []
    return (asked["given"][0].tolist() if know.given else []) + world


def _draw_choices(parts: dict[str, Any], choices: Sequence[_Choice]) -> Any:
    rows = max(len(choice.probabilities) for choice in choices)
    width, height = min(16.0, max(4.6, 1.9 + 0.68 * len(choices))), min(9.0, max(3.2, 1.9 + 0.3 * rows))
    figure = parts["figure"].Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    rectangle = parts["patches"].Rectangle
    half = 0.38
    cells, shades = [], []
    for column, choice in enumerate(choices):
        for value, probability in enumerate(choice.probabilities):
            cells.append(rectangle((column - half, value - 0.5), 2 * half, 1))
            shades.append(probability)
    drawn = parts["collections"].PatchCollection(cells, cmap="Greys", edgecolor="0.7", linewidth=0.5)
    drawn.set_array(shades)
    drawn.set_clim(0, 1)
    axes.add_collection(drawn)
    # Figures in cells, where a cell has room for "12.3".
    column_width = (width - 1.9) / len(choices)
    if column_width >= 0.5 and (height - 1.6) / rows >= 0.18:
        for column, choice in enumerate(choices):
            for value, probability in enumerate(choice.probabilities):
                shade = "white" if probability > 0.55 else "black"
                axes.text(column, value, _percent(probability), size=7, color=shade, ha="center", va="center")
    for column, choice in enumerate(choices):
        for value, allowed in enumerate(choice.allowed):
            if not allowed:
                axes.plot([column - half, column + half], [value - 0.5, value + 0.5], color="black", linewidth=0.8)
        colour = _OUTPUT if choice.output else _WORLD
        axes.add_patch(
            rectangle(
                (column - half, choice.chosen - 0.5),
                2 * half,
                1,
                fill=False,
                edgecolor=colour,
                linewidth=2.5,
                linestyle="-" if choice.output else (0, (2, 0.6)),
                zorder=3,
            )
        )
        if column > 0:
            ends = [choices[column - 1].chosen, choice.chosen]
            axes.plot([column - 1 + half, column - half], ends, color=colour, linewidth=1.5, zorder=3)
    axes.set_xlim(-0.6, len(choices) - 0.4)
    axes.set_ylim(rows - 0.4, -0.6)
    names = [f"{'y' if choice.output else 'w'}{choice.variable}" for choice in choices]
    axes.set_xticks(range(len(choices)), names, size=9 if column_width >= 0.4 else 6)
    axes.yaxis.get_major_locator().set_params(integer=True)
    if rows <= 24:
        axes.set_yticks(range(rows))
    explains = any(not choice.output for choice in choices)
    axes.set_xlabel("choices in order: outputs y" + (", then the world w behind them" if explains else ""))
    axes.set_ylabel("value")
    figure.colorbar(drawn, ax=axes, label="probability", pad=0.02)
    legend = [rectangle((0, 0), 1, 1, fill=False, edgecolor=_OUTPUT, linewidth=2, label="chosen, of an output")]
    if explains:
        legend.append(
            rectangle(
                (0, 0), 1, 1, fill=False, edgecolor=_WORLD, linewidth=2, linestyle=(0, (2, 0.6)),
                label="chosen, of the world",
            )
        )  # fmt: skip
    if not all(all(choice.allowed) for choice in choices):
        legend.append(
            parts["lines"].Line2D([], [], color="black", linewidth=0.8, label="crossed out: cannot be completed")
        )
    figure.legend(handles=legend, loc="outside lower center", ncols=3 if width > 6 else 2, fontsize=8, frameon=False)
    axes.set_title(_title_of(choices), fontsize=11)
    return figure


def _title_of(choices: Sequence[_Choice]) -> str:
    def part(name: str, output: bool) -> str:
        # By variable, not in the order in which they are chosen.
        chosen = sorted((choice for choice in choices if choice.output == output), key=lambda choice: choice.variable)
        if not chosen:
            return ""
        probability = math.prod(choice.probabilities[choice.chosen] for choice in chosen)
        values = [choice.chosen for choice in chosen]
        return f"{name} {spaced(values if len(values) <= 12 else [*values[:11], '…'])}: {_percent(probability)} %"

    return "\n".join(text for text in (part("output", True), part("world given it", False)) if text)


def _percent(probability: float) -> str:
    percent = 100 * probability
    if percent == 0 or percent > 100 - 1e-9:
        return f"{percent:.0f}"
    return "<0.1" if percent < 0.1 else ">99.9" if percent > 99.9 else f"{percent:.1f}"


# Calibration.


class _Bin(NamedTuple):
    size: int
    sure: float
    right: float


def _reliability(probability: torch.Tensor, right: torch.Tensor, bins: int) -> list[_Bin]:
    places = (probability * bins).long().clamp(0, bins - 1)
    found = []
    for place in range(bins):
        inside = places == place
        count = int(inside.sum())
        if count == 0:
            found.append(_Bin(0, 0.0, 0.0))
        else:
            found.append(_Bin(count, probability[inside].mean().item(), right[inside].double().mean().item()))
    return found


def _wilson(share: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    z = 1.959964
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, centre - half), min(1.0, centre + half)


def _draw_reliability(new_figure: Any, bins: Sequence[_Bin]) -> Any:
    total = sum(one.size for one in bins)
    error = sum(one.size * abs(one.sure - one.right) for one in bins) / total
    accuracy = sum(one.size * one.right for one in bins) / total
    figure = new_figure(figsize=(5.2, 5.8), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    upper.plot([0, 1], [0, 1], color="0.4", linestyle="--", linewidth=1, label="as sure as right")
    for place, one in enumerate(bins):
        if one.size == 0:
            continue
        low, high = _wilson(one.right, one.size)
        # A share can lie on the end of its interval, and rounding then puts it a little outside.
        reach = [[max(0.0, one.right - low)], [max(0.0, high - one.right)]]
        upper.errorbar(
            [one.sure], [one.right], yerr=reach, fmt="o", color=_OUTPUT, markersize=5, capsize=3, linewidth=1.2,
            label="predictions of a bin, 95 % interval" if all(other.size == 0 for other in bins[:place]) else None,
        )  # fmt: skip
    upper.set_ylim(-0.04, 1.04)
    upper.set_ylabel("share that is right")
    figure.legend(loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    upper.set_title(
        f"expected calibration error {error:.3f}\n{100 * accuracy:.1f} % of {total:,} predictions right", fontsize=11
    )
    upper.grid(color="0.9")
    centres = [(place + 0.5) / len(bins) for place in range(len(bins))]
    counts = [one.size for one in bins]
    bars = lower.bar(centres, counts, width=0.9 / len(bins), color="0.75", edgecolor="0.3", linewidth=0.6)
    if len(bins) <= 30:
        upright = 90 if len(bins) > 12 else 0
        lower.bar_label(bars, [f"{count:,}" if count else "" for count in counts], size=7, padding=2, rotation=upright)
    lower.margins(y=0.35 if len(bins) > 12 else 0.22)
    lower.set_xlim(-0.02, 1.02)
    lower.set_xlabel("probability of the prediction")
    lower.set_ylabel("predictions")
    return figure


# What they share.


def _as_labels(know: Knowledge, outputs: torch.Tensor, batch: int, name: str) -> torch.Tensor:
    """int64 [batch, outputs] on the CPU."""
    sizes = know.outputs
    rows = outputs.detach().cpu().long()
    if rows.dim() == 1 and len(sizes) == 1:
        rows = rows.unsqueeze(1)
    if rows.shape != (batch, len(sizes)):
        raise ValueError(f"{name}: outputs have shape {tuple(outputs.shape)}, expected ({batch}, {len(sizes)})")
    for place, size in enumerate(sizes):
        column = rows[:, place]
        if bool((column < 0).any()) or bool((column >= size).any()):
            raise ValueError(f"{name}: output {place} has values outside 0 to {size - 1}")
    return rows
