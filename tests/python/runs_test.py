"""Runs of the program in Python: they give what the version that saved them printed (tests/saved)."""

import copy
import hashlib
import json
import pathlib
import pickle
import shutil
import tempfile
import unittest

import torch

import anesi
from anesi import _engine

SAVED = pathlib.Path(__file__).resolve().parent.parent / "saved"
SUITABLE = {"exact-automaton", "exact-conditioned", "mlp", "scan", "transducer"}
TOLERANCE = 1e-5


def open_run(path):
    return anesi.load(path, verbose=False)


class Recorded(unittest.TestCase):
    def calls(self, name, command):
        """What was printed of single examples, with the inputs that it was of."""
        run = open_run(SAVED / name)
        options = {key[5:]: value for key, value in run.options.items() if key.startswith("task.") and key != "task.name"}
        task = anesi.tasks.load(run.task, data=SAVED / "digits", verbose=False, **options)
        for call in json.loads((SAVED / name / "expected.json").read_text())["calls"]:
            arguments = call["arguments"]
            if arguments[0] != command or "--joint" in arguments:
                continue
            split = task.train if "--split" in arguments else task.test
            row = torch.tensor([int(arguments[arguments.index("--index") + 1])])
            with self.subTest(call=" ".join(arguments)):
                yield run, split.inputs(row), call["printed"]

    def near(self, new, old):
        self.assertLess(abs(new - old), TOLERANCE)

    def test_predictions(self):
        for name in SUITABLE:
            for run, inputs, printed in self.calls(name, "predict"):
                told = printed["outputs"]
                if name == "exact-conditioned":  # it only says how likely the output is that labels are about
                    asked = torch.tensor([told[0]["output"]])
                    self.near(run.knowledge.log_prob(beliefs=run(inputs), outputs=asked).exp().item(), told[0]["probability"])
                    with self.assertRaisesRegex(ValueError, "chooses none"):
                        run.predict(inputs)
                    self.assertEqual(run(inputs).argmax(2)[0].tolist(), printed["world"])
                    continue
                found = run.predict(inputs, top=len(told))
                self.assertEqual(found.world[0].tolist(), printed["world"])
                self.assertEqual(found.outputs[0].tolist(), [one["output"] for one in told])
                for new, old in zip(found.probability[0].tolist(), told):
                    self.near(new, old["probability"])
                self.assertEqual(run.predict(inputs).outputs[0].tolist(), told[0]["output"])

    def test_explanations_and_beliefs(self):
        for name in SUITABLE:
            for run, inputs, printed in self.calls(name, "explain"):
                if "beliefs" in printed:
                    self.assertLess((run(inputs) - torch.tensor(printed["beliefs"])).abs().max(), TOLERANCE)
                why = run.explain(inputs)
                for place, told in enumerate(printed.get("explanations", [])):
                    self.assertEqual(why.worlds[0, place].tolist(), told["world"])
                    self.near(why.probability[0, place].item(), told["probability"])

    def test_others_are_left_to_the_program(self):
        for path in SAVED.glob("*/expected.json"):
            if path.parent.name not in SUITABLE:
                with self.subTest(path.parent.name), self.assertRaisesRegex(ValueError, r"\A.*only the program .*`anesi predict`.*\Z"):
                    open_run(path.parent)


