#!/usr/bin/env python3
"""Nothing is lost, whatever happens to a training: files that fail, memory that runs out, kills, a full disk.

    tests/faults/torture.py build/release/anesi build/release/tests/libanesi_faults.so [--sample 20]

After each of them the run can be read, and goes on to the very weights of a run that nothing happened to. Prints a table;
exits with 1 where something was lost, having said how to see it again.
"""

import argparse
import collections
import errno
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from program import Program
from trainings import TRAININGS, Lost, Training, demand, one_line, write_digits

SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
ERRORS = [errno.EIO, errno.ENOSPC, errno.EROFS, errno.EDQUOT]
# How parts of libtorch end where an allocation fails that they do not check. Nothing may be lost even then.
CRASHES = [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE]
SAVED = "/checkpoint/state.safetensors"


class Torture:
    def __init__(self, program, verbose):
        self.program, self.verbose = program, verbose
        self.known, self.lost = {}, []
        self.rows = collections.defaultdict(collections.Counter)
        self.phases = collections.Counter()

    def training(self, name):
        if name not in self.known:
            self.known[name] = Training(self.program, name, self.program.folder / name.replace(" ", "-"))
        return self.known[name]

    def trial(self, row, training, faults, check, begin=None):
        """Meets a training with faults, as it starts or goes on, and sees whether all is well after."""
        training.clear()
        told = f"{row}: {training.name}, " + ", ".join(f"{name}={value}" for name, value in faults.items())
        counts, ended = self.rows[row], None
        try:
            if begin:
                begin()
            was_saved = begin is not None
            ended = training.go_on(**faults)
            calls, _ = self.program.traced()
            out_of_memory = any(call == "allocation" for call, _ in calls)
            if "allocation" in faults and not out_of_memory:
                return  # queries are timed by the clock, so sometimes there are fewer of them
            # Neither the call that was to fail nor the last need have happened.
            happened = calls[:faults.get("call", len(calls)) - 1]
            was_saved |= any(call == "rename" and path.endswith(SAVED) for call, path in happened)
            crashed = out_of_memory and -ended.code in CRASHES
            killed = -ended.code == faults.get("signal")
            demand(ended.code in (0, 1, 130) or killed or crashed, f"it ends with {ended.code}: {ended.err[-300:]}")
            if ended.code == 1 or crashed:
                one_line(ended)
            counts["crashed" if crashed else {0: "unharmed", 1: "errors", 130: "saved"}.get(ended.code, "killed")] += 1
            self.phases[training.last_phase()] += 1
            demand(ended.code != 130 or os.path.exists(f"{training.folder}{SAVED}"), "it says saved, and is not")
            check(ended)
            training.check_readable(was_saved)
            # MKL multiplies matrices without its buffers where it cannot have them: in another order, with other last digits.
            training.check_same_in_the_end(rounded=out_of_memory and ended.code == 0)
            counts["resumed"] += 1
        except Lost as lost:
            counts["lost"] += 1
            self.lost.append(f"{told}: {lost}")
            print(f"LOST {self.lost[-1]}", flush=True)
        counts["trials"] += 1
        if self.verbose:
            print(told, "->", ended and ended.code, ended and ended.err.splitlines()[-1:], flush=True)

    # ---- What happens ----

    def file_faults(self, count=None):
        """The n-th call on a file of the run fails, for every n: once, or for good from then on."""
        training = self.training("all phases")
        calls = range(1, len(training.calls) + 1)
        for call in random.sample(calls, count or len(calls)):
            self.trial("files, training", training, dict(call=call, errno=random.choice(ERRORS), lasting=random.randint(0, 1)),
                       self.fails_or_is_whole(training))

    def file_faults_of_resuming(self, count=None):
        training = self.training("all phases")
        half = len(training.calls) // 2

        def stop_half_way():
            demand(training.start(call=half, signal=signal.SIGKILL).code == -signal.SIGKILL, "it is not killed")
            demand(os.path.exists(f"{training.folder}{SAVED}"), "there is no checkpoint half way")

        training.clear()
        stop_half_way()
        training.resume()
        calls = range(1, len(self.program.traced()[0]) + 1)
        for call in random.sample(calls, count or len(calls)):
            self.trial("files, resuming", training, dict(call=call, errno=random.choice(ERRORS), lasting=random.randint(0, 1)),
                       self.fails_or_is_whole(training), stop_half_way)

    def allocation_faults(self, count):
        while self.rows["allocations"]["trials"] < count:
            training = self.training("all phases" if count < 20 else random.choice(list(TRAININGS)))
            # Every other one is among the first, before the program has caught anything.
            latest = random.choice([10, training.figures["allocations"]])
            faults = dict(allocation=random.randint(1, latest))
            self.trial("allocations", training, faults, self.fails_or_is_whole(training))

    def fails_or_is_whole(self, training):
        def check(ended):
            if ended.code == 0:
                demand((training.folder / "result.json").exists(), "it says that all is well, and has no result")
            elif os.strerror(errno.ENOSPC) in ended.err and "cannot write: " in ended.err:
                demand("bytes" in ended.err, f"how much is missing? {ended.err}")
        return check

    def kills(self, count):
        """At random moments of computing, and just before random calls on files; some runs are killed again as they go on."""
        for _ in range(count):
            training = self.training(random.choice(["all phases", "parity"] if count < 20 else list(TRAININGS)))
            moment = (dict(cpu=random.randint(1, training.figures["cpu"])) if random.random() < 0.5 else
                      dict(call=random.randint(1, len(training.calls))))

            def again(_):
                while random.random() < 0.3:
                    training.go_on(signal=signal.SIGKILL, cpu=random.randint(1, training.figures["cpu"]))
                    self.rows["kills"]["killed again"] += 1

            self.trial("kills", training, dict(signal=int(random.choice(SIGNALS)), **moment), again)

    def full_disk(self, count):
        """The disk has room for a part of what the training writes."""
        def says_what_is_missing(ended):
            if ended.code:
                demand("No space left on device" in ended.err and "are missing" in ended.err, f"what is missing? {ended.err}")

        for _ in range(count):
            training = self.training("all phases" if count < 20 else random.choice(list(TRAININGS)))
            self.trial("full disk", training, dict(room=random.randint(0, training.figures["bytes"] - 1)), says_what_is_missing)

    def small_disk(self, count):
        """The same on a real disk, where one may be mounted."""
        disk = self.program.folder / "disk"
        disk.mkdir()
        for _ in range(count):
            training = self.training("parity")
            blocks = random.randint(8, training.figures["bytes"] // 4096)
            mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={blocks * 4096}", "tmpfs", disk], capture_output=True)
            if mounted.returncode != 0:
                print("no small disk can be mounted here")
                return
            away, training.folder = training.folder, disk / "run"

            def then_there_is_room(ended):
                demand(ended.code == 1 and "are missing" in ended.err, f"what is missing? {ended.err}")
                subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)

            try:
                self.trial("full disk, real", training, dict(), then_there_is_room)
            finally:
                training.folder = away
                subprocess.run(["umount", disk], check=True)

    def table(self):
        columns = ["trials", "errors", "crashed", "killed", "saved", "unharmed", "killed again", "resumed", "lost"]
        rows = [["", *columns], *([name, *(str(counts[c]) for c in columns)] for name, counts in self.rows.items())]
        rows.append(["all", *(str(sum(counts[c] for counts in self.rows.values())) for c in columns)])
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
        lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--sample", action="store_true", help="twenty trials, for every day")
    parser.add_argument("--only", choices=["files", "resuming", "allocations", "kills", "disk"], help="one kind of fault")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("ANESI_TEST_SEED", random.SystemRandom().randrange(10**6))))
    parser.add_argument("--verbose", action="store_true", help="tell of every trial")
    flags = parser.parse_args()
    print(f"ANESI_TEST_SEED={flags.seed}", flush=True)
    random.seed(flags.seed)

    program = Program(flags.program.resolve(), flags.library.resolve())
    write_digits(program.data)
    torture = Torture(program, flags.verbose)
    small = flags.sample
    parts = {
        "files": lambda: torture.file_faults(6 if small else None),
        "resuming": lambda: torture.file_faults_of_resuming(3 if small else None),
        "allocations": lambda: torture.allocation_faults(3 if small else 200),
        "kills": lambda: torture.kills(6 if small else 300),
        "disk": lambda: (torture.full_disk(2 if small else 50), None if small else torture.small_disk(10)),
    }
    began = time.monotonic()
    try:
        for name, part in parts.items():
            if flags.only in (None, name):
                part()
    except KeyboardInterrupt:
        print("stopped; so far:")
    finally:
        program.close()
    print(torture.table())
    print("they came after: " + ", ".join(f"{phase} {count}" for phase, count in torture.phases.most_common()))
    print(f"{len(torture.lost)} lost, in {time.monotonic() - began:.0f} s")
    for lost in torture.lost:
        print("LOST " + lost)
    sys.exit(1 if torture.lost else 0)


if __name__ == "__main__":
    main()
