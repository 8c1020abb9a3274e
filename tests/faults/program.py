"""The program in surroundings that fail: one process stands before main and forks a child for every call (start.cc)."""

import dataclasses
import os
import pathlib
import select
import shutil
import struct
import subprocess
import tempfile


@dataclasses.dataclass
class Ended:
    """How a call went. A code below 0 is the signal that ended it, as in subprocess."""
    code: int
    out: str
    err: str

    @property
    def errors(self):
        return [line for line in self.err.splitlines() if line.startswith("anesi: ")]


class Program:
    SECONDS = 600  # after which a call counts as one that hangs

    def __init__(self, path, library):
        self.path = str(path)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="anesi-torture-"))
        self.trace, self.data = self.folder / "trace", self.folder / "digits"
        # One thread, so that every run makes the same calls in the same order.
        environment = dict(os.environ, LD_PRELOAD=str(library), FAULTS_SERVER="1", OMP_NUM_THREADS="1", ANESI_OFFLINE="1")
        for name in ("ANESI_DIGITS", "ANESI_DATA", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):  # as most people start it
            environment.pop(name, None)
        self.server = subprocess.Popen([self.path], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def close(self):
        self.server.stdin.close()
        self.server.wait()
        shutil.rmtree(self.folder)

    def answer(self, seconds):
        if not select.select([self.server.stdout], [], [], seconds)[0]:
            return None
        return struct.unpack("i", self.server.stdout.read(4))[0]

    def call(self, *arguments, **faults):
        """Runs it with such faults: call=3 is FAULTS_CALL=3."""
        self.trace.unlink(missing_ok=True)
        settings = {"ANESI_DATA": self.data, "FAULTS_TRACE": self.trace}
        settings.update({f"FAULTS_{name.upper()}": value for name, value in faults.items()})
        words = [self.folder, self.folder / "out", self.folder / "err", *(f"{k}={v}" for k, v in settings.items()), "",
                 self.path, *arguments]
        request = b"".join(str(word).encode() + b"\0" for word in words)
        self.server.stdin.write(struct.pack("I", len(request)) + request)
        child = self.answer(60)
        status = self.answer(self.SECONDS)
        hangs = status is None
        if hangs:
            os.kill(child, 9)
            self.answer(60)
        texts = [(self.folder / name).read_text(errors="replace") for name in ("out", "err")]
        return Ended(124 if hangs else os.waitstatus_to_exitcode(status), *texts)

    def traced(self):
        """The calls on files that the last call made, and the figures of its end: [(call, file)], {figure: number}."""
        lines = [line.split(" ", 2) for line in self.trace.read_text().splitlines()] if self.trace.exists() else []
        figures = lines.pop()[2].split() if lines and lines[-1][0] == "end" else []
        numbers = dict(zip(["allocations", *figures[1::2]], map(int, figures[0::2])))
        return [(call, path) for _, call, path in lines], numbers
