"""Every option that `settings` takes either changes something that can be seen, or is refused by name."""

import unittest

import torch

import anesi
from anesi import _core

SMALL = {"q.pretrain": 6, "q.samples": 8, "mlp.width": 8}
EXPLAINS = {"q.variant": "explain"}
SAMPLES_ITSELF = {"q.variant": "explain", "q.policy": "on"}


def logits_of(know, rows=6):
    generator = torch.Generator().manual_seed(7)
    return torch.randn(rows, len(know.worlds), max(know.worlds), generator=generator)


def answers(know, labels):
    """What can be seen of Knowledge in use: a few steps of training, then answers."""
    logits = logits_of(know)
    seen = [know.architecture, [know.loss(logits, labels).item() for _ in range(4)], know.grown]
    know.eval()
    for ask in (
        lambda: know.log_prob(logits, labels),
        lambda: know.predict(logits, top=2).outputs,
        lambda: know.predict(logits, top=2).probability,
        lambda: know.most_probable(logits, labels).worlds,
        lambda: know.explain(logits, labels, top=3).worlds,
        lambda: know.sample(logits, labels, count=3, seed=1),
    ):
        try:
            seen.append(ask().tolist())
        except (ValueError, RuntimeError) as error:
            seen.append(str(error))
    state = know.get_extra_state()
    return seen + [(name, state[name].tolist()) for name in sorted(state) if name.startswith(("q.", "explanation.", "loss."))]


def learned(settings, architecture="mlp"):
    """A q that learns beside training."""
    small = SMALL if architecture else {name: value for name, value in SMALL.items() if name.startswith("q.")}
    know = anesi.Knowledge(lambda w: torch.stack([w.sum(1), w[:, 0] * w[:, 1], w[:, 2]], 1), [3, 3, 3], [7, 5, 3],
                           architecture=architecture, settings={**small, **settings}, verbose=False)  # fmt: skip
    return answers(know, know.function(torch.tensor([[0, 1, 2], [2, 2, 0], [1, 1, 1], [0, 0, 2], [2, 1, 0], [1, 2, 2]])))


def named(settings):
    """The same, where the setting names the architecture."""
    return learned({"q.architecture": "mlp", **settings}, architecture=None)


def greedy(settings):
    """Outputs of which the first, chosen alone, leads away from the most likely ones."""
    seed = 1  # a q that knows what its first output alone does not say
    know = anesi.Knowledge(lambda w: torch.stack([w[:, 0], w[:, 0] * w[:, 1]], 1), [2, 2], [2, 2], architecture="mlp", seed=seed,
                           settings={"q.pretrain": 600, "q.lr": 0.005, "mlp.width": 32, **settings}, verbose=False)  # fmt: skip
    return know.predict(beliefs=torch.tensor([[[0.45, 0.55], [0.5, 0.5]]])).outputs.tolist()


def definition(settings):
    """A formula, which has a pruner, with a q that learns."""
    clauses = [[-1, 4], [-2, 4], [1, 2, -4], [-5, 1], [-5, 2], [5, -1, -2]]  # 4: 1 or 2; 5: both, which never is without 4
    know = anesi.Knowledge.from_cnf(clauses, "definition", shown=[1, 2, 3], architecture="mlp",
                                    settings={**SMALL, **settings}, verbose=False)  # fmt: skip
    return answers(know, know.function(torch.tensor([[0, 0, 1], [1, 0, 0], [0, 1, 1]] * 2)))


def found(settings, function=lambda w: w.sum(1) % 2):
    """A function that an automaton says, if it is found."""
    know = anesi.Knowledge(function, [2] * 17, [2], settings={**SMALL, "q.pretrain": 1, **settings}, verbose=False)
    certificate = know.certificate
    state = know.get_extra_state()
    return [know.architecture, know.states, know.certificate and (certificate.draws, certificate.bound), state["watching"].item()]


def nearly_found(settings):
    """A parity but for a few worlds: an automaton of two states is nearly right."""
    rare = torch.tensor([0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1])
    return found({"discover.states": 2, "discover.draws": 300000, **settings}, lambda w: (w.sum(1) + (w[:, : len(rare)] == rare).all(1)) % 2)


