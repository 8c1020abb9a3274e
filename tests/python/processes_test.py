"""Threads, forked processes, signals and memory."""

import gc
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest

import torch
from reference import knowledge



class Processes(unittest.TestCase):
    def test_threads_may_ask_at_once(self):
        know = knowledge(lambda w: w.sum(1) % 5, [10] * 12, [5])
        logits, y = torch.randn(8, 12, 10), torch.randint(5, (8,))
        expected, failures = know.log_prob(logits, y), []

        def ask():
            for _ in range(50):
                if not torch.equal(know.log_prob(logits, y), expected):
                    failures.append("differs")
                know.predict(logits)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_dropping_it_on_another_thread_is_safe(self):
        box = [knowledge(lambda w: w.sum(1), [3, 3], [5])]

        def drop():
            box.clear()
            gc.collect()

        thread = threading.Thread(target=drop)
        thread.start()
        thread.join()

    def test_it_works_in_a_forked_process(self):
        know = knowledge(lambda w: w.sum(1) % 5, [10] * 12, [5])
        logits, y = torch.randn(600, 12, 10), torch.randint(5, (600,))
        expected = know.log_prob(logits, y)  # starts the threads of the parent
        torch.set_num_threads(torch.get_num_threads())
        receiver, sender = multiprocessing.Pipe(False)
        child = os.fork()
        if child == 0:
            torch.set_num_threads(1)
            sender.send(bool(torch.allclose(know.log_prob(logits, y), expected)))
            os._exit(0)
        self.assertTrue(receiver.poll(60), "the child hangs")
        self.assertTrue(receiver.recv())
        os.waitpid(child, 0)

    def test_ctrl_c_stops_it_at_once(self):
        def press():
            time.sleep(1)
            os.kill(os.getpid(), signal.SIGINT)

        settings = {"q.pretrain": 1000000}
        thread = threading.Thread(target=press)
        thread.start()
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            knowledge(lambda w: w.prod(1) % 7, [5] * 8, [7], architecture="mlp", settings=settings)
        self.assertLess(time.monotonic() - begin, 5)
        thread.join()

    def test_ctrl_c_stops_what_takes_long_in_c(self):
        """Each in a process of its own, which presses Ctrl-C while it is in C++."""
        rng = random.Random(1)
        clauses = [[variable * rng.choice([-1, 1]) for variable in rng.sample(range(1, 151), 3)] for _ in range(450)]
        weighted = [(None, clause) for clause in clauses[:200]] + [(0.5, clause) for clause in clauses[200:]]
        begin = textwrap.dedent("""
            import os, signal, sys, threading, time
            import anesi
            begun = []
            def press():
                time.sleep(2)
                begun.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)
            threading.Thread(target=press, daemon=True).start()
            try:
                {call}
            except KeyboardInterrupt:
                print(time.monotonic() - begun[0])
                sys.exit(3)
        """)
        calls = (
            f"anesi.Knowledge.from_cnf({clauses}, seconds=600, verbose=False)",
            f"anesi.markov.Knowledge({weighted}, seconds=600)",
        )
        for call in calls:
            with self.subTest(call[:40]):
                text = begin.format(call=call)
                done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300, check=False)
                self.assertEqual(done.returncode, 3, done.stderr[-2000:])
                self.assertLess(float(done.stdout), 10)

    def test_ten_thousand_calls_leak_nothing(self):
        know = knowledge(lambda w: w.sum(1) % 5, [10] * 12, [5])
        logits, y = torch.randn(16, 12, 10, requires_grad=True), torch.randint(5, (16,))

        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * resource.getpagesize()

        def calls(count):
            for _ in range(count):
                know.loss(logits, y).backward()
                logits.grad = None
            gc.collect()

        calls(1000)
        before = resident()
        calls(10000)
        self.assertLess(resident(), 1.02 * before)


if __name__ == "__main__":
    unittest.main(verbosity=1)
