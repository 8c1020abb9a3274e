"""The parts of anesi.deepproblog: stop conditions, logs, datasets, confusion matrices, networks, training."""

import importlib.util
import itertools
import math
import os
import pathlib
import tempfile
import types
import unittest

import torch

if importlib.util.find_spec("problog"):
    from problog.logic import Constant, Term

    import anesi.deepproblog as deep
    from anesi.deepproblog import utils
    from anesi.deepproblog.utils import standard_networks, stop_condition


@unittest.skipUnless(importlib.util.find_spec("problog"), "problog is not installed")
class Parts(unittest.TestCase):
    def training(self, values, epoch=0):
        logger = deep.Logger()
        for step, value in enumerate(values):
            logger.log("Accuracy", 10 * step, value)
        return types.SimpleNamespace(logger=logger, epoch=epoch)

    def stops_at(self, condition, values):
        """With how many values a condition first holds."""
        return next((n for n in range(len(values) + 1) if condition.is_stop(self.training(values[:n]))), None)

    def test_stop_conditions(self):
        plateau = stop_condition.StopOnPlateau("Accuracy", delta=0.1, patience=3, warm_up=2)
        self.assertEqual(self.stops_at(plateau, [9, 9, 0.5, 0.52, 0.54, 0.9]), 5)  # from the third on, whatever came before
        self.assertEqual(self.stops_at(plateau, [0, 0, 0.5, 0.52, 0.56, 0.1, 0.1, 0.9]), 7)
        self.assertEqual(self.stops_at(plateau, [0.1 * 1.2**step for step in range(20)]), None)
        same = stop_condition.StopOnNoChange("Accuracy", delta=0.1, patience=3, warm_up=1)
        self.assertEqual(self.stops_at(same, [0, 0.5, 0.52, 0.48, 0.53, 0.9]), 5)
        self.assertEqual(self.stops_at(same, [0, 0.5, 0.3, 0.3, 0.29, 0.3]), 6)
        reached = stop_condition.Threshold("Accuracy", 0.9, duration=2)
        self.assertEqual(self.stops_at(reached, [0.95, 0.8, 0.9, 0.91]), 4)
        self.assertEqual(self.stops_at(reached, [1.0]), None)
        self.assertEqual(self.stops_at(reached | plateau, [0.95, 0.8, 0.9, 0.91]), 4)
        self.assertEqual(self.stops_at(reached & plateau, [1.0] * 9), 5)
        self.assertEqual([(stop_condition.EpochStop(2) + reached).is_stop(self.training([], epoch)) for epoch in range(3)], [False, False, True])
        self.assertEqual(str(stop_condition.EpochStop(2) * reached), "for 2 epoch(s) and until Accuracy reaches 0.9")

    def test_stop_conditions_are_theirs(self):
        if not importlib.util.find_spec("deepproblog"):
            self.skipTest("deepproblog is not installed")
        import deepproblog.utils.stop_condition as theirs

        rng = torch.Generator().manual_seed(0)
        for kind, _ in itertools.product(["StopOnPlateau", "StopOnNoChange"], range(50)):
            values = torch.rand(30, generator=rng).round(decimals=1).add(0.1).tolist()
            settings = {"delta": 0.3, "patience": 4, "warm_up": 3}
            self.assertEqual(
                self.stops_at(getattr(stop_condition, kind)("Accuracy", **settings), values),
                self.stops_at(getattr(theirs, kind)("Accuracy", **settings), values),
            )

    def test_logger(self):
        log = deep.Logger()
        log.comment("two\nlines")
        log.log("loss", 20, 0.5)
        log.log_list(10, [("loss", 0.75), ("Accuracy", 0.25)])
        log.log_list(30, None)
        self.assertEqual(str(log), "#two\n#lines\ni,loss,Accuracy\n10,0.75,0.25\n20,0.5,")
        self.assertEqual(log["loss"], ([10, 20], [0.75, 0.5]))
        self.assertEqual(log.get_attribute("none"), [])
        self.assertEqual(log.get_union("loss", "Accuracy"), ([10], [(0.75, 0.25)]))
        with tempfile.TemporaryDirectory() as folder:
            log.write_to_file(os.path.join(folder, "new", "run"))
            again = deep.Logger()
            again.read_from_file(os.path.join(folder, "new", "run.log"))
        self.assertEqual(str(again), str(log))

    def test_confusion_matrix(self):
        matrix = deep.ConfusionMatrix(["win"])
        for predicted, actual in [("win", "win"), ("loss", "win"), ("loss", "loss"), ("win", "win")]:
            matrix.add_item(predicted, actual)
        self.assertEqual(matrix.classes, ["win", "loss"])
        self.assertEqual(matrix.matrix.tolist(), [[2, 0], [1, 1]])
        self.assertEqual(matrix.accuracy(), 0.75)
        self.assertEqual([line.split()[-2:] for line in str(matrix).splitlines()], [["win", "loss"], ["2", "0"], ["1", "1"]])
        many = deep.ConfusionMatrix(100)
        many.add_item(17, 71)
        self.assertEqual(str(many), "100 classes; most often mistaken: 17 for 71 (1)")
        self.assertEqual(deep.ConfusionMatrix().accuracy(), 0)

    def test_configurations(self):
        choices = {"N": [1, 2, 3], "engine": ["exact", "approximate"]}
        every = [tuple(utils.get_configuration(choices, i).values()) for i in range(6)]
        self.assertEqual(sorted(every), sorted(itertools.product(*choices.values())))
        self.assertEqual(utils.config_to_string(utils.get_configuration(choices, 4)), "N_2_engine_approximate")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "new", "run.cfg")
            utils.check_path(path)
            pathlib.Path(path).write_text("[Default]\nrate = 0.1\n")
            self.assertEqual(utils.load_config(path)["rate"], "0.1")
            with self.assertRaisesRegex(FileNotFoundError, r"none\.cfg"):
                utils.load_config(os.path.join(folder, "none.cfg"))
        self.assertEqual(str(utils.parse("p(X) :- q(X).")), "p(X) :- q(X)")
        self.assertEqual(utils.nth("abc", 1), "b")

    def queries(self, count):
        tensors = [Term("tensor", Term("train", Constant(i))) for i in range(count)]
        return [deep.Query(Term("digit", Term("a"), Constant(i % 10)), {Term("a"): each}, 0.5) for i, each in enumerate(tensors)]

    def test_datasets(self):
        queries = self.queries(12)
        dataset = deep.QueryDataset(queries)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "queries.txt")
            with open(path, "w") as file:
                dataset.write_to_file(file)
            self.assertEqual(deep.QueryDataset(path).to_queries(), queries)
        self.assertEqual(dataset.subset(3).to_queries(), queries[:3])
        self.assertEqual(dataset.subset(10, 20).to_queries(), queries[10:])
        self.assertEqual((dataset.subset(2) + dataset.subset(4, 5)).to_queries(), [*queries[:2], queries[4]])
        train, test = dataset.fold(5, 1)
        self.assertEqual(test.to_queries(), [queries[1], queries[6], queries[11]])
        self.assertEqual(train.to_queries(), [query for query in queries if query not in test.to_queries()])
        noise = deep.NoiseMutatorDecorator(0.5, lambda i, query: query.replace_output([Constant(99)]), seed=1)
        mutated = deep.MutatingDataset(deep.QueryDataset(self.queries(400)), noise)
        changed = [i for i, query in enumerate(mutated.to_queries()) if query.output_values() == [Constant(99)]]
        self.assertTrue(150 < len(changed) < 250, len(changed))
        self.assertEqual(mutated.to_query(changed[0]), mutated.to_query(changed[0]))
        loader = deep.DataLoader(dataset, 5, shuffle=lambda epoch: epoch > 0, seed=0)
        first, second = ([query for batch in loader for query in batch] for _ in range(2))
        self.assertEqual(first, queries)
        self.assertNotEqual(second, queries)
        self.assertEqual({repr(query) for query in second}, {repr(query) for query in queries})

    @unittest.skipUnless(importlib.util.find_spec("PIL"), "pillow is not installed")
    def test_images(self):
        from PIL import Image

        with tempfile.TemporaryDirectory() as folder:
            Image.new("L", (3, 2), 7).save(os.path.join(folder, "4.png"))
            images = deep.ImageDataset(folder, transform=lambda image: (image.size, image.getpixel((0, 0))))
            self.assertEqual(images[(Constant(4),)], ((3, 2), (7, 7, 7)))

    def test_standard_networks(self):
        torch.testing.assert_close(standard_networks.MLP(3, 4, 2)(torch.zeros(5, 3)).sum(1), torch.ones(5))
        self.assertEqual(len(standard_networks.MLP(3, 4, 2, softmax=False).nn), 3)
        net = standard_networks.smallnet(num_classes=2, size=(100, 150))
        self.assertEqual(net(torch.zeros(2, 3, 100, 150)).shape, (2, 2))

    def test_facts_and_bad_input(self):
        module = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False), torch.nn.Sigmoid())
        torch.nn.init.ones_(module[0].weight)
        model = deep.Model("nn(net, [X]) :: hot(X). alarm(X) :- hot(X).", [deep.Network(module, "net")], load=False)
        model.add_tensor_source("room", {(Constant(i),): torch.tensor([value]) for i, value in enumerate([-2.0, 2.0, -1.0, 3.0])})
        rooms = [Term("tensor", Term("room", Constant(i))) for i in range(4)]
        queries = deep.QueryDataset([deep.Query(Term("alarm", room), p=p) for room, p in zip(rooms, (0, 1, 1, 1))])
        found = deep.get_fact_accuracy(model, queries)
        self.assertEqual((found.accuracy(), sorted(found.classes)), (0.75, ["false", "true"]))
        torch.nn.init.constant_(module[0].weight, 1e3)  # so sure that 32 bits show no doubt
        self.assertAlmostEqual(model.loss(queries.queries[:3]).item(), 12 * math.log(10) / 3, places=5)
        loader = deep.DataLoader(queries, 2)
        with self.assertRaisesRegex(TypeError, "StopCondition"):
            deep.train_model(model, loader, True)
        with self.assertRaisesRegex(ValueError, "cross_entropy.*mse"):
            deep.train_model(model, loader, 1, loss_function_name="mae")
        with self.assertRaisesRegex(ValueError, "^with_negatives"):
            deep.train_model(model, loader, 1, with_negatives=True)
        with self.assertRaisesRegex(ValueError, "queries"):
            deep.train_model(model, deep.DataLoader(queries.subset(0), 2), stop_condition.Threshold("Accuracy", 1))
        with self.assertRaisesRegex(TypeError, r"^test: .*0\.5"):
            deep.train_model(model, loader, 1, test=lambda model: 0.5)
        with self.assertRaisesRegex(ValueError, "k=1"):
            deep.Network(module, "net", k=1)
        with self.assertRaisesRegex(ValueError, "embeddings"):
            deep.Model("", [], embeddings=object(), load=False)
        with self.assertWarns(UserWarning):
            model.set_engine(deep.ApproximateEngine(model, 1, deep.ApproximateEngine.geometric_mean, exploration=False))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            model.save_state(path)
            other = deep.Model("nn(cold, [X]) :: cold(X).", [deep.Network(module, "cold")], load=False)
            with self.assertRaisesRegex(ValueError, r"'cold'.*\['net'\]"):
                other.load_state(path)

    def test_training_is_kept_and_hooked(self):
        module = torch.nn.Linear(1, 2)
        net = deep.Network(torch.nn.Sequential(module, torch.nn.Softmax(-1)), "net", torch.optim.Adam(module.parameters()))
        model = deep.Model("nn(net, [X], Y, [0, 1]) :: bit(X, Y).", [net], load=False)
        model.add_tensor_source("train", {(Constant(i),): torch.tensor([float(i)]) for i in range(2)})
        bits = deep.QueryDataset([deep.Query(Term("bit", Term("tensor", Term("train", Constant(i))), Constant(i))) for i in range(2)])
        with tempfile.TemporaryDirectory() as folder:
            training, seen = deep.TrainObject(model), []
            training.hooks.append((2, lambda told: seen.append(told.i)))
            training.train(deep.DataLoader(bits, 1), 3, verbose=0, snapshot_name=os.path.join(folder, "net"), snapshot_iter=4)
            self.assertEqual(seen, [2, 4, 6])
            self.assertEqual(sorted(os.listdir(folder)), ["net_final.mdl", "net_iter_4.mdl"])
            model.save_state(os.path.join(folder, "all"), complete=True)
            model.load_state(os.path.join(folder, "net_iter_4.mdl"))
            earlier = module.weight.detach().clone()
            model.load_state(os.path.join(folder, "all"))
            self.assertFalse(torch.equal(module.weight, earlier))
            net.optimizer = None
            with self.assertRaisesRegex(ValueError, "optimizer"):
                model.load_state(os.path.join(folder, "all"))
        training = deep.TrainObject(model)
        training.hooks.append((5, lambda told: setattr(told, "interrupt", True)))
        training.train(deep.DataLoader(bits, 1), 100, verbose=0)
        self.assertEqual(training.i, 5)


if __name__ == "__main__":
    if not importlib.util.find_spec("problog"):
        print("problog is not installed: nothing is tested (pip install problog==2.3.0)", flush=True)
    unittest.main(verbosity=1)
