"""Trainings of every task that take a tenth of a second, and what must be true of one whatever happened to it."""

import json
import math
import operator
import random
import re
import shutil
import struct


def settings(text):
    return [word for setting in text.split() for word in ("--set", setting)]


KINDS = "start.kinds=12 start.passes=4 start.tries=1 start.tables=2 start.epochs=1"
# The first goes through every phase there is.
TRAININGS = {
    "all phases": ["mnist-add", "--preset", "scan", *settings(
        "task.digits=1 q.pretrain=3 q.samples=4 scan.width=8 train.batch=45 train.epochs=2 train.starts=2 train.start_steps=2 "
        f"train.start=kinds {KINDS} refine.epochs=1 refine.q_steps=3 refine.members=2")],
    "found by asking": ["mnist-add", "--preset", "blind", *settings("task.digits=1 train.epochs=2")],
    "rounds": ["mnist-add", "--preset", "soft", *settings("task.digits=1 train.epochs=1 refine.epochs=1")],
    "formula": ["formula", *settings("train.epochs=1")],
    "cnf": ["cnf", *settings("task.examples=40 train.epochs=2")],
    "cnf through q": ["cnf", "--preset", "amortized", *settings("task.examples=40 train.epochs=2 q.pretrain=3")],
    "grid-path": ["grid-path", *settings("task.side=2 train.epochs=1")],
    "light-curtain": ["light-curtain", *settings("task.examples=64 train.epochs=2 q.pretrain=5 task.beams=5")],
    "parity": ["parity", *settings("q.pretrain=5 train.epochs=1")],
    "preference": ["preference", *settings("train.epochs=1")],
    "sum": ["sum", *settings(f"task.digits=2 train.epochs=1 refine.epochs=1 {KINDS}")],
    "visual-sudoku": ["visual-sudoku", *settings("task.puzzles=2 q.pretrain=5 train.epochs=2 refine.epochs=1")],
    "warcraft": ["warcraft", *settings(
        "task.size=4 task.window=3 task.maps=10 task.tests=4 q.pretrain=2 q.samples=2 train.epochs=1 train.starts=2 "
        "train.start_steps=2 kinds.count=3 kinds.asked=5 refine.q_steps=2")],
}
# What a library says to programmers. People are told in our own words.
RAW = ("filesystem error", "std::", "enforce fail", "json.exception", "basic_string", "vector::", "iostream error")


