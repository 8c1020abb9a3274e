#!/usr/bin/env python3
"""The command line as other programs meet it: keys, exit codes and one-line errors.

    tests/program/cli_test.py build/release/anesi [unittest arguments]
"""

import json
import math
import subprocess
import sys
import unittest
import xml.dom.minidom

from program import HERE, TINY, ProgramTest, write_idx


class CommandLine(ProgramTest):
    def test_train_leaves_a_run_that_eval_and_predict_read(self):
        keys = {"task", "split", "examples", "symbolic", "neural", "per_variable", "explanation", "satisfied", "nll",
                "ece", "believed", "constrained", "decided", "ms_per_query", "accuracy"}
        self.assertEqual(set(self.trained), keys | {"run", "seconds", "epochs", "restarts"})
        for name in ("config.toml", "log.jsonl", "log.csv", "model/manifest.json", "model/weights.safetensors",
                     "checkpoint/state.safetensors", "result.json"):
            self.assertTrue((self.run_directory / name).is_file(), name)
        result = json.loads((self.run_directory / "result.json").read_text())
        self.assertEqual(set(result), keys - {"task", "split"} | {"seconds", "restarts", "machine", "began", "ended"})
        self.assertEqual(set(result["machine"]), {"cpu", "cores", "threads", "torch", "anesi"})
        self.assertRegex(result["began"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertLessEqual(result["began"], result["ended"])
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
        self.refused(2, r"\b2\b.*28x28", "predict", self.run_directory, "--input",
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
        self.refused(1, r"\b19\b", "explain", self.run_directory, "--index", "3", "--output", "19")
        self.refused(2, r"\b2\b", "explain", self.run_directory, "--index", "3", "--output", "123")
        self.refused(2, "--index.*--input", "explain", self.run_directory)
        only = ["--set", "q.variant=predict", "--out", "predicts"]
        self.assertEqual(self.call("train", "mnist-add", *TINY, *only).returncode, 0)
        searched = json.loads(self.call("explain", "predicts", "--index", "0", "--output", "9", "--json").stdout)
        self.assertEqual(sum(searched["explanation"]), 9)
        self.assertTrue(searched["proven"])
        self.refused(1, r"\b19\b", "explain", "predicts", "--index", "0", "--output", "19")
        self.refused(2, "--joint", "explain", "predicts", "--index", "0", "--joint")
        self.refused(2, "--top", "explain", "predicts", "--index", "0", "--top", "3")

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
        self.refused(2, "nonsense", "check", "nonsense")
        self.refused(2, "--set", "check", self.run_directory, "--set", "task.digits=1")

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
        self.assertIn("sampling", self.call("check", formula, "--learn", "0").stdout)

        worlds.write_text("a,b,c\n" + "1,0,0\n" * 5 + "1,1,0\n" * 2 + "0,1,1\n" * 3)
        fitted = json.loads(self.call("fit", formula, worlds, "--out", self.folder / "fitted.wcnf", "--json").stdout)
        self.assertTrue(fitted["converged"])
        self.assertEqual([clause["seen"] for clause in fitted["clauses"]], [0.7, 0.5])
        again = json.loads(self.call("check", self.folder / "fitted.wcnf", "--learn", "0", "--json").stdout)
        for holds, clause in zip(again["holds"], fitted["clauses"]):  # what is expected is what was seen
            self.assertAlmostEqual(holds, clause["seen"], places=5)
        self.assertIn("weight", self.call("fit", formula, worlds, "--by", "sampling", "--samples", "2000").stdout)

        self.refused(2, "world 1", "fit", formula, self.table("0,0,0\n"))
        self.refused(2, "row 1: .*0.*1", "fit", formula, self.table("1,0,3\n"))
        self.refused(2, r"\b3\b", "fit", formula, self.table("1,0\n"))
        self.refused(1, r"table.csv:2: .*\b2\b.*\b3\b", "fit", formula, self.table("1,0,0\n1,0\n"))
        self.refused(1, "table.csv:2: .*'x'", "fit", formula, self.table("1,0,0\n1,x,0\n"))
        self.refused(2, "soft clause 1", "fit", formula, self.table("1,0,0\n1,1,0\n"))
        formula.write_text("h 1 2 0\nheavy 1 0\n")
        self.refused(1, "rules.wcnf:2: .*'heavy'", "check", formula)
        self.refused(2, "--as", "check", formula, "--as", "clauses")

    def test_headers_of_formulas_that_are_off_are_warned_of(self):
        hard, soft = self.folder / "off.cnf", self.folder / "off.wcnf"
        hard.write_text("p cnf 2 3\n1 2 0\n")
        soft.write_text("p wcnf 2 3 9\n0.5 1 0\n9 1 2 0\n")
        tiny = ["--set", "train.epochs=1", "--set", "task.examples=20", "--out", self.folder / "off"]
        for arguments in (("train", "cnf", "--set", f"task.knowledge={hard}", *tiny), ("fit", soft, self.table("1,0\n0,1\n")),
                          ("flow", hard)):
            result = self.call(*arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stderr, r"(?m)^.*off\.w?cnf:[23]: the header says 3 clauses, there are [12]; is the file cut short\?$")

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
        self.assertRegex(text, r"1\.0e-04.*95 %; 0 of 30,000")

    def test_discover_of_a_run_asks_about_what_perception_believes(self):
        told = json.loads(self.call("discover", self.run_directory, "--draws", "500", "--json").stdout)
        self.assertEqual(told["task"], "mnist-add")
        self.assertEqual(told["found"], "automaton")
        self.assertEqual(told["certificate"]["beliefs"], "beliefs that perception emits")
        self.assertEqual(told["certificate"]["draws"], 500)
        self.refused(2, "--set", "discover", self.run_directory, "--set", "task.digits=1")

    def test_discover_says_what_it_does_not_find(self):
        result = self.call("discover", "warcraft", "--set", "task.size=5", "--svg", "nothing.svg", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        told = json.loads(result.stdout)
        self.assertEqual((told["found"], told["certificate"], told["states"]), (None, None, None))
        self.assertTrue(told["reason"])
        self.assertRegex(result.stderr, "--svg")
        self.assertFalse((self.folder / "nothing.svg").exists())
        found = json.loads(self.call("discover", "visual-sudoku", "--states", "64", "--json").stdout)
        self.assertEqual(found["found"], "tables")
        self.assertEqual({len(variables) for variables in found["tables"]}, {2})
        self.assertRegex(found["reason"], r"\b64\b")
        self.refused(2, "nonsense", "discover", "nonsense")
        self.refused(2, "--seconds", "discover", "parity", "--seconds", "soon")
        self.refused(2, "--states", "discover", "parity", "--states", "0")
        self.refused(2, r"task\.digits\b", "discover", "mnist-add", "--set", "task.digit=3")

    def test_weights_are_read_by_python(self):
        script = HERE / "safetensors_python.py"
        result = subprocess.run([sys.executable, script, self.run_directory / "model/weights.safetensors"],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        tensors = json.loads(result.stdout)
        self.assertEqual(tensors["perception.features.0.weight"]["shape"], [6, 1, 5, 5])
        self.assertEqual(tensors["q.table0"]["shape"], [100, 4, 40])

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
        self.assertIn("seed=5: ", again.stderr)
        self.assertRegex(again.stderr, r"\b\d+\.\d s\b")
        self.assertEqual(json.loads(again.stdout)["symbolic"]["runs"][:2], told["symbolic"]["runs"])
        self.refused(1, "seed-5: .*--out", "repeat", "mnist-add", *TINY, "--set", "train.epochs=1", "--seed", "5", "--out",
                     self.folder / "twice")
        varied = self.call("repeat", "mnist-add", *TINY, "--vary", "task.digits=1..2", "--out", self.folder / "sizes", "--json")
        self.assertEqual(json.loads(varied.stdout)["values"], [1, 2])
        # A mistake in a later run shows before the first is trained.
        self.refused(2, r"\b5\b.*4, 9, 16", "repeat", "visual-sudoku", "--vary", "task.size=4..5", "--out", self.folder / "no")
        self.assertFalse((self.folder / "no").exists())
        self.refused(2, "NAME=FIRST..LAST", "repeat", "mnist-add", "--vary", "seed")
        self.refused(2, r"\b10000\b", "repeat", "mnist-add", "--vary", "seed=1..20000")
        self.refused(2, r"task\.nothing\b", "repeat", "mnist-add", "--vary", "task.nothing=1..2", "--out", self.folder / "no")

    def test_same_seed_same_weights(self):
        for name in ("one", "two"):
            self.assertEqual(self.call("train", "mnist-add", *TINY, "--seed", "5", "--out", name).returncode, 0)
        one, two = (self.folder / name / "model/weights.safetensors" for name in ("one", "two"))
        self.assertEqual(one.read_bytes(), two.read_bytes())
        self.assertNotEqual(one.read_bytes(), (self.run_directory / "model/weights.safetensors").read_bytes())

    def test_misuse_is_exit_2_and_one_line(self):
        self.refused(2, "nonsense.*cnf, formula, grid-path, light-curtain, mnist-add, parity", "train", "nonsense")
        self.refused(2, "nonsense", "train", "mnist-add", "--preset", "nonsense")
        self.refused(2, r"task\.digits\b", "train", "mnist-add", "--set", "task.digit=3")
        self.refused(2, r"task\.digits\b.*\b0\b", "train", "mnist-add", "--set", "task.digits=0")
        self.refused(2, r"task\.digits\b.*three", "train", "mnist-add", "--set", "task.digits=three")
        self.refused(2, r"task\.digits\b", "train", "mnist-add", "--set", "task.digits")
        self.refused(2, "task", "train")
        self.refused(2, "--resume", "train", "mnist-add", "--resume", self.run_directory)
        self.refused(2, "--index.*--input", "predict", self.run_directory)
        self.refused(2, r"\b19\b", "predict", self.run_directory, "--index", "20")
        self.refused(2, "nowhere", "eval", "nowhere")
        self.refused(2, "validation", "eval", self.run_directory, "--split", "validation")
        self.refused(2, "nonsense", "eval", self.run_directory, "--split", "nonsense")
        self.refused(2, "nowhere", "train", "--resume", "nowhere")
        self.refused(2, "nonsense", "bench", "nonsense")
        self.refused(2, "preset", "train", "mnist-add", "--set", "preset=paper")
        self.refused(2, "--nonsense", "tasks", "--nonsense")
        self.refused(2, "subcommand", )

    def test_version_says_what_is_compiled_in(self):
        self.assertRegex(self.call("--version").stdout, r"^anesi \d+\.\d+\.\d+ \(libtorch .*CaDiCaL.*libsdd.*cpp-httplib\)\n$")

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

    def test_data_writes_what_other_programs_read(self):
        result = self.call("data", "mnist-add", "--set", "task.digits=2", "--out", "export", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("test.csv", json.loads(result.stdout)["files"])
        rows = (self.folder / "export/test.csv").read_text().splitlines()
        self.assertEqual(len(rows), 1 + 10)  # a header and 40 digits in fours
        images = [int(image) for image in rows[1].split(",")[1].split()]
        digits = [image * 7 % 10 for image in images]
        self.assertEqual(int(rows[1].split(",")[0]), 10 * (digits[0] + digits[2]) + digits[1] + digits[3])
        self.refused(1, str(self.data), "data", "mnist-add", "--out", self.data)

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
        self.refused(2, r"--belief.*\b3\b", "flow", formula, "--belief", "0.1", "0.2", "0.3")
        self.refused(2, r"\b1\b.*\b2\b", "flow", formula, "--names", "rain")
        self.refused(2, "--belief", "flow", formula, "--belief", "1.5")
        self.refused(2, str(self.run_directory), "flow", self.run_directory)
        self.refused(1, "nowhere.cnf", "flow", "nowhere.cnf")
        large = self.folder / "large.cnf"
        large.write_text("p cnf 7 1\n1 2 3 4 5 6 7 0\n")
        self.refused(2, r"\b7\b.*\b6\b", "flow", large)
        several = self.folder / "six.cnf"
        several.write_text("p cnf 6 1\n1 2 3 4 5 6 0\n")
        self.refused(2, r"\b255\b.*\b72\b", "flow", several, "--view", "assignments", "--svg", "six.svg")
        self.assertFalse((self.folder / "six.svg").exists())

    def test_bench_times_a_part(self):
        def rows(part, key, *arguments):
            told = json.loads(self.call("bench", part, *arguments, "--seconds", "0.01", "--json").stdout)
            self.assertEqual(list(told), [key])
            return told[key]

        self.assertEqual([row["name"] for row in rows("query", "parts", "--digits", "1")], ["query_paper/1", "query/1"])
        inference = rows("inference", "inference", "--digits", "2")
        self.assertIn("inference/exact, enumeration/2", [row["name"] for row in inference])
        self.assertTrue(all(row["seconds"] > 0 for row in inference))
        grid = rows("grid", "grid")
        self.assertIn("sweeps/60", [row["name"] for row in grid])
        self.assertTrue(all(row.get("maps_per_second", 1) > 0 for row in grid))
        self.assertGreater(grid[2]["ratio"], 0)
        self.assertIsNone(grid[-1]["ratio"], "the composition of 60 takes longer than there is time for")


if __name__ == "__main__":
    unittest.main()
