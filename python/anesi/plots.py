"""Pictures of what Knowledge knows, as matplotlib figures.

Each function returns a ``matplotlib.figure.Figure`` that no window and no global state knows of: save it with
``figure.savefig("memory.png")``. matplotlib is wanted only here. The methods of Knowledge, ``know.plot_machine()``,
``know.plot_rollout(…)`` and ``know.plot_calibration(…)``, call these functions.
"""

from __future__ import annotations

import importlib
import math
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import torch

if TYPE_CHECKING:
    from .facts import Automaton
    from .knowledge import Knowledge, Logits

# Blue and orange that differ for every kind of eye, and in grey.
_OUTPUT, _WORLD = "#08519c", "#d95f02"

# Of a machine. Lengths are in inches.
_MOST_STEPS, _MOST_STATES, _MOST_MOVES = 8, 24, 2_000_000
_MOST_EDGES = 80  # of all steps that are drawn, if that can be
_MOST_EDGES_OF_A_STEP = 150
_LONGEST_LABEL = 30  # letters
_RADIUS, _LABEL_SIZE, _LABEL_HEIGHT = 0.13, 8.0, 0.17
_NARROWEST_GAP, _WIDEST_GAP, _WIDEST_MACHINE, _GAP_OF_DOTS = 1.15, 5.0, 15.0, 0.9


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
    figure = _modules("figure")["figure"]
    automaton = know.automaton
    if automaton is None:
        raise ValueError(f"machine: there is no memory to draw; {know.reason}")
    drawing = _Machine(automaton, know.given + know.worlds, len(know.given))
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
    parts = _modules("figure", "collections", "lines", "patches")
    values, is_logits = know._values(logits, beliefs)
    if values.shape[0] == 0:
        raise ValueError("rollout: there is no example to follow")
    values, given = values[:1].detach(), None if given is None else given[:1]
    asked: dict[str, Any] = {"logits" if is_logits else "beliefs": values, "given": given}
    output = know.predict(**asked).outputs if outputs is None else _as_labels(know, outputs[:1], 1, "rollout")
    if math.isinf(know.log_prob(outputs=output, **asked).item()):
        raise ValueError(f"rollout: the output {_spaced(output[0].tolist())} is impossible for this example")
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
    figure = _modules("figure")["figure"]
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


# matplotlib, asked for by name so that it need be neither installed nor typed.


def _modules(*names: str) -> dict[str, Any]:
    try:
        return {name: importlib.import_module(f"matplotlib.{name}") for name in names}
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        raise ImportError("plots need matplotlib: pip install matplotlib") from None


# Machines.


class _Edge(NamedTuple):
    source: int
    target: int
    label: str


class _Box(NamedTuple):
    """A rectangle by its centre."""

    x: float
    y: float
    width: float
    height: float

    def covers(self, other: _Box) -> bool:
        return (
            abs(self.x - other.x) < (self.width + other.width) / 2
            and abs(self.y - other.y) < (self.height + other.height) / 2
        )


class _Plan(NamedTuple):
    """Of a step: where it begins, how wide it is, and where on its edge each label stands; None without room."""

    step: int
    start: float
    width: float
    labels: list[tuple[_Edge, float | None]]


