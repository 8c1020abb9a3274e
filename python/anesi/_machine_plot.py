"""The picture of a machine: columns of states, and edges between them with labels that do not cover each other."""

from __future__ import annotations

import importlib
import math
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

if TYPE_CHECKING:
    from .facts import Automaton

# Of a machine. Lengths are in inches.
_MOST_STEPS, _MOST_STATES, _MOST_MOVES = 8, 24, 2_000_000
_MOST_EDGES = 80  # of all steps that are drawn, if that can be
_MOST_EDGES_OF_A_STEP = 150
_LONGEST_LABEL = 30  # letters
_RADIUS, _LABEL_SIZE, _LABEL_HEIGHT = 0.13, 8.0, 0.17
_NARROWEST_GAP, _WIDEST_GAP, _WIDEST_MACHINE, _GAP_OF_DOTS = 1.15, 5.0, 15.0, 0.9


def modules(*names: str) -> dict[str, Any]:
    """Of matplotlib, asked for by name so that it need be neither installed nor typed."""
    try:
        return {name: importlib.import_module(f"matplotlib.{name}") for name in names}
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        raise ImportError("plots need matplotlib: pip install matplotlib") from None


def spaced(values: Sequence[Any]) -> str:
    return " ".join(str(value) for value in values)


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


class MachineDrawing:
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
        circle = modules("patches")["patches"].Circle
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
            parts.append(spaced(values[::-1]))
        first = last + 1
    return ", ".join(parts)


def _text_width(text: str) -> float:
    """Of a label, in inches."""
    path = modules("textpath")["textpath"].TextPath((0, 0), text, size=_LABEL_SIZE)
    width: float = path.get_extents().width
    return width / 72
