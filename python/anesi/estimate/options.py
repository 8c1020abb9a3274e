"""Options by name, as they stand in the settings of an estimator: ``{"calls": 8, "kernel.memory": 512}``."""

from __future__ import annotations

import dataclasses
import difflib
from typing import Any, Iterator, Mapping, TypeVar

Options = TypeVar("Options")


def number(default: Any, least: float, most: float) -> Any:
    """A field of a dataclass of options: a number in that range."""
    return dataclasses.field(default=default, metadata={"range": (least, most)})


def one_of(*names: str) -> Any:
    """One of these names; the first is the default."""
    return dataclasses.field(default=names[0], metadata={"names": names})


def with_settings(options: Options, settings: Mapping[str, Any]) -> Options:
    """A copy of a dataclass with these settings. Dataclasses in it are groups: ``{"kernel.memory": 512}``.

    Raises ValueError if there is no such option or if a value is not what the option may be.
    """
    known = list(_names(options))
    for name in settings:
        if name not in known:
            raise ValueError(f"{name}: there is no such option; {nearest(name, known)}")
    changed: Options = _changed(options, settings, "")
    return changed


def nearest(name: str, known: list[str]) -> str:
    """A hint at the name that was meant, or all names."""
    close = difflib.get_close_matches(str(name), known, 1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}" if known else "this has none"


def _names(options: Any, prefix: str = "") -> Iterator[str]:
    for entry in dataclasses.fields(options):
        value = getattr(options, entry.name)
        if dataclasses.is_dataclass(value):
            yield from _names(value, f"{prefix}{entry.name}.")
        else:
            yield prefix + entry.name


def _changed(options: Any, settings: Mapping[str, Any], prefix: str) -> Any:
    changes = {}
    for entry in dataclasses.fields(options):
        value, name = getattr(options, entry.name), prefix + entry.name
        if dataclasses.is_dataclass(value):
            changes[entry.name] = _changed(value, settings, f"{name}.")
        elif name in settings:
            changes[entry.name] = _parsed(name, settings[name], type(value), entry.metadata)
    return dataclasses.replace(options, **changes)


def _parsed(name: str, given: Any, wanted: type, metadata: Mapping[str, Any]) -> Any:
    """The value as the type of the default. It may be a text."""
    text = str(given).lower() if isinstance(given, bool) else str(given)
    names = ("true", "false") if wanted is bool else metadata.get("names")
    if names is not None and text not in names:
        raise ValueError(f"{name}: {given!r}; one of {', '.join(names)}")
    if wanted is bool:
        return text == "true"
    try:
        value = wanted(text)
    except ValueError:
        raise ValueError(f"{name}: {given!r} is not {'a whole number' if wanted is int else 'a number'}") from None
    least, most = metadata.get("range", (None, None))
    if least is not None and not least <= value <= most:
        raise ValueError(f"{name}: {given!r} is out of range; it may be {least} to {most}")
    return value
