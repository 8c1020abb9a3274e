"""anesi's answers on random problems against the oracle, which goes through all worlds.

    oracle_test.py                        # 500 problems
    oracle_test.py --seed 7 --problems 50 # others (ANESI_SEED=7 does the same)
    oracle_test.py --only 13              # one of them
    oracle_test.py --seeds 10             # those of ten other seeds

Problems run in a process of their own, so that a crash is a wrong answer like any other. Each wrong answer is told with
the problem and the question as a program; for each problem, the first of each query and kind of label. The exit code
is 1 if there was any.
"""

import argparse
import collections
import math
import multiprocessing
import os
import random
import sys
import time
import traceback
import unittest

import numpy as np
import oracle_problems
import oracle_queries
import torch
from oracle import Label, Oracle, complaint_of_samples, log_beliefs_of_beliefs, log_beliefs_of_logits
from reference import knowledge

PROBLEMS, SEED = 500, 1


class Dice(unittest.TestCase):
    """The oracle itself, on what can be computed by hand."""

    def setUp(self):
        self.dice = Oracle.of(lambda w: w.sum(1), [6, 6])  # faces count from 0
        self.fair = self.dice.row(log_beliefs_of_logits([np.zeros(6), np.zeros(6)]))

    def test_sums_of_two_dice(self):
        for total, ways in enumerate([1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]):
            self.assertAlmostEqual(math.exp(self.fair.log_prob(Label((total,)))), ways / 36, places=12)
            self.assertAlmostEqual(math.exp(self.fair.log_prob(Label((total,), holds=False))), 1 - ways / 36, places=12)
        self.assertEqual(self.fair.log_prob(Label((11,))), -math.inf)
        self.assertEqual(self.fair.log_prob(Label((11,), holds=False)), 0)
        ranked = self.fair.predictions()
        self.assertEqual((ranked[0][0], len(ranked)), ((5,), 11))
        self.assertAlmostEqual(math.exp(ranked[0][1]), 1 / 6, places=12)

    def test_labels_of_worlds(self):
        for label, right in [
            (Label((2,), world=(0, 2)), 1 / 3),  # of 0 + 2, 1 + 1 and 2 + 0
            (Label((2,), world=(0, -1)), 1 / 36),
            (Label((2,), world=(-1, -1)), 3 / 36),
            (Label((2,), world=(3, -1)), 0),
            (Label((2,), False, (0, -1)), 5 / 36),
            (Label((2,), False, (0, 2)), 0),
            (Label((2,), False, (0, 1)), 1 / 36),
            (Label(world=(0, -1)), 1 / 6),
            (Label(world=(0, 5)), 1 / 36),
        ]:
            self.assertAlmostEqual(math.exp(self.fair.log_prob(label)), right, places=12, msg=label)

    def test_worlds_behind_a_sum(self):
        # The first die never shows 1 and shows 2 twice as often as 0; the second is fair.
        row = self.dice.row(log_beliefs_of_beliefs([[0.25, 0, 0.5, 0.25, 0, 0], [1 / 6] * 6]))
        worlds = [(world, round(math.exp(share), 12)) for world, share in row.explanations((2,))]
        self.assertEqual(worlds, [((2, 0), round(2 / 3, 12)), ((0, 2), round(1 / 3, 12))])
        self.assertAlmostEqual(row.most_probable((2,)), math.log(1 / 12), places=12)
        np.testing.assert_allclose(row.marginals((2,))[0], [1 / 3, 0, 2 / 3, 0, 0, 0], atol=1e-12)
        self.assertIsNone(row.marginals((10,)))
        self.assertEqual(row.most_probable((10,)), -math.inf)
        self.assertEqual(row.explanations((10,)), [])

    def test_gradients_are_those_of_finite_differences(self):
        rng = np.random.default_rng(0)
        logits = [rng.normal(size=6), rng.normal(size=6)]
        for label in (Label((4,)), Label((4,), False), Label((4,), world=(1, 3)), Label((4,), world=(1, -1)), Label(world=(2, -1))):
            row = self.dice.row(log_beliefs_of_logits(logits))
            direction = [rng.normal(size=6), rng.normal(size=6)]

            def at(step, along=direction, of=label):
                moved = [part + step * slope for part, slope in zip(logits, along)]
                return self.dice.row(log_beliefs_of_logits(moved)), of

            (above, _), (below, _) = at(1e-5), at(-1e-5)
            slope = (above.log_prob(label) - below.log_prob(label)) / 2e-5
            self.assertAlmostEqual(slope, sum(part @ d for part, d in zip(row.gradient(label), direction)), places=6)
            for variable, part in enumerate(row.second_derivative(label, direction)):
                curve = (above.gradient(label)[variable] - below.gradient(label)[variable]) / 2e-5
                np.testing.assert_allclose(part, curve, atol=1e-6)

    def test_wide_gaps_and_extra_inputs(self):
        same = Oracle.of(lambda w, given: (w[:, 0] == w[:, 1]) ^ (given[:, 0] == 1), [2, 2], [2])
        beliefs = log_beliefs_of_logits([[1000.0, 0.0], [0.0, 1000.0]])
        self.assertAlmostEqual(same.row(beliefs, (0,)).log_prob(Label((1,))), -1000 + math.log(2), places=9)
        self.assertAlmostEqual(same.row(beliefs, (1,)).log_prob(Label((1,))), 0, places=9)
        self.assertAlmostEqual(same.row(beliefs, (1,)).log_prob(Label((1,), False)), -1000 + math.log(2), places=9)

    def test_outputs_that_end_early(self):
        ends = Oracle([[0, -1], [0, 1], [1, -1]], [3])
        row = ends.row(log_beliefs_of_beliefs([[0.5, 0.25, 0.25]]))
        self.assertAlmostEqual(math.exp(row.log_prob(Label((0, -1)))), 0.5, places=12)
        self.assertEqual([y for y, _ in row.predictions()][0], (0, -1))

    def test_samples(self):
        posterior = dict(self.fair.explanations((2,)))
        draw = random.Random(1)
        fair = [draw.choice(sorted(posterior)) for _ in range(600)]
        self.assertIsNone(complaint_of_samples(fair, posterior))
        self.assertIsNotNone(complaint_of_samples([*fair, (0, 3)], posterior))
        self.assertIsNotNone(complaint_of_samples(fair + [(0, 2)] * 200, posterior))