def slow(settings):
    """A function that is not asked 5,000 times in a tenth of a second."""
    import time

    def function(w):
        time.sleep(0.0005)
        return w.sum(1) % 2

    return found(settings, function)


def exact(settings):
    """A function of a few worlds, by exact inference."""
    know = anesi.Knowledge(lambda w: torch.stack([w.sum(1) % 2, w[:, 0]], 1), [2, 2, 2], [2, 2],
                           architecture="exact", settings=settings, verbose=False)  # fmt: skip
    return answers(know, know.function(torch.tensor([[0, 0, 1]] * 6)))


def listed(settings):
    """A function of some ten thousand worlds, by exact inference, which lists them."""
    know = anesi.Knowledge(lambda w: w.sum(1) % 2, [2] * 16, [2], architecture="exact", settings=settings, verbose=False)
    return know.architecture


def compiled(settings):
    """A formula that takes some seconds to compile."""
    generator = torch.Generator().manual_seed(4)
    variables, clauses = 36, 52
    cnf = anesi.Cnf([2] * variables, [2])
    chosen = torch.stack([torch.randperm(variables, generator=generator)[:3] for _ in range(clauses)])
    signs = torch.randint(2, (clauses, 3), generator=generator)
    holds = []
    for row, values in zip(chosen.tolist(), signs.tolist()):
        literals, fresh = [cnf.world(variable, value) for variable, value in zip(row, values)], cnf.fresh_variable()
        cnf.add([*literals, -fresh])
        for literal in literals:
            cnf.add([-literal, fresh])
        holds.append(fresh)
    output = cnf.output(0, 1)
    cnf.add([-literal for literal in holds] + [output])
    for literal in holds:
        cnf.add([-output, literal])
    know = anesi.Knowledge(lambda w: (w[:, chosen] == signs).any(2).all(1), [2] * variables, [2], cnf=cnf,
                           architecture="exact", settings=settings, verbose=False)  # fmt: skip
    return know.architecture


# Of each option: a value that is not its default, who tells, and which other options it needs.
TOLD = {
    "discover.calls": (1000, found, {}),
    "discover.distance": (1e-9, nearly_found, {}),
    "discover.draws": (200, found, {}),
    "discover.seconds": (0.1, slow, {}),
    "discover.states": (1, found, {}),
    "discover.watched": (0, found, {}),
    "eval.beam": (1, greedy, {}),
    "eval.decide": ("likelihood", learned, {}),
    "eval.learned_threshold": (0.3, learned, {}),
    "eval.nats": (0, learned, {}),
    "eval.nodes": (1, learned, {}),
    "eval.prune": (True, definition, {}),
    "exact.gigabytes": (0.001, listed, {}),
    "exact.method": ("automaton", exact, {}),
    "exact.seconds": (0.1, compiled, {"exact.method": "circuit"}),
    "prior.concentration": (1, learned, {"prior.kind": "fixed"}),
    "prior.initial": (0.5, learned, {}),
    "prior.iterations": (3, learned, {}),
    "prior.kind": ("fixed", learned, {}),
    "prior.l2": (10, learned, {}),
    "prior.l2_per_belief": (False, learned, {}),
    "prior.lr": (0.1, learned, {}),
    "prior.method": ("newton", learned, {}),
    "prior.window": (3, learned, {}),
    "q.architecture": ("scan", named, {}),
    "q.chunk": (4, learned, SAMPLES_ITSELF),
    "q.clip": (0.001, learned, {}),
    "q.counted": (5, learned, EXPLAINS),
    "q.every": (2, learned, {}),
    "q.from": ("a run", learned, {}),
    "q.frozen": (True, learned, {}),
    "q.given": (False, learned, {}),
    "q.joint_lr": (0.05, learned, {}),
    "q.lr": (0.05, learned, {}),
    "q.matching": ("forward_kl", learned, EXPLAINS),
    "q.on_policy_weight": (3, learned, {**SAMPLES_ITSELF, "q.policy": "both"}),
    "q.perceived": (True, learned, {}),
    "q.policy": ("on", learned, EXPLAINS),
    "q.prediction_weight": (1, learned, EXPLAINS),
    "q.pretrain": (1, learned, {}),
    "q.samples": (9, learned, {}),
    "q.schedule": ("cosine", learned, {}),
    "q.temperature": (3, learned, SAMPLES_ITSELF),
    "q.trace": (2, learned, {}),
    "q.trace_weight": (0.7, learned, {}),
    "q.variant": ("prune", definition, EXPLAINS),
    "q.warmup": (0.5, learned, {"q.schedule": "one_cycle"}),
    "q.worlds": (3, learned, SAMPLES_ITSELF),
}


