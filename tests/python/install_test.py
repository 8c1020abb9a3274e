#!/usr/bin/env python3
"""What somebody does who installs anesi with pip, in environments of their own.

    tests/python/install_test.py build/release [example.py ...]

The wheel is made of what that build tree holds, so nothing is compiled. pip fetches torch and the tools of the build.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
EXAMPLES = [pathlib.Path(path).resolve() for path in sys.argv[2:]]
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
VERSION = re.search(r"^project\(anesi VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
TORCH = re.search(r"torch==[0-9.]+", (SOURCE / "pyproject.toml").read_text())[0]

# Imports anesi, and shows that nothing of it comes from the source or the build tree.
IMPORT = """
import sys, torch, anesi
assert anesi.__version__ == sys.argv[1], anesi.__version__
for line in open("/proc/self/maps"):
    assert not any(place in line for place in sys.argv[2:]), line
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
        builder = Environment(WORK / "builder")
        builder.pip("install", "--no-compile", TORCH)
        # A second environment that never saw the source tree. Hard links give it the same torch without a second copy.
        cls.user = Environment(WORK / "user", "--without-pip")
        shutil.copytree(builder.site_packages, cls.user.site_packages, copy_function=os.link, dirs_exist_ok=True)

        builder.pip("wheel", SOURCE, "--no-deps", "--wheel-dir", WORK / "wheels",
                    "--config-settings", f"cmake.define.ANESI_PREBUILT={BUILD}")
        [cls.wheel] = (WORK / "wheels").glob("*.whl")
        builder.pip("install", cls.wheel)
        cls.user.pip("install", "--no-index", shutil.copy(cls.wheel, WORK))
        cls.environments = [builder, cls.user]

    def test_imports(self):
        for environment in self.environments:
            environment.run("python", "-c", IMPORT, VERSION, str(SOURCE), str(BUILD))

    def test_the_program_runs(self):
        for environment in self.environments:
            self.assertRegex(environment.run("anesi", "--version"), rf"^anesi {VERSION} \(libtorch ")
            self.assertIn("mnist-add", environment.run("python", "-m", "anesi", "tasks"))
        self.assertIn("anesi: ", self.user.run("anesi", "no-such-command", fails=True))

    def test_examples(self):
        for example in EXAMPLES:
            self.user.run("python", shutil.copy(example, WORK))

    def test_the_wheel_holds_what_it_should(self):
        names = [name for name in zipfile.ZipFile(self.wheel).namelist() if ".dist-info/" not in name]
        folders = {name.rsplit("/", 1)[0] if "/" in name else name for name in names}
        self.assertLessEqual({"anesi", "anesi/lib", "anesi/bin", "_anesi_program.py"}, folders)
        self.assertEqual([name for name in names if name.startswith("anesi/bin/")], ["anesi/bin/anesi"])
        self.assertEqual(sorted(name for name in names if name.startswith("anesi/lib/")),
                         [f"anesi/lib/lib{name}.so.0" for name in ("anesi", "anesi_cli", "anesi_inference", "anesi_knowledge")])
        self.assertEqual([name for name in names if re.search(r"\.(h|cc|cmake|a)$", name)], [])
        self.assertIn("anesi/py.typed", names)

    def test_libraries_are_found_by_relative_paths(self):
        package = self.user.site_packages / "anesi"
        binaries = [*package.glob("_core*.so"), *package.glob("bin/*"), *package.glob("lib/*")]
        self.assertEqual(len(binaries), 6)
        for binary in binaries:
            [paths] = re.findall(r"R(?:UN)?PATH.*\[(.*)\]", run(["readelf", "-d", binary]))
            for path in paths.split(":"):
                self.assertRegex(path, r"^\$ORIGIN", binary)

    def test_another_torch_is_refused_in_one_line(self):
        another = 'import sys, types; sys.modules["torch"] = types.SimpleNamespace(__version__="1.0+cpu"); import anesi'
        none = 'import sys; sys.modules["torch"] = None; import anesi'
        for program in (another, none):
            self.assertRegex(self.user.run("python", "-c", program, fails=True).splitlines()[-1],
                             rf"^ImportError: .*pip install {TORCH}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        WORK = pathlib.Path(work).resolve()
        unittest.main(argv=sys.argv[:1], verbosity=2)
