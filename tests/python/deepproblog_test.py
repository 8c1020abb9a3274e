"""anesi.deepproblog: scripts written for DeepProbLog, run with other imports, beside DeepProbLog itself where it is installed."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import warnings

import torch

import anesi

if importlib.util.find_spec("problog"):
    from problog.logic import Constant, Term, list2term

    import anesi.deepproblog as deep

SUMS = """
nn(net, [X], Y, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) :: digit(X, Y).
addition(X, Y, Z) :- digit(X, X2), digit(Y, Y2), Z is X2 + Y2.
number([], N, N).
number([H|T], Before, N) :- digit(H, D), After is D + 10 * Before, number(T, After, N).
number(L, N) :- number(L, 0, N).
sum(X, Y, Z) :- number(X, X2), number(Y, Y2), Z is X2 + Y2.
"""
COINS = """
nn(first, [X], Y, [heads, tails]) :: coin(1, X, Y).
nn(second, [X], Y, [heads, tails]) :: coin(2, X, Y).
outcome(X, X, win).
outcome(X, Y, loss) :- \\+ outcome(X, Y, win).
game(X, O) :- coin(1, X, A), coin(2, X, B), outcome(A, B, O).
"""

# Two scripts as one writes them for DeepProbLog. What they read is drawn: noisy patterns, one for each digit or side.
SUMS_SCRIPT = """
import json
import sys

import torch
from problog.logic import Constant, Term, list2term

from deepproblog.dataset import DataLoader, Dataset
from deepproblog.engines import ApproximateEngine, ExactEngine
from deepproblog.evaluate import get_confusion_matrix
from deepproblog.model import Model
from deepproblog.network import Network
from deepproblog.query import Query
from deepproblog.train import train_model
from deepproblog.utils import config_to_string, get_configuration
from deepproblog.utils.standard_networks import MLP

settings = get_configuration({"engine": ["exact"], "digits": [1, 2]}, int(sys.argv[1]))
digits, name = settings["digits"], "sums_" + config_to_string(settings)
torch.manual_seed(1)
patterns = torch.randn(10, 12)


class Pictures(Dataset):
    def __init__(self, subset, examples):
        self.subset, self.shown = subset, torch.randint(10, (examples, 2, digits))
        self.pictures = patterns[self.shown].view(-1, 12) + 0.2 * torch.randn(2 * digits * examples, 12)

    def __getitem__(self, item):
        return self.pictures[int(item[0])]

    def __len__(self):
        return len(self.shown)

    def to_query(self, i):
        rows, told = [], {}
        for row in range(2):
            rows.append([Term(f"{'xy'[row]}{place}") for place in range(digits)])
            for place, atom in enumerate(rows[-1]):
                told[atom] = Term("tensor", Term(self.subset, Constant((2 * i + row) * digits + place)))
        total = sum(int("".join(map(str, row.tolist()))) for row in self.shown[i])
        if digits == 1:
            return Query(Term("addition", rows[0][0], rows[1][0], Constant(total)), told)
        return Query(Term("sum", list2term(rows[0]), list2term(rows[1]), Constant(total)), told)