def write_digits(folder, train=180, test=60):
    """Images whose rows tell their label."""
    folder.mkdir()
    image = [bytes(255 if row // 3 == digit else 0 for row in range(28) for _ in range(28)) for digit in range(10)]
    for prefix, count in (("train", train), ("t10k", test)):
        labels = [i * 7 % 10 for i in range(count)]
        pixels = b"".join(image[label] for label in labels)
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(struct.pack(">4B3I", 0, 0, 8, 3, count, 28, 28) + pixels)
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(struct.pack(">4BI", 0, 0, 8, 1, count) + bytes(labels))


class Lost(Exception):
    """Something that was promised is not so."""


def demand(holds, what):
    if not holds:
        raise Lost(what)


def one_line(ended):
    """An error is one line, the last, in our own words; stdout stays empty."""
    lines = ended.err.splitlines()
    demand(len(ended.errors) == 1 and lines[-1] == ended.errors[0], f"not one line of error: {ended.err[-400:]!r}")
    demand(ended.out == "", f"an error, and yet on stdout: {ended.out[:100]!r}")
    demand(not any(raw in lines[-1] for raw in RAW), f"a library's words: {lines[-1]}")


def without_times(figures):
    times = ("seconds", "ms_per_query", "began", "ended")
    if isinstance(figures, dict):
        return {key: without_times(value) for key, value in figures.items() if key not in times}
    return figures


def nearly(found, expected):
    """The same but for the last digits of numbers."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(nearly(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(nearly, found, expected))
    try:
        return found == expected or math.isclose(float(found), float(expected), rel_tol=1e-2, abs_tol=1e-4)
    except (TypeError, ValueError):
        return False


def left_behind(folder):
    """All of a run that does not depend on the clock: its files, by name."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    contents = dict.fromkeys(found)
    for name in ("model/weights.safetensors", "model/manifest.json", "model/found.safetensors", "found.safetensors", "config.toml"):
        if name in found:
            contents[name] = found[name].read_bytes()
    contents["result.json"] = without_times(json.loads(found["result.json"].read_text()))
    contents["log.jsonl"] = [without_times(json.loads(line)) for line in found["log.jsonl"].read_text().splitlines()]
    rows = [line.split(",") for line in found["log.csv"].read_text().splitlines()]
    seconds = rows[0].index("seconds")
    contents["log.csv"] = [row[:seconds] + row[seconds + 1:] for row in rows]
    return contents


class Training:
    """A training, how it goes undisturbed, and checks of one that was not."""

    def __init__(self, program, name, folder):
        self.program, self.name, self.folder = program, name, folder
        undisturbed = folder.with_name(folder.name + "-undisturbed")
        ended = self.start(undisturbed)
        demand(ended.code == 0, f"{name} does not train: {ended.err}")
        self.calls, self.figures = program.traced()
        self.expected = left_behind(undisturbed)
        self.phases = [line["phase"] for line in self.expected["log.jsonl"]]
        shutil.rmtree(undisturbed)

    def start(self, folder=None, **faults):
        folder = folder or self.folder
        return self.program.call("train", *TRAININGS[self.name], "--threads", "1", "--json", "--out", folder, under=folder, **faults)

    def resume(self, **faults):
        return self.program.call("train", "--resume", self.folder, "--threads", "1", "--json", under=self.folder, **faults)

    def has_begun(self):
        return (self.folder / "config.toml").exists()

    def go_on(self, **faults):
        return self.resume(**faults) if self.has_begun() else self.start(**faults)

    def last_phase(self):
        """The phase whose end the run's log tells of last."""
        log = self.folder / "log.jsonl"
        lines = log.read_text().splitlines() if log.exists() else []
        return json.loads(lines[-1])["phase"] if lines else "the beginning"

    def check_readable(self, saved_before):
        """Whatever is there can be read; what was saved before is there."""
        checkpoint = self.folder / "checkpoint/state.safetensors"
        demand(checkpoint.exists() or not saved_before, "the checkpoint that was saved before is gone")
        if checkpoint.exists():
            data = checkpoint.read_bytes()
            length = struct.unpack("<Q", data[:8])[0]
            header = json.loads(data[8:8 + length])
            end = max(entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__")
            demand(8 + length + end == len(data), "the checkpoint is cut short")
        is_saved = (self.folder / "model/manifest.json").exists()
        if not is_saved and random.random() < 0.75:  # it costs as much as a training
            return
        ended = self.program.call("eval", self.folder, "--threads", "1", "--json")
        if is_saved:
            demand(ended.code == 0, f"the model cannot be read: {ended.err}")
            demand(json.loads(ended.out)["accuracy"] == self.expected["result.json"]["accuracy"], "the model is another")
        else:
            one_line(ended)
            demand(re.search("no saved model|no such directory", ended.err), f"eval says {ended.err}")

    def check_same_in_the_end(self, rounded=False):
        """It goes on, and ends as the undisturbed one does, bit for bit (unless rounded otherwise) and file for file."""
        had_checkpoint = (self.folder / "checkpoint/state.safetensors").exists()
        ended = self.go_on()
        demand(ended.code == 0, f"it does not go on: {ended.err[-300:]}")
        demand(had_checkpoint == ("going on after" in ended.err), "it begins anew though there is a checkpoint")
        found = left_behind(self.folder)
        for name in sorted(self.expected.keys() | found.keys()):
            demand(name in found, f"{name} is missing")
            demand(name in self.expected, f"{name} was left behind")
            if rounded and name in ("model/weights.safetensors", "model/manifest.json"):
                continue
            same = nearly if rounded else operator.eq
            demand(same(found[name], self.expected[name]), f"{name} differs")

    def clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)