class Options(unittest.TestCase):
    def test_every_option_is_looked_at(self):
        self.assertEqual(sorted(TOLD), sorted(_core.option_names()))

    def test_each_changes_something_or_is_refused(self):
        without = {}  # what the same shows without the option
        for name, (value, tells, needs) in TOLD.items():
            with self.subTest(option=name):
                key = (tells, str(needs))
                if key not in without:
                    without[key] = tells(needs)
                try:
                    with_it = tells({**needs, name: value})
                except (ValueError, RuntimeError) as error:
                    with_it = f"refused: {error}"
                    if isinstance(error, ValueError):
                        self.assertTrue(str(error).startswith(name), error)
                self.assertNotEqual(with_it, without[key])

    def test_options_of_architectures_and_priors(self):
        for settings in ({"mlp.wdth": 3}, {"mlp.width": "wide"}, {"scan.width": 8}, {"flow.layers": 2}, {"nothing.at": 1}):
            with self.subTest(settings=settings), self.assertRaises(ValueError):
                anesi.Knowledge(lambda w: w.sum(1), [2, 2], [3], architecture="mlp", settings=settings, verbose=False)

    def test_the_rate_beside_training_is_the_whole_rate(self):
        def weights(settings):
            know = anesi.Knowledge(lambda w: w.sum(1), [3, 3], [5], architecture="mlp", verbose=False,
                                   settings={**SMALL, "q.pretrain": 0, **settings})  # fmt: skip
            know.loss(torch.zeros(1, 2, 3), torch.tensor([2]))
            return {name: part.tolist() for name, part in know.get_extra_state().items() if name.startswith("q.")}

        constant = weights({"q.lr": 0.01})
        for settings in ({"q.schedule": "one_cycle"}, {"q.schedule": "cosine"}):
            self.assertEqual(weights({"q.lr": 0.01, **settings}), constant)
        self.assertEqual(weights({"q.lr": 0.5, "q.joint_lr": 0.01}), constant)

    def test_a_pruned_q_gives_nothing_to_what_cannot_be(self):
        clauses = [[-1, 4], [-2, 4], [1, 2, -4], [-3, 5], [3, -5], [4, 5]]  # 4 is 1 or 2, 5 is 3; not both are false
        with self.assertRaises(RuntimeError):  # then some worlds have no output
            anesi.Knowledge.from_cnf(clauses, "definition", shown=[1, 2, 3], verbose=False)
        know = anesi.Knowledge.from_cnf([[-1, 3], [1, -3], [-1, 4], [-2, 4], [1, 2, -4]], "definition", shown=[1, 2],
                                        architecture="mlp", settings={**SMALL, "q.variant": "prune"}, verbose=False)  # fmt: skip
        know.eval()
        logits = logits_of(know, 4)
        outputs = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]])  # 3 is 1, so that 4 holds where 3 does
        shares = torch.stack([know.log_prob(logits, output.expand(4, 2)).exp() for output in outputs], 1)
        torch.testing.assert_close(shares.sum(1), torch.ones(4))
        self.assertEqual(shares[:, 2].tolist(), [0.0] * 4)
        self.assertAlmostEqual(know.loss(logits, outputs[1].expand(4, 2)).item(), -shares[:, 1].log().mean().item(), places=5)


if __name__ == "__main__":
    unittest.main()
