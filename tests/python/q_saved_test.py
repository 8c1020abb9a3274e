"""Weights are interchangeable with the program's: what it saved says the same here, and the compiled package agrees.

The runs are those of tests/saved, with the digits that they were trained on; the compiled package is compared if it is there.
"""

import json
import pathlib
import unittest

import numpy
import torch
from q_package import addition, q, random_beliefs, uneven
from safetensors.torch import load_file

try:
    from anesi import Knowledge
except ImportError:
    Knowledge = None

SAVED = pathlib.Path(__file__).resolve().parents[1] / "saved"
TOLERANCE = 1e-5


class Run:
    """A run of mnist-add: its q, and its perception in plain PyTorch."""

    def __init__(self, name):
        self.manifest = json.loads((SAVED / name / "model/manifest.json").read_text())
        self.tensors = load_file(SAVED / name / "model" / self.manifest["weights"]["file"])
        options = self.manifest["options"]
        problem = addition(len(self.manifest["worlds"]) // 2, 10)
        explains = options["q.variant"] != "predict"
        self.q = q.make_model(problem, self.manifest["architecture"], explains=explains, settings=options)
        self.q.load_tensors(self.tensors, name)
        self.problem = problem
        self.pruner = problem.pruner if options["q.variant"] == "prune" else None
        self.calls = json.loads((SAVED / name / "expected.json").read_text())["calls"]

    def beliefs(self, index):
        """Of an example of the test data, [1, digits, 10]."""
        digits = len(self.problem.worlds)
        raw = numpy.frombuffer((SAVED / "digits/t10k-images-idx3-ubyte").read_bytes(), numpy.uint8, offset=16)
        images = torch.tensor(raw.reshape(-1, 1, 28, 28)[index * digits : (index + 1) * digits]) / 127.5 - 1
        weights = {name.removeprefix("perception."): tensor for name, tensor in self.tensors.items()}
        x = images
        for layer in ("features.0", "features.2"):
            x = torch.nn.functional.conv2d(x, weights[f"{layer}.weight"], weights[f"{layer}.bias"])
            x = torch.nn.functional.max_pool2d(x, 2).relu()
        x = x.flatten(1)
        for layer in ("classifier.0", "classifier.2", "classifier.4"):
            x = torch.nn.functional.linear(x, weights[f"{layer}.weight"], weights[f"{layer}.bias"])
            x = x if layer == "classifier.4" else x.relu()
        return x.softmax(1).unsqueeze(0)

    def printed(self, command, *flags):
        """What the program printed for a command, by the example's index."""
        for call in self.calls:
            named, _, *rest = call["arguments"]
            if named == command and ("--joint" in rest) == ("--joint" in flags):
                yield int(rest[rest.index("--index") + 1]), call["printed"]


class SavedRuns(unittest.TestCase):
    def test_predict_as_they_did(self):
        for name in ("mlp", "scan", "transducer"):
            run = Run(name)
            for index, printed in run.printed("predict"):
                with self.subTest(name, index=index):
                    beliefs = run.beliefs(index)
                    self.assertEqual(beliefs.argmax(2)[0].tolist(), printed["world"])
                    # The most likely outputs; the program does not show those that it found with the worst beams.
                    found = q.beam_search(run.q.prediction, beliefs, width=max(5, int(run.manifest["options"]["eval.beam"])))
                    expected = printed["outputs"]
                    values = torch.tensor([output["output"] for output in expected])
                    self.assertTrue(torch.equal(found.values[0, : len(values)], values))
                    probability = torch.tensor([output["probability"] for output in expected])
                    torch.testing.assert_close(found.log_prob[0, : len(values)].exp(), probability, rtol=TOLERANCE, atol=TOLERANCE)

    def test_explain_as_they_did(self):
        for name in ("scan", "transducer"):
            run = Run(name)
            for index, printed in run.printed("explain"):
                with self.subTest(name, index=index):
                    beliefs = run.beliefs(index)
                    outputs = run.problem.function(torch.tensor([printed["world"]]))
                    of_output = run.q.prediction.log_prob(beliefs, outputs).exp().item()
                    self.assertAlmostEqual(of_output, printed["probability"], delta=TOLERANCE)
                    found = q.explain(run.q.explanation, beliefs, outputs, width=5, pruner=run.pruner)
                    for place, expected in enumerate(printed["explanations"]):
                        self.assertEqual(found.values[0, place].tolist(), expected["world"])
                        self.assertAlmostEqual(found.log_prob[0, place].exp().item(), expected["probability"], delta=TOLERANCE)

    def test_explain_outputs_and_worlds_as_they_did(self):
        run = Run("scan")
        for index, printed in run.printed("explain", "--joint"):
            pairs = printed["pairs"]
            found = q.joint_beam_search(run.q, run.beliefs(index), width=len(pairs))
            self.assertEqual(found.worlds[0].tolist(), [pair["world"] for pair in pairs])
            probability = torch.tensor([pair["probability"] for pair in pairs])
            torch.testing.assert_close(found.log_prob[0].exp(), probability, rtol=TOLERANCE, atol=TOLERANCE)


SETTINGS = {
    "mlp": {"mlp.width": 9, "mlp.layers": 2, "mlp.follow_beliefs": True, "mlp.log_beliefs": True},
    "scan": {"scan.width": 7},
    "transducer": {"transducer.states": 3},
}


@unittest.skipIf(Knowledge is None, "the compiled package is not there")
class TheCompiledPackage(unittest.TestCase):
    """Weights, likelihoods, searches and priors agree. Its functions know no reading order, so problems tell none."""

    def both(self, architecture, variant="explain", pretrain=0, **settings):
        problem = uneven()
        given = {"q.variant": variant, "q.pretrain": pretrain, "q.samples": 16, **SETTINGS[architecture], **settings}
        know = Knowledge(
            problem.function, problem.worlds, problem.outputs, architecture=architecture, settings=given, seed=5, verbose=False
        )
        explains = variant != "predict"
        model = q.make_model(problem, architecture, explains=explains, settings=SETTINGS[architecture], seed=6)
        return problem, know.eval(), model

    def logits(self, problem, seed=0, batch=30):
        return random_beliefs(problem.worlds, batch, seed).log()

    def state(self, know):
        return {name: tensor for name, tensor in know.get_extra_state().items() if name.startswith(("q.", "explanation."))}

    def test_fresh_weights_are_the_same(self):
        for architecture in SETTINGS:
            _, know, model = self.both(architecture)
            theirs, ours = self.state(know), model.tensors()
            self.assertEqual(set(theirs), set(ours))
            self.assertTrue(all(torch.equal(tensor, theirs[name]) for name, tensor in ours.items()))

    def compare(self, problem, know, model):
        logits = self.logits(problem)
        beliefs = logits.softmax(2)
        worlds = random_beliefs(problem.worlds, 30, 1).argmax(2)
        outputs = problem.function(worlds)
        partly = worlds.masked_fill(torch.arange(30).unsqueeze(1) % torch.tensor([2, 3, 5]) == 0, q.UNSET)
        partly[::4] = worlds[::4]
        holds = torch.arange(30) % 3 > 0
        for named in (
            {"outputs": outputs},
            {"outputs": outputs, "holds": holds},
            {"outputs": outputs, "worlds": worlds},
            {"outputs": outputs, "worlds": partly},
            {"outputs": outputs, "worlds": partly, "holds": holds},
            {"worlds": partly},
        ):
            theirs = {**named}
            if "worlds" in named:
                theirs["worlds"] = named["worlds"].masked_fill(named["worlds"] == q.UNSET, -1)
            mine, other = logits.clone().requires_grad_(), logits.clone().requires_grad_()
            found = q.observed_log_prob(model, mine.softmax(2), q.Labels(**named), log_beliefs=mine.double().log_softmax(2))
            expected = know.log_prob(other, **theirs)
            torch.testing.assert_close(found, expected, rtol=TOLERANCE, atol=TOLERANCE)
            found.sum().backward()
            expected.sum().backward()
            torch.testing.assert_close(mine.grad, other.grad, rtol=1e-3, atol=1e-4)
        if model.explanation is not None:
            best = know.most_probable(logits, outputs)
            if isinstance(model.prediction, q.Transducer):
                mine = q.explain(model.explanation, beliefs, outputs, width=100)
                theirs = model.explanation.log_prob(beliefs, best.worlds, outputs)
                self.assertTrue((mine.log_prob[:, 0] >= theirs - TOLERANCE).all())

    def test_log_probs_are_the_same_with_its_weights(self):
        for architecture in SETTINGS:
            for variant in ("predict", "explain"):
                with self.subTest(architecture, variant=variant):
                    problem, know, model = self.both(architecture, variant, pretrain=20)
                    model.load_tensors(self.state(know))
                    model.requires_grad_(False)
                    self.compare(problem, know, model)

    def test_log_probs_are_the_same_with_ours(self):
        for architecture in SETTINGS:
            with self.subTest(architecture):
                problem, know, model = self.both(architecture)
                loss = q.Amortized(problem, model, q.make_prior(problem.worlds, "fixed"), q.Options(variant="explain", pretrain=20))
                loss.pretrain()
                state = know.get_extra_state()
                know.set_extra_state({**state, **model.tensors()})
                self.compare(problem, know, model)

    def test_fitted_priors_are_the_same(self):
        for method in ("adam", "newton"):
            settings = {"prior.kind": "fitted", "prior.method": method, "prior.window": 40, "prior.iterations": 30}
            problem, know, _ = self.both("mlp", "predict", **settings)
            prior = q.make_prior(problem.worlds, "fitted", settings)
            for seed in range(6):
                logits = self.logits(problem, seed, 11)
                know.loss(logits, problem.function(logits.argmax(2)), learn=True)
                prior.observe(logits.softmax(2))
                prior.fit()
            theirs = {name: know.get_extra_state()[f"loss.prior.{name}"] for name in prior.state_dict()}
            for name, tensor in prior.state_dict().items():
                with self.subTest(method, name=name):
                    torch.testing.assert_close(tensor, theirs[name], rtol=1e-5, atol=1e-6)


if __name__ == "__main__":
    unittest.main()
