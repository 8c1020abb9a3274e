"""The command `anesi`: becomes the program where the package holds it, and without it knows its version.

It stands outside the package because importing that imports torch, which takes seconds.
"""

import importlib.machinery
import importlib.metadata
import importlib.util
import os
import sys


def _find(package, *path):
    """A file of an installed package, without importing that. None where it is not there."""
    spec = importlib.util.find_spec(package)
    places = [os.path.join(place, *path) for place in spec.submodule_search_locations] if spec else []
    return next(filter(os.path.exists, places), None)


def _engine():
    """anesi._engine, without importing the package around it."""
    name = "anesi._engine"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.machinery.PathFinder.find_spec(name, [_find("anesi")])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    program, torch = _find("anesi", "bin", "anesi"), _find("torch", "lib")
    if program is None and sys.argv[1:] == ["--version"]:
        return print(_engine().build)
    if program is None:
        return (
            "anesi: this package was installed without the command-line program; in a checkout of anesi, `make` builds it,"
            " and so does `pip install . --config-settings cmake.define.ANESI_BUILD_PROGRAM=ON`"
        )
    with open(_find("anesi", "bin", "torch"), encoding="utf-8") as file:
        wanted = file.read().strip()
    found = importlib.metadata.version("torch").split("+")[0] if torch else "missing"
    if found != wanted:
        return f"anesi: the program was built against torch {wanted}, which is {found} here: pip install torch=={wanted}"
    environment = dict(os.environ)
    # The program looks for torch beside the package. It may be elsewhere, as in environments that see the system's packages.
    if not os.path.exists(os.path.join(os.path.dirname(program), "..", "..", "torch")):
        paths = [torch, environment.get("LD_LIBRARY_PATH")]
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, paths))
    os.execve(program, [program, *sys.argv[1:]], environment)