class _Machine:
    """Draws an automaton. In the picture a unit is an inch, so that what a text covers is known."""

    def __init__(self, automaton: Automaton, domains: Sequence[int], given: int) -> None:
        self.automaton, self.domains, self.given = automaton, domains, given
        self.steps = automaton.steps
        self.tables = {step["kind"]: automaton.table(step["kind"]) for step in self.steps}
        self.reached = self._reached_states()
        first = self._first_steps()
        self.shown = list(range(first)) + ([len(self.steps) - 1] if first < len(self.steps) else [])
        columns = sorted({0, *self.shown, *(step + 1 for step in self.shown)})
        for column in columns:
            if len(self.reached[column]) > _MOST_STATES:
                raise ValueError(
                    f"machine: too large to draw, {len(self.reached[column])} states after {column} steps;"
                    f" a picture has room for {_MOST_STATES}"
                )
        for step in self.shown:
            if self._edge_count(step) > _MOST_EDGES_OF_A_STEP:
                raise ValueError(
                    f"machine: too large to draw, {self._edge_count(step)} edges in step {step};"
                    f" a picture has room for {_MOST_EDGES_OF_A_STEP}"
                )
        self.states = sorted({state for column in columns for state in self.reached[column]})
        self.rows = {state: row for row, state in enumerate(self.states)}
        self.row_height = 0.5 if len(self.states) <= 12 else 0.38
        self.left_out = 0

    def _combinations(self, kind: int) -> int:
        table = self.tables[kind]
        return len(table["next"]) // max(1, int(table["states"]))

    def _reached_states(self) -> list[list[int]]:
        """Before each step, and after the last one."""
        moves = sum(width * self._combinations(step["kind"]) for width, step in zip(self.automaton.widths, self.steps))
        if moves > _MOST_MOVES:
            raise ValueError(
                f"machine: too large to draw, {self.automaton.states} states; a picture has room for {_MOST_STATES}"
            )
        reached = [[self.automaton._core.start]]
        for step in self.steps:
            combinations, table = self._combinations(step["kind"]), self.tables[step["kind"]]["next"]
            reached.append(
                sorted({table[state * combinations + read] for state in reached[-1] for read in range(combinations)})
            )
        return reached

    def _first_steps(self) -> int:
        """How many of the first steps to draw: all, or as many as show what a step of each kind does in each state.

        Two at least, and else fewer where so many edges would be no picture.
        """
        edges = [self._edge_count(step) for step in range(len(self.steps))]
        if len(self.steps) <= 3 or (len(self.steps) <= _MOST_STEPS and sum(edges) <= _MOST_EDGES):
            return len(self.steps)

        def done_by(step: int) -> set[tuple[int, int]]:
            return {(self.steps[step]["kind"], state) for state in self.reached[step]}

        missing = set().union(*(done_by(step) for step in range(len(self.steps)))) - done_by(len(self.steps) - 1)
        drawn = 0
        while drawn < min(_MOST_STEPS, len(self.steps)) - 1:
            if drawn >= 2 and (not missing or sum(edges[: drawn + 1]) + edges[-1] > _MOST_EDGES):
                break
            missing -= done_by(drawn)
            drawn += 1
        return drawn

    def _edge_count(self, step: int) -> int:
        kind = self.steps[step]["kind"]
        table, combinations = self.tables[kind]["next"], self._combinations(kind)
        return sum(len(set(table[state * combinations : (state + 1) * combinations])) for state in self.reached[step])

    def edges(self, step: int) -> list[_Edge]:
        kind = self.steps[step]["kind"]
        table, combinations = self.tables[kind], self._combinations(kind)
        groups: dict[tuple[int, int], dict[int, list[int]]] = {}
        for state in self.reached[step]:
            for read in range(combinations):
                place = state * combinations + read
                group = groups.setdefault((state, table["next"][place]), {})
                group.setdefault(table["emits"][place], []).append(read)
        return [
            _Edge(source, target, self._edge_label(step, group)) for (source, target), group in sorted(groups.items())
        ]

    def _edge_label(self, step: int, group: dict[int, list[int]]) -> str:
        """The values that are read / what is emitted, as much of it as has room."""
        reads, emits = self.steps[step]["reads"], self.steps[step]["emits"] is not None
        sizes = [self.domains[variable] for variable in reads]
        for entries, ranges in [(3, 5), (3, 3), (2, 3), (2, 2), (1, 2), (1, 1)]:
            parts: list[str] = []
            for emitted, read in sorted(group.items()):
                if len(parts) == entries:
                    parts.append("…")
                    break
                text = _values_text(read, sizes, ranges) if reads else ""
                parts.append(f"{text} / {emitted}".strip() if emits else text)
            label = "; ".join(parts)
            if len(label) <= _LONGEST_LABEL:
                break
        return label

    def _heading(self, step: int) -> str:
        def name(variable: int) -> str:
            return f"g{variable}" if variable < self.given else f"w{variable - self.given}"

        reads, emits = self.steps[step]["reads"], self.steps[step]["emits"]
        lines = [f"step {step}", "reads " + (", ".join(map(name, reads)) if reads else "nothing")]
        return "\n".join(lines + ([] if emits is None else [f"emits y{emits}"]))

    def y(self, state: int) -> float:
        return -self.row_height * self.rows[state]

    def drawn(self, new_figure: Any, title: str) -> Any:
        plans: list[_Plan] = []
        x = 0.0
        widest = min(_WIDEST_GAP, _WIDEST_MACHINE / max(1, len(self.shown)))
        dots = None
        for step in self.shown:
            if plans and step != plans[-1].step + 1:
                dots = x + _GAP_OF_DOTS / 2
                x += _GAP_OF_DOTS
            plans.append(self._plan(step, x, max(widest, _NARROWEST_GAP)))
            x += plans[-1].width
        width, height = max(x + 2 * _RADIUS + 0.3, 4.2), self.row_height * len(self.states) + 0.1
        left, right, below, above = 0.75, 0.2, 1.3, 0.5
        whole = (left + width + right, below + height + above)
        figure = new_figure(figsize=whole)
        axes = figure.add_axes((left / whole[0], below / whole[1], width / whole[0], height / whole[1]))
        middle = self.y(self.states[-1]) / 2
        axes.set_xlim(x / 2 - width / 2, x / 2 + width / 2)
        axes.set_ylim(middle - height / 2, middle + height / 2)
        for plan in plans:
            self._draw_edges(axes, plan)
            self._draw_states(axes, plan.start + plan.width, self.reached[plan.step + 1])
            if plan.step - 1 not in self.shown:
                self._draw_states(axes, plan.start, self.reached[plan.step])
        ticks = [(plan.start + plan.width / 2, self._heading(plan.step)) for plan in plans]
        if dots is not None:
            axes.text(dots, middle, "…", size=14, ha="center", va="center")
            ticks.append((dots, f"{len(self.steps) - len(self.shown)} more\nsteps"))
        axes.set_xticks([place for place, _ in ticks], [text for _, text in ticks])
        axes.set_yticks([self.y(state) for state in self.states], [str(state) for state in self.states])
        axes.tick_params(length=0, labelsize=9)
        missing = f"; labels without room: {self.left_out}" if self.left_out else ""
        axes.set_xlabel(
            f"steps, in the order in which the world is read\non edges: values read / value emitted{missing}",
            fontsize=9,
            labelpad=8,
        )
        axes.set_ylabel("state")
        axes.set_title(title)
        for spine in axes.spines.values():
            spine.set_visible(False)
        return figure

    def _plan(self, step: int, start: float, widest: float) -> _Plan:
        """With the narrowest gap in which every label has room."""
        edges = self.edges(step)
        widths = [_text_width(edge.label) for edge in edges]
        gap = min(widest, max(_NARROWEST_GAP, 4 * _RADIUS + max(widths) + 0.1))
        while True:
            places = self._places(step, edges, widths, gap)
            if gap >= widest or None not in places:
                return _Plan(step, start, gap, list(zip(edges, places)))
            gap = min(widest, gap * 1.25)

    def _places(self, step: int, edges: Sequence[_Edge], widths: Sequence[float], gap: float) -> list[float | None]:
        """Where on its edge each label covers no other and no state, and the fewest edges besides its own."""
        size = 2 * _RADIUS + 0.04
        taken = [_Box(0, self.y(state), size, size) for state in self.reached[step]]
        taken += [_Box(gap, self.y(state), size, size) for state in self.reached[step + 1]]
        ends = [(self.y(edge.source), self.y(edge.target)) for edge in edges]
        places: list[float | None] = [None] * len(edges)
        shares = sorted((share / 40 for share in range(1, 40)), key=lambda share: abs(share - 0.5))
        # Long labels have the least choice.
        for index in sorted(range(len(edges)), key=lambda index: -widths[index]):
            fewest, best = len(edges) + 1, None
            for share in shares:
                box = _Box(share * gap, _between(ends[index], share), widths[index] + 0.08, _LABEL_HEIGHT)
                part = box.width / 2 / gap
                if not part <= share <= 1 - part or any(box.covers(other) for other in taken):
                    continue
                covered = sum(
                    min(_between(other, share - part), _between(other, share + part)) < box.y + box.height / 2
                    and max(_between(other, share - part), _between(other, share + part)) > box.y - box.height / 2
                    for other in ends
                )
                if covered < fewest:
                    fewest, best, places[index] = covered, box, share
                if covered == 1:  # its own
                    break
            if best is not None:
                taken.append(best)
        return places

    def _draw_edges(self, axes: Any, plan: _Plan) -> None:
        arrow = {"arrowstyle": "-|>", "color": "0.45", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
        for edge, share in plan.labels:
            ends = self.y(edge.source), self.y(edge.target)
            length = math.hypot(plan.width, ends[1] - ends[0])
            begin, end = _RADIUS / length, 1 - (_RADIUS + 0.01) / length
            at = [(plan.start + part * plan.width, _between(ends, part)) for part in (begin, end)]
            axes.annotate("", at[1], at[0], arrowprops=arrow, zorder=1)
            if share is None:
                self.left_out += 1
                continue
            axes.text(
                plan.start + share * plan.width,
                _between(ends, share),
                edge.label,
                size=_LABEL_SIZE,
                ha="center",
                va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
                zorder=2,
            )

    def _draw_states(self, axes: Any, x: float, states: Sequence[int]) -> None:
        circle = _modules("patches")["patches"].Circle
        for state in states:
            axes.add_patch(circle((x, self.y(state)), _RADIUS, facecolor="white", edgecolor="black", zorder=3))
            axes.text(x, self.y(state), str(state), size=8, ha="center", va="center_baseline", zorder=4)


def _between(ends: tuple[float, float], share: float) -> float:
    return ends[0] + share * (ends[1] - ends[0])


def _values_text(combinations: Sequence[int], domains: Sequence[int], most: int) -> str:
    """Ranges, as in 0-4, 7; combinations of several variables one by one, as in 0 4, 1 3."""
    parts: list[str] = []
    first = 0
    while first < len(combinations):
        if len(parts) == most:
            parts.append("…")
            break
        last = first
        if len(domains) == 1:
            while last + 1 < len(combinations) and combinations[last + 1] == combinations[last] + 1:
                last += 1
            if last == first + 1:
                last = first  # two values are no range
            parts.append(str(combinations[first]) if first == last else f"{combinations[first]}-{combinations[last]}")
        else:
            rest, values = combinations[first], []
            for size in reversed(domains):
                values.append(rest % size)
                rest //= size
            parts.append(_spaced(values[::-1]))
        first = last + 1
    return ", ".join(parts)


def _text_width(text: str) -> float:
    """Of a label, in inches."""
    path = _modules("textpath")["textpath"].TextPath((0, 0), text, size=_LABEL_SIZE)
    width: float = path.get_extents().width
    return width / 72


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
        return f"{name} {_spaced(values if len(values) <= 12 else [*values[:11], '…'])}: {_percent(probability)} %"

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


def _spaced(values: Sequence[Any]) -> str:
    return " ".join(str(value) for value in values)
