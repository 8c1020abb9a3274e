"""Flow networks from Python: the paper's A or B, any small function, and what cannot be."""

import itertools
import unittest

import torch

import anesi
from anesi._which import ON_ENGINE


def setUpModule():
    if ON_ENGINE:
        raise unittest.SkipTest("the Python core has no flow networks")

BELIEFS = torch.tensor([[0.7, 0.3], [0.4, 0.6]], dtype=torch.float64)


def either():
    return anesi.Knowledge(lambda w: w[:, 0] | w[:, 1], worlds=[2, 2], outputs=[2], verbose=False)


class AOrB(unittest.TestCase):
    def test_has_the_nodes_of_the_paper(self):
        nodes = {view: anesi.flow.Network(either(), view=view).nodes for view in ("tree", "lattice", "assignments")}
        self.assertEqual(nodes, {"tree": 10, "lattice": 6, "assignments": 13})

    def test_exact_flows_are_probabilities(self):
        for view in ("tree", "lattice", "assignments"):
            flow = anesi.flow.Network(either(), view=view).exact(beliefs=BELIEFS)
            self.assertAlmostEqual(flow.of_output([1]), 0.3 + 0.6 - 0.3 * 0.6, delta=1e-9)
            self.assertAlmostEqual(flow.of_output([0]), 0.7 * 0.4, delta=1e-9)
            for a, b in itertools.product([0, 1], repeat=2):
                self.assertAlmostEqual(flow.of_world([a, b]), float(BELIEFS[0, a] * BELIEFS[1, b]), delta=1e-9)
            self.assertLess(flow.imbalance(), 1e-12)

    def test_logits_and_beliefs_agree(self):
        network = anesi.flow.Network(either(), view="lattice")
        by_logits = network.exact(BELIEFS.log() + 3)
        torch.testing.assert_close(by_logits.actions, network.exact(beliefs=BELIEFS).actions)

    def test_policies_are_shares_of_the_flow(self):
        network = anesi.flow.Network(either(), view="lattice")
        flow = network.exact(beliefs=BELIEFS)
        for place, action in enumerate(network.actions):
            self.assertAlmostEqual(float(flow.forward[place] * flow.states[action.start]), float(flow.actions[place]))
            self.assertAlmostEqual(float(flow.backward[place] * flow.states[action.end]), float(flow.actions[place]))

    def test_learned_flows_are_near(self):
        for view, backward in itertools.product(("tree", "lattice"), ("uniform", "learned", "flow")):
            network = anesi.flow.Network(either(), view=view)
            flow = network.learn(beliefs=BELIEFS, backward=backward, steps=500)
            self.assertLess(abs(flow.of_output([1]) / 0.72 - 1), 0.01, msg=f"{view}, {backward}")

    def test_draws_itself(self):
        flow = anesi.flow.Network(either(), view="tree").exact(beliefs=BELIEFS)
        picture = flow.svg(title="A or B", worlds=["A", "B"], outputs=["y"])
        self.assertIn("A or B", picture)
        self.assertIn("B=1", picture)


class OtherFunctions(unittest.TestCase):
    def test_domains_may_differ(self):
        know = anesi.Knowledge(lambda w: w.sum(1), worlds=[2, 3, 2], outputs=[5], verbose=False)
        logits = torch.randn(3, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        flow = anesi.flow.Network(know, view="assignments").exact(logits)
        for total in range(5):
            expected = know.log_prob(logits.unsqueeze(0), torch.tensor([[total]])).exp().item()
            self.assertAlmostEqual(flow.of_output([total]), expected, places=6)

    def test_formulas(self):
        know = anesi.Knowledge.from_cnf([[1, 2], [-2, 3]], verbose=False)
        flow = anesi.flow.Network(know, view="lattice").exact(torch.zeros(3, 2))
        self.assertAlmostEqual(flow.of_output([1]), 4 / 8, places=9)


class BadInput(unittest.TestCase):
    def test_is_told(self):
        network = anesi.flow.Network(either())
        for wrong, expected in [
            (lambda: anesi.flow.Network(either(), view="forest"), "^view: .*tree, lattice, assignments.*forest"),
            (lambda: network.learn(beliefs=BELIEFS, backward="no"), r"^backward: .*uniform, learned, flow.*\bno\b"),
            (lambda: network.learn(beliefs=BELIEFS, objective="no"), "^objective: .*joint_off"),
            (lambda: network.learn(beliefs=BELIEFS, steps=0), r"^steps: .*\b1\b"),
            (lambda: network.exact(torch.zeros(2, 2, 2)), r"\b2\b"),
            (lambda: network.exact(beliefs=BELIEFS).of_world([0, 2]), "^world: "),
            (lambda: network.exact(beliefs=BELIEFS).svg(worlds=["A"]), r"^worlds: .*\b1\b.*\b2\b"),
        ]:
            with self.subTest(expected=expected), self.assertRaisesRegex(ValueError, expected):
                wrong()
        with self.assertRaisesRegex(TypeError, "anesi.Knowledge"):
            anesi.flow.Network(lambda w: w)
        with self.assertRaisesRegex(Exception, "states|worlds"):
            anesi.flow.Network(anesi.Knowledge(lambda w: w.sum(1), worlds=[10] * 7, outputs=[64], verbose=False))


if __name__ == "__main__":
    unittest.main()
