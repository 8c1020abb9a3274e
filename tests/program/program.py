"""What the tests of the program share: how it is called, a few digits, and a run that is trained on them.

Such a test is called with the program's path first: tests/program/NAME.py build/release/anesi [unittest arguments]
"""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
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


class ProgramTest(unittest.TestCase):
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
