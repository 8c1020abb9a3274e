"""The module of a wheel that was installed where there is no torch: prints a line, or fails."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import importlib.util
import sys
import types
from pathlib import Path

import numpy as np

assert importlib.util.find_spec("torch") is None, "there is a torch here"
folder = Path(importlib.machinery.PathFinder.find_spec("anesi").submodule_search_locations[0])
sys.modules["anesi"] = types.ModuleType("anesi")  # its __init__ needs torch
sys.modules["anesi"].__path__ = [str(folder)]

from anesi import _engine

assert _engine.has_cadical and _engine.has_libsdd, _engine.build
licences = {path.parent.name for path in importlib.metadata.files("anesi") if path.name == "LICENSE" and len(path.read_text()) > 100}
assert {"licenses", "fmt", "nlohmann_json", "tomlplusplus", "cadical", "libsdd", "nanobind"} <= licences, licences

problem = _engine.Problem(lambda worlds: worlds.sum(1, keepdims=True), [10] * 3, [28])
found = _engine.discover(problem).problem
logits, labels = np.zeros((2, 3, 10), np.float32), np.array([[0], [13]])
log_probs, gradient = np.empty(2, np.float32), np.empty_like(logits)
_engine.Backend(found).log_prob_of_logits(logits, log_probs, gradient, outputs=labels)
assert np.allclose(np.exp(log_probs), [1e-3, 75e-3]), log_probs
assert np.allclose(gradient[0, :, 0], 0.9, atol=1e-6), gradient

formula = _engine.parse_formula("p cnf 3 2\n1 2 0\n-1 3 0\n")
total = np.empty(1)
_engine.Backend(formula, settings=["exact.method=circuit"]).log_prob(np.full((1, 3, 2), np.log(0.5)), total, outputs=np.array([[1]]))
assert np.isclose(np.exp(total[0]), 0.5), total
try:
    problem.apply(np.full((1, 3), 10))
except ValueError:
    pass
else:
    raise AssertionError("a world outside its space was taken")
print(f"works without torch: {_engine.build}, {Path(_engine.__file__).name}")
