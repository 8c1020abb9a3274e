#!/usr/bin/env python3
"""What goes wrong on the command line: nothing is lost, and one line says what it was.

    tests/program/cli_faults_test.py build/release/anesi [unittest arguments]
"""

import fcntl
import json
import os
import pty
import resource
import shutil
import signal
import struct
import subprocess
import termios
import time
import unittest

from program import PROGRAM, TINY, ProgramTest, write_digits, write_idx


class Faults(ProgramTest):
    def test_output_that_is_lost_is_a_failure(self):
        formula = self.folder / "lost.cnf"
        formula.write_text("p cnf 2 1\n1 2 0\n")
        commands = (["--version"], ["--help"], ["tasks"], ["tasks", "--json"], ["eval", self.run_directory, "--json"],
                    ["predict", self.run_directory, "--index", "0"], ["explain", self.run_directory, "--index", "0"],
                    ["check", formula], ["flow", formula, "--json"], ["discover", "parity"],
                    ["train", "mnist-add", *TINY, "--out", "lost"])
        for command in commands:
            with self.subTest(command=command), open("/dev/full", "w") as full:
                result = subprocess.run([PROGRAM, *command], env=self.environment(), stdout=full, stderr=subprocess.PIPE,
                                        text=True, cwd=self.folder)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertRegex(result.stderr.splitlines()[-1], "^anesi: stdout: .*No space left on device")
        self.assertTrue((self.folder / "lost/result.json").exists(), "what was trained is saved all the same")

    def test_a_closed_stdout_is_a_failure_and_no_file_is_written_in_its_place(self):
        for command in (["eval", "trained", "--json"], ["train", "mnist-add", *TINY, "--out", "closed"]):
            result = subprocess.run(["sh", "-c", '"$@" >&-', "sh", PROGRAM, *command], env=self.environment(),
                                    stderr=subprocess.PIPE, text=True, cwd=self.folder)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("Bad file descriptor", result.stderr.splitlines()[-1])
        self.assertEqual((self.folder / "closed/model/weights.safetensors").read_bytes(),
                         (self.run_directory / "model/weights.safetensors").read_bytes())

    def test_a_folder_named_as_a_task_does_not_hide_it(self):
        (self.folder / "parity").mkdir()
        shutil.copytree(self.run_directory, self.folder / "mnist-add")
        quick = ("--set", "q.pretrain=0", "--json")
        for arguments in (("check", "parity", *quick), ("discover", "parity", "--json")):
            result = self.call(*arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("note:", result.stderr)
        result = self.call("check", "mnist-add", "--set", "task.digits=1", *quick)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"(?m)^note: .*mnist-add.* \./mnist-add$")
        self.assertIn("tv_perceived", json.loads(self.call("check", "./mnist-add", "--beliefs", "5", "--json").stdout))

    def test_an_output_that_is_none_is_not_explained(self):
        small = ("--set", "train.epochs=1", "--set", "q.pretrain=20", "--set")
        for task, size, output, most in (("sum", "task.digits=2", "-1", 18), ("parity", "task.digits=4", "-1", 1),
                                         ("formula", "task.symbols=3", "-10", 90)):
            name = f"none-{task}"
            result = self.call("train", task, *small, size, "--out", name)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.refused(2, rf"output {output}: .*variable 0\b.*-1\b.*\b{most}$", "explain", name, "--index", "0",
                         "--output", output)

    def test_a_small_file_of_many_variables_takes_little_time_and_memory(self):
        circuit = self.folder / "wide.nnf"
        circuit.write_text("nnf 1 0 110010\nL 110010\n")

        def limited(*arguments):
            started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            result = subprocess.run([PROGRAM, *arguments], env=self.environment(), capture_output=True, text=True,
                                    timeout=300, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (6 << 30,) * 2))
            self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - started, 60)
            return result

        result = limited("check", circuit)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\b110010\b")
        result = limited("train", "cnf", "--set", f"task.knowledge={circuit}", "--out", self.folder / "wide")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertRegex(result.stderr, r"^anesi: .*\b2000\b.*\b110010\b.*task\.examples=227\b.*--data\n$")

    def test_text_from_files_stays_text(self):
        escape = "\x1b[31m\n\x9b2Janesi: all is well\u202e"

        def changed(name, change):
            shutil.copytree(self.run_directory, self.folder / name)
            path = self.folder / name / "model/manifest.json"
            manifest = json.loads(path.read_text())
            change(manifest)
            path.write_text(json.dumps(manifest))

        def shown(*arguments, **options):
            result = self.call(*arguments, **options)
            for letter in escape:
                self.assertTrue(letter.isprintable() or letter == "\n" or letter not in result.stdout + result.stderr, repr(letter))
            self.assertNotIn("\nanesi: all is well", "\n" + result.stdout + result.stderr)
            return result

        write_digits(self.folder / "others", train=160)
        changed("origin", lambda manifest: manifest["data"].update(origin="here" + escape))
        shown("eval", "origin", "--json", data=self.folder / "others")
        result = shown("eval", "origin", data=self.folder / "others")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("here\\x1b[31m\\n\\x9b2J", result.stderr)
        changed("task", lambda manifest: manifest.update(task=escape))
        changed("architecture", lambda manifest: manifest.update(architecture=escape))
        changed("value", lambda manifest: manifest["options"].update({"task.digits": escape}))
        changed("long", lambda manifest: manifest.update(task="x" * 100000))
        for name in ("task", "architecture", "value", "long"):
            result = shown("eval", name)
            self.assertIn(result.returncode, (1, 2), result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1)
            self.assertLess(len(result.stderr), 3000)
        for name, line in (("key", f"{json.dumps(escape)} = 1"), ("setting", f"[task]\nname = {json.dumps(escape)}")):
            (self.folder / f"toml-{name}").mkdir()
            (self.folder / f"toml-{name}/config.toml").write_text(f'{line}\n[task]\nname = "parity"\n' if name == "key" else line)
            self.assertEqual(shown("train", "--resume", f"toml-{name}").returncode, 2)

    def test_a_name_that_is_no_utf8_is_no_reason_to_fail(self):
        name = os.fsencode(self.folder) + b"/n\xff"
        result = subprocess.run([PROGRAM, "train", "mnist-add", *TINY, "--out", name, "--json"], env=self.environment(),
                                capture_output=True, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(json.loads(result.stdout)["run"].endswith("n\ufffd"))
        # An option's text is written into the run, so it must be one before anything is trained.
        result = subprocess.run([PROGRAM, "train", "cnf", "--set", b"task.knowledge=f\xff.cnf"], capture_output=True)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, rb'^anesi: .*task\.knowledge.*"f\\xff\.cnf".*\n$')

    def on_a_terminal(self, columns, **environment):
        """What a small training writes to a terminal of so many columns."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        more = ("--set", "q.pretrain=400", "--out", f"terminal-{columns}-{environment['TERM']}")
        with subprocess.Popen([PROGRAM, "train", "mnist-add", *TINY, *more], env=dict(self.environment(), **environment),
                              stdout=subprocess.DEVNULL, stderr=slave, cwd=self.folder) as process:
            os.close(slave)
            written = b""
            try:
                while part := os.read(master, 4096):
                    written += part
            except OSError:  # the other end is closed
                pass
            os.close(master)
            self.assertEqual(process.wait(timeout=60), 0)
        return written.decode()

    def test_progress_fits_the_terminal(self):
        for columns in (100, 40):
            drawn = self.on_a_terminal(columns, TERM="xterm").split("\r\x1b[K")[1:]
            drawn = [text for text in drawn if "steps/s" in text or text.startswith("q ")]
            self.assertGreater(len(drawn), 0)
            self.assertLess(max(len(text.split("\r\n")[0]) for text in drawn if "\n" not in text), columns)
        self.assertNotIn("\x1b", self.on_a_terminal(100, TERM="dumb"))

    def test_numbers_out_of_range_are_refused_with_the_range(self):
        for number in ("nan", "inf", "-1", "1e400"):
            self.refused(2, rf"--seconds: .*{number}\b.*0\.01\b.*\b600\b", "bench", "query", "--seconds", number)
        for arguments in (("check", "parity"), ("discover", "parity"), ("fit", "a.wcnf", "b.csv")):
            self.refused(2, r"--seconds: .*nan\b", *arguments, "--seconds", "nan")
        self.refused(2, r"--belief: .*nan\b.*\b0\b.*\b1\b", "flow", "a.cnf", "--belief", "nan")
        for seed in ("9007199254740993", "99999999999999999999", "1.5", "0x10", "ten"):
            self.refused(2, rf"--seed: .*{seed}\b.*\b9007199254740992\b", "train", "parity", "--seed", seed)
        for arguments in (("train", "parity"), ("repeat", "parity"), ("check", "parity"), ("discover", "parity"),
                          ("data", "mnist-add", "--out", "d"), ("flow", "a.cnf"), ("fit", "a.wcnf", "b.csv")):
            self.refused(2, r"--seed: .*-1\b.*\b9007199254740992\b", *arguments, "--seed", "-1")
        for index in ("-1", "99999999999999999999"):
            self.refused(2, rf"--index: .*{index}\b.*\b0\b", "predict", self.run_directory, "--index", index)
        self.refused(2, r"--threads: .*\b0\b.*\b1024\b", "eval", self.run_directory, "--threads", "0")

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
        self.refused(1, "stopped", "eval", "stopped")
        resumed = self.call("train", "--resume", "stopped")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        same = [(self.folder / name / "model/weights.safetensors").read_bytes() for name in ("straight", "stopped")]
        self.assertEqual(same[0], same[1])

    def test_other_data_than_the_runs_are_named(self):
        write_digits(self.folder / "elsewhere", train=160)
        told = self.call("eval", self.run_directory, "--json", data=self.folder / "elsewhere")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertRegex(told.stderr, "(?m)^note: .*elsewhere.*--data")
        self.assertIn("elsewhere", json.loads(told.stdout)["data"])
        self.assertNotIn("note:", self.call("eval", self.run_directory).stderr)

    def stop_by(self, number, name, times=1):
        """Starts a training, sends it a signal once q is learned, and gives its exit code and stderr."""
        long = ["train", "mnist-add", "--set", "task.digits=1", "--set", "q.pretrain=50", "--set", "train.epochs=100000"]
        with subprocess.Popen([PROGRAM, *long, "--out", name], env=self.environment(), cwd=self.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            while not (self.folder / name / "log.jsonl").exists() and process.poll() is None:
                time.sleep(0.02)
            for _ in range(times):
                process.send_signal(number)
            message = process.communicate(timeout=60)[1]
        return process.returncode, message

    def test_a_closed_terminal_saves_as_an_interrupt_does(self):
        for number, times in ((signal.SIGHUP, 1), (signal.SIGHUP, 3), (signal.SIGTERM, 1)):
            name = f"stopped-{number}-{times}"
            code, message = self.stop_by(number, name, times)
            self.assertEqual(code, 130, message)
            self.assertIn(f"anesi train --resume {name}", message)
            self.assertTrue((self.folder / name / "checkpoint/state.safetensors").exists())

    def test_nohup_and_a_reader_that_leaves_do_not_stop_training(self):
        command = ["nohup", PROGRAM, "train", "mnist-add", *TINY, "--out", "nohup"]
        with subprocess.Popen(command, env=self.environment(), cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stderr.close()  # what is said now has no reader
            while not (self.folder / "nohup/config.toml").exists() and process.poll() is None:
                time.sleep(0.02)
            process.send_signal(signal.SIGHUP)
            process.stdout.read()
            self.assertEqual(process.wait(timeout=60), 0)
        self.assertTrue((self.folder / "nohup/result.json").exists())

    def broken(self, name, change, pattern):
        directory = self.folder / name
        shutil.copytree(self.data, directory)
        change(directory)
        self.refused(1, pattern, "train", "mnist-add", *TINY, "--out", f"run-{name}", data=directory)
        shutil.rmtree(directory)

    def test_bad_data_is_named(self):
        images, labels = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
        self.broken("missing", lambda d: (d / labels).unlink(), labels)
        self.broken("empty", lambda d: (d / images).write_bytes(b""), images)
        self.broken("cut", lambda d: (d / images).write_bytes((d / images).read_bytes()[:5000]), images + r".*\b5,000\b")
        self.broken("corrupt", lambda d: (d / images).write_bytes(b"\xff" * 5000), images)
        self.broken("twelve", lambda d: write_idx(d / labels, (120,), [3] * 7 + [12] + [3] * 112), labels + r".*\b12\b.*\b7\b")
        self.broken("fewer", lambda d: write_idx(d / labels, (119,), [3] * 119), labels + r".*\b119\b.*\b120\b")
        self.refused(1, r"\b120\b.*\b600\b", "train", "mnist-add", "--set", "task.digits=300", "--out", "toofew")
        self.assertFalse((self.folder / "toofew").exists(), "a failed start must not occupy the directory")

    def edited(self, name, *changes):
        """A copy of the run with lines of its config.toml changed, one "before" for "now" after the other."""
        shutil.copytree(self.run_directory, self.folder / name)
        config = self.folder / name / "config.toml"
        text = config.read_text()
        for before, now in changes:
            self.assertIn(before, text)
            text = text.replace(before, now, 1)
        config.write_text(text)

    def test_resume_says_what_was_edited_and_refuses_what_is_another_run(self):
        self.edited("longer", ("epochs = 2\n", "epochs = 4\n"), ("evaluate_every = 1", "evaluate_every = 2"))
        resumed = self.call("train", "--resume", "longer", "--json")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertRegex(resumed.stderr, r"config\.toml.*train\.epochs .*2.*4.*train\.evaluate_every .*1.*2\n")
        self.assertNotIn("config.toml", self.call("train", "--resume", "longer").stderr)
        for name, change, told in (("seeded", ("seed = 0", "seed = 5"), r"seed .*0.*5"),
                                   ("another", ("digits = 1", "digits = 2"), r"task\.digits .*1.*2"),
                                   ("lossy", ("loss = 'amortized'", "loss = 'exact'"), r"loss .*amortized.*exact")):
            self.edited(name, change)
            before = (self.folder / name / "checkpoint/state.safetensors").read_bytes()
            self.refused(1, f"config.toml: .*{told}", "train", "--resume", name)
            self.assertEqual(before, (self.folder / name / "checkpoint/state.safetensors").read_bytes())

    def test_repeat_refuses_a_folder_of_other_runs(self):
        self.assertEqual(self.call("repeat", "mnist-add", *TINY, "--runs", "1", "--out", "several").returncode, 0)
        self.refused(2, r"several: .*mnist-add.*seed-0.*--out.*parity", "repeat", "parity",
                     "--runs", "1", "--seed", "7", "--out", "several")
        self.assertFalse((self.folder / "several/seed-7").exists())
        self.refused(2, "--out", "repeat", "mnist-add", *TINY, "--out", self.run_directory)

    def test_resume_refuses_other_data(self):
        self.assertEqual(self.call("train", "mnist-add", *TINY, "--out", "other").returncode, 0)
        write_digits(self.folder / "more", train=160)
        self.refused(1, "--data", "train", "--resume", "other", data=self.folder / "more")

    def test_one_directory_holds_one_run(self):
        before = (self.run_directory / "model/weights.safetensors").read_bytes()
        self.refused(1, "--resume.*--out", "train", "mnist-add", *TINY, "--out", self.run_directory)
        self.assertEqual(before, (self.run_directory / "model/weights.safetensors").read_bytes())

    def test_two_runs_at_once_into_one_directory(self):
        long = ["train", "mnist-add", "--set", "task.digits=1", "--set", "q.pretrain=100000", "--out", "busy"]
        with subprocess.Popen([PROGRAM, *long], env=self.environment(), cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            for _ in range(600):
                if (self.folder / "busy/config.toml").exists():
                    break
                time.sleep(0.05)
            self.refused(1, f"busy: .*{process.pid}", "train", "--resume", "busy")
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
