"""What a training logs."""

from __future__ import annotations

import os
from typing import Any, Iterable

from ..._files import read_text
from . import check_path


class Logger:
    """Values by name and step, and comments; as a file, a table with a column for each name."""

    def __init__(self) -> None:
        self.log_data: dict[str, dict[int, Any]] = {}
        self.comments: list[str] = []

    @property
    def indices(self) -> list[int]:
        """The steps of which something is logged."""
        return sorted({step for values in self.log_data.values() for step in values})

    def clear(self) -> None:
        self.log_data.clear()
        self.comments.clear()

    def log(self, name: str, index: int, value: Any) -> None:
        self.log_data.setdefault(name, {})[index] = value

    def log_list(self, i: int, data: Iterable[tuple[str, Any]] | None) -> None:
        """Pairs of a name and a value."""
        for name, value in [] if data is None else data:
            self.log(name, i, value)

    def comment(self, comment: str) -> None:
        self.comments.extend(comment.split("\n"))

    def has_attribute(self, attribute: str) -> bool:
        return attribute in self.log_data

    def get_attribute(self, attribute: str, include_indices: bool = False) -> Any:
        """The values of a name in the order of steps; with ``include_indices`` after a list of these steps."""
        pairs = sorted(self.log_data.get(attribute, {}).items())
        steps, values = [step for step, _ in pairs], [value for _, value in pairs]
        return (steps, values) if include_indices else values

    def get_union(self, att1: str, att2: str) -> tuple[list[int], list[tuple[Any, Any]]]:
        """The steps of which both are logged, and pairs of their values."""
        first, second = self.log_data[att1], self.log_data[att2]
        steps = sorted(first.keys() & second.keys())
        return steps, [(first[step], second[step]) for step in steps]

    def __getitem__(self, item: str) -> Any:
        return self.get_attribute(item, True)

    def __str__(self) -> str:
        lines = [f"#{comment}" for comment in self.comments]
        lines.append(",".join(["i", *self.log_data]))
        for step in self.indices:
            lines.append(",".join([str(step), *(str(values.get(step, "")) for values in self.log_data.values())]))
        return "\n".join(lines)

    def write_to_file(self, name: str | os.PathLike[str]) -> None:
        """Writes ``name.log``."""
        path = f"{os.fspath(name)}.log"
        check_path(path)
        with open(path, "w") as file:
            file.write(str(self))

    def read_from_file(self, filename: str | os.PathLike[str]) -> None:
        """Reads what :meth:`write_to_file` wrote, whose values are numbers."""
        names: list[str] = []
        for line in read_text(filename).splitlines():
            if line.startswith("#"):
                self.comments.append(line[1:])
            elif not names:
                names = line.split(",")
            else:
                told = dict(zip(names, line.split(",")))
                step = int(told.pop("i"))
                self.log_list(step, [(name, float(value)) for name, value in told.items() if value])
