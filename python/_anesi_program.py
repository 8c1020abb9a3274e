"""The command `anesi`: becomes the program in the package. It stands outside the package because importing that imports
torch, which takes seconds."""

import importlib.util
import os
import sys


def _find(package, *path):
    """A file of an installed package, without importing that. None where it is not there."""
    spec = importlib.util.find_spec(package)
    places = [os.path.join(place, *path) for place in spec.submodule_search_locations] if spec else []
    return next(filter(os.path.exists, places), None)


def main():
    program, torch = _find("anesi", "bin", "anesi"), _find("torch", "lib")
    if torch is None:
        return "anesi: torch is not installed; installing anesi with pip installs it too"
    environment = dict(os.environ)
    # The program looks for torch beside the package. It may be elsewhere, as in environments that see the system's packages.
    if not os.path.exists(os.path.join(os.path.dirname(program), "..", "..", "torch")):
        paths = [torch, environment.get("LD_LIBRARY_PATH")]
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, paths))
    os.execve(program, [program, *sys.argv[1:]], environment)