class Opened(unittest.TestCase):
    def test_it_is_perception_and_knowledge(self):
        run = open_run(SAVED / "transducer" / "model")
        self.assertEqual((run.task, repr(run)), ("mnist-add", "Run(mnist-add, q: transducer)"))
        self.assertEqual((run.worlds, run.outputs), ([10] * 4, [2, 10, 10]))
        images = torch.rand(3, 4, 28, 28) * 2 - 1
        labels = run.function(torch.tensor([[1, 2, 3, 4]] * 3))
        self.assertEqual(labels[0].tolist(), [0, 4, 6])
        self.assertTrue(torch.equal(run.perception(images).softmax(2), run(images)))
        before = {name: part.clone() for name, part in run.knowledge.state_dict().items() if isinstance(part, torch.Tensor)}
        run.knowledge.loss(run.perception(images), labels).backward()
        self.assertTrue(all(weight.grad is not None for weight in run.perception.parameters()))
        for name, part in before.items():
            self.assertTrue(torch.equal(run.knowledge.state_dict()[name], part), "q learned though it was not asked to")
        logits = run.perception(images).detach()
        for again in (copy.deepcopy(run.knowledge), pickle.loads(pickle.dumps(run.knowledge))):
            self.assertTrue(torch.equal(again.log_prob(logits, labels), run.knowledge.log_prob(logits, labels)))
        share = run.marginals(images, labels)
        self.assertLess((share.sum(2) - 1).abs().max(), 1e-4)

    def test_an_ensemble_and_a_formula_have_several_networks(self):
        lenet = {"features.0": (6, 1, 5, 5), "features.2": (16, 6, 5, 5), "classifier.0": (120, 256),
                 "classifier.2": (84, 120), "classifier.4": (0, 84)}  # fmt: skip

        def weights(prefix, classes, seed):
            generator = torch.Generator().manual_seed(seed)
            parts = {}
            for layer, (first, *rest) in lenet.items():
                parts[f"{prefix}{layer}.weight"] = torch.randn(first or classes, *rest, generator=generator) / 10
                parts[f"{prefix}{layer}.bias"] = torch.randn(first or classes, generator=generator)
            return parts

        images = torch.rand(2, 4, 28, 28)
        members = {**weights("perception.member0.", 10, 1), **weights("perception.member1.", 10, 2)}
        run, one, other = (self.made("exact-automaton", parts) for parts in (
            members, weights("perception.", 10, 1), weights("perception.", 10, 2)))  # fmt: skip
        self.assertLess((run(images) - (one(images) + other(images)) / 2).abs().max(), 1e-6)
        self.assertGreater((one(images) - other(images)).abs().max(), 1e-2)

        def as_formula(manifest):
            manifest.update(task="formula", worlds=[10, 3, 10], outputs=[91])
            manifest["options"] = {"task.symbols": "3", "exact.method": "enumerate"}

        halves = {**weights("perception.digits.", 10, 1), **weights("perception.operators.", 3, 2)}
        formula = self.made("exact-automaton", halves, as_formula)
        beliefs = formula(images[:, :3])
        self.assertTrue(torch.allclose(beliefs[:, ::2], one(images)[:, [0, 2]], atol=1e-6))
        self.assertTrue((beliefs[:, 1, 3:] == 0).all())
        self.assertEqual(formula.function(torch.tensor([[2, 2, 3]])).item() - 9, 6)
        self.assertEqual(formula.predict(images[:, :3]).outputs.shape, (2, 1))

    def made(self, name, weights, change=lambda manifest: None):
        """A copy of a saved run with other weights."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="anesi-runs-"))
        self.addCleanup(shutil.rmtree, folder)
        shutil.copytree(SAVED / name / "model", folder / "model")
        path = folder / "model" / "weights.safetensors"
        _engine.write_safetensors(str(path), {key: part.numpy() for key, part in weights.items()})
        manifest = json.loads((folder / "model" / "manifest.json").read_text())
        manifest["weights"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        change(manifest)
        (folder / "model" / "manifest.json").write_text(json.dumps(manifest))
        return open_run(folder)

    def test_what_is_wrong_is_said(self):
        weights, _ = _engine.read_safetensors(str(SAVED / "transducer/model/weights.safetensors"))
        weights = {name: torch.from_numpy(part.copy()) for name, part in weights.items()}
        with self.assertRaisesRegex(ValueError, "network is not made of LeNets.*anesi predict"):
            self.made("transducer", {**weights, "perception.extra": torch.zeros(1)})
        with self.assertRaisesRegex(RuntimeError, "q.*missing"):
            self.made("transducer", {name: part for name, part in weights.items() if name.startswith("perception")})
        with self.assertRaisesRegex(RuntimeError, "manifest.json: a model of another problem"):
            self.made("transducer", weights, lambda manifest: manifest["options"].update({"task.digits": "3"}))
        with self.assertRaisesRegex(RuntimeError, "checksum"):
            self.made("transducer", weights, lambda manifest: manifest["weights"].update(sha256="0" * 64))
        with self.assertRaisesRegex(ValueError, "mnist-add.*function"):
            anesi.load(SAVED / "transducer", lambda w: w)


if __name__ == "__main__":
    unittest.main(verbosity=1)
