"""Everything a user may do wrong: an exception of a fitting type in one line, and the process lives on."""

import os
import pathlib
import random
import tempfile
import time
import unittest

import torch
from reference import knowledge

import anesi
from anesi._files import read_text


class BadInput(unittest.TestCase):
    def setUp(self):
        self.know = knowledge(lambda w: w.sum(1), [3, 4], [6])
        self.logits, self.y = torch.zeros(2, 2, 4), torch.tensor([0, 1])

    def refused(self, kind, words, call):
        with self.assertRaisesRegex(kind, words) as caught:
            call()
        self.assertNotIn("\n", str(caught.exception))

    def named(self, kind, argument, call):
        """The exception is the caller's, and says which argument."""
        with self.assertRaises(kind) as caught:
            call()
        self.assertTrue(str(caught.exception).startswith(argument + ":"), caught.exception)

    def test_files(self):
        # A FIFO would let us wait for ever, and a huge file would fill the memory.
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program"
            with self.assertRaises(FileNotFoundError):
                read_text(path)
            os.mkfifo(path)
            self.refused(ValueError, r"\bprogram\b", lambda: read_text(path))
            self.refused(ValueError, os.path.basename(folder), lambda: read_text(folder))
            self.refused(ValueError, "/dev/zero", lambda: read_text("/dev/zero"))
            path.unlink()
            path.write_bytes(b"a\xff")
            self.refused(ValueError, r"\bprogram\b.*\b1\b", lambda: read_text(path))
            path.write_text("a \u2192 b")
            self.assertEqual(read_text(path), "a \u2192 b")
            os.truncate(path, 1 << 41)
            self.refused(ValueError, "program.*2,199,023,255,552.*67,108,864", lambda: read_text(path))

    def test_logits(self):
        loss = self.know.loss
        self.refused(ValueError, r"logits.*\(2, 3, 4\).*\(batch, 2, 4\)", lambda: loss(torch.zeros(2, 3, 4), self.y))
        self.refused(ValueError, r"logits.*\(2, 8\)", lambda: loss(torch.zeros(2, 8), self.y))
        self.refused(ValueError, "example 1, variable 0", lambda: loss(self.nan(1, 0), self.y))
        self.refused(ValueError, "logits.*Long", lambda: loss(self.logits.long(), self.y))
        self.refused(TypeError, "logits.*beliefs", lambda: loss(None, self.y))
        self.refused(TypeError, "logits", lambda: loss("nonsense", self.y))
        self.refused(ValueError, r"variable 1\b.*\(2, 3\)", lambda: loss([torch.zeros(2, 3), torch.zeros(2, 3)], self.y))
        self.refused(ValueError, r"example 0, variable 1\b.*\b2\b", lambda: loss(beliefs=[torch.ones(2, 3) / 3, torch.ones(2, 4) / 2], outputs=self.y))
        self.refused(ValueError, "batch", lambda: loss(torch.zeros(0, 2, 4), torch.zeros(0, dtype=torch.int64)))

    def nan(self, row, variable):
        logits = self.logits.clone()
        logits[row, variable, 0] = float("nan")
        return logits

    def test_labels(self):
        loss = self.know.loss
        self.refused(ValueError, r"example 1\b.*\b6\b.*variable 0\b.*\b5\b", lambda: loss(self.logits, torch.tensor([0, 6])))
        self.refused(ValueError, r"example 1\b.*-1\b.*variable 0\b", lambda: loss(self.logits, torch.tensor([0, -1])))
        self.refused(ValueError, r"outputs.*\(3\).*\(2\).*\(2, 1\)", lambda: loss(self.logits, torch.tensor([0, 1, 2])))
        self.refused(ValueError, "outputs.*Float", lambda: loss(self.logits, torch.tensor([0.0, 1.0])))
        self.refused(ValueError, "outputs", lambda: loss(self.logits))
        self.refused(ValueError, "given", lambda: loss(self.logits, self.y, given=self.y))
        self.refused(ValueError, r"holds.*\(1\)", lambda: loss(self.logits, self.y, holds=torch.tensor([True])))
        self.assertEqual(loss(self.logits, [0, 1]).item(), loss(self.logits, self.y).item())  # lists will do
        self.refused(TypeError, r"outputs.*\bstr\b", lambda: loss(self.logits, "none"))
        gap = knowledge(lambda w: w.sum(1) * 2, [3, 4], [11])
        self.refused(ValueError, r"example 1\b.*\[3\]", lambda: gap.loss(self.logits, torch.tensor([0, 3])))
        self.assertEqual(gap.log_prob(self.logits, torch.tensor([0, 3]))[1].item(), -float("inf"))

    def test_functions(self):
        def raises(w):
            if (w[:, 0] == 2).any():
                raise ZeroDivisionError("two is not for me")
            return w.sum(1)

        with self.assertRaisesRegex(ZeroDivisionError, "two is not for me") as caught:
            knowledge(raises, [3, 4], [6])
        self.assertRegex(caught.exception.__notes__[0], r"the world \[2, \d\]")
        self.refused(TypeError, "float32", lambda: knowledge(lambda w: w.sum(1) / 2, [3, 4], [6]))
        self.refused(ValueError, r"\(\d+,\).*\d+", lambda: knowledge(lambda w: w.sum(1)[:-1], [3, 4], [6]))
        self.refused(ValueError, r"\[\d+\].*\[\d+, \d+\]", lambda: knowledge(lambda w: w.sum(1) + 3, [3, 4], [6]))
        self.refused(TypeError, r"\bstr\b", lambda: knowledge(lambda w: "sum", [3, 4], [6]))
        self.refused(TypeError, r"\b1\b", lambda: knowledge(lambda: 0, [3, 4], [6]))
        self.refused(TypeError, r"\b2\b", lambda: knowledge(lambda w: w, [3, 4], [6], given=[2]))
        self.refused(TypeError, "int|7", lambda: knowledge(7, [3, 4], [6]))
        many = [10] * 12
        unsteady = random.Random(0)
        for share in (0.5, 0.02):  # of few worlds, which would be listed, some give now this and now that
            for worlds in ([2], [3, 4], [2] * 10):
                for more in ({}, {"architecture": "exact"}):
                    with self.subTest(share=share, worlds=worlds, more=more), self.assertRaises(RuntimeError) as caught:
                        knowledge(lambda w: [int(unsteady.random() < share) for _ in w], worlds, [2], **more)
                    self.assertRegex(str(caught.exception), r"\((\d, )*\d\): \((0|1)\) and \((0|1)\)")
        self.refused(RuntimeError, r"^c\b", lambda: knowledge(lambda w: [unsteady.randrange(2) for _ in w], many, [2]))

    def test_arguments(self):
        self.refused(ValueError, r"variable 1\b.*\b0\b", lambda: knowledge(lambda w: w.sum(1), [3, 0], [6]))
        self.refused(TypeError, "worlds", lambda: knowledge(lambda w: w.sum(1), 2.5, [6]))
        self.refused(ValueError, "worlds", lambda: knowledge(lambda w: w.sum(1), [], [6]))
        self.refused(ValueError, "q.sampels", lambda: knowledge(lambda w: w.sum(1), [3, 4], [6], settings={"q.sampels": 3}))
        self.refused(ValueError, "^order: ", lambda: knowledge(lambda w: w.sum(1), [3, 4], [6], order=[0, 0]))
        self.refused(ValueError, r"top\b.*\b1\b", lambda: self.know.predict(self.logits, top=0))
        self.refused(TypeError, "outputs", lambda: self.know.marginals(self.logits))
        for seed in (-1, 2**64, 2**70):
            self.named(ValueError, "seed", lambda: knowledge(lambda w: w.sum(1), [3, 4], [6], seed=seed))
            self.named(ValueError, "seed", lambda: anesi.Knowledge.from_cnf([[1, 2]], seed=seed))
            self.named(ValueError, "seed", lambda: self.know.sample(self.logits, self.y, seed=seed))
            self.named(ValueError, "seed", lambda: anesi.Estimator(lambda z: z[:, 0], [2], seed=seed))
            self.named(ValueError, "seed", lambda: anesi.markov.Knowledge([(1.0, [1])]).sample(seed=seed))
            self.named(ValueError, "seed", lambda: anesi.markov.Knowledge([(1.0, [1])]).estimate(seed=seed))
            self.named(ValueError, "seed", lambda: anesi.tasks.load("mnist-add", seed=seed))
        self.named(TypeError, "seed", lambda: knowledge(lambda w: w.sum(1), [3, 4], [6], seed="one"))
        for many in (0, -1, 2**63, 2**70):
            self.named(ValueError, "top", lambda: self.know.predict(self.logits, top=many))
            self.named(ValueError, "top", lambda: self.know.explain(self.logits, self.y, top=many))
            self.named(ValueError, "count", lambda: self.know.sample(self.logits, self.y, count=many))
            self.named(ValueError, "samples", lambda: self.know.check(self.logits, samples=many))
            self.named(ValueError, "outcomes", lambda: anesi.Estimator(lambda z: z[:, 0], [2], outcomes=many))
        self.assertEqual(self.know.predict(self.logits, top=2**40).outputs.shape, (2, 6, 1))  # all there are
        for domain in (2**63, 2**70):
            self.named(ValueError, "worlds", lambda: knowledge(lambda w: w.sum(1), [3, domain], [6]))
            self.named(ValueError, "outputs", lambda: knowledge(lambda w: w.sum(1), [3, 4], [domain]))
            self.named(ValueError, "given", lambda: knowledge(lambda w, g: w.sum(1), [3, 4], [6], given=[domain]))
            self.named(ValueError, "categoricals", lambda: anesi.Estimator(lambda z: z[:, 0], [domain]))
            self.named(ValueError, "worlds", lambda: anesi.Cnf([domain], [2]))
        one = knowledge(lambda w: w.sum(1), [1, 1], [1])  # nothing to learn, and no error
        self.assertEqual(one.loss(torch.zeros(3, 2, 1), torch.zeros(3, dtype=torch.int64)).item(), 0)
        empty = self.know.log_prob(torch.zeros(0, 2, 4), torch.zeros(0, dtype=torch.int64))
        self.assertEqual(empty.shape, (0,))

    def test_what_is_told_must_agree_with_the_function(self):
        def parity(of):
            return anesi.Automaton([2] * 9, [2], [([i], None, 0) for i in range(8)] + [([8], 0, 1)], 2,
                                   lambda kind, read, state: (of(read[0] ^ state) if kind else 0, read[0] ^ state))  # fmt: skip

        self.refused(ValueError, r"^automaton: .*\[(\d, ){8}\d\]", lambda: knowledge(lambda w: w.sum(1) % 2, [2] * 9, [2], automaton=parity(lambda x: 1 - x)))
        self.refused(ValueError, "automaton: ", lambda: knowledge(lambda w: w.sum(1) % 2, [3] * 9, [2], automaton=parity(lambda x: x)))
        self.refused(ValueError, "^cnf: ", lambda: knowledge(lambda w: w.sum(1) % 2, [3] * 9, [2], cnf=anesi.Cnf([2], [2])))
        self.refused(ValueError, r"worlds.*example 0\b.*\b2\b", lambda: parity(lambda x: x).run(torch.full((1, 9), 2)))
        self.refused(IndexError, "value 2 of variable 0", lambda: anesi.Cnf([2], [2]).world(0, 2))

    def test_a_slow_function_is_given_up_early(self):
        def slow(w):
            time.sleep(0.1 * len(w))
            return w.sum(1) % 2

        begin = time.monotonic()
        for worlds in ([10] * 10, [10] * 4):
            know = knowledge(slow, worlds, [2], settings={"discover.seconds": 1, "q.samples": 2})
            self.assertFalse(know.exact)
        self.assertLess(time.monotonic() - begin, 30)


if __name__ == "__main__":
    unittest.main(verbosity=1)
