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

    def test_files(self):
        # A FIFO would let us wait for ever, and a huge file would fill the memory.
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program"
            with self.assertRaises(FileNotFoundError):
                read_text(path)
            os.mkfifo(path)
            self.refused(ValueError, "program: cannot read: it is no regular file", lambda: read_text(path))
            self.refused(ValueError, "cannot read: it is no regular file", lambda: read_text(folder))
            self.refused(ValueError, "/dev/zero: cannot read: it is no regular file", lambda: read_text("/dev/zero"))
            path.unlink()
            path.write_bytes(b"a\xff")
            self.refused(ValueError, "program: no text: byte 1 is not UTF-8", lambda: read_text(path))
            path.write_text("a \u2192 b")
            self.assertEqual(read_text(path), "a \u2192 b")
            os.truncate(path, 1 << 41)
            self.refused(ValueError, "2,199,023,255,552 bytes; files of at most 67,108,864 are read", lambda: read_text(path))

    def test_logits(self):
        loss = self.know.loss
        self.refused(ValueError, r"logits: shape \(2, 3, 4\), expected \(batch, 2, 4\)", lambda: loss(torch.zeros(2, 3, 4), self.y))
        self.refused(ValueError, r"logits: shape \(2, 8\)", lambda: loss(torch.zeros(2, 8), self.y))
        self.refused(ValueError, "example 1, variable 0: not a number", lambda: loss(self.nan(1, 0), self.y))
        self.refused(ValueError, "floating-point numbers are expected, not Long", lambda: loss(self.logits.long(), self.y))
        self.refused(TypeError, "logits or beliefs", lambda: loss(None, self.y))
        self.refused(TypeError, "logits: a tensor or a list", lambda: loss("nonsense", self.y))
        self.refused(ValueError, r"variable 1 has shape \(2, 3\)", lambda: loss([torch.zeros(2, 3), torch.zeros(2, 3)], self.y))
        self.refused(ValueError, "probabilities sum to 2", lambda: loss(beliefs=[torch.ones(2, 3) / 3, torch.ones(2, 4) / 2], outputs=self.y))
        self.refused(ValueError, "the batch is empty", lambda: loss(torch.zeros(0, 2, 4), torch.zeros(0, dtype=torch.int64)))

    def nan(self, row, variable):
        logits = self.logits.clone()
        logits[row, variable, 0] = float("nan")
        return logits

    def test_labels(self):
        loss = self.know.loss
        self.refused(ValueError, "example 1 has 6 at variable 0, which has the values 0 to 5", lambda: loss(self.logits, torch.tensor([0, 6])))
        self.refused(ValueError, "has -1", lambda: loss(self.logits, torch.tensor([0, -1])))
        self.refused(ValueError, r"outputs: shape \(3\), expected \(2\) or \(2, 1\)", lambda: loss(self.logits, torch.tensor([0, 1, 2])))
        self.refused(ValueError, "whole numbers are expected", lambda: loss(self.logits, torch.tensor([0.0, 1.0])))
        self.refused(ValueError, "a label is missing", lambda: loss(self.logits))
        self.refused(ValueError, "told nothing besides the world", lambda: loss(self.logits, self.y, given=self.y))
        self.refused(ValueError, "holds: shape", lambda: loss(self.logits, self.y, holds=torch.tensor([True])))
        self.assertEqual(loss(self.logits, [0, 1]).item(), loss(self.logits, self.y).item())  # lists will do
        self.refused(TypeError, "outputs: a tensor of whole numbers is expected, not str", lambda: loss(self.logits, "none"))
        gap = knowledge(lambda w: w.sum(1) * 2, [3, 4], [11])
        self.refused(ValueError, r"example 1 is labelled \[3\], and no world gives that", lambda: gap.loss(self.logits, torch.tensor([0, 3])))
        self.assertEqual(gap.log_prob(self.logits, torch.tensor([0, 3]))[1].item(), -float("inf"))

    def test_functions(self):
        def raises(w):
            if (w[:, 0] == 2).any():
                raise ZeroDivisionError("two is not for me")
            return w.sum(1)

        with self.assertRaisesRegex(ZeroDivisionError, "two is not for me") as caught:
            knowledge(raises, [3, 4], [6])
        self.assertRegex(caught.exception.__notes__[0], r"the world \[2, \d\]")
        self.refused(TypeError, "returned float32; outputs are whole numbers", lambda: knowledge(lambda w: w.sum(1) / 2, [3, 4], [6]))
        self.refused(ValueError, r"returned shape \(\d+,\) for \d+ worlds", lambda: knowledge(lambda w: w.sum(1)[:-1], [3, 4], [6]))
        self.refused(ValueError, "gives .* for the world .* which is no output", lambda: knowledge(lambda w: w.sum(1) + 3, [3, 4], [6]))
        self.refused(TypeError, "returned str", lambda: knowledge(lambda w: "sum", [3, 4], [6]))
        self.refused(TypeError, "it must take 1 argument", lambda: knowledge(lambda: 0, [3, 4], [6]))
        self.refused(TypeError, "it must take 2 arguments", lambda: knowledge(lambda w: w, [3, 4], [6], given=[2]))
        self.refused(TypeError, "something to call", lambda: knowledge(7, [3, 4], [6]))
        many = [10] * 12
        unsteady = random.Random(0)
        self.refused(RuntimeError, "different outputs for the same world", lambda: knowledge(lambda w: [unsteady.randrange(2) for _ in w], many, [2]))

    def test_arguments(self):
        self.refused(ValueError, "at least 1 is needed", lambda: knowledge(lambda w: w.sum(1), [3, 0], [6]))
        self.refused(TypeError, "how many values", lambda: knowledge(lambda w: w.sum(1), 2.5, [6]))
        self.refused(ValueError, "there must be a variable", lambda: knowledge(lambda w: w.sum(1), [], [6]))
        self.refused(ValueError, "q.sampels", lambda: knowledge(lambda w: w.sum(1), [3, 4], [6], settings={"q.sampels": 3}))
        self.refused(ValueError, "order: each of the variables 0 to 1 once", lambda: knowledge(lambda w: w.sum(1), [3, 4], [6], order=[0, 0]))
        self.refused(ValueError, "top: at least 1", lambda: self.know.predict(self.logits, top=0))
        self.refused(TypeError, "say which outputs", lambda: self.know.marginals(self.logits))
        one = knowledge(lambda w: w.sum(1), [1, 1], [1])  # nothing to learn, and no error
        self.assertEqual(one.loss(torch.zeros(3, 2, 1), torch.zeros(3, dtype=torch.int64)).item(), 0)
        empty = self.know.log_prob(torch.zeros(0, 2, 4), torch.zeros(0, dtype=torch.int64))
        self.assertEqual(empty.shape, (0,))

    def test_what_is_told_must_agree_with_the_function(self):
        def parity(of):
            return anesi.Automaton([2] * 9, [2], [([i], None, 0) for i in range(8)] + [([8], 0, 1)], 2,
                                   lambda kind, read, state: (of(read[0] ^ state) if kind else 0, read[0] ^ state))  # fmt: skip

        self.refused(ValueError, "automaton: it gives .* for the world", lambda: knowledge(lambda w: w.sum(1) % 2, [2] * 9, [2], automaton=parity(lambda x: 1 - x)))
        self.refused(ValueError, "automaton: ", lambda: knowledge(lambda w: w.sum(1) % 2, [3] * 9, [2], automaton=parity(lambda x: x)))
        self.refused(ValueError, "cnf: it is of other variables", lambda: knowledge(lambda w: w.sum(1) % 2, [3] * 9, [2], cnf=anesi.Cnf([2], [2])))
        self.refused(ValueError, "worlds: example 0 has 2", lambda: parity(lambda x: x).run(torch.full((1, 9), 2)))
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
