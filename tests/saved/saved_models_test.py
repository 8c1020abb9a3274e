#!/usr/bin/env python3
"""Models that every released version saved still load and say the same.

    tests/saved/saved_models_test.py build/release/anesi [unittest arguments]

tests/saved/NAME holds a small run of one kind of q and expected.json: how it was trained, and what the version that saved
it printed for some calls. Names begin with the version, but those of 0.1 with nothing. tests/saved/digits holds the images
that those were trained and asked on, which version 0.1 drew itself.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
SAVED = pathlib.Path(__file__).resolve().parent
NAMES = sorted(path.parent.name for path in SAVED.glob("*/expected.json"))
TOLERANCE = 1e-5


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def close(old, new):
    """Equal but for rounding, which is relative for what is large; a small probability is not taken for zero."""
    difference = abs(old - new)
    is_small = 0 < abs(old) < 1e-3
    return difference <= TOLERANCE * max(1, abs(old)) and not (is_small and difference > 0.01 * abs(old))


class SavedModels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="anesi-saved-"))
        shutil.copytree(SAVED, cls.folder, dirs_exist_ok=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def call(self, *arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ANESI_")}
        return subprocess.run([PROGRAM, *arguments], env=dict(environment, ANESI_OFFLINE="1"), capture_output=True,
                              text=True, cwd=self.folder, timeout=300)

    def same(self, old, new, where, may_round):
        """All that was there is there still; more may be."""
        if isinstance(old, dict):
            self.assertIsInstance(new, dict, where)
            for key, value in old.items():
                self.assertIn(key, new, where)
                self.same(value, new[key], f"{where}.{key}", may_round)
        elif isinstance(old, list):
            self.assertIsInstance(new, list, where)
            self.assertEqual(len(old), len(new), where)
            for place, (one, other) in enumerate(zip(old, new)):
                self.same(one, other, f"{where}[{place}]", may_round)
        elif isinstance(old, float) and may_round:
            self.assertTrue(is_number(new) and close(old, new), f"{where}: {old} is now {new}")
        else:
            self.assertEqual(is_number(old), is_number(new), where)
            self.assertEqual(old, new, where)

    def replay(self, name, run=None, only=None):
        """Calls the program as it was called, perhaps on a changed copy of the run, and compares what it prints."""
        for call in json.loads((SAVED / name / "expected.json").read_text())["calls"]:
            command, _, *rest = call["arguments"]
            if only is not None and command not in only:
                continue
            with self.subTest(call=" ".join(call["arguments"])):
                result = self.call(command, run or name, *rest)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertNotIn("note:", result.stderr)
                printed = json.loads(result.stdout)
                for key, value in call["printed"].items():
                    self.assertIn(key, printed)
                    may_round = command != "eval" or key in ("nll", "ece")  # the rest of eval counts
                    self.same(value, printed[key], key, may_round)

    def changed(self, name, copy, change):
        """A copy of a run with another manifest."""
        shutil.copytree(self.folder / name, self.folder / copy)
        path = self.folder / copy / "model/manifest.json"
        manifest = json.loads(path.read_text())
        change(manifest)
        path.write_text(json.dumps(manifest))

    def refused(self, pattern, *arguments):
        """The call fails with one line on stderr that matches; stdout stays empty."""
        result = self.call(*arguments)
        lines = result.stderr.splitlines()
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("anesi: "), lines[0])
        self.assertRegex(lines[0], pattern)
        self.assertEqual(result.stdout, "")

    def manifests(self, version=None):
        """Of the runs that were saved by a version: those of 0.1 have none in their names."""
        names = [name for name in NAMES if (name.startswith(f"{version}-") if version else not name[0].isdigit())]
        return [json.loads((SAVED / name / "model/manifest.json").read_text()) for name in names]

    def test_every_released_version_is_there(self):
        changes = (SAVED.parent.parent / "CHANGELOG.md").read_text()
        released = {".".join(version) for version in re.findall(r"(?m)^## .*?(\d+)\.(\d+)\.\d+", changes)}
        self.assertEqual({name.split("-")[0] for name in NAMES if name[0].isdigit()} | {"0.1"}, released)

    def test_what_is_new_in_0_2_is_there(self):
        manifests = self.manifests("0.2")
        self.assertEqual({manifest["format"] for manifest in manifests}, {2})
        self.assertEqual({manifest["architecture"] for manifest in manifests}, {"exact", "graph", "set", "transformer"})
        self.assertTrue(any("found" in manifest for manifest in manifests))
        self.assertTrue(any(manifest["explains"] for manifest in manifests))
        self.assertTrue(any(manifest["prunes"] for manifest in manifests))

    def test_every_kind_of_q_is_there(self):
        manifests = self.manifests()
        self.assertEqual({manifest["architecture"] for manifest in manifests},
                         {"exact", "grid", "mlp", "pairwise", "resnet", "scan", "transducer"})
        self.assertEqual({manifest["options"]["loss"] for manifest in manifests}, {"amortized", "exact", "rloo"})
        self.assertTrue(any("decision" in manifest for manifest in manifests))
        self.assertTrue(any(manifest["options"]["refine.members"] == "2" for manifest in manifests))

    def test_a_format_of_a_later_version_is_refused(self):
        self.changed("grid", "later", lambda manifest: manifest.update(format=999))
        for command in (("predict", "later", "--index", "0"), ("eval", "later")):
            self.refused(r"format.*999|999.*format", *command, "--json", "--threads", "1")

    def test_an_option_that_is_not_known_changes_nothing(self):
        self.changed("grid", "option", lambda manifest: manifest["options"].update({"q.nonsense": "3"}))
        self.replay("grid", "option", only={"predict"})

    def test_a_preset_that_is_not_known_changes_nothing(self):
        def rename(manifest):
            manifest["preset"] = "renamed-since"
            if "preset" in manifest["options"]:
                manifest["options"]["preset"] = "renamed-since"

        self.changed("grid", "preset", rename)
        self.replay("grid", "preset", only={"predict"})

    def test_a_model_of_another_problem_is_refused_before_its_weights_are_read(self):
        self.changed("grid", "another", lambda manifest: manifest["worlds"].pop())
        (self.folder / "another/model/weights.safetensors").unlink()
        self.refused("worlds|problem", "predict", "another", "--index", "0", "--json", "--threads", "1")


def replays(name):
    def test(self):
        self.replay(name)

    return test


for saved_name in NAMES:
    setattr(SavedModels, f"test_replay_{saved_name.replace('-', '_').replace('.', '_')}", replays(saved_name))


if __name__ == "__main__":
    unittest.main()
