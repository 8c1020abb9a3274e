#!/usr/bin/env python3
"""The tasks on the command line: every preset trains, is explained, and names what is wrong with its data.

    tests/program/cli_tasks_test.py build/release/anesi [unittest arguments]
"""

import json
import struct
import subprocess
import sys
import unittest
import xml.dom.minidom

from program import HERE, PROGRAM, TINY, ProgramTest, write_digits


class Tasks(ProgramTest):
    def test_the_exact_baseline_trains_and_is_saved(self):
        result = self.call("train", "mnist-add", *TINY, "--set", "loss=exact", "--out", "exact", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(self.call("eval", "exact", "--json").stdout)["satisfied"], 1)

    def test_the_exact_baseline_of_a_problem_without_an_automaton(self):
        result = self.call("train", "parity", "--set", "loss=exact", "--set", "train.epochs=1", "--out", "even", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["satisfied"], 1)
        checked = json.loads(self.call("check", "even", "--beliefs", "10", "--samples", "5", "--json").stdout)
        self.assertIs(checked["exploitable"], False)
        self.assertLess(checked["tv_perceived"], 1e-4)

    def sudoku(self, name, *arguments, **options):
        """A small run of visual-sudoku on digits that are easy to tell apart."""
        data = self.folder / "more_digits"
        if not data.is_dir():
            write_digits(data, train=1200, test=400)
        settings = ("task.puzzles=12", "q.pretrain=200", "train.epochs=40", "refine.epochs=10", *arguments)
        result = self.call("train", "visual-sudoku", *(part for s in settings for part in ("--set", s)), "--out",
                           self.folder / name, "--json", data=data, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout), data

    def test_sudoku_is_refined_decided_and_explained(self):
        trained, data = self.sudoku("sudoku", "refine.members=2", "refine.average=0.9")
        self.assertEqual(trained["labels_right"], 1)
        self.assertEqual(trained["accuracy"], trained["decided"])
        self.assertGreater(trained["accuracy"], 0.9)
        self.assertGreater(trained["unrefined"]["accuracy"], 0.9)
        evaluated = json.loads(self.call("eval", self.folder / "sudoku", "--json", data=data).stdout)
        self.assertEqual(evaluated["decided"], trained["decided"])
        picture = self.folder / "puzzle.svg"
        for index, label, holds in (("0", "valid", True), ("1", "not valid", False)):
            told = json.loads(self.call("explain", self.folder / "sudoku", "--index", index, "--svg", picture, "--json",
                                        data=data).stdout)
            self.assertEqual(told["label"], label)
            self.assertEqual(told["probability"] > 0.5, holds)
            self.assertEqual(not told["violated"], holds)
            self.assertEqual(xml.dom.minidom.parse(str(picture)).documentElement.tagName, "svg")
        predicted = json.loads(self.call("predict", self.folder / "sudoku", "--index", "0", "--json", data=data).stdout)
        self.assertGreater(predicted["decided"]["probability"], 0.5)
        # What train prints of an example is what predict decides, and no line of predict is there twice.
        text = self.call("train", "--resume", self.folder / "sudoku", data=data).stdout
        lines = self.call("predict", self.folder / "sudoku", "--index", "0", data=data).stdout.splitlines()
        decided = next(line for line in lines if line.startswith("decided by"))
        self.assertIn(f"right 0: {decided.split(': ')[1]}, label valid; read\n", text)
        self.assertEqual(len([line for line in lines if "%" in line]), len({line for line in lines if "%" in line}))
        self.assertLessEqual(sum(line.startswith("  0.0000 %") for line in lines), 1)
        self.refused(2, "eval.decide=gap", "train", "mnist-add", *TINY, "--set", "eval.decide=gap")
        text = self.call("explain", self.folder / "sudoku", "--index", "1", data=data).stdout
        self.assertGreater(len(text.splitlines()), 1)  # the cells that break a rule, and how they are read
        checked = subprocess.run([sys.executable, HERE / "search_milp.py", PROGRAM, self.folder / "sudoku", "--puzzles", "8"],
                                 env=self.environment(data), capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertIn("8 of 8", checked.stdout)

    def test_sudoku_baselines_train(self):
        data = self.folder / "more_digits"
        if not data.is_dir():
            write_digits(data, train=1200, test=400)
        for preset in ("exact", "cnn", "paper", "plain"):
            result = self.call("train", "visual-sudoku", "--preset", preset, "--set", "task.puzzles=4", "--set",
                               "train.epochs=2", "--set", "q.pretrain=5", "--set", "q.samples=10", "--out",
                               self.folder / f"sudoku-{preset}", "--json", data=data)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(json.loads(result.stdout)["examples"], 8)
            run = self.folder / f"sudoku-{preset}"
            predicted = self.call("predict", run, "--index", "0", "--json", data=data)
            self.assertEqual(predicted.returncode, 0, predicted.stderr)
            self.assertGreaterEqual(len(json.loads(predicted.stdout)["outputs"]), 1)
            for command in (("eval",), ("explain", "--index", "0"), ("check", "--beliefs", "4", "--samples", "2")):
                told = self.call(command[0], run, *command[1:], "--json", data=data)
                # A q of five steps is bad, and check says so; everything else is well.
                self.assertIn(told.returncode, (0, 1) if command[0] == "check" else (0,), told.stderr)
                json.loads(told.stdout)
        self.assertEqual(self.call("check", self.folder / "sudoku-exact", "--beliefs", "4", data=data).returncode, 0)
        self.refused(1, r"\b1 s\b", "train", "visual-sudoku", "--preset", "exact", "--set", "task.size=9",
                     "--set", "task.puzzles=1", "--set", "exact.seconds=1", "--out", self.folder / "sudoku-nine", data=data)

    def test_sudoku_reads_what_it_wrote_and_names_what_is_wrong(self):
        data = self.folder / "more_digits"
        if not data.is_dir():
            write_digits(data, train=1200, test=400)
        puzzles = self.folder / "puzzles"
        few = ("--set", "task.puzzles=4")
        result = self.call("data", "visual-sudoku", *few, "--out", puzzles, data=data)
        self.assertEqual(result.returncode, 0, result.stderr)
        train = ("train", "visual-sudoku", "--preset", "plain", *few, "--set", "train.epochs=1", "--set", "q.pretrain=5")
        result = self.call(*train, "--data", puzzles, "--out", self.folder / "published", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["examples"], 8)
        labels, pixels = puzzles / "train_puzzle_labels.txt", puzzles / "train_puzzle_pixels.txt"
        good_labels, good_pixels = labels.read_text(), pixels.read_text()
        labels.write_text("2\t0\n" + good_labels.split("\n", 1)[1])
        self.refused(1, "train_puzzle_labels.txt: line 1", *train, "--data", puzzles, "--out", self.folder / "bad")
        labels.write_text(good_labels)
        pixels.write_text("\n".join(line.rsplit("\t", 784)[0] for line in good_pixels.split("\n")))
        self.refused(1, "train_puzzle_pixels.txt: line 1", *train, "--data", puzzles, "--out", self.folder / "bad")
        pixels.write_text(good_pixels)
        self.refused(1, r"line 1: .*\b16\b.*\b81\b", *train, "--data", puzzles, "--set", "task.size=9", "--out",
                     self.folder / "bad")
        self.refused(1, "digit 0", *train, "--set", "task.puzzles=1000", "--out", self.folder / "bad", data=data)
        self.assertFalse((self.folder / "bad").exists())

    FEW_MAPS = ("--set", "task.size=5", "--set", "task.window=4", "--set", "task.maps=30", "--set", "task.tests=6")

    def test_warcraft_presets_train_and_are_explained(self):
        few = (*self.FEW_MAPS, "--set", "q.pretrain=3", "--set", "q.samples=4", "--set", "train.epochs=1", "--set", "train.starts=2",
               "--set", "train.start_steps=2", "--set", "kinds.count=3", "--set", "kinds.asked=10", "--set", "resnet.width=4")
        for preset in ("default", "plain", "polish", "paper", "resnet", "supervised", "rloo", "q+rloo"):
            run = self.folder / f"maps-{preset}"
            settings = self.FEW_MAPS + ("--set", "train.epochs=1") if preset == "resnet" else few
            if preset in ("default", "polish"):
                settings += ("--set", "refine.q_steps=3")
            result = self.call("train", "warcraft", "--preset", preset, *settings, "--out", run, "--json")
            self.assertEqual(result.returncode, 0, preset + result.stderr)
            figures = json.loads(result.stdout)
            self.assertEqual(figures["examples"], 6)
            self.assertEqual(figures["neural"] is None, preset == "rloo")
            told = self.call("predict", run, "--index", "0", "--json")
            self.assertEqual(told.returncode, 0, preset + told.stderr)
        # Maps are drawn, as predict draws them.
        text = self.call("train", "--resume", self.folder / "maps-plain").stdout
        drawn = self.call("predict", self.folder / "maps-plain", "--index", "0").stdout.split("read:\n")[1].splitlines()[:5]
        self.assertIn("; read\n" + "\n".join(drawn), text)
        self.assertNotRegex(text, r"read \d \d \d")
        drawing = self.folder / "map.svg"
        paper = ("train", "warcraft", "--preset", "paper", *few, "--set", "q.from=maps-paper")
        result = self.call(*paper, "--seed", "1", "--out", "maps-same-q")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, "resnet.*maps-paper")
        self.refused(1, "maps-none: ", *paper, "--set", "q.from=maps-none", "--out", "maps-not")
        self.refused(1, "maps-plain: .*grid.*resnet", *paper, "--set", "q.from=maps-plain", "--out", "maps-not")
        self.assertFalse((self.folder / "maps-not").exists())
        told = self.call("explain", self.folder / "maps-default", "--index", "1", "--svg", drawing)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("<svg", drawing.read_text())

    def test_warcraft_reads_what_it_wrote_and_names_what_is_wrong(self):
        maps = self.folder / "maps"
        result = self.call("data", "warcraft", *self.FEW_MAPS, "--out", maps)
        self.assertEqual(result.returncode, 0, result.stderr)
        train = ("train", "warcraft", "--preset", "plain", *self.FEW_MAPS, "--set", "q.pretrain=3", "--set", "q.samples=4", "--set",
                 "train.starts=1")
        result = self.call(*train, "--data", maps, "--out", self.folder / "read", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["examples"], 6)

        def refused(name, change, pattern, *more):
            path = maps / name
            good = path.read_bytes()
            path.write_bytes(change(good))
            self.refused(1, pattern, *train, *more, "--data", maps, "--out", self.folder / "no-maps")
            path.write_bytes(good)
            self.assertFalse((self.folder / "no-maps").exists())

        pictures, costs, paths = "train_maps.npy", "train_vertex_weights.npy", "train_shortest_paths.npy"
        same = lambda data: data
        refused(pictures, lambda data: data.replace(b"|u1", b"<f8"), pictures + ".*float64")  # a lie about its size
        refused(costs, lambda data: data.replace(b"<f2", b"<i2"), costs + ".*int16.*float16")
        refused(pictures, lambda data: data.replace(b"False", b"True "), pictures + ".*Fortran")
        refused(pictures, lambda data: data[: len(data) // 2], pictures + r".*\d+")
        refused(pictures, lambda data: b"not an array", pictures)
        refused(pictures, same, pictures + ".*task.size", "--set", "task.size=6")
        start = (maps / costs).read_bytes().index(b"\n") + 1
        refused(costs, lambda data: data[:start] + struct.pack("<e", 3.5) + data[start + 2:], costs + ".*map 0.*3.5")
        refused(paths, lambda data: data[:-1] + b"\0", paths + ".*map 29")  # the goal is not on the path
        (maps / costs).unlink()
        self.refused(1, costs, *train, "--data", maps, "--out", self.folder / "no-maps")

    def test_mnist_add_is_refined(self):
        result = self.call("train", "mnist-add", "--preset", "refine", *TINY, "--set", "refine.epochs=2", "--out",
                           self.folder / "refined", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        trained = json.loads(result.stdout)
        self.assertIn("unrefined", trained)
        log = [json.loads(line) for line in (self.folder / "refined" / "log.jsonl").read_text().splitlines()]
        self.assertEqual([line["phase"] for line in log], ["q", "perception", "perception", "refine"])

    def test_what_blind_finds_is_saved_and_certified(self):
        settings = [f"--set={setting}" for setting in ("task.digits=3", "train.epochs=1")]
        result = self.call("train", "mnist-add", "--preset", "blind", *settings, "--out", "blind", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("11 states", result.stderr)
        manifest = json.loads((self.folder / "blind/model/manifest.json").read_text())
        self.assertEqual(manifest["architecture"], "exact")
        self.assertIn("11 states", manifest["found"]["summary"])
        told = json.loads(self.call("predict", "blind", "--index", "1", "--certify", "2000", "--json").stdout)
        self.assertEqual(told["certificate"]["differing"], 0)
        self.assertAlmostEqual(told["certificate"]["bound"], 3 / 2000, delta=1e-5)
        checked = self.call("check", "blind", "--beliefs", "20", "--json")
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertEqual(json.loads(checked.stdout)["certificate_found"]["differing"], 0)
        # A file that is not the one which was saved is refused.
        found = self.folder / "blind/model/found.safetensors"
        found.write_bytes(found.read_bytes()[:-1] + b"x")
        self.refused(1, "found.safetensors", "predict", "blind", "--index", "1")

    def test_priors_of_all_variables_together(self):
        small = [f"--set={setting}" for setting in ("task.examples=64", "train.epochs=2", "q.pretrain=5", "task.beams=5")]
        for preset in ("default", "mixture"):
            result = self.call("train", "light-curtain", "--preset", preset, *small, "--out", f"beams-{preset}", "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            checked = json.loads(self.call("check", f"beams-{preset}", "--beliefs", "20", "--json").stdout)
            self.assertGreater(checked["kl_perceived"], 0)
        self.refused(2, r"flow\.broad.*\b2\b", "train", "light-curtain", "--set", "flow.broad=2")
        self.refused(2, "mixture.components", "train", "light-curtain", "--set", "mixture.components=0")
        self.refused(2, r"prior\.kind.*flows.*certain, fitted, fixed, flow, mixture", "train", "light-curtain", "--set", "prior.kind=flows")

    def test_parity_trains(self):
        result = self.call("train", "parity", "--set", "q.pretrain=20", "--set", "train.epochs=1", "--out", "parity", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["task"], "parity")


if __name__ == "__main__":
    unittest.main()