class Tally:
    """What was asked and what was wrong, of one problem."""

    def __init__(self, tell):
        self.counts, self._tell, self._told = collections.Counter(), tell, set()

    def asked(self, query, kind):
        self.counts[query, kind, "asked"] += 1

    def wrong(self, query, kind, text, found, right):
        self.counts[query, kind, "wrong"] += 1
        if (query, kind) not in self._told:
            self._told.add((query, kind))
            self._tell(query, kind, text, found, right)


class Breaking:
    """Knowledge whose answers to one query are broken on purpose."""

    def __init__(self, know, query, spoil):
        self._know, self._query, self._spoil = know, query, spoil

    def __getattr__(self, name):
        asked = getattr(self._know, name)
        return (lambda **keywords: self._spoil(asked(**keywords))) if name == self._query else asked


class TurnsAround(torch.autograd.Function):
    """Nothing, but for the sign of the gradient."""

    @staticmethod
    def forward(context, value):
        return value.clone()

    @staticmethod
    def backward(context, gradient):
        return -gradient


class BrokenAnswers(unittest.TestCase):
    """That each query is compared: a sign, an index or a factor that is wrong is found."""

    spoiled = {
        ("log_prob", "a factor is missing"): ("log_prob", lambda found: found - math.log(2)),
        ("log_prob", "a sign"): ("log_prob", lambda found: -found),
        ("log_prob", "the rows are mixed up"): ("log_prob", lambda found: found.roll(1, 0)),
        ("loss", "a factor is missing"): ("loss", lambda found: 2 * found),
        ("gradient", "a sign"): ("loss", TurnsAround.apply),
        ("marginals", "an index of variables"): ("marginals", lambda found: found.roll(1, 1)),
        ("marginals", "an index of values"): ("marginals", lambda found: found.roll(1, 2)),
        ("most_probable", "a sign"): ("most_probable", lambda found: found._replace(log_prob=-found.log_prob)),
        ("most_probable", "an index"): ("most_probable", lambda found: found._replace(worlds=found.worlds.roll(1, 1))),
        ("explain", "a factor is missing"): ("explain", lambda found: found._replace(probability=found.probability * 0.99)),
        ("explain", "the order"): ("explain", lambda found: type(found)(found.worlds.flip(1), found.probability.flip(1))),
        ("explain all", "the last one is missing"): ("explain", lambda found: type(found)(found.worlds[:, :-1], found.probability[:, :-1])),
        ("sample", "an index"): ("sample", lambda found: found.roll(1, 2)),
        ("sample", "always the same"): ("sample", lambda found: found[:, :1].expand(found.shape)),
        ("predict", "an index"): ("predict", lambda found: found._replace(symbolic=found.symbolic + 1)),
        ("predict", "a factor is missing"): ("predict", lambda found: found._replace(probability=found.probability / 2)),
        ("predict all", "the order"): ("predict", lambda found: found._replace(outputs=found.outputs.flip(1))),
    }  # fmt: skip

    def wrong_answers(self, know, problem):
        problem = oracle_problems.Problem("dice", "", know, problem.oracle, problem.outputs)
        tally, draw = Tally(lambda *_: None), random.Random(3)
        questions = oracle_queries.Questions(problem, draw, tally)
        batch = oracle_queries.random_batch(draw, problem, 4, only_tensors=True, gap=1, dtype=torch.float64)
        for _ in range(3):
            questions.ask_labels(batch, "outputs")
            questions.ask_worlds(batch)
            questions.ask_predictions(batch)
        return {query for query, _, what in tally.counts if what == "wrong"}

    def test_each_is_found(self):
        know = knowledge(lambda w: w[:, 0] + 2 * w[:, 1], [3, 4], [9])
        oracle = oracle_problems.listed(lambda w: w[:, 0] + 2 * w[:, 1], [3, 4])
        problem = oracle_problems.Problem("dice", "", know, oracle, [9])
        self.assertEqual(self.wrong_answers(know, problem), set())
        for (query, what), (asked, spoil) in self.spoiled.items():
            with self.subTest(query=query, what=what):
                self.assertIn(query, self.wrong_answers(Breaking(know, asked, spoil), problem))


