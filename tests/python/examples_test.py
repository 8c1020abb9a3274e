"""The examples run and end as they should, the docstrings tell the truth, and the types hold.

    PYTHONPATH=build/release/python python tests/python/examples_test.py
"""

import ast
import doctest
import importlib
import importlib.util
import os
import pathlib
import pkgutil
import re
import subprocess
import sys
import tempfile
import unittest

import anesi

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "python"
OPTIONAL = {"asp": "clingo", "problog": "problog", "deepproblog": "problog"}  # modules of anesi, and the packages that they need


def run(command, folder, **environment):
    """What a command prints. Python finds the same anesi as this test does."""
    package = str(pathlib.Path(anesi.__file__).parent.parent)
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout


class Examples(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def printed(self, name, *arguments):
        """What an example prints on digits that anesi draws itself."""
        code, text = run(
            [sys.executable, EXAMPLES / name, *arguments], self.folder, ANESI_DIGITS="procedural", ANESI_OFFLINE="1"
        )
        self.assertEqual(code, 0, text)
        return text

    def figure(self, pattern, text):
        found = re.search(pattern, text)
        self.assertIsNotNone(found, text)
        return float(found.group(1))

    def test_01_your_own_function(self):
        text = self.printed("01_your_own_function.py")
        right = self.figure(r"alarms right: ([\d.]+) %", text)
        self.assertGreater(right, 90)
        self.assertEqual(self.figure(r"loaded: ([\d.]+) % right\n$", text), right)

    def test_03_explanations(self):
        text = self.printed("03_explanations.py")
        self.assertIn("15 = 7 + 3 + 5: 0.62\n15 = 1 + 9 + 5: 0.38\n", text)
        self.assertIn("of 1,000 drawn, 1000 add up", text)
        self.assertTrue(text.endswith("15, once the second digit is 3: 0.40\n"), text)

    def test_08_constraints(self):
        text = self.printed("08_constraints.py")
        self.assertRegex(text, r"a network alone +[\d.]+ % of trays right, +\d?\d\.\d % possible")
        alone = self.figure(r"a network alone +([\d.]+) %", text)
        learned = self.figure(r"learned under it too +([\d.]+) % of trays right, 100\.0 % possible\n$", text)
        self.assertGreater(learned, alone)

    def test_09_markov_logic(self):
        text = self.printed("09_markov_logic.py")
        self.assertLess(self.figure(r"the farthest is ([\d.]+) standard errors off", text), 4)
        alone = self.figure(r"right: ([\d.]+) % by a network alone", text)
        self.assertGreater(self.figure(r", ([\d.]+) % with the rules", text), alone)

    def test_10_estimator(self):
        text = self.printed("10_estimator.py")
        self.assertGreater(self.figure(r"the heavier one found: ([\d.]+) %", text), 90)

    def test_11_the_papers_settings(self):
        text = self.printed("11_the_papers_settings.py", "--epochs", "1", "--steps", "3")
        self.assertRegex(text, r"symbolic [\d.]+ %, neural [\d.]+ %")

    def test_04_refinement(self):
        text = self.printed("04_refinement.py", "--digits", "2", "--examples", "2000", "--epochs", "2")
        self.assertGreater(self.figure(r"ExplainedLabels\(2000 of 2000 labels\): ([\d.]+) %", text), 95)
        self.assertGreater(self.figure(r"second network: ([\d.]+) % of digits right\n$", text), 95)

    @unittest.skipUnless(importlib.util.find_spec("problog"), "problog is not installed")
    def test_07_problog(self):
        text = self.printed("07_problog.py")
        self.assertGreater(self.figure(r"\n1 digits: sums right ([\d.]+) %", text), 95)
        self.assertGreater(self.figure(r"\n15 digits: sums right ([\d.]+) %", text), 90)


class Types(unittest.TestCase):
    def test_the_stub_names_what_the_binding_has(self):
        def own(thing):
            return {name for name in vars(thing) if not name.startswith("_")}

        def told(body):
            names = {part.name for part in body if isinstance(part, (ast.ClassDef, ast.FunctionDef))}
            return {name for name in names if not name.startswith("_")}

        stub = ast.parse((ROOT / "python" / "anesi" / "_engine.pyi").read_text()).body
        bases = {part.name: [base.id for base in part.bases] for part in stub if isinstance(part, ast.ClassDef)}
        dictionaries = {name for name, of in bases.items() if "TypedDict" in of}  # for type checkers alone
        annotated = {part.target.id for part in stub if isinstance(part, ast.AnnAssign)}
        self.assertEqual((told(stub) - dictionaries) | annotated, own(anesi._engine))
        for part in stub:
            if isinstance(part, ast.ClassDef) and part.name not in dictionaries:
                self.assertEqual(told(part.body), own(getattr(anesi._engine, part.name)), part.name)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_they_are_strict(self):
        package = pathlib.Path(anesi.__file__).resolve().parent  # a build has links to the sources
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, package, EXAMPLES]
            code, text = run(command, ROOT)
        self.assertEqual(code, 0, text)


def load_tests(loader, tests, pattern):
    for module in pkgutil.iter_modules(anesi.__path__):
        needed = OPTIONAL.get(module.name)
        if needed and not importlib.util.find_spec(needed):
            print(f"{needed} is not installed: the docstrings of anesi.{module.name} are left out", flush=True)
        elif not module.name.startswith("_"):
            tests.addTests(doctest.DocTestSuite(importlib.import_module(f"anesi.{module.name}")))
    return tests


if __name__ == "__main__":
    unittest.main()
