"""What state_dict() gives is all that the future depends on, and what is damaged is refused and changes nothing."""

import gc
import unittest
import weakref

import torch

import anesi

SMALL = {"q.pretrain": 3, "q.samples": 8, "mlp.width": 8}


def addition(w):
    return w.sum(1)


def learned(**more):
    settings = {**SMALL, **more.pop("settings", {})}
    return anesi.Knowledge(addition, [3, 3], [5], architecture="mlp", settings=settings, verbose=False, **more)


def explains():
    return learned(settings={"q.variant": "explain", "q.every": 2})


def found():
    return anesi.Knowledge(lambda w: w.sum(1) % 2, [2] * 17, [2], verbose=False)


def enumerated():
    return anesi.Knowledge(addition, [3, 3], [5], verbose=False)


def learns(know, seed=0):
    """A step of training, and its loss."""
    logits = torch.randn(4, len(know.worlds), max(know.worlds), generator=torch.Generator().manual_seed(seed))
    return know.loss(logits, know.function(logits.argmax(2))).item()


def damaged(tensor):
    """The same tensor with something wrong: (what, tensor, whether it must be refused)."""
    if tensor.is_floating_point():
        yield "type", tensor.long(), True
        yield "not a number", torch.full_like(tensor, float("nan")), tensor.numel() > 0
    else:
        yield "type", tensor.double(), True
        yield "large", torch.full_like(tensor, 2**40 if tensor.dtype == torch.int64 else 127), False
        yield "below 0", torch.full_like(tensor, -5) if tensor.dtype.is_signed else tensor ^ 0xFF, False
    yield "type", tensor.to(torch.complex64), True
    yield "type", tensor.bool() if tensor.dtype != torch.bool else tensor.long(), True
    yield "shape", tensor.unsqueeze(0), True
    yield "shape", torch.stack([tensor, tensor]).flatten(), tensor.dim() != 1  # a text may be longer
    if tensor.dim() > 0:
        yield "empty", tensor[:0], False
        yield "short", tensor[:-1], False


class Resumed(unittest.TestCase):
    def test_training_goes_on_as_it_would_have(self):
        for make in (learned, explains, found, enumerated):
            with self.subTest(make=make.__name__):
                one, other = make(), make()
                for step in range(3):
                    learns(one, step)
                other.load_state_dict(one.state_dict())
                self.assertEqual([learns(one, step) for step in range(5)], [learns(other, step) for step in range(5)])

    def test_damage(self):
        for make in (learned, explains, found, enumerated):
            know = make()
            for step in range(3):
                learns(know, step)
            state = know.get_extra_state()
            if make is found:
                self.assertIn("unwatched", state)
            for name, tensor in state.items():
                attempts = [(what, {**state, name: wrong}, refused) for what, wrong, refused in damaged(tensor)]
                without = {key: value for key, value in state.items() if key != name}
                attempts.append(("missing", without, name != "unwatched"))
                for what, changed, must_be_refused in attempts:
                    with self.subTest(make=make.__name__, name=name, what=what):
                        try:
                            know.set_extra_state(changed)
                            self.assertFalse(must_be_refused, "it was taken")
                        except (ValueError, RuntimeError):
                            after = know.get_extra_state()
                            self.assertEqual(set(after), set(state))
                            for key, value in after.items():
                                self.assertTrue(torch.equal(value, state[key]), key)
                        for step in range(3):
                            learns(know, step)
                        know.predict(torch.zeros(1, len(know.worlds), max(know.worlds)))
                        repr(know)
                        know.set_extra_state(state)

    def test_worlds_to_compare(self):
        know = found()
        state = know.get_extra_state()
        for worlds in (torch.full((2, 17), 2), torch.full((2, 17), -1), torch.full((2, 17), 2**62), torch.zeros(2, 16, dtype=torch.int64),
                       torch.zeros(34, dtype=torch.int64), torch.zeros(2, 17), torch.zeros(2, 17, dtype=torch.int32)):  # fmt: skip
            with self.assertRaises(ValueError):
                know.set_extra_state({**state, "unwatched": worlds})
        for _ in range(40):
            learns(know)

    def test_what_is_no_state(self):
        know = learned()
        for state in ({}, {"q.": 1}, {"reason": "none"}):
            with self.assertRaises((ValueError, RuntimeError)):
                know.set_extra_state(state)
        self.assertRaises(TypeError, know.set_extra_state, [1])
        with self.assertRaises((ValueError, RuntimeError)):
            know.set_extra_state(found().get_extra_state())

    def test_the_type_is_that_of_the_state(self):
        wide, narrow = learned().double(), learned()
        learns(wide)
        narrow.set_extra_state(wide.get_extra_state())
        self.assertEqual([learns(wide), learns(wide)], [learns(narrow), learns(narrow)])
        state = wide.get_extra_state()
        other = learned()
        before = other.get_extra_state()
        with self.assertRaises((ValueError, RuntimeError)):
            other.set_extra_state({name: part for name, part in state.items() if not name.startswith("loss.")})
        self.assertTrue(all(torch.equal(part, before[name]) for name, part in other.get_extra_state().items()))


def estimators():
    for method, settings in (
        ("anesi", {"first": 20}),
        ("anesi", {"model": "normal", "network.updates": 2}),
        ("anesi", {"model": "histogram", "network.updates": 2}),
        ("anesi", {"first": 20, "prior.kind": "fitted"}),
        ("rloo", {}),
        ("gumbel", {}),
    ):
        yield lambda: anesi.Estimator(lambda z: z[:, 0] + 2.0 * z[:, 1], [2, 3], method=method, settings=settings, seed=4)
    yield lambda: anesi.Estimator(lambda z, x: z[:, 0] * x[:, 0], [2], 1, settings={"first": 20}, seed=4)