def many_rows(seed):
    """Ten thousand rows at once."""
    draw = random.Random(seed)
    problem = oracle_problems.enumeration(random.Random(5))
    batch = oracle_queries.random_batch(draw, problem, 10_000, only_tensors=True, dtype=torch.float64)
    return problem, batch


def ask_number(seed, number, tell):
    """Makes and asks one problem; returns its method and what was counted, or why it was left out."""
    if number == 0:
        problem, batch = many_rows(seed)
        tally = Tally(lambda *told: tell(problem, *told))
        questions = oracle_queries.Questions(problem, random.Random(seed), tally)
        questions.ask_labels(batch, "outputs, holds")
        questions.ask_worlds(batch, count=2, explains=False)
        questions.ask_predictions(batch)
        return "10,000 rows", tally.counts
    for attempt in range(20):
        draw = random.Random(f"{seed} {number} {attempt}")
        torch.manual_seed(draw.randrange(1 << 30))
        try:
            problem = oracle_problems.random_problem(draw)
        except oracle_problems.Skipped:
            continue
        tally = Tally(lambda *told, of=problem: tell(of, *told))
        oracle_queries.Questions(problem, draw, tally).ask_all()
        return problem.method, tally.counts
    return "left out", collections.Counter()


def work(seed, numbers, channel):
    """In a process of its own."""
    oracle_problems.about_to_run = lambda source: channel.send(source)
    for number in numbers:

        def tell(problem, query, kind, text, found, right):
            print(f"\nWRONG seed={seed} problem={number} {problem.method}: {query}, {kind or 'any'}\n"
                  f"# ---\nimport torch, anesi\n{problem.source}know.eval()\nprint({text})\n# ---\n"
                  f"found {found}\nright {right}", flush=True)  # fmt: skip

        try:
            channel.send((number, *ask_number(seed, number, tell)))
        except Exception:
            print(f"\nWRONG seed={seed} problem={number}: it could not be made or asked\n{traceback.format_exc()}", flush=True)
            channel.send((number, "not made", collections.Counter({("", "", "asked"): 1, ("", "", "wrong"): 1})))
    channel.send(None)


