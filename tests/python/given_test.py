"""Formulas of which some variables are given, against all assignments."""

import itertools
import random
import unittest

import torch

import anesi


def quiet(clauses, *arguments, **options):
    return anesi.Knowledge.from_cnf(clauses, *arguments, verbose=False, **options)


def groups_of(clauses):
    """Variables of which exactly one holds, by the clauses."""
    excluded = {frozenset(map(abs, clause)) for clause in clauses if len(clause) == 2 and max(clause) < 0}
    groups, taken = [], set()
    for clause in clauses:
        if len(clause) < 2 or min(clause) < 0 or taken & set(clause):
            continue
        if all(frozenset(pair) in excluded for pair in itertools.combinations(clause, 2)):
            groups.append(sorted(clause))
            taken |= set(clause)
    return groups


class Worlds:
    """What variables there are for perception, and how likely an assignment is by what it believes of them."""

    def __init__(self, clauses, count, given):
        self.clauses, self.count, self.given = clauses, count, given
        self.parts, done = [], set(given)  # (variables, given ones of the same group)
        groups = groups_of(clauses)
        for variable in range(1, count + 1):
            if variable in done:
                continue
            group = next((group for group in groups if variable in group), None)
            left = [variable] if group is None else [member for member in group if member not in given]
            done |= set(left)
            if group is None:
                self.parts.append((left, None))
            elif len(left) > 1:
                self.parts.append((left, [member for member in group if member in given]))

    @property
    def domains(self):
        return [2 if told is None else len(left) for left, told in self.parts]

    def satisfies(self, assignment):
        return all(any((literal > 0) == assignment[abs(literal)] for literal in clause) for clause in self.clauses)

    def probability(self, beliefs, values):
        total = 0.0
        others = [variable for variable in range(1, self.count + 1) if variable not in self.given]
        for rest in itertools.product([False, True], repeat=len(others)):
            assignment = {**dict(zip(self.given, values)), **dict(zip(others, rest))}
            if self.satisfies(assignment):
                total += self.weight(beliefs, assignment)
        return total

    def weight(self, beliefs, assignment):
        weight = 1.0
        for belief, (left, told) in zip(beliefs, self.parts):
            if told is None:
                weight *= belief[int(assignment[left[0]])].item()
            elif not any(assignment[member] for member in told):
                weight *= belief[[assignment[member] for member in left].index(True)].item()
        return weight


def random_clauses(rng, count):
    clauses, free = [], list(range(1, count + 1))
    rng.shuffle(free)
    for _ in range(rng.choice([0, 1, 1, 2])):
        size = rng.randint(2, max(2, len(free)))
        if len(free) < size:
            break
        group, free = free[:size], free[size:]
        clauses += [group] + [[-a, -b] for a, b in itertools.combinations(group, 2)]
    for _ in range(rng.randint(0, 3)):
        chosen = rng.sample(range(1, count + 1), rng.randint(1, min(3, count)))
        clauses.append([variable * rng.choice([-1, 1]) for variable in chosen])
    used = {abs(literal) for clause in clauses for literal in clause}
    clauses += [[variable, -variable] for variable in range(1, count + 1) if variable not in used]
    return clauses


