"""What only the compiled module and the program have: each says so where it is used."""

from __future__ import annotations

from typing import Any, Callable, NoReturn


class NotHere(NotImplementedError):
    """Something that the program has, and the Python package on the engine has not."""


def _missing(what: str) -> Callable[..., NoReturn]:
    def refuse(*arguments: Any, **named: Any) -> NoReturn:
        raise NotHere(f"{what} is not in the Python package; use the program (`anesi --help`)")

    return refuse


FlowNetwork = _missing("the flow network of anesi.flow")
task_names = _missing("the data of the built-in tasks")
load_task = _missing("the data of the built-in tasks")
load_run = _missing("opening a run of `anesi train`")
