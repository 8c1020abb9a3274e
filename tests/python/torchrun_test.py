"""Several processes: the same weights as one, q the same everywhere, and no waiting for the dead."""

import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

import torch

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torchrun_worker.py")


def run(processes, *arguments, check=True):
    command = [sys.executable]
    if processes > 1:
        command += ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(processes)]
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    done = subprocess.run([*command, WORKER, *map(str, arguments)], capture_output=True, text=True, env=environment)
    if check and done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done


class Torchrun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def trained(self, name, processes, kind, steps, *more):
        out = os.path.join(self.folder, name)
        run(processes, out, kind, steps, *more)
        return [torch.load(f"{out}.{rank}", weights_only=True) for rank in range(processes)]

    def assert_close(self, one, other, tolerance=1e-6):
        for name, tensor in one["net"].items():
            self.assertLess((tensor - other["net"][name]).abs().max().item(), tolerance, name)

    def assert_same_q(self, one, other):
        one, other = one["know"]["_extra_state"], other["know"]["_extra_state"]
        self.assertEqual(one.keys(), other.keys())
        for name, tensor in one.items():
            self.assertTrue(torch.equal(tensor, other[name]), name)

    def test_two_processes_train_what_one_does(self):
        for kind in ("memory", "neural"):
            with self.subTest(kind):
                (alone,) = self.trained("alone", 1, kind, 50)
                first, second = self.trained("two", 2, kind, 50)
                self.assert_close(alone, first)
                self.assert_close(first, second, 1e-15)
                self.assert_same_q(first, second)
                if kind == "memory":
                    self.assertEqual(second["asked_at_first"], 0)  # discovery ran once

    def test_a_checkpoint_resumes_on_another_number_of_processes(self):
        (whole,) = self.trained("whole", 1, "neural", 20)
        self.trained("half", 2, "neural", 10)
        (resumed,) = self.trained("resumed", 1, "neural", 10, os.path.join(self.folder, "half.0"))
        self.assert_close(whole, resumed)

    def test_they_meet_whatever_the_default_group_does(self):
        first, second = self.trained("deaf", 2, "neural", 20, "--deaf")
        self.assertNotEqual(first["net"]["0.bias"].tolist(), second["net"]["0.bias"].tolist())
        self.assert_same_q(first, second)

    # Threads that outlive it may drop a tensor while Python ends, which aborts the process.
    def test_no_thread_of_their_own_group_is_there_when_python_ends(self):
        out = os.path.join(self.folder, "threads")
        done = run(2, out, "neural", 2)
        saved = torch.load(f"{out}.0", weights_only=True)
        if not saved["threads"] and torch.__version__ < (2, 13):
            self.skipTest("the threads of this torch have no names to know them by")
        self.assertGreater(saved["threads"], 0)
        self.assertEqual(re.findall("threads at exit: ([0-9]+)", done.stdout), ["0", "0"])

    def test_a_process_that_dies_ends_the_others(self):
        begin = time.monotonic()
        done = run(2, os.path.join(self.folder, "dead"), "neural", 1000, "--die", check=False)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stdout + done.stderr, "another process of the group is gone|exitcode|Signal")


if __name__ == "__main__":
    unittest.main(verbosity=1)
