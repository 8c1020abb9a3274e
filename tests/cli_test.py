#!/usr/bin/env python3
"""The command line as other programs meet it: keys, exit codes, one-line errors, and that nothing is lost.

    tests/cli_test.py build/release/anesi [unittest arguments]
"""

import json
import math
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.dom.minidom

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
TESTS = pathlib.Path(__file__).resolve().parent
TINY = ["--set", "task.digits=1", "--set", "q.pretrain=20", "--set", "train.epochs=2"]


def write_idx(path, dims, data):
    path.write_bytes(struct.pack(f">BBBB{len(dims)}I", 0, 0, 8, len(dims), *dims) + bytes(data))


def write_digits(directory, train=120, test=40):
    """Images whose rows tell their label: enough to train on, small enough to write in Python."""
    directory.mkdir()
    for prefix, count in (("train", train), ("t10k", test)):
        labels = [i * 7 % 10 for i in range(count)]
        image = {digit: bytes(255 if row // 3 == digit else 0 for row in range(28) for _ in range(28)) for digit in range(10)}
        write_idx(directory / f"{prefix}-images-idx3-ubyte", (count, 28, 28), b"".join(image[d] for d in labels))
        write_idx(directory / f"{prefix}-labels-idx1-ubyte", (count,), labels)


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="anesi-cli-"))
        cls.data = cls.folder / "digits"
        write_digits(cls.data)
        cls.run_directory = cls.folder / "trained"
        result = cls.call("train", "mnist-add", *TINY, "--out", cls.run_directory, "--json")
        assert result.returncode == 0, result.stderr
        cls.trained = json.loads(result.stdout)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def environment(cls, data=None):
        environment = dict(os.environ, ANESI_DATA=str(data or cls.data))
        environment.pop("ANESI_DIGITS", None)
        return environment

    @classmethod
    def call(cls, *arguments, data=None, **options):
        return subprocess.run([PROGRAM, *map(str, arguments)], env=cls.environment(data), capture_output=True, text=True,
                              cwd=cls.folder, timeout=300, **options)

    def refused(self, code, pattern, *arguments, **options):
        """The call fails with that code and one line on stderr that matches; stdout stays empty."""
        result = self.call(*arguments, **options)
        lines = [line for line in result.stderr.splitlines() if line.startswith("anesi: ")]
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertEqual(result.stderr.splitlines()[-1], lines[0])
        self.assertRegex(lines[0], pattern)
        self.assertEqual(result.stdout, "")

    def test_train_leaves_a_run_that_eval_and_predict_read(self):
        keys = {"task", "split", "examples", "symbolic", "neural", "per_variable", "explanation", "satisfied", "nll",
                "ece", "believed", "constrained", "decided", "ms_per_query", "accuracy"}
        self.assertEqual(set(self.trained), keys | {"run", "seconds", "epochs", "restarts"})
        for name in ("config.toml", "log.jsonl", "log.csv", "model/manifest.json", "model/weights.safetensors",
                     "checkpoint/state.safetensors", "result.json"):
            self.assertTrue((self.run_directory / name).is_file(), name)
        evaluated = json.loads(self.call("eval", self.run_directory, "--json").stdout)
        self.assertEqual(set(evaluated), keys | {"data"})
        self.assertEqual(evaluated["symbolic"], self.trained["symbolic"])
        predicted = json.loads(self.call("predict", self.run_directory, "--index", "3", "--json").stdout)
        self.assertEqual(len(predicted["outputs"]), 5)
        self.assertLessEqual(sum(output["probability"] for output in predicted["outputs"]), 1.0001)
        log = [json.loads(line) for line in (self.run_directory / "log.jsonl").read_text().splitlines()]
        self.assertEqual([line["phase"] for line in log], ["q", "perception", "perception"])
        rows = (self.run_directory / "log.csv").read_text().splitlines()
        self.assertEqual(len(rows), 4)
        self.assertEqual(rows[0].split(","), list(log[0]))

    def test_text_output_shows_a_table_and_three_examples(self):
        result = self.call("train", "mnist-add", *TINY, "--out", self.folder / "text")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("symbolic", result.stdout)
        self.assertEqual(sum(", predicted " in line for line in result.stdout.splitlines()), 3)

    def test_predict_reads_a_file(self):
        path = self.folder / "two.idx"
        images = (self.data / "t10k-images-idx3-ubyte").read_bytes()[16:]
        write_idx(path, (2, 28, 28), images[: 2 * 784])
        predicted = json.loads(self.call("predict", self.run_directory, "--input", path, "--json").stdout)
        by_index = json.loads(self.call("predict", self.run_directory, "--index", "0", "--json").stdout)
        self.assertEqual(predicted["read"], by_index["read"])
        self.refused(2, "expected 2 images of 28x28", "predict", self.run_directory, "--input",
                     self.data / "t10k-images-idx3-ubyte")

    def test_explain_ranks_worlds_that_give_the_output(self):
        result = self.call("explain", self.run_directory, "--index", "3", "--top", "4", "--svg", "rollout.svg", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        explained = json.loads(result.stdout)
        shares = [item["probability"] for item in explained["explanations"]]
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertTrue(all(item["satisfied"] for item in explained["explanations"]))
        xml.dom.minidom.parse(str(self.folder / "rollout.svg"))
        given = json.loads(self.call("explain", self.run_directory, "--index", "3", "--output", "9", "--json").stdout)
        self.assertEqual({sum(item["world"]) for item in given["explanations"]}, {9})
        self.refused(1, "no world gives this output: 19", "explain", self.run_directory, "--index", "3", "--output", "19")
        self.refused(2, "a number of up to 2 digits", "explain", self.run_directory, "--index", "3", "--output", "123")
        self.refused(2, "which input", "explain", self.run_directory)
        only = ["--set", "q.variant=predict", "--out", "predicts"]
        self.assertEqual(self.call("train", "mnist-add", *TINY, *only).returncode, 0)
        searched = json.loads(self.call("explain", "predicts", "--index", "0", "--output", "9", "--json").stdout)
        self.assertEqual(sum(searched["explanation"]), 9)
        self.assertTrue(searched["proven"])
        self.refused(1, "no world gives this output: 19", "explain", "predicts", "--index", "0", "--output", "19")
        self.refused(2, "--joint needs a run that explains", "explain", "predicts", "--index", "0", "--joint")
        self.refused(2, "--top needs a run that explains", "explain", "predicts", "--index", "0", "--top", "3")

    def test_check_looks_at_a_task_and_at_a_run(self):
        result = self.call("check", "mnist-add", "--set", "task.digits=1", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        checked = json.loads(result.stdout)
        self.assertIs(checked["pruner_exact"], True)
        self.assertIs(checked["exploitable"], False)
        self.assertLessEqual(checked["tv_prior"], checked["certificate_prior"]["mean"])
        result = self.call("check", "warcraft", "--set", "task.size=5", "--set", "q.pretrain=2", "--json")
        self.assertIn(result.returncode, (0, 1), result.stderr)  # such a q may well like a mistake better
        self.assertIn("exploits_pieces", json.loads(result.stdout))
        checked = json.loads(self.call("check", self.run_directory, "--beliefs", "20", "--json").stdout)
        for key in ("tv_prior", "tv_perceived", "kl_prior", "kl_perceived", "mpe_agreement", "satisfied", "exploitable"):
            self.assertIsNotNone(checked[key], key)
        self.assertEqual(checked["satisfied"], 1)
        self.assertLessEqual(checked["tv_perceived"], checked["certificate_perceived"]["mean"] + 0.05)
        self.refused(2, "neither a task nor a run", "check", "nonsense")
        self.refused(2, "--set is for checking a task", "check", self.run_directory, "--set", "task.digits=1")

    def test_weighted_formulas_are_checked_and_fitted(self):
        formula, worlds = self.folder / "rules.wcnf", self.folder / "worlds.csv"
        formula.write_text("h 1 2 0\n0.5 1 0\n-1 2 3 0\n")
        checked = json.loads(self.call("check", formula, "--learn", "2", "--json").stdout)
        worlds_of = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1) if a or b]
        total = math.log(sum(math.exp(0.5 * a - (b or c)) for a, b, c in worlds_of))
        self.assertAlmostEqual(checked["log_z"], total, places=6)
        self.assertAlmostEqual(checked["sampled_log_z"]["log_z"], total, delta=0.05)
        self.assertAlmostEqual(checked["predicted_log_z"], total, delta=0.5)
        self.assertEqual(checked["most_probable"]["literals"], "1 -2 -3")
        self.assertIn("log Z, by sampling", self.call("check", formula, "--learn", "0").stdout)

        worlds.write_text("a,b,c\n" + "1,0,0\n" * 5 + "1,1,0\n" * 2 + "0,1,1\n" * 3)
        fitted = json.loads(self.call("fit", formula, worlds, "--out", self.folder / "fitted.wcnf", "--json").stdout)
        self.assertTrue(fitted["converged"])
        self.assertEqual([clause["seen"] for clause in fitted["clauses"]], [0.7, 0.5])
        again = json.loads(self.call("check", self.folder / "fitted.wcnf", "--learn", "0", "--json").stdout)
        for holds, clause in zip(again["holds"], fitted["clauses"]):  # what is expected is what was seen
            self.assertAlmostEqual(holds, clause["seen"], places=5)
        self.assertIn("weight", self.call("fit", formula, worlds, "--by", "sampling", "--samples", "2000").stdout)

        self.refused(2, "world 1 breaks the hard clauses", "fit", formula, self.table("0,0,0\n"))
        self.refused(2, "row 1: values should be 0 or 1", "fit", formula, self.table("1,0,3\n"))
        self.refused(2, "3 columns are expected", "fit", formula, self.table("1,0\n"))
        self.refused(1, "table.csv:2: 2 values, where the rows before have 3", "fit", formula, self.table("1,0,0\n1,0\n"))
        self.refused(1, "table.csv:2: a value should be a number, not 'x'", "fit", formula, self.table("1,0,0\n1,x,0\n"))
        self.refused(2, "holds in every world", "fit", formula, self.table("1,0,0\n1,1,0\n"))
        formula.write_text("h 1 2 0\nheavy 1 0\n")
        self.refused(1, "rules.wcnf:2: a weight should be a number, not 'heavy'", "check", formula)
        self.refused(2, "--as and --write are for formulas without weights", "check", formula, "--as", "clauses")

    def table(self, text):
        path = self.folder / "table.csv"
        path.write_text(text)
        return path

    def test_discover_finds_what_must_be_remembered(self):
        keys = {"task", "worlds", "outputs", "influence", "found", "order", "order_by", "states", "widest", "kinds", "tables",
                "calls", "rounds", "seconds", "certificate", "reason"}
        picture = self.folder / "carry.svg"
        result = self.call("discover", "mnist-add", "--set", "task.digits=2", "--svg", picture, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        told = json.loads(result.stdout)
        self.assertEqual(set(told), keys)
        self.assertEqual((told["task"], told["found"], told["reason"]), ("mnist-add", "automaton", None))
        self.assertEqual((told["worlds"], told["outputs"]), ([10] * 4, [2, 10, 10]))
        self.assertEqual(told["states"], [1, 10, 2, 11, 2, 1])  # a carry between positions
        self.assertEqual((told["widest"], told["kinds"]), (11, 3))
        self.assertEqual(sorted(told["order"]), [0, 1, 2, 3])
        self.assertEqual(set(told["certificate"]), {"draws", "differing", "level", "bound", "beliefs"})
        self.assertEqual((told["certificate"]["draws"], told["certificate"]["differing"]), (30000, 0))
        self.assertLess(told["certificate"]["bound"], 1.01e-4)
        drawn = xml.dom.minidom.parse(str(picture))
        self.assertEqual(len(drawn.getElementsByTagName("circle")), sum(told["states"]))
        text = self.call("discover", "mnist-add", "--set", "task.digits=15").stdout
        self.assertIn("1, 10, (2, 11) x 14, 2, 1", text)
        self.assertIn("differs from c on at most 1.0e-04 of worlds of beliefs of mixed priors (95 %; 0 of 30,000 drawn)", text)

    def test_discover_of_a_run_asks_about_what_perception_believes(self):
        told = json.loads(self.call("discover", self.run_directory, "--draws", "500", "--json").stdout)
        self.assertEqual(told["task"], "mnist-add")
        self.assertEqual(told["found"], "automaton")
        self.assertEqual(told["certificate"]["beliefs"], "beliefs that perception emits")
        self.assertEqual(told["certificate"]["draws"], 500)
        self.refused(2, "--set is for discovering a task", "discover", self.run_directory, "--set", "task.digits=1")

    def test_discover_says_what_it_does_not_find(self):
        result = self.call("discover", "warcraft", "--set", "task.size=5", "--svg", "nothing.svg", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        told = json.loads(result.stdout)
        self.assertEqual((told["found"], told["certificate"], told["states"]), (None, None, None))
        self.assertIn("told something besides the world", told["reason"])
        self.assertIn("nothing is drawn", result.stderr)
        self.assertFalse((self.folder / "nothing.svg").exists())
        found = json.loads(self.call("discover", "visual-sudoku", "--states", "64", "--json").stdout)
        self.assertEqual(found["found"], "tables")
        self.assertEqual({len(variables) for variables in found["tables"]}, {2})
        self.assertIn("no memory of up to 64 states", found["reason"])
        self.refused(2, "neither a task nor a run", "discover", "nonsense")
        self.refused(2, "--seconds", "discover", "parity", "--seconds", "soon")
        self.refused(2, "--states", "discover", "parity", "--states", "0")
        self.refused(2, "did you mean task.digits", "discover", "mnist-add", "--set", "task.digit=3")

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

    def test_weights_are_read_by_python(self):
        script = TESTS / "safetensors_python.py"
        result = subprocess.run([sys.executable, script, self.run_directory / "model/weights.safetensors"],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        tensors = json.loads(result.stdout)
        self.assertEqual(tensors["perception.features.0.weight"]["shape"], [6, 1, 5, 5])
        self.assertEqual(tensors["q.table0"]["shape"], [100, 4, 40])

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
        self.refused(2, "eval.decide=gap", "train", "mnist-add", *TINY, "--set", "eval.decide=gap")
        text = self.call("explain", self.folder / "sudoku", "--index", "1", data=data).stdout
        self.assertIn("must differ", text)
        self.assertIn("read as", text)
        checked = subprocess.run([sys.executable, TESTS / "search_milp.py", PROGRAM, self.folder / "sudoku", "--puzzles", "8"],
                                 env=self.environment(data), capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertIn("8 of 8 puzzles agree", checked.stdout)

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
        self.refused(1, "did not compile in 1 s", "train", "visual-sudoku", "--preset", "exact", "--set", "task.size=9",
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
        self.refused(1, "line 1: 16 cells; a puzzle of this size has 81", *train, "--data", puzzles, "--set", "task.size=9", "--out",
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
        drawing = self.folder / "map.svg"
        paper = ("train", "warcraft", "--preset", "paper", *few, "--set", "q.from=maps-paper")
        result = self.call(*paper, "--seed", "1", "--out", "maps-same-q")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("q is a resnet, learned in maps-paper", result.stderr)
        self.refused(1, "maps-none: there is no saved model", *paper, "--set", "q.from=maps-none", "--out", "maps-not")
        self.refused(1, "maps-plain: its q is grid, not resnet", *paper, "--set", "q.from=maps-plain", "--out", "maps-not")
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
        refused(pictures, lambda data: data.replace(b"|u1", b"<f8"), pictures + ".*header says")  # a lie about its size
        refused(costs, lambda data: data.replace(b"<f2", b"<i2"), costs + ".*holds Short.*where Half")
        refused(pictures, lambda data: data.replace(b"False", b"True "), pictures + ".*Fortran order")
        refused(pictures, lambda data: data[: len(data) // 2], pictures + ".*cut short")
        refused(pictures, lambda data: b"not an array", pictures)
        refused(pictures, same, pictures + ".*task.size", "--set", "task.size=6")
        start = (maps / costs).read_bytes().index(b"\n") + 1
        refused(costs, lambda data: data[:start] + struct.pack("<e", 3.5) + data[start + 2:], costs + ".*map 0.*3.5")
        refused(paths, lambda data: data[:-1] + b"\0", paths + ".*map 29")  # the goal is not on the path
        (maps / costs).unlink()
        self.refused(1, costs, *train, "--data", maps, "--out", self.folder / "no-maps")

    def test_repeat_gives_means_and_deviations(self):
        result = self.call("repeat", "mnist-add", *TINY, "--runs", "2", "--seed", "5", "--out", self.folder / "twice",
                           "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        told = json.loads(result.stdout)
        self.assertEqual(told["values"], [5, 6])
        self.assertEqual(len(told["symbolic"]["runs"]), 2)
        self.assertAlmostEqual(told["symbolic"]["mean"], sum(told["symbolic"]["runs"]) / 2)
        self.assertTrue((self.folder / "twice" / "seed-6" / "model" / "manifest.json").is_file())
        # Called again it takes over what is finished, goes on with what is not, and refuses what is something else.
        (self.folder / "twice" / "seed-6" / "result.json").unlink()
        again = self.call("repeat", "mnist-add", *TINY, "--runs", "3", "--seed", "5", "--out", self.folder / "twice", "--json")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("seed=5: finished before", again.stderr)
        self.assertIn("going on after", again.stderr)
        self.assertEqual(json.loads(again.stdout)["symbolic"]["runs"][:2], told["symbolic"]["runs"])
        self.refused(1, "other options", "repeat", "mnist-add", *TINY, "--set", "train.epochs=1", "--seed", "5", "--out",
                     self.folder / "twice")
        varied = self.call("repeat", "mnist-add", *TINY, "--vary", "task.digits=1..2", "--out", self.folder / "sizes", "--json")
        self.assertEqual(json.loads(varied.stdout)["values"], [1, 2])
        # A mistake in a later run shows before the first is trained.
        self.refused(2, "must be a square", "repeat", "visual-sudoku", "--vary", "task.size=4..5", "--out", self.folder / "no")
        self.assertFalse((self.folder / "no").exists())
        self.refused(2, "NAME=FIRST..LAST", "repeat", "mnist-add", "--vary", "seed")
        self.refused(2, "more than 10000 runs", "repeat", "mnist-add", "--vary", "seed=1..20000")
        self.refused(2, "there is no option task.nothing", "repeat", "mnist-add", "--vary", "task.nothing=1..2", "--out", self.folder / "no")

    def test_mnist_add_is_refined(self):
        result = self.call("train", "mnist-add", "--preset", "refine", *TINY, "--set", "refine.epochs=2", "--out",
                           self.folder / "refined", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        trained = json.loads(result.stdout)
        self.assertIn("unrefined", trained)
        log = [json.loads(line) for line in (self.folder / "refined" / "log.jsonl").read_text().splitlines()]
        self.assertEqual([line["phase"] for line in log], ["q", "perception", "perception", "refine"])

    def test_same_seed_same_weights(self):
        for name in ("one", "two"):
            self.assertEqual(self.call("train", "mnist-add", *TINY, "--seed", "5", "--out", name).returncode, 0)
        one, two = (self.folder / name / "model/weights.safetensors" for name in ("one", "two"))
        self.assertEqual(one.read_bytes(), two.read_bytes())
        self.assertNotEqual(one.read_bytes(), (self.run_directory / "model/weights.safetensors").read_bytes())

    def test_interrupt_saves_and_resume_goes_on_bit_for_bit(self):
        long = ["train", "mnist-add", "--set", "task.digits=1", "--set", "q.pretrain=50", "--set", "train.epochs=120",
                "--set", "train.batch=4", "--set", "train.evaluate_every=60"]
        straight = self.call(*long, "--out", "straight")
        self.assertEqual(straight.returncode, 0, straight.stderr)
        with subprocess.Popen([PROGRAM, *long, "--out", "stopped"], env=self.environment(), cwd=self.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            log = self.folder / "stopped/log.jsonl"
            for _ in range(6000):  # until q is trained
                if log.exists() or process.poll() is not None:
                    break
                time.sleep(0.02)
            self.assertTrue(log.exists())
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            message = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, message)
        self.assertIn("--resume", message)
        self.assertFalse((self.folder / "stopped/model").exists())
        self.refused(1, "there is no saved model here", "eval", "stopped")
        resumed = self.call("train", "--resume", "stopped")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        same = [(self.folder / name / "model/weights.safetensors").read_bytes() for name in ("straight", "stopped")]
        self.assertEqual(same[0], same[1])

    def test_misuse_is_exit_2_and_one_line(self):
        self.refused(2, "there is no task nonsense; there are cnf, formula, grid-path, light-curtain, mnist-add, parity", "train", "nonsense")
        self.refused(2, "no preset nonsense", "train", "mnist-add", "--preset", "nonsense")
        self.refused(2, "did you mean task.digits", "train", "mnist-add", "--set", "task.digit=3")
        self.refused(2, "out of range", "train", "mnist-add", "--set", "task.digits=0")
        self.refused(2, "not a whole number", "train", "mnist-add", "--set", "task.digits=three")
        self.refused(2, "name=value", "train", "mnist-add", "--set", "task.digits")
        self.refused(2, "needs a task", "train")
        self.refused(2, "as it was configured", "train", "mnist-add", "--resume", self.run_directory)
        self.refused(2, "either --index I", "predict", self.run_directory)
        self.refused(2, "0 to 19", "predict", self.run_directory, "--index", "20")
        self.refused(2, "no such directory", "eval", "nowhere")
        self.refused(2, "the validation split is empty", "eval", self.run_directory, "--split", "validation")
        self.refused(2, "nonsense", "eval", self.run_directory, "--split", "nonsense")
        self.refused(2, "no run here", "train", "--resume", "nowhere")
        self.refused(2, "no part nonsense", "bench", "nonsense")
        self.refused(2, "not a choice", "train", "mnist-add", "--set", "preset=paper")
        self.refused(2, "--nonsense", "tasks", "--nonsense")
        self.refused(2, "subcommand", )

    def test_version_says_what_is_compiled_in(self):
        self.assertRegex(self.call("--version").stdout, r"^anesi \d+\.\d+\.\d+ \(libtorch .*CaDiCaL.*libsdd\)\n$")

    def test_help_has_examples(self):
        for command in ("tasks", "train", "repeat", "eval", "predict", "explain", "check", "discover", "flow", "bench", "data"):
            result = self.call(command, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn("Example", result.stdout)
        self.assertIn("task.digits", self.call("train", "mnist-add", "--help").stdout)

    def test_tasks_lists_tasks_and_presets(self):
        tasks = {task["name"]: task for task in json.loads(self.call("tasks", "--json").stdout)["tasks"]}
        self.assertEqual({preset["name"] for preset in tasks["mnist-add"]["presets"]},
                         {"default", "scan", "explain", "prune", "refine", "refine-augment", "blind", "soft", "paper", "no-prior"})
        self.assertIn("visual-sudoku", tasks)
        self.assertIn("warcraft", tasks)
        self.assertIn("parity", tasks)

    def test_what_blind_finds_is_saved_and_certified(self):
        settings = [f"--set={setting}" for setting in ("task.digits=3", "train.epochs=1")]
        result = self.call("train", "mnist-add", "--preset", "blind", *settings, "--out", "blind", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("a memory of 11 states was found", result.stderr)
        manifest = json.loads((self.folder / "blind/model/manifest.json").read_text())
        self.assertEqual(manifest["architecture"], "exact")
        self.assertIn("a memory of 11 states", manifest["found"]["summary"])
        told = json.loads(self.call("predict", "blind", "--index", "1", "--certify", "2000", "--json").stdout)
        self.assertEqual(told["certificate"]["differing"], 0)
        self.assertAlmostEqual(told["certificate"]["bound"], 3 / 2000, delta=1e-5)
        checked = self.call("check", "blind", "--beliefs", "20", "--json")
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertEqual(json.loads(checked.stdout)["certificate_found"]["differing"], 0)
        # A file that is not the one which was saved is refused.
        found = self.folder / "blind/model/found.safetensors"
        found.write_bytes(found.read_bytes()[:-1] + b"x")
        self.refused(1, "checksum differs", "predict", "blind", "--index", "1")

    def test_priors_of_all_variables_together(self):
        small = [f"--set={setting}" for setting in ("task.examples=64", "train.epochs=2", "q.pretrain=5", "task.beams=5")]
        for preset in ("default", "mixture"):
            result = self.call("train", "light-curtain", "--preset", preset, *small, "--out", f"beams-{preset}", "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            checked = json.loads(self.call("check", f"beams-{preset}", "--beliefs", "20", "--json").stdout)
            self.assertGreater(checked["kl_perceived"], 0)
        self.refused(2, "out of range", "train", "light-curtain", "--set", "flow.broad=2")
        self.refused(2, "mixture.components", "train", "light-curtain", "--set", "mixture.components=0")
        self.refused(2, "there are certain, fitted, fixed, flow, mixture", "train", "light-curtain", "--set", "prior.kind=flows")

    def test_parity_trains(self):
        result = self.call("train", "parity", "--set", "q.pretrain=20", "--set", "train.epochs=1", "--out", "parity", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["task"], "parity")

    def test_data_writes_what_other_programs_read(self):
        result = self.call("data", "mnist-add", "--set", "task.digits=2", "--out", "export", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("test.csv", json.loads(result.stdout)["files"])
        rows = (self.folder / "export/test.csv").read_text().splitlines()
        self.assertEqual(len(rows), 1 + 10)  # a header and 40 digits in fours
        images = [int(image) for image in rows[1].split(",")[1].split()]
        digits = [image * 7 % 10 for image in images]
        self.assertEqual(int(rows[1].split(",")[0]), 10 * (digits[0] + digits[2]) + digits[1] + digits[3])
        self.refused(1, "not an empty directory", "data", "mnist-add", "--out", self.data)

    def test_other_data_than_the_runs_are_named(self):
        write_digits(self.folder / "elsewhere", train=160)
        told = self.call("eval", self.run_directory, "--json", data=self.folder / "elsewhere")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("not the data of this run", told.stderr)
        self.assertIn("elsewhere", json.loads(told.stdout)["data"])
        self.assertNotIn("not the data", self.call("eval", self.run_directory).stderr)

    def test_flow_shows_and_draws_how_probability_flows(self):
        formula = self.folder / "a_or_b.cnf"
        formula.write_text("p cnf 2 1\nc p weight 1 0.3 0\nc p weight 2 0.6 0\n1 2 0\n")
        for view, nodes in (("tree", 10), ("lattice", 6), ("assignments", 13)):
            picture = self.folder / f"{view}.svg"
            told = json.loads(self.call("flow", formula, "--view", view, "--svg", picture, "--json").stdout)
            self.assertEqual(told["nodes"], nodes)
            self.assertEqual(len(told["states"]), nodes + 1)
            flows = {state["state"]: state["flow"] for state in told["states"]}
            self.assertAlmostEqual(flows["y=1, {}" if view == "lattice" else "y=1"], 0.3 + 0.6 - 0.3 * 0.6, delta=1e-9)
            for action in told["actions"]:
                self.assertAlmostEqual(action["flow"], told["states"][action["from"]]["flow"] * action["forward"], delta=1e-9)
                self.assertAlmostEqual(action["flow"], told["states"][action["to"]]["flow"] * action["backward"], delta=1e-9)
            self.assertEqual(xml.dom.minidom.parse(str(picture)).documentElement.tagName, "svg")
        told = json.loads(self.call("flow", formula, "--view", "lattice", "--learn", "400", "--backward", "learned", "--json").stdout)
        self.assertLess(told["largest_difference"], 0.01)
        text = self.call("flow", formula, "--belief", "0.5", "--names", "rain", "sprinkler").stdout
        self.assertRegex(text, r"y=1, rain, ¬sprinkler +end +0\.250000")
        self.refused(2, "one for each", "flow", formula, "--belief", "0.1", "0.2", "0.3")
        self.refused(2, "1 names for 2", "flow", formula, "--names", "rain")
        self.refused(2, "--belief", "flow", formula, "--belief", "1.5")
        self.refused(2, "not a formula", "flow", self.run_directory)
        self.refused(1, "nowhere.cnf", "flow", "nowhere.cnf")
        large = self.folder / "large.cnf"
        large.write_text("p cnf 7 1\n1 2 3 4 5 6 7 0\n")
        self.refused(2, "7 variables; flows are shown of up to 6", "flow", large)
        several = self.folder / "six.cnf"
        several.write_text("p cnf 6 1\n1 2 3 4 5 6 0\n")
        self.refused(2, "cannot be drawn", "flow", several, "--view", "assignments", "--svg", "six.svg")
        self.assertFalse((self.folder / "six.svg").exists())

    def test_bench_times_a_part(self):
        rows = json.loads(self.call("bench", "query", "--digits", "1", "--seconds", "0.01", "--json").stdout)
        self.assertEqual([row["name"] for row in rows], ["query_paper/1", "query/1"])
        rows = json.loads(self.call("bench", "inference", "--digits", "2", "--seconds", "0.01", "--json").stdout)
        self.assertIn("inference/exact, enumeration/2", [row["name"] for row in rows])
        rows = json.loads(self.call("bench", "grid", "--seconds", "0.01", "--json").stdout)
        self.assertIn("sweeps/60", [row["name"] for row in rows])
        self.assertTrue(all(row.get("maps_per_second", 1) > 0 for row in rows))
        rows = json.loads(self.call("bench", "inference", "--digits", "2", "--seconds", "0.01", "--json").stdout)
        self.assertTrue(all(row["seconds"] > 0 for row in rows))

    def broken(self, name, change, pattern):
        directory = self.folder / name
        shutil.copytree(self.data, directory)
        change(directory)
        self.refused(1, pattern, "train", "mnist-add", *TINY, "--out", f"run-{name}", data=directory)
        shutil.rmtree(directory)

    def test_bad_data_is_named(self):
        images, labels = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
        self.broken("missing", lambda d: (d / labels).unlink(), labels)
        self.broken("empty", lambda d: (d / images).write_bytes(b""), images + ".*empty")
        self.broken("cut", lambda d: (d / images).write_bytes((d / images).read_bytes()[:5000]), images + ".*cut short")
        self.broken("corrupt", lambda d: (d / images).write_bytes(b"\xff" * 5000), images)
        self.broken("twelve", lambda d: write_idx(d / labels, (120,), [3] * 7 + [12] + [3] * 112), "label 12 at position 7")
        self.broken("fewer", lambda d: write_idx(d / labels, (119,), [3] * 119), "119 labels for 120 images")
        self.refused(1, "too few", "train", "mnist-add", "--set", "task.digits=300", "--out", "toofew")
        self.assertFalse((self.folder / "toofew").exists(), "a failed start must not occupy the directory")

    def test_resume_refuses_other_data(self):
        self.assertEqual(self.call("train", "mnist-add", *TINY, "--out", "other").returncode, 0)
        write_digits(self.folder / "more", train=160)
        self.refused(1, "not those that the run was started on", "train", "--resume", "other", data=self.folder / "more")

    def test_one_directory_holds_one_run(self):
        before = (self.run_directory / "model/weights.safetensors").read_bytes()
        self.refused(1, "holds a run already", "train", "mnist-add", *TINY, "--out", self.run_directory)
        self.assertEqual(before, (self.run_directory / "model/weights.safetensors").read_bytes())

    def test_two_runs_at_once_into_one_directory(self):
        long = ["train", "mnist-add", "--set", "task.digits=1", "--set", "q.pretrain=100000", "--out", "busy"]
        with subprocess.Popen([PROGRAM, *long], env=self.environment(), cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            for _ in range(600):
                if (self.folder / "busy/config.toml").exists():
                    break
                time.sleep(0.05)
            self.refused(1, "another run is writing here", "train", "--resume", "busy")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=60), 130)

    def test_a_checkpoint_cut_in_half_is_refused_and_kept(self):
        shutil.copytree(self.run_directory, self.folder / "half")
        state = self.folder / "half/checkpoint/state.safetensors"
        state.write_bytes(state.read_bytes()[: state.stat().st_size // 2])
        size = state.stat().st_size
        self.refused(1, "state.safetensors", "train", "--resume", "half")
        self.assertEqual(state.stat().st_size, size)

    def test_a_damaged_model_is_refused(self):
        shutil.copytree(self.run_directory, self.folder / "damaged")
        manifest = self.folder / "damaged/model/manifest.json"
        manifest.write_text(manifest.read_text()[:100])
        self.refused(1, "manifest.json", "eval", "damaged")

    def test_a_full_disk_loses_nothing(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("needs the right to mount a small disk")
        try:
            long = ["train", "mnist-add", "--set", "task.digits=1", "--set", "q.pretrain=20", "--set", "train.epochs=3"]
            result = self.call(*long, "--out", disk / "run")
            self.assertEqual(result.returncode, 0, result.stderr)
            weights = (disk / "run/model/weights.safetensors").read_bytes()
            checkpoint = (disk / "run/checkpoint/state.safetensors").read_bytes()
            config = disk / "run/config.toml"
            config.write_text(config.read_text().replace("epochs = 3", "epochs = 6"))
            with open(disk / "filler", "wb", buffering=0) as filler:
                try:
                    while True:
                        filler.write(b"x" * 4096)
                except OSError:  # full
                    pass
            self.refused(1, "No space left on device", "train", "--resume", disk / "run")
            self.assertEqual(weights, (disk / "run/model/weights.safetensors").read_bytes())
            self.assertEqual(checkpoint, (disk / "run/checkpoint/state.safetensors").read_bytes())
            self.assertEqual([path.name for path in (disk / "run/checkpoint").iterdir()], ["state.safetensors"])
        finally:
            subprocess.run(["umount", disk], check=True)


if __name__ == "__main__":
    unittest.main()