def expects(estimator, seed):
    generator = torch.Generator().manual_seed(seed)
    sizes = estimator.categoricals
    logits = torch.randn(2, len(sizes), max(sizes), generator=generator, dtype=torch.float64)
    for place, size in enumerate(sizes):
        logits[:, place, size:] = -torch.inf
    more = {"mean": torch.ones(2, 1), "deviation": torch.ones(2, 1)} if estimator.normals else {}
    return estimator(logits.softmax(2), **more)


class Estimators(unittest.TestCase):
    def test_training_goes_on_as_it_would_have(self):
        for make in estimators():
            one, other = make(), make()
            with self.subTest(of=str(one)):
                for step in range(3):
                    expects(one, step)
                other.load_state_dict(one.state_dict())
                self.assertEqual(other.calls, one.calls)
                for step in range(4):
                    self.assertTrue(torch.equal(expects(one, step), expects(other, step)))
                self.assertEqual(other.calls, one.calls)

    def test_damage(self):
        for make in estimators():
            estimator = make()
            for step in range(2):
                expects(estimator, step)
            state = estimator.get_extra_state()
            for name, tensor in state.items():
                attempts = [(what, {**state, name: wrong}, refused) for what, wrong, refused in damaged(tensor)]
                attempts.append(("missing", {key: value for key, value in state.items() if key != name}, True))
                for what, changed, must_be_refused in attempts:
                    with self.subTest(of=str(estimator), name=name, what=what):
                        try:
                            estimator.set_extra_state(changed)
                            self.assertFalse(must_be_refused, "it was taken")
                        except (ValueError, RuntimeError):
                            after = estimator.get_extra_state()
                            self.assertEqual(set(after), set(state))
                            for key, value in after.items():
                                self.assertTrue(torch.equal(value, state[key]), key)
                        expects(estimator, 5)
                        estimator.set_extra_state(state)

    def test_those_of_another_shape_are_refused(self):
        one = anesi.Estimator(lambda z: z[:, 0].double(), [2, 3], settings={"first": 20})
        expects(one, 0)
        for other in (
            anesi.Estimator(lambda z: z[:, 0].double(), [3, 3]),
            anesi.Estimator(lambda z: z[:, 0].double(), [2, 3], settings={"model": "normal"}),
            anesi.Estimator(lambda z: z[:, 0].double(), [2, 2]),
        ):
            before = other.get_extra_state()
            with self.assertRaises((ValueError, RuntimeError)):
                other.set_extra_state(one.get_extra_state())
            self.assertTrue(all(torch.equal(part, before[name]) for name, part in other.get_extra_state().items()))


class Collected(unittest.TestCase):
    """What refers to itself through the library is collected like anything else in Python."""

    def test_estimators_and_knowledge(self):
        class Owner:
            def __init__(self, make):
                self.made = make(self)

            def outcomes(self, z):
                return z[:, 0].double()

            def sum(self, w):
                return w.sum(1)

        makes = {
            "estimator": lambda owner: anesi.Estimator(owner.outcomes, [2, 2], settings={"first": 20}),
            "exact": lambda owner: anesi.Knowledge(owner.sum, [2, 2], [3], verbose=False),
            "learned": lambda owner: anesi.Knowledge(owner.sum, [2, 2], [3], architecture="mlp", settings=SMALL, verbose=False),
        }
        for name, make in makes.items():
            with self.subTest(of=name):
                owner = Owner(make)
                if name == "estimator":
                    expects(owner.made, 0)
                else:
                    learns(owner.made)
                gone, made = weakref.ref(owner), weakref.ref(owner.made)
                del owner
                gc.collect()
                self.assertIsNone(gone())
                self.assertIsNone(made())

    def test_an_estimator_alone_needs_no_collector(self):
        estimator = anesi.Estimator(lambda z: z[:, 0].double(), [2, 2])
        gone = weakref.ref(estimator)
        gc.disable()
        try:
            del estimator
            self.assertIsNone(gone())
        finally:
            gc.enable()


class WithoutGradients(unittest.TestCase):
    """torch.inference_mode() makes tensors that must not get into what goes on learning."""

    def test_made_and_trained_within_and_then_without(self):
        logits, labels = torch.zeros(3, 2, 3), torch.tensor([0, 2, 4])
        for first in (True, False):
            with torch.inference_mode(first):
                know = learned(settings={"q.perceived": True})
            with torch.inference_mode(not first):
                know.loss(logits.clone(), labels)
                know.predict(logits.clone())
                state = know.state_dict()
            with torch.inference_mode(first):
                know.loss(logits.clone(), labels)
                know.load_state_dict(state)
                know.double().float()
            within = logits.clone().requires_grad_()
            know.loss(within, labels).backward()
            self.assertTrue(torch.isfinite(within.grad).all())

    def test_it_learns_the_same(self):
        def losses(within):
            know = learned()
            with torch.inference_mode(within):
                return [learns(know, step) for step in range(4)]

        self.assertEqual(losses(True), losses(False))

    def test_a_memory_that_is_watched(self):
        know = found()
        with torch.inference_mode():
            learns(know)
        for step in range(20):
            learns(know, step)


if __name__ == "__main__":
    unittest.main()
