"""A q that learns: asked by several threads at once, and taken up where it stopped."""

import threading
import unittest

import torch
from reference import knowledge

import anesi

SMALL = {
    "mlp": {"mlp.width": 8},
    "scan": {"scan.width": 8},
    "transducer": {},
}


def learned(architecture, **settings):
    return knowledge(
        lambda w: torch.stack([w[:, 0] + w[:, 1], w[:, 2]], 1),
        [3, 3, 2],
        [5, 2],
        architecture=architecture,
        settings={"q.variant": "explain", "q.samples": 8, "q.pretrain": 3, **SMALL[architecture], **settings},
    )


def answers(know, logits, y, worlds):
    """All that it can be asked, as tensors."""
    leaf = logits.clone().requires_grad_()
    loss = know.loss(leaf, y, learn=False)
    loss.backward()
    of_worlds = know.log_prob(logits, y, worlds=worlds)
    predicted, explained, probable = know.predict(logits, top=2), know.explain(logits, y, top=2), know.most_probable(logits, y)
    return [loss.detach(), leaf.grad, know.log_prob(logits, y), of_worlds, know.marginals(logits, y), know.sample(logits, y, count=3, seed=1),
            predicted.outputs, predicted.probability, explained.worlds, explained.probability, probable.worlds]  # fmt: skip


class Learned(unittest.TestCase):
    def test_the_world_of_a_constraint_is_the_most_probable_that_keeps_it(self):
        clauses = [[-1, -2, -5], [5, -2, -1], [-5, 5]]
        settings = {"q.pretrain": 0, "q.samples": 16, "mlp.width": 16, "q.variant": "prune"}
        know = anesi.Knowledge.from_cnf(clauses, architecture="mlp", settings=settings, verbose=False).eval()
        logits = torch.randn(50, 5, 2, generator=torch.Generator().manual_seed(1)) * 20
        every = torch.cartesian_prod(*[torch.arange(2)] * 5)
        scores = logits.log_softmax(2).gather(2, every.T.expand(50, -1, -1)).sum(1)
        best = scores.masked_fill(know.function(every)[:, 0] == 0, -torch.inf).argmax(1)
        self.assertTrue(torch.equal(know.predict(logits).world, every[best]))

    def test_threads_may_ask_every_architecture_at_once(self):
        generator = torch.Generator().manual_seed(4)
        logits = torch.randn(4, 3, 3, generator=generator)
        worlds = torch.tensor([[0, 1, 0], [2, 2, 1], [1, 1, 1], [0, 0, 0]])
        y = torch.stack([worlds[:, 0] + worlds[:, 1], worlds[:, 2]], 1)
        for architecture in SMALL:
            with self.subTest(architecture):
                know = learned(architecture).eval()
                state = {name: value.clone() if torch.is_tensor(value) else value for name, value in know.state_dict().items()}
                expected, failures = answers(know, logits, y, worlds), []

                def ask():
                    for _ in range(20):
                        try:
                            found = answers(know, logits, y, worlds)
                            failures.extend(str(place) for place, (one, other) in enumerate(zip(found, expected)) if not torch.equal(one, other))
                        except Exception as error:
                            failures.append(repr(error))

                threads = [threading.Thread(target=ask) for _ in range(3)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                self.assertEqual(failures, [])
                for name, value in know.state_dict().items():
                    if torch.is_tensor(value):
                        self.assertTrue(torch.equal(value, state[name]), name)

    def test_learning_goes_on_bit_for_bit(self):
        logits = torch.randn(4, 3, 3, generator=torch.Generator().manual_seed(5))
        y = torch.tensor([[1, 0], [4, 1], [2, 1], [0, 0]])

        def learn(know, steps):
            return [know.loss(logits, y).item() for _ in range(steps)]

        for architecture in SMALL:
            for policy in ("off", "both"):
                with self.subTest(architecture, policy=policy):
                    straight, first, second = (learned(architecture, **{"q.policy": policy}) for _ in range(3))
                    learn(straight, 3)
                    learn(first, 3)
                    state = first.state_dict()
                    expected = learn(straight, 3)
                    torch.manual_seed(123)  # what others draw is nobody's business
                    learn(second, 1)
                    second.load_state_dict(state)
                    self.assertEqual(learn(second, 3), expected)


if __name__ == "__main__":
    unittest.main()
