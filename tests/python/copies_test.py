"""Copies of Knowledge, also in other processes: they answer and learn as it does, and go their own way from there."""

import copy
import pickle
import subprocess
import sys
import tempfile
import textwrap
import unittest

import torch
from reference import knowledge

import anesi

SMALL = {"q.pretrain": 3, "q.samples": 8, "mlp.width": 8}


def add(worlds):
    return worlds.sum(1)


def parity(worlds):
    return worlds.sum(1) % 2


def both(worlds):
    return worlds[:, 0] & worlds[:, 1]


def told(worlds, given):
    return (worlds[:, 0] + given[:, 0]) % 3


def learned():
    return knowledge(add, [3, 3], [5], architecture="mlp", settings={**SMALL, "q.variant": "explain"})


def with_cnf():
    cnf = anesi.Cnf([2, 2], [2])
    a, b, y, more = cnf.world(0, 1), cnf.world(1, 1), cnf.output(0, 1), cnf.fresh_variable()
    cnf.add([-a, -b, y]).add([a, -y]).add([b, -y]).add([more, -y]).add([-more, y])
    return knowledge(both, [2, 2], [2], cnf=cnf)


def with_automaton():
    automaton = anesi.Automaton([2] * 17, [2], [([i], 0 if i == 16 else None, int(i == 16)) for i in range(17)], 2,
                                lambda kind, read, state: (0, state ^ read[0]) if kind == 0 else (state ^ read[0], 0))  # fmt: skip
    return knowledge(parity, [2] * 17, [2], automaton=automaton)


MAKES = {
    "enumerated": lambda: knowledge(add, [3, 3], [5]),
    "found": lambda: knowledge(parity, [2] * 17, [2]),
    "told": lambda: knowledge(told, [3], [3], given=[3]),
    "learned": learned,
    "wide": lambda: learned().double(),
    "cnf": with_cnf,
    "automaton": with_automaton,
    "constraint": lambda: anesi.Knowledge.from_cnf([[1, 2, 3], [-1, -2], [4, 5]], verbose=False),
    "clauses": lambda: anesi.Knowledge.from_cnf([[1, 2, 3], [-1, -2]], as_="clauses", verbose=False),
}


def steps(know, count=3):
    losses = []
    for seed in range(count):
        logits = torch.randn(4, len(know.worlds), max(know.worlds), generator=torch.Generator().manual_seed(seed))
        more = {"given": torch.tensor([[0], [1], [2], [0]])} if know.given else {}
        worlds = logits.argmax(2)
        y = know.function(torch.cat([more["given"], worlds], 1) if more else worlds)
        losses.append(know.loss(logits, y, **more).item())
    return losses


class Copies(unittest.TestCase):
    def test_they_go_on_as_it_does(self):
        for name, make in MAKES.items():
            with self.subTest(name):
                know = make()
                steps(know)
                others = [copy.deepcopy(know), pickle.loads(pickle.dumps(know)), copy.deepcopy(copy.deepcopy(know))]
                state = know.get_extra_state()
                expected = steps(know)
                for other in others:
                    self.assertEqual((other.exact, other.reason, other.states), (know.exact, know.reason, know.states))
                    for key, part in other.get_extra_state().items():
                        self.assertTrue(torch.equal(part, state[key]), key)
                    self.assertEqual(steps(other), expected)

    def test_a_copy_learns_alone(self):
        know = learned()
        other, before = copy.deepcopy(know), know.get_extra_state()
        steps(other)
        self.assertTrue(all(torch.equal(part, before[name]) for name, part in know.get_extra_state().items()))

    def test_a_copy_outlives_what_it_was_made_of(self):
        know = MAKES["enumerated"]()
        expected = steps(know)
        other = copy.deepcopy(know)
        del know
        self.assertEqual(steps(other), expected)

    def test_averaged_and_trained_models(self):
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net, self.know = torch.nn.Linear(4, 3), learned()

            def forward(self, x, y):
                return self.know.loss(self.net(x), y)

        torch.manual_seed(0)
        model = Model()
        average = torch.optim.swa_utils.AveragedModel(model)
        optimizer = torch.optim.SGD(model.net.parameters(), 0.1)
        x, y = torch.randn(5, 2, 4), torch.tensor([0, 1, 2, 3, 4])
        for _ in range(3):
            optimizer.zero_grad()
            model(x, y).backward()
            optimizer.step()
            average.update_parameters(model)
        self.assertEqual([name for name, _ in model.named_parameters()], ["net.weight", "net.bias"])
        self.assertTrue(torch.isfinite(average(x, y)))

    def test_a_function_that_has_no_name(self):
        know = knowledge(lambda w: w.sum(1), [3, 3], [5])
        with self.assertRaisesRegex(TypeError, "<lambda>.*top level"):
            pickle.dumps(know)
        self.assertEqual(steps(copy.deepcopy(know)), steps(know))

    def test_weighted_formulas(self):
        know = anesi.markov.Knowledge([(1.5, [-1, 2]), (None, [1, 3])])
        with torch.no_grad():
            know.weights.add_(1)
        for other in (copy.deepcopy(know), pickle.loads(pickle.dumps(know))):
            self.assertTrue(torch.equal(other.log_partition(), know.log_partition()))

    def test_workers_that_are_spawned(self):
        with tempfile.TemporaryDirectory() as folder:
            script = f"{folder}/workers.py"
            with open(script, "w") as file:
                file.write(textwrap.dedent("""
                    import torch, anesi

                    def add(worlds):
                        return worlds.sum(1)

                    class Labelled(torch.utils.data.Dataset):
                        def __init__(self, know):
                            self.know = know
                        def __len__(self):
                            return 6
                        def __getitem__(self, index):
                            return self.know.most_probable(torch.zeros(1, 2, 3), torch.tensor([index % 5])).worlds.sum()

                    if __name__ == "__main__":
                        know = anesi.Knowledge(add, [3, 3], [5], verbose=False)
                        loader = torch.utils.data.DataLoader(Labelled(know), num_workers=1, multiprocessing_context="spawn")
                        print([int(x) for x in loader])
                """))
            done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.stdout.strip(), "[0, 1, 2, 3, 4, 0]", done.stderr[-2000:])


class States(unittest.TestCase):
    def test_those_of_another_function_are_refused(self):
        of = {"worlds": knowledge(add, [3, 3, 3], [7]), "outputs": knowledge(add, [3, 3], [6])}
        know = MAKES["enumerated"]()
        for name, other in of.items():
            with self.assertRaisesRegex(ValueError, name):
                know.load_state_dict(other.state_dict())


if __name__ == "__main__":
    unittest.main()
