"""A formula that is told with `cnf=` must say what the function does."""

import itertools
import unittest

import torch
from reference import knowledge

import anesi

OPTIONS = {"architecture": "exact", "settings": {"exact.method": "circuit"}}


def conjunction(worlds=2):
    """y = w0 and w1 and …, and its formula."""
    cnf = anesi.Cnf([2] * worlds, [2])
    literals, holds = [cnf.world(variable, 1) for variable in range(worlds)], cnf.output(0, 1)
    for literal in literals:
        cnf.add([literal, -holds])
    return (lambda w: w.min(1).values), cnf, literals, holds


def with_clauses(more, worlds=2):
    function, cnf, literals, holds = conjunction(worlds)
    more(cnf, literals, holds)
    return function, cnf


class ToldFormula(unittest.TestCase):
    def refused(self, more, worlds=2):
        function, cnf = with_clauses(more, worlds)
        with self.assertRaisesRegex(ValueError, "^cnf: "):
            knowledge(function, [2] * worlds, [2], cnf=cnf, **OPTIONS)

    def complete(self, cnf, literals, holds):
        cnf.add([-literal for literal in literals] + [holds])

    def test_the_right_one_is_taken(self):
        for worlds in (2, 12):
            function, cnf = with_clauses(self.complete, worlds)
            know = knowledge(function, [2] * worlds, [2], cnf=cnf, **OPTIONS)
            logits = torch.randn(3, worlds, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
            expected = logits.log_softmax(2)[:, :, 1].sum(1)
            torch.testing.assert_close(know.log_prob(logits, torch.ones(3, dtype=torch.int64)), expected)
            self.assertEqual(know.check(logits).distance, 0)
            self.assertEqual(know.check(logits).certificate.differing, 0)

    def test_another_function(self):
        self.refused(lambda cnf, literals, holds: cnf.add([-literals[0], holds]))
        self.refused(lambda cnf, literals, holds: cnf.add([-literals[0], holds]), worlds=12)

    def test_an_output_that_is_left_open(self):
        self.refused(lambda cnf, literals, holds: None)

    def test_a_contradiction(self):
        def contradict(cnf, literals, holds):
            self.complete(cnf, literals, holds)
            cnf.add([holds]).add([-holds])

        self.refused(contradict)

    def test_a_world_without_output(self):
        def forbid(cnf, literals, holds):
            self.complete(cnf, literals, holds)
            cnf.add([-literals[0], -literals[1]])

        self.refused(forbid)

    def test_a_free_variable(self):
        def leave_free(cnf, literals, holds):
            self.complete(cnf, literals, holds)
            cnf.fresh_variable()

        self.refused(leave_free)

        def leave_open(cnf, literals, holds):
            self.complete(cnf, literals, holds)
            cnf.add([cnf.fresh_variable(), literals[0]])  # free where w0 is 1

        self.refused(leave_open)

    def test_variables_of_its_own_that_are_defined(self):
        def define(cnf, literals, holds):
            self.complete(cnf, literals, holds)
            same = cnf.fresh_variable()
            cnf.add([same, -literals[0]]).add([-same, literals[0]])

        function, cnf = with_clauses(define)
        know = knowledge(function, [2, 2], [2], cnf=cnf, **OPTIONS)
        self.assertAlmostEqual(know.log_prob(torch.zeros(1, 2, 2), torch.tensor([1])).exp().item(), 0.25, places=6)

    def test_literals_outside(self):
        _, cnf, _, _ = conjunction()
        for literal in (4, -4, 0, 2**31 - 1, -(2**31) + 1, -(2**31), 2**31, -(2**63), 2**70):
            with self.subTest(literal=literal), self.assertRaises(ValueError):
                cnf.add([1, literal])
            with self.subTest(literal=literal), self.assertRaises(ValueError):
                cnf.exactly_one([1, literal])
        self.assertRaises(TypeError, cnf.add, ["1"])
        self.assertEqual(len(cnf.clauses), 2)

    def test_check_finds_what_only_some_worlds_show(self):
        # Wrong on one world of 2^18, which no sample of worlds shows but these beliefs do.
        worlds, place = 18, torch.randint(2, (18,), generator=torch.Generator().manual_seed(3))
        function, cnf = with_clauses(self.complete, worlds)
        know = knowledge(lambda w: function(w) | (w == place).all(1), [2] * worlds, [2], cnf=cnf, **OPTIONS)
        sure = torch.nn.functional.one_hot(place, 2).double().unsqueeze(0)
        self.assertGreater(know.check(beliefs=sure).distance, 0.99)
        self.assertGreater(know.check(beliefs=sure).certificate.bound, 0.99)
        self.assertEqual(know.check(torch.zeros(1, worlds, 2)).distance, 0)

    def test_values_that_are_literals_of_their_own(self):
        cnf = anesi.Cnf([3, 3], [2])  # y says that both are the same
        for a, b in itertools.product(range(3), repeat=2):
            cnf.add([-cnf.world(0, a), -cnf.world(1, b), cnf.output(0, int(a == b))])
        know = knowledge(lambda w: w[:, 0] == w[:, 1], [3, 3], [2], cnf=cnf, **OPTIONS)
        self.assertAlmostEqual(know.log_prob(torch.zeros(1, 2, 3), torch.tensor([1])).exp().item(), 1 / 3, places=6)
        with self.assertRaisesRegex(ValueError, "^cnf: "):
            knowledge(lambda w: w[:, 0] != w[:, 1], [3, 3], [2], cnf=cnf)


if __name__ == "__main__":
    unittest.main()
