#!/usr/bin/env python3
"""What somebody does who installs anesi with pip, in environments of their own.

    tests/python/install_test.py build/release [example.py ...]

The wheels are made of what that build tree holds, so nothing is compiled. pip fetches torch and the tools of the build.
"""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest
import zipfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
EXAMPLES = [pathlib.Path(path).resolve() for path in sys.argv[2:]]
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
VERSION = re.search(r"^project\(anesi VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
TORCH = re.search(r"^torch==[0-9.]+", (SOURCE / "requirements.txt").read_text(), re.MULTILINE)[0]
LIBRARIES = ["anesi", "anesi_cli", "anesi_inference", "anesi_knowledge"]

# Imports anesi, and shows that nothing of it comes from the source or the build tree.
IMPORT = """
import sys, torch, anesi
assert anesi.__version__ == sys.argv[1], anesi.__version__
for line in open("/proc/self/maps"):
    assert not any(place in line for place in sys.argv[2:]), line
"""

TIME_IMPORT = """
import time, torch, numpy
begin = time.process_time()
import anesi
print(time.process_time() - begin)
"""


class Environment:
    """A virtual environment, and what is run in it: from another directory, without the caller's Python variables."""

    def __init__(self, place, *options):
        self.place = place
        run([sys.executable, "-m", "venv", *options, place])
        self.site_packages = next(place.glob("lib/python*/site-packages"))

    def run(self, *command, fails=False):
        return run([self.place / "bin" / command[0], *command[1:]], fails=fails)

    def pip(self, *arguments):
        return self.run("python", "-m", "pip", "--disable-pip-version-check", *arguments)


def run(command, fails=False):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=WORK, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if (done.returncode != 0) != fails:
        raise AssertionError(f"{' '.join(map(str, command))}\ngave {done.returncode}:\n{done.stdout}")
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plain = Environment(WORK / "plain")
        cls.plain.pip("install", "--no-compile", TORCH, "numpy")
        # The second environment never saw the source tree. Hard links give it the same torch without a second copy.
        cls.program = Environment(WORK / "program", "--without-pip")
        shutil.copytree(cls.plain.site_packages, cls.program.site_packages, copy_function=os.link, dirs_exist_ok=True)

        cls.wheels = []
        for environment, with_program in ((cls.plain, "OFF"), (cls.program, "ON")):
            folder = WORK / f"wheel-{with_program}"
            cls.plain.pip("wheel", SOURCE, "--no-deps", "--wheel-dir", folder,
                          "--config-settings", f"cmake.define.ANESI_PREBUILT={BUILD}",
                          "--config-settings", f"cmake.define.ANESI_BUILD_PROGRAM={with_program}")  # fmt: skip
            [wheel] = folder.glob("*.whl")
            environment.pip("install", "--no-index", wheel)  # what it needs is there
            cls.wheels.append(wheel)
        cls.environments = [cls.plain, cls.program]

    def test_imports(self):
        for environment in self.environments:
            environment.run("python", "-c", IMPORT, VERSION, str(SOURCE), str(BUILD))

    def test_imports_quickly(self):
        """0.2 s on top of torch; twice that is borne here, for tests run beside each other."""
        seconds = [float(self.plain.run("python", "-c", TIME_IMPORT)) for _ in range(3)]
        self.assertLess(statistics.median(seconds), 0.4)

    def test_the_command_knows_its_version_without_the_program(self):
        for command in (["anesi"], ["python", "-m", "anesi"]):
            self.assertRegex(self.plain.run(*command, "--version"), rf"^anesi {VERSION} \(without libtorch, ")
            self.assertRegex(self.plain.run(*command, "tasks", fails=True), r"\Aanesi: .*ANESI_BUILD_PROGRAM=ON.*\n\Z")

    def test_the_program_runs(self):
        self.assertRegex(self.program.run("anesi", "--version"), rf"^anesi {VERSION} \(libtorch ")
        self.assertIn("mnist-add", self.program.run("python", "-m", "anesi", "tasks"))
        self.assertIn("anesi: ", self.program.run("anesi", "no-such-command", fails=True))

    def test_the_program_refuses_another_torch_in_one_line(self):
        built = self.program.site_packages / "anesi/bin/torch"
        said = built.read_text()
        built.write_text("2.12.0\n")
        try:
            self.assertRegex(self.program.run("anesi", "tasks", fails=True), r"\Aanesi: .*pip install torch==2\.12\.0\n\Z")
        finally:
            built.write_text(said)

    def test_examples(self):
        for example in EXAMPLES:
            self.plain.run("python", shutil.copy(example, WORK))

    def test_the_wheels_hold_what_they_should(self):
        for wheel, programs, libraries in zip(self.wheels, ([], ["anesi", "torch"]), (LIBRARIES[-1:], LIBRARIES), strict=True):
            names = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
            self.assertLessEqual({"_anesi_program.py", "anesi/__init__.py", "anesi/py.typed"}, set(names))
            self.assertEqual(len([name for name in names if re.fullmatch(r"anesi/_engine\..*so", name)]), 1)
            self.assertEqual(sorted(name for name in names if "/bin/" in name), [f"anesi/bin/{name}" for name in programs])
            self.assertEqual(sorted(name for name in names if "/lib/" in name), [f"anesi/lib/lib{name}.so.0" for name in libraries])
            self.assertEqual([name for name in names if re.search(r"\.(h|cc|cmake|a)$", name)], [])

    def test_libraries_are_found_by_relative_paths(self):
        for environment, count, torch in ((self.plain, 2, False), (self.program, 6, True)):
            package = environment.site_packages / "anesi"
            binaries = [*package.glob("_engine*.so"), *package.glob("bin/anesi"), *package.glob("lib/*")]
            self.assertEqual(len(binaries), count)
            for binary in binaries:
                said = run(["readelf", "-d", binary])
                [paths] = re.findall(r"R(?:UN)?PATH.*\[(.*)\]", said)
                for path in paths.split(":"):
                    self.assertRegex(path, r"^\$ORIGIN", binary)
                self.assertTrue(torch or not re.search("torch|c10", said), said)

    def test_without_torch_one_line_says_so(self):
        none = 'import sys; sys.modules["torch"] = None; import anesi'
        self.assertRegex(self.plain.run("python", "-c", none, fails=True).splitlines()[-1], "^ImportError: .*pip install torch")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        WORK = pathlib.Path(work).resolve()
        unittest.main(argv=sys.argv[:1], verbosity=2)