train_set, test_set = Pictures("train", 240 // digits), Pictures("test", 60 // digits)
module = MLP(12, 10)
net = Network(module, "net", batching=True)
net.optimizer = torch.optim.Adam(module.parameters(), lr=0.03)
model = Model("sums.pl", [net])
if settings["engine"] == "exact":
    model.set_engine(ExactEngine(model), cache=True)
else:
    model.set_engine(ApproximateEngine(model, 1, ApproximateEngine.geometric_mean, exploration=False))
model.add_tensor_source("train", train_set)
model.add_tensor_source("test", test_set)

training = train_model(model, DataLoader(train_set, 4, seed=3), 3, log_iter=10, profile=0)
model.save_state("snapshot/" + name + ".pth")
training.logger.comment(json.dumps(model.get_hyperparameters()))
training.logger.comment("Accuracy {}".format(get_confusion_matrix(model, test_set, verbose=1).accuracy()))
training.logger.write_to_file("log/" + name)
"""
COINS_SCRIPT = """
import torch
from problog.logic import Constant, Term

from deepproblog.dataset import DataLoader, Dataset
from deepproblog.engines import ExactEngine
from deepproblog.evaluate import get_confusion_matrix
from deepproblog.model import Model
from deepproblog.network import Network
from deepproblog.query import Query
from deepproblog.train import train_model
from deepproblog.utils.standard_networks import MLP
from deepproblog.utils.stop_condition import StopOnPlateau, Threshold

torch.manual_seed(4)
patterns = torch.randn(2, 2, 6)  # of each coin's sides


class Coins(Dataset):
    def __init__(self, subset, examples):
        self.subset, self.sides = subset, torch.randint(2, (examples, 2))
        seen = [patterns[coin, self.sides[:, coin]] for coin in range(2)]
        self.pictures = torch.cat(seen, 1) + 0.1 * torch.randn(examples, 12)

    def __getitem__(self, item):
        return self.pictures[int(item[0])]

    def __len__(self):
        return len(self.sides)

    def to_query(self, i):
        outcome = "win" if self.sides[i, 0] == self.sides[i, 1] else "loss"
        return Query(Term("game", Term("a"), Term(outcome)), {Term("a"): Term("tensor", Term(self.subset, Constant(i)))})


train_set, test_set = Coins("train", 100), Coins("test", 20)
networks = []
for name in ("first", "second"):
    module = MLP(12, 2)
    networks.append(Network(module, name, batching=True))
    networks[-1].optimizer = torch.optim.Adam(module.parameters(), lr=0.01)
model = Model("coins.pl", networks)
model.add_tensor_source("train", train_set)
model.add_tensor_source("test", test_set)
model.set_engine(ExactEngine(model), cache=True)
training = train_model(
    model,
    DataLoader(train_set, 5, seed=5),
    StopOnPlateau("Accuracy", warm_up=10, patience=10) | Threshold("Accuracy", 1.0, duration=2),
    log_iter=20,
    test_iter=20,
    test=lambda model: [("Accuracy", get_confusion_matrix(model, test_set).accuracy())],
    infoloss=0.25,
)
training.write_to_file("log/coins")
"""


@unittest.skipUnless(importlib.util.find_spec("problog"), "problog is not installed")
class Scripts(unittest.TestCase):
    """Scripts as they are written for DeepProbLog, with other imports."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, package, name, script, program, *arguments):
        """What a script prints, and the folder it ran in."""
        folder = self.folder / package
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.pl").write_text(program)
        (folder / f"{name}.py").write_text(re.sub(r"(?m)^from deepproblog\b", f"from {package}", script))
        paths = [str(pathlib.Path(anesi.__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        done = subprocess.run(
            [sys.executable, "-W", "ignore", f"{name}.py", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout, folder

    def read(self, path):
        log = deep.Logger()
        log.read_from_file(path)
        return log

    def ours(self, name, script, program, *arguments, log):
        """What a script prints, and what it logs."""
        printed, folder = self.run_script("anesi.deepproblog", name, script, program, *arguments)
        return printed, self.read(folder / log)

    def compare(self, ours, name, script, program, *arguments, log):
        """What DeepProbLog logs must be the same, where it is installed."""
        if not importlib.util.find_spec("deepproblog"):
            return
        _, folder = self.run_script("deepproblog", name, script, program, *arguments)
        theirs = self.read(folder / log)
        self.assertEqual(ours["loss"][0], theirs["loss"][0])
        for found, expected in zip(ours["loss"][1], theirs["loss"][1]):
            self.assertAlmostEqual(found, expected, delta=0.01 * (1 + expected))
        self.assertEqual(ours["Accuracy"], theirs["Accuracy"])
        self.assertEqual(ours.comments[1:], theirs.comments[1:])  # the accuracy of the sums, after the parameters

    def test_sums(self):
        for number, name in enumerate(["sums_engine_exact_digits_1", "sums_engine_exact_digits_2"]):
            printed, log = self.ours("sums", SUMS_SCRIPT, SUMS, str(number), log=f"log/{name}.log")
            if number == 0:  # DeepProbLog takes minutes for numbers of two digits
                self.compare(log, "sums", SUMS_SCRIPT, SUMS, str(number), log=f"log/{name}.log")
            self.assertIn("Training for 3 epoch(s)", printed)
            steps, losses = log["loss"]
            self.assertEqual(steps, list(range(10, 180 // (number + 1) + 1, 10)))
            self.assertLess(losses[-1], losses[0] / 4)
            told, accuracy = log.comments
            self.assertEqual(json.loads(told)["solver"]["engine"], {"type": "ExactEngine"})
            self.assertGreater(float(accuracy.split()[1]), 0.9)
            self.assertTrue((self.folder / "anesi.deepproblog" / "snapshot" / f"{name}.pth").exists())

    def test_coins(self):
        printed, log = self.ours("coins", COINS_SCRIPT, COINS, log="log/coins.log")
        self.compare(log, "coins", COINS_SCRIPT, COINS, log="log/coins.log")
        self.assertIn("Training until plateau in Accuracy or until Accuracy reaches 1.0", printed)
        steps, accuracies = log["Accuracy"]
        self.assertEqual(steps[:2], [1, 20])
        self.assertEqual(accuracies[-2:], [1, 1])
        self.assertNotIn([1, 1], [accuracies[place : place + 2] for place in range(len(accuracies) - 2)])


@unittest.skipUnless(importlib.util.find_spec("problog"), "problog is not installed")
class Models(unittest.TestCase):

    def make(self, length, examples=300):
        patterns = torch.randn(10, 12, generator=torch.Generator().manual_seed(1))
        rng = torch.Generator().manual_seed(2)
        digits = torch.randint(10, (examples, 2 * length), generator=rng)
        images = (patterns[digits] + 0.2 * torch.randn(*digits.shape, 12, generator=rng)).flatten(0, 1)

        class Images:
            def __getitem__(self, item):
                return images[int(item[0])]

        class Sums(deep.Dataset):
            def __len__(self):
                return examples

            def to_query(self, i):
                names = [Term(f"p{place}") for place in range(2 * length)]
                tensors = [Term("tensor", Term("train", Constant(2 * length * i + place))) for place in range(2 * length)]
                numbers = [int("".join(map(str, part.tolist()))) for part in digits[i].chunk(2)]
                rows = [list2term(names[:length]), list2term(names[length:])] if length > 1 else names
                return deep.Query(Term("sum" if length > 1 else "addition", *rows, Constant(sum(numbers))), dict(zip(names, tensors)))

        torch.manual_seed(0)
        module = torch.nn.Sequential(torch.nn.Linear(12, 10), torch.nn.Softmax(1))
        net = deep.Network(module, "net", batching=True)
        net.optimizer = torch.optim.Adam(module.parameters(), lr=0.03)
        model = deep.Model(SUMS, [net], load=False)
        model.set_engine(deep.ExactEngine(model), cache=True)
        model.add_tensor_source("train", Images())
        return model, Sums()

    def test_addition(self):
        for length in (1, 4):
            model, dataset = self.make(length)
            tested = []
            deep.train_model(model, deep.DataLoader(dataset, 10), 8, verbose=0, profile=0, test=tested.append, test_iter=100)
            self.assertEqual(len(tested), 3)
            query = dataset.to_query(0)
            (found,) = model.solve([query])
            (term, probability), = found.result.items()
            self.assertEqual(term, query.substitute().query)
            if length == 1:
                self.assertGreater(deep.get_confusion_matrix(model, dataset).accuracy(), 0.95)
                (every,) = model.solve([query.variable_output()])
                self.assertEqual(len(every.result), 19)
                self.assertAlmostEqual(sum(every.result.values()).item(), 1, places=4)
                self.assertAlmostEqual(every.result[term].item(), probability.item(), places=5)

    def test_losses_and_keeping(self):
        model, dataset = self.make(1)
        queries = [dataset.to_query(i) for i in range(4)]
        likely = torch.stack([next(iter(found.result.values())) for found in model.solve(queries)])
        self.assertTrue(torch.allclose(model.loss(queries), -likely.log().mean()))
        self.assertTrue(torch.allclose(model.loss(queries, "mse"), (1 - likely).square().mean()))
        for query, p in zip(queries, (0, 0.3, 1, 1)):
            query.p = p
        p = torch.tensor([0, 0.3, 1, 1])
        expected = -(p * likely.log() + (1 - p) * (1 - likely).log()).mean()
        self.assertTrue(torch.allclose(model.loss(queries), expected))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "snapshot", "model.pth")
            model.save_state(path)
            again, _ = self.make(1)
            next(again.networks["net"].parameters()).data.zero_()
            again.load_state(path)
            self.assertTrue(torch.equal(again.loss(queries), model.loss(queries)))
        model.tensor_sources.clear()
        with self.assertRaisesRegex(ValueError, "'train'"):
            model.solve(queries)
        with self.assertRaisesRegex(TypeError, "many"):
            deep.train_model(model, deep.DataLoader(dataset, 10), "many")

    def test_coins_facts_and_queries_without_an_answer(self):
        program = COINS + "nn(third, [X]) :: lucky(X). lucky_win(X) :- game(X, win), lucky(X)."
        modules = {name: torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softmax(0)) for name in ("first", "second")}
        modules["third"] = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid())
        model = deep.Model(program, [deep.Network(module, name) for name, module in modules.items()], load=False)
        image = torch.randn(3)
        model.add_tensor_source("train", {(Constant(0),): image})
        tensor = Term("tensor", Term("train", Constant(0)))
        first, second, third = (module(image) for module in modules.values())
        win = (first * second).sum().item()
        (found, lucky) = model.solve([deep.Query(Term("game", tensor, Term("win"))), deep.Query(Term("lucky_win", tensor))])
        self.assertAlmostEqual(next(iter(found.result.values())).item(), win, places=5)
        self.assertAlmostEqual(next(iter(lucky.result.values())).item(), win * third.item(), places=5)
        (every,) = model.solve([deep.Query(Term("game", tensor, Term("win"))).variable_output()])
        self.assertEqual(sorted(str(term.args[1]) for term in every.result), ["loss", "win"])


if __name__ == "__main__":
    if not importlib.util.find_spec("problog"):
        print("problog is not installed: nothing is tested (pip install problog==2.3.0)", flush=True)
    elif not importlib.util.find_spec("deepproblog"):
        print("deepproblog is not installed: nothing is compared with it (pip install deepproblog==2.1.0)", flush=True)
    warnings.filterwarnings("ignore", message="The use of")  # ProbLog's, of == and \\==
    unittest.main(verbosity=1)