class Given(unittest.TestCase):
    def compared(self, clauses, count, given, generator):
        worlds = Worlds(clauses, count, given)
        if not worlds.parts:
            with self.assertRaises(ValueError):
                quiet(clauses, given=given)
            return
        know = quiet(clauses, given=given)
        self.assertEqual((know.given, know.worlds), ([2] * len(given), worlds.domains))
        logits = [torch.randn(1, domain, generator=generator, dtype=torch.float64) for domain in worlds.domains]
        beliefs = [part.softmax(1)[0] for part in logits]
        for values in itertools.product([False, True], repeat=len(given)):
            expected = worlds.probability(beliefs, values)
            found = know.log_prob(logits, given=torch.tensor([values]).long()).exp().item()
            self.assertAlmostEqual(found, expected, places=9, msg=f"{clauses} given {given} = {values}")

    def test_random_formulas(self):
        for seed in range(30):
            rng, generator = random.Random(seed), torch.Generator().manual_seed(seed)
            count = rng.randint(2, 5)
            clauses = random_clauses(rng, count)
            if not any(Worlds(clauses, count, []).satisfies(dict(zip(range(1, count + 1), values)))
                       for values in itertools.product([False, True], repeat=count)):  # fmt: skip
                continue
            for size in range(1, count + 1):
                given = rng.sample(range(1, count + 1), size)
                with self.subTest(seed=seed, clauses=clauses, given=given):
                    self.compared(clauses, count, given, generator)

    def test_groups_of_every_size_and_every_part_of_them(self):
        generator = torch.Generator().manual_seed(0)
        for size in range(2, 6):
            group = list(range(1, size + 1))
            clauses = [group] + [[-a, -b] for a, b in itertools.combinations(group, 2)] + [[1, size + 1]]
            for told in range(1, size + 1):
                for given in itertools.permutations(group, told) if size < 4 else itertools.combinations(group, told):
                    self.compared(clauses, size + 1, list(given), generator)

    def test_the_one_that_is_left_follows(self):
        know = quiet([[1, 2], [-1, -2], [1, 3]], given=[1])
        logits = torch.zeros(2, 1, 2)
        self.assertEqual((know.given, know.worlds), ([2], [2]))
        self.assertEqual(know.log_prob(logits, given=torch.tensor([[0], [1]])).exp().tolist(), [0.5, 1.0])

    def test_answers_keep_to_what_is_given(self):
        know = quiet([[1, 2, 3], [-1, -2], [-1, -3], [-2, -3], [-3, 4]], given=[2])
        logits = [torch.tensor([[0.0, 1.0]] * 2), torch.tensor([[1.0, 0.0]] * 2)]  # rather 3 than 1; rather not 4
        given = torch.tensor([[0], [1]])
        found = know.most_probable(logits, given=given).worlds
        self.assertEqual(found[0].tolist(), [0, 0])  # 1 holds, since 3 would need 4
        self.assertEqual(found[1, 1].item(), 0)
        drawn = know.sample(logits, given=given, count=50, seed=1)
        self.assertTrue(((drawn[0, :, 0] == 0) | (drawn[0, :, 1] == 1)).all())

    def test_saved_and_loaded(self):
        import tempfile

        know = quiet([[1, 2, 3], [-1, -2], [-1, -3], [-2, -3], [-3, 4]], given=[2])
        logits, given = [torch.tensor([[0.3, 1.0]]), torch.tensor([[1.0, 0.2]])], torch.tensor([[0]])
        with tempfile.TemporaryDirectory() as folder:
            know.save(folder + "/model")
            again = anesi.load(folder + "/model", verbose=False)
        self.assertAlmostEqual(again.log_prob(logits, given=given).item(), know.log_prob(logits, given=given).item(), places=6)

    def test_clauses_and_definitions(self):
        clauses = [[1, 2, 3], [-1, -2], [-1, -3], [-2, -3], [-3, 4]]
        told = quiet(clauses, "clauses", given=[2])
        self.assertEqual((told.given, told.worlds, len(told.outputs)), ([2], [2, 2, 2], 5))
        generator = torch.Generator().manual_seed(2)
        logits = torch.randn(1, 3, 2, generator=generator, dtype=torch.float64)
        beliefs = logits.softmax(2)[0]
        for value in (0, 1):
            expected = {}
            for rest in itertools.product([0, 1], repeat=3):
                truth = dict(zip((2, 1, 3, 4), (value, *rest)))
                output = tuple(int(any((literal > 0) == bool(truth[abs(literal)]) for literal in clause)) for clause in clauses)
                weight = beliefs[0, rest[0]] * beliefs[1, rest[1]] * beliefs[2, rest[2]]
                expected[output] = expected.get(output, 0) + weight.item()
            for output, share in expected.items():
                found = told.log_prob(logits, torch.tensor([output]), given=torch.tensor([[value]])).exp().item()
                self.assertAlmostEqual(found, share, places=9)
        colours = [[1, 2, 3], [-1, -2], [-1, -3], [-2, -3], [-1, 4], [1, -4]]  # 4 is 1
        defined = quiet(colours, "definition", shown=[1, 2, 3], given=[3])
        self.assertEqual((defined.given, defined.worlds), ([2], [2]))
        logits = torch.tensor([[[0.0, 1.0]]], dtype=torch.float64)
        for value, share in ((0, logits.softmax(2)[0, 0, 0].item()), (1, 0.0)):
            found = defined.log_prob(logits, torch.tensor([[1]]), given=torch.tensor([[value]])).exp().item()
            self.assertAlmostEqual(found, share, places=9)

    def test_what_is_refused(self):
        for given in ([1, 1], [1, 2], [3], [0], [-1], [2**40]):
            with self.subTest(given=given), self.assertRaises(ValueError):
                quiet([[1, 2]], given=given)
        with self.assertRaises(TypeError):
            quiet([[1, 2]], given=["1"])


if __name__ == "__main__":
    unittest.main()