def ask_problems(seed, numbers):
    """Counts by (method, query, kind, asked or wrong)."""
    counts, started = collections.Counter(), time.monotonic()
    numbers = collections.deque(numbers)
    while numbers:
        mine, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(target=work, args=(seed, list(numbers), theirs))
        process.start()
        theirs.close()
        source = ""
        try:
            while (message := mine.recv()) is not None:
                if isinstance(message, str):
                    source = message
                    continue
                number, method, counted = message
                numbers.remove(number)
                counts.update({(method, *key): value for key, value in counted.items()})
        except EOFError:
            process.join()
            number = numbers.popleft()
            print(f"\nWRONG seed={seed} problem={number}: the process ended with {process.exitcode}; its last problem was\n"
                  f"# ---\nimport torch, anesi\n{source}# ---", flush=True)  # fmt: skip
            counts.update({("crashed", "", "", "asked"): 1, ("crashed", "", "", "wrong"): 1})
        process.join()
    print(f"seed {seed}: {time.monotonic() - started:.0f} s", flush=True)
    return counts


def summary(counts):
    """A table, and how much was wrong."""
    keys = sorted({key[:3] for key in counts})
    print(f"\n{'method':34} {'query':18} {'label':40} {'asked':>9} {'wrong':>7}")
    for key in keys:
        asked, wrong = counts[key + ("asked",)], counts[key + ("wrong",)]
        if wrong or len(keys) < 60:
            print(f"{key[0]:34} {key[1]:18} {key[2]:40} {asked:9,} {wrong:7,}")
    asked = sum(value for key, value in counts.items() if key[3] == "asked")
    wrong = sum(value for key, value in counts.items() if key[3] == "wrong")
    print(f"{asked:,} answers compared, {wrong:,} wrong", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("ANESI_SEED", SEED)))
    parser.add_argument("--problems", type=int, default=PROBLEMS)
    parser.add_argument("--only", type=int, help="ask this problem alone")
    parser.add_argument("--seeds", type=int, help="ask the problems of so many seeds after this one")
    told = parser.parse_args()
    torch.set_num_threads(1)  # problems are small, and threads do not outlive a fork
    seeds = [told.seed] if told.seeds is None else range(told.seed + 1, told.seed + 1 + told.seeds)
    print(f"seed {told.seed} (ANESI_SEED), {told.problems} problems", flush=True)
    wrong = 0
    if told.only is None:
        result = unittest.main(argv=sys.argv[:1], exit=False).result
        wrong += len(result.failures) + len(result.errors)
    counts = collections.Counter()
    for seed in seeds:
        counts += ask_problems(seed, [told.only] if told.only is not None else range(told.problems))
    return 1 if wrong + summary(counts) else 0


if __name__ == "__main__":
    sys.exit(main())
