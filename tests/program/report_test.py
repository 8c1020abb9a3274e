#!/usr/bin/env python3
"""`anesi report`: one file that needs nothing else, in which every figure is the run's.

    tests/program/report_test.py build/release/anesi [unittest arguments]
"""

import html.parser
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from program import SOURCE, TINY, ProgramTest, write_digits

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(html.parser.HTMLParser):
    """What a report holds: figures with where they stand in the JSON, that JSON, and everything that could be fetched."""

    def __init__(self, text):
        super().__init__()
        self.figures, self.json, self.elements, self.open, self.text = [], None, [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append((tag, dict(attributes), []))

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        if self.open:
            self.open[-1][2].append(data)
        self.text.append(data)

    def handle_endtag(self, tag):
        opened, attributes, text = self.open.pop()
        assert opened == tag, f"<{opened}> is closed by </{tag}>"
        text = "".join(text)
        if tag == "data":
            self.figures.append((attributes["data-at"], attributes["value"], text))
        if attributes.get("id") == "figures":
            self.json = json.loads(text)


def at(figures, pointer):
    for key in pointer.split("/")[1:]:
        figures = figures[int(key) if isinstance(figures, list) else key]
    return figures


def shown(text):
    """A figure's number and what the last digit that is shown is worth."""
    number = re.match(r"-?[0-9.,]+(e[-+]?[0-9]+)?", text).group(0).replace(",", "")
    mantissa, _, exponent = number.partition("e")
    decimals = len(mantissa.partition(".")[2])
    scale = 0.01 if text.endswith("%") else 1
    return float(number) * scale, 10.0 ** (int(exponent or 0) - decimals) * scale


def contents(directory):
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) if path.is_file() else None for path in sorted(directory.rglob("*"))}


