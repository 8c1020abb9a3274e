"""Small things that DeepProbLog's scripts use."""
# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import configparser
import datetime
import itertools
import os
import pathlib
import sys
from typing import Any, Iterable, Iterator, Mapping, Sequence

import torch
from problog.program import PrologString


def get_configuration(parameters: Mapping[str, Sequence[Any]], i: int) -> dict[str, Any]:
    """Combination number i of what parameters may be; the first parameter changes fastest."""
    chosen = {}
    for name, values in parameters.items():
        i, place = divmod(i, len(values))
        chosen[name] = values[place]
    return chosen


def config_to_string(configuration: Mapping[str, Any]) -> str:
    """For the names of files: ``method_exact_N_1``."""
    return "_".join(f"{name}_{value}" for name, value in configuration.items())


def load_config(filename: str | None = None) -> configparser.SectionProxy:
    """The section ``Default`` of a file of settings; by default of that which the command line names first."""
    if filename is None:
        if len(sys.argv) < 2:
            raise ValueError("load_config: the command line names no file of settings")
        filename = sys.argv[1]
    read = configparser.ConfigParser()
    if not read.read(filename):
        raise FileNotFoundError(f"load_config: {filename} cannot be read")
    return read["Default"]


def format_time() -> str:
    """For the names of files, to the minute."""
    return datetime.datetime.now().strftime("_%y%m%d_%H%M")


def format_time_precise() -> str:
    """For the names of files, to the microsecond."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%y%m%d_%H%M%S%f")


def check_path(path: str | os.PathLike[str]) -> None:
    """Makes the folder that a file is to be written to."""
    os.makedirs(os.path.dirname(os.fspath(path)) or ".", exist_ok=True)


def get_top_path(pattern: str, reverse: bool = True) -> pathlib.Path | None:
    """The last (or the first) of the files that a pattern matches."""
    return next(iter(sorted(pathlib.Path().glob(pattern), reverse=reverse)), None)


def log_exists(location: str | os.PathLike[str], name: str) -> Iterator[pathlib.Path]:
    """Files of a folder whose names begin so."""
    return pathlib.Path(location).glob(name + "*")


def count_parameters(model: torch.nn.Module) -> int:
    """How many numbers a network learns."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def nth(iterable: Iterable[Any], n: int, default: Any = None) -> Any:
    """Element number n."""
    return next(itertools.islice(iterable, n, None), default)


def parse(string: str) -> Any:
    """The first clause of a program; None where there is none."""
    return next(iter(PrologString(string)), None)
