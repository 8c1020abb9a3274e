#!/usr/bin/env python3
"""The house stays in order: folders include only what stands above them.

    tests/structure_test.py build/release/anesi
"""

import pathlib
import re
import subprocess
import sys
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent / "anesi"

# As in docs/design.md. A folder uses only itself and those before it.
FOLDERS = ["core", "options", "kernels", "io", "logic", "exact", "search", "formula", "discover", "data", "builtin", "tensors",
           "optimize", "models", "priors", "estimate", "perception", "predict", "losses", "flow", "train", "tasks",
           "answers", "run", "check", "report", "serve", "cli"]
# What anesi::knowledge is made of does without libtorch.
KNOWLEDGE = ["core", "options", "kernels", "io", "logic", "exact", "search", "formula", "discover", "data", "builtin"]
# What anesi::inference is made of must do without the others.
INFERENCE = KNOWLEDGE + ["tensors", "models", "perception", "predict"]


def sources(tests=False):
    """Every header and source as (folder, path, text)."""
    for path in sorted(ROOT.rglob("*.[hc]*")):
        if path.suffix in (".h", ".cc") and path.parent != ROOT and (tests or not path.name.endswith("_test.cc")):
            folder = path.relative_to(ROOT).parts[0]
            if folder != "testing":
                yield folder, path, path.read_text()


class Structure(unittest.TestCase):
    maxDiff = None

    def test_every_folder_has_its_place(self):
        found = {folder for folder, _, _ in sources(tests=True)}
        self.assertEqual(found, set(FOLDERS))

    def test_folders_include_only_what_stands_above_them(self):
        wrong = []
        for folder, path, text in sources(tests=True):
            is_test = path.name.endswith("_test.cc")
            for included in re.findall(r'^#include "anesi/([^"]+)"', text, re.MULTILINE):
                target = included.split("/")[0]
                # Tests may also look through the eyes of check/ and run/, but none below tasks/ reaches up into it.
                if is_test and target in ("testing", "check", "run"):
                    continue
                if "/" not in included or target not in FOLDERS or FOLDERS.index(target) > FOLDERS.index(folder):
                    wrong.append(f"{path.relative_to(ROOT)} includes {included}")
                elif folder in INFERENCE and target not in INFERENCE and not is_test:
                    wrong.append(f"{path.relative_to(ROOT)} is of the inference library and includes {included}")
                elif folder == target == "tasks" and included.count("/") == 2:
                    if pathlib.Path(included).parent != path.relative_to(ROOT).parent:
                        wrong.append(f"{path.relative_to(ROOT)} includes another task's {included}")
        self.assertEqual(wrong, [])

    def test_knowledge_does_without_libtorch(self):
        self.assertEqual([path.name for folder, path, text in sources(tests=True) if folder in KNOWLEDGE and "torch" in text.lower()], [])

    def test_constants_and_tests_that_documents_name_are_there(self):
        code = "\n".join(text for _, _, text in sources())
        tests = {path.name for folder in ("anesi", "tests") for path in (ROOT.parent / folder).rglob("*") if path.is_file()}
        wrong = []
        for document in sorted((ROOT.parent / "docs").glob("*.md")):
            for name in re.findall(r"`([^`\n]+)`", document.read_text()):
                if re.fullmatch(r"k[A-Z]\w+", name) and not re.search(rf"\b{name}\b", code):
                    wrong.append(f"{document.name}: {name}")
                if re.fullmatch(r"[\w/]*(_test\.(cc|py|cmake)|earlier_formats\.cc)", name) and pathlib.Path(name).name not in tests:
                    wrong.append(f"{document.name}: {name}")
        self.assertEqual(wrong, [])

    def test_no_header_is_without_an_opening(self):
        for _, path, text in sources():
            if path.suffix == ".h":
                self.assertTrue(text.startswith("// "), f"{path} does not say what it is for")

    def test_the_version_stands_in_one_place(self):
        project = ROOT.parent
        version = re.search(r"^project\(anesi VERSION ([0-9.]+)", (project / "CMakeLists.txt").read_text(), re.MULTILINE).group(1)
        told = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(told, rf"^anesi {re.escape(version)} \(libtorch \d+\.\d+\.\d+, with(out)? CaDiCaL, with(out)? libsdd, with(out)? cpp-httplib\)\n$")
        self.assertRegex((project / "CHANGELOG.md").read_text(), rf"(?m)^## .*{re.escape(version)}$")
        for name in ("CITATION.cff", "pyproject.toml"):
            self.assertNotRegex((project / name).read_text(), r"(?m)^version *[:=]", f"{name} would have to be kept in step")


if __name__ == "__main__":
    unittest.main()
