"""The command `anesi`: becomes the program in the package. It stands outside the package because importing that imports
torch, which takes seconds."""

import importlib.util
import os
import sys


def _place_of(package):
    found = importlib.util.find_spec(package)
    return found.submodule_search_locations[0] if found else None


def main():
    place, torch = _place_of("anesi"), _place_of("torch")
    if torch is None:
        return "anesi: needs torch, which is not installed; `pip install anesi` installs it"
    program = os.path.join(place, "bin", "anesi")
    environment = dict(os.environ)
    if os.path.dirname(torch) != os.path.dirname(place):  # the program itself looks for torch beside the package only
        paths = [os.path.join(torch, "lib"), environment.get("LD_LIBRARY_PATH")]
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, paths))
    os.execve(program, [program, *sys.argv[1:]], environment)