class Report(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.repeated = cls.folder / "repeated"
        result = cls.call("repeat", "mnist-add", *TINY, "--runs", "10", "--out", cls.repeated, "--json")
        assert result.returncode == 0, result.stderr
        cls.summary = json.loads(result.stdout)

    def report(self, *runs, data=None):
        out = self.folder / "report.html"
        result = self.call("report", *runs, "--out", out, data=data)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "")
        text = out.read_text()
        page = Page(text)
        self.check_alone(page, text)
        self.check_figures(page)
        return page

    def check_alone(self, page, text):
        self.assertLess(len(text.encode()), 5_000_000)
        for tag, attributes in page.elements:
            self.assertNotIn(tag, ("link", "iframe", "object", "embed", "base", "form"))
            for name, value in attributes.items():
                self.assertFalse(name.startswith("on"), (tag, name))
                if name in ("src", "href", "srcset", "action", "poster"):
                    self.assertRegex(value, r"^(data:|#)", (tag, name))
        scripts = [attributes for tag, attributes in page.elements if tag == "script"]
        self.assertEqual([script["type"] for script in scripts], ["application/json"])
        style = text[text.index("<style>"):text.index("</style>")]
        self.assertNotIn("url(", style)
        self.assertNotIn("@import", style)
        policy = [attributes["content"] for tag, attributes in page.elements if attributes.get("http-equiv") == "Content-Security-Policy"]
        self.assertEqual(policy, ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"])

    def check_figures(self, page):
        """Every figure is the number that the JSON has there, as far as it is shown."""
        self.assertGreater(len(page.figures), 20)
        for pointer, value, text in page.figures:
            there = at(page.json, pointer)
            self.assertEqual(json.loads(value), there, pointer)
            number, last = shown(text)
            self.assertLessEqual(abs(number - there), 0.5001 * last + 1e-12 * abs(there), (pointer, there, text))

    def check_run(self, figures, directory):
        """The figures of a run are those of its files and of the other commands."""
        result = json.loads((directory / "result.json").read_text())
        self.assertEqual(figures["result"], result)
        self.assertEqual(figures["log"], [json.loads(line) for line in (directory / "log.jsonl").read_text().splitlines()])
        self.assertEqual({key: figures[key] for key in ("machine", "began", "ended")},
                         {key: result[key] for key in ("machine", "began", "ended")})
        manifest = json.loads((directory / "model" / "manifest.json").read_text())
        self.assertEqual(figures["options"], manifest["options"] if "options" in manifest else figures["options"])
        evaluated = json.loads(self.call("eval", directory, "--json", "--samples", "0").stdout)
        for key, value in figures["evaluated"].items():
            if key != "ms_per_query":
                self.assertEqual(value, evaluated[key], key)
        for key in ("accuracy", "symbolic", "neural", "per_variable", "nll", "ece"):
            self.assertEqual(figures["evaluated"][key], result[key], key)

    def test_a_run(self):
        before = contents(self.run_directory)
        page = self.report(self.run_directory)
        self.assertEqual(contents(self.run_directory), before)
        (run,) = page.json["runs"]
        self.check_run(run, self.run_directory)
        self.assertEqual(run["left_out"].keys() - {"found"}, set())
        self.assertEqual([row["name"] for row in run["changed"]], ["q.pretrain", "task.digits", "train.epochs"])
        self.assertEqual(run["data"]["examples"], {"train": 60, "validation": 0, "test": 20})
        self.assertTrue(run["data"]["same"])
        printed = json.loads(self.call("report", self.run_directory, "--json").stdout)
        self.assertFalse((self.folder / "report.html.json").exists())
        for figures in (printed, page.json):
            figures.pop("made")
        self.assertEqual(printed, page.json)

    def test_reliability_and_confusion_add_up(self):
        run = self.report(self.run_directory).json["runs"][0]
        bins = run["reliability"]["bins"]
        self.assertEqual(len(bins), 15)
        self.assertEqual(sum(bin["examples"] for bin in bins), run["result"]["examples"])
        apart = sum(bin["examples"] * abs(bin["confidence"] - bin["right"]) for bin in bins) / run["result"]["examples"]
        self.assertAlmostEqual(apart, run["result"]["ece"], places=12)
        counts = run["confusion"]["counts"]
        self.assertEqual(sum(map(sum, counts)), 2 * run["result"]["examples"])  # two digits each
        right = sum(counts[value][value] for value in range(10)) / (2 * run["result"]["examples"])
        self.assertAlmostEqual(right, run["result"]["per_variable"], places=12)

    def test_mistakes_are_those_of_explain_and_predict(self):
        page = self.report(self.run_directory)
        mistakes = page.json["mistakes"]
        wrong = page.json["runs"][0]["wrong"]
        self.assertEqual(wrong, round(20 * (1 - page.json["runs"][0]["result"]["neural"])))
        self.assertEqual(len(mistakes), min(10, wrong))
        self.assertGreater(len(mistakes), 0)
        sure = [mistake["probability"] for mistake in mistakes]
        self.assertEqual(sure, sorted(sure, reverse=True))
        for mistake in mistakes[:3]:
            index = mistake["index"]
            predicted = json.loads(self.call("predict", self.run_directory, "--index", index, "--json").stdout)
            self.assertEqual(mistake["read"], predicted["read"])
            self.assertEqual(mistake["predicted"], predicted["outputs"][0]["text"])
            self.assertAlmostEqual(mistake["probability"], predicted["outputs"][0]["probability"], places=5)
            self.assertEqual(mistake["label"], predicted["label"])
            self.assertNotEqual(mistake["label"], mistake["predicted"])
            explained = json.loads(self.call("explain", self.run_directory, "--index", index, "--json").stdout)
            self.assertEqual(mistake["explanation"]["explanations"][0]["world"], explained["explanations"][0]["world"])
        pictures = [attributes["src"] for tag, attributes in page.elements if tag == "img" and "Test example" not in attributes["src"]]
        self.assertEqual(len([src for src in pictures if src.startswith("data:image/png")]), len(mistakes))

    def test_several_runs_stand_beside_each_other(self):
        page = self.report(self.repeated)
        self.assertEqual([run["name"] for run in page.json["runs"]], [f"seed-{seed}" for seed in range(10)])
        self.assertEqual(page.json["varied"], {"seed": [str(seed) for seed in range(10)]})
        for key, value in page.json["summary"].items():
            self.assertEqual(value, self.summary[key], key)
        for run in page.json["runs"][:2]:
            self.check_run(run, self.repeated / run["name"])
        self.assertLessEqual(len(page.json["mistakes"]), 10)
        pointers = {pointer for pointer, _, _ in page.figures}
        for key in ("mean", "std"):
            self.assertIn(f"/summary/accuracy/{key}", pointers)
        again = self.report(self.repeated / "seed-3", self.run_directory)
        self.assertEqual([run["name"] for run in again.json["runs"]], ["seed-3", "trained"])

    def test_a_run_that_was_stopped_or_has_hostile_names(self):
        strange = self.folder / "<img src=x onerror=alert(1)> \"'&"
        shutil.copytree(self.run_directory, strange)
        shutil.rmtree(strange / "model")
        (strange / "result.json").unlink()
        with open(strange / "log.jsonl", "a") as log:
            log.write('{"phase": "perc')  # it is being written
        page = self.report(strange)
        run = page.json["runs"][0]
        self.assertEqual(run["name"], strange.name)
        self.assertEqual(run["state"], "unfinished")
        self.assertIsNone(run["result"])
        self.assertEqual(len(run["log"]), 3)
        self.assertIn("left_out", run)
        self.assertNotIn("img", [tag for tag, _ in page.elements])

    def test_other_data_are_told_apart(self):
        other = self.folder / "other"
        if not other.exists():
            write_digits(other, train=140, test=60)
        page = self.report(self.run_directory, data=other)
        self.assertIs(page.json["runs"][0]["data"]["same"], False)
        self.assertIn("are not those of the training", "".join(page.text))

    def check_no_place(self, page, *names):
        """Neither the folder that all is in nor these names are in the report, nor in what --json prints."""
        printed = self.call("report", self.folder / "sent" / page.json["runs"][0]["name"], "--json").stdout
        for text in ((self.folder / "report.html").read_text(), printed):
            for name in (str(self.folder), self.folder.name, *names):
                self.assertNotIn(name, text)

    def test_no_place_of_this_machine_is_told(self):
        run, data = self.folder / "sent" / "four", self.folder / "some-data" / "my-own"
        data.parent.mkdir()
        write_digits(data)
        result = self.call("train", "mnist-add", *TINY, "--data", data, "--out", run)
        self.assertEqual(result.returncode, 0, result.stderr)
        page = self.report(run, data=data)
        told = page.json["runs"][0]
        self.assertEqual((told["directory"], told["data"]["origin"], told["data"]["found"]), ("four", "MNIST", "MNIST"))
        self.check_no_place(page, "sent/", "some-data", "my-own")
        shutil.rmtree(data)
        page = self.report(run, data=data)
        self.assertIn("data", page.json["runs"][0]["left_out"])
        self.check_no_place(page, "sent/", "some-data")

    def test_files_that_options_name_are_told_by_their_last_name(self):
        run, rules = self.folder / "sent" / "meals", self.folder / "my rules" / "meal.cnf"
        rules.parent.mkdir()
        shutil.copy(SOURCE / "examples" / "meal.cnf", rules)
        result = self.call("train", "cnf", "--set", f"task.knowledge={rules}", "--set", "train.epochs=1", "--out", run)
        self.assertEqual(result.returncode, 0, result.stderr)
        page = self.report(run)
        told = page.json["runs"][0]
        self.assertEqual(told["options"]["task.knowledge"], "meal.cnf")
        self.assertNotIn("check", told["left_out"])
        self.check_no_place(page, "my rules")
        rules.unlink()
        page = self.report(run)
        self.assertIn("meal.cnf", page.json["runs"][0]["left_out"]["model"])
        self.check_no_place(page, "my rules")

    def test_misuse_is_one_line(self):
        self.refused(2, "digits", "report", self.folder / "digits")
        self.refused(2, "RUN", "report")
        self.refused(1, "report.html", "report", self.run_directory, "--out", self.folder / "nowhere" / "report.html")
        damaged = self.folder / "damaged"
        shutil.copytree(self.run_directory, damaged)
        (damaged / "result.json").write_text("{")
        self.refused(1, "damaged", "report", damaged)

    def test_it_opens_in_a_browser_without_a_word(self):
        if not CHROMIUM:
            self.skipTest("chromium is not installed: whether the report opens without messages was not looked at")
        self.report(self.repeated)
        control = self.folder / "control.html"
        control.write_text("<!doctype html><title>t</title><script>console.error('heard')</script>")
        self.assertIn("heard", self.console(control))
        self.assertEqual(self.console(self.folder / "report.html"), "")

    def console(self, page):
        """What the browser says of a page on its console."""
        with tempfile.TemporaryDirectory() as profile:
            result = subprocess.run([CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                                     f"--user-data-dir={profile}", "--enable-logging=stderr", "--dump-dom", page.as_uri()],
                                    capture_output=True, text=True, timeout=120, env=dict(os.environ, HOME=profile))
        self.assertIn("<title>", result.stdout, result.stderr)
        return "\n".join(line for line in result.stderr.splitlines() if "CONSOLE" in line)


if __name__ == "__main__":
    unittest.main()
