"""q in plain PyTorch: every architecture as a distribution, searches, labels, and how q learns.

Seeds are fixed; set ANESI_TEST_SEED for others.
"""

import contextlib
import copy
import doctest
import itertools
import math
import os
import pickle
import threading
import unittest

import torch
from q_package import SETTINGS, Exact, addition, constraint, every_point, points, q, random_beliefs, uneven

SEED = int(os.environ.get("ANESI_TEST_SEED", "0"))
print(f"ANESI_TEST_SEED={SEED}")
PROBLEMS = {"addition": addition, "uneven": uneven}


class Case:
    """One half of a q of one architecture on one problem, with three beliefs."""

    def __init__(self, architecture, name, explains, dtype=torch.float64, **settings):
        self.name = f"{architecture}, {name}, {'explanation' if explains else 'prediction'}"
        self.problem = PROBLEMS[name]()
        self.whole = q.make_model(self.problem, architecture, explains=True, settings={**SETTINGS, **settings}, seed=SEED).to(dtype)
        self.model = self.whole.explanation if explains else self.whole.prediction
        self.beliefs = random_beliefs(self.problem.worlds, 3, SEED + 1, dtype)
        self.outputs = self.problem.function(self.beliefs.argmax(2)) if explains else None
        self.points = points(self.model.domains)

    def satisfying(self):
        """Which points agree with the function, bool [batch, points]."""
        of_worlds = self.problem.function(points(self.problem.worlds))
        if self.outputs is None:
            return (self.points.unsqueeze(1) == of_worlds.unsqueeze(0)).all(2).any(1).expand(3, -1)
        return (of_worlds.unsqueeze(0) == self.outputs.unsqueeze(1)).all(2)

    def repeated(self, example, times):
        outputs = None if self.outputs is None else self.outputs[example].expand(times, -1)
        return self.beliefs[example].expand(times, -1, -1), outputs


def cases(dtype=torch.float64):
    for architecture, name, explains in itertools.product(q.ARCHITECTURES, PROBLEMS, (False, True)):
        yield Case(architecture, name, explains, dtype)
    for explains in (False, True):
        yield Case("mlp", "uneven", explains, dtype, **{"mlp.follow_beliefs": True, "mlp.log_beliefs": True})


class EveryModel(unittest.TestCase):
    def every(self, check, dtype=torch.float64):
        for case in cases(dtype):
            with self.subTest(case.name, seed=SEED):
                check(case)

    def close(self, one, other, tolerance=1e-9):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)

    def test_probabilities_sum_to_one(self):
        self.every(lambda case: self.close(every_point(case.model, case.beliefs, case.outputs).exp().sum(1), torch.ones(3).double()))

    def test_log_prob_is_the_product_of_the_steps(self):
        def check(case):
            for example in range(3):
                beliefs, outputs = case.repeated(example, len(case.points))
                stepwise = q.SequenceModel.log_prob(case.model, beliefs, case.points, outputs)
                self.close(stepwise, case.model.log_prob(beliefs, case.points, outputs))

        self.every(check)

    def test_rows_are_selected_in_any_order(self):
        def check(case):
            rows = torch.tensor([2, 0, 2, 1])
            for cut in range(len(case.model.order)):
                values = case.points[torch.tensor([1, -1, len(case.points) // 2])]
                rollout = case.model.begin(case.beliefs, case.outputs)
                for variable in case.model.order[:cut]:
                    rollout.advance(values[:, variable])
                total = 0
                rollout.select(rows)
                for variable in case.model.order[cut:]:
                    total = total + rollout.next_log_probs().gather(1, values[rows, variable].unsqueeze(1)).squeeze(1)
                    rollout.advance(values[rows, variable])
                whole = case.model.begin(case.beliefs, case.outputs)
                expected = 0
                for place, variable in enumerate(case.model.order):
                    step = whole.next_log_probs().gather(1, values[:, variable].unsqueeze(1)).squeeze(1)
                    expected = expected + (step if place >= cut else 0)
                    whole.advance(values[:, variable])
                self.close(total, expected[rows])

        self.every(check)

    def test_a_wide_beam_ranks_every_point(self):
        def check(case):
            every = every_point(case.model, case.beliefs, case.outputs)
            found = q.beam_search(case.model, case.beliefs, case.outputs, width=len(case.points) + 3)
            self.assertEqual(found.values.shape[:2], (3, len(case.points)))
            self.close(found.log_prob, every.sort(1, descending=True).values)
            for example in range(3):
                beliefs, outputs = case.repeated(example, len(case.points))
                self.close(case.model.log_prob(beliefs, found.values[example], outputs), found.log_prob[example])
                self.assertEqual(len(found.values[example].unique(dim=0)), len(case.points))

        self.every(check)

    def test_a_beam_of_one_is_greedy(self):
        def check(case):
            found = q.greedy(case.model, case.beliefs, case.outputs)
            rollout = case.model.begin(case.beliefs, case.outputs)
            for variable in case.model.order:
                best = rollout.next_log_probs().argmax(1)
                self.assertTrue(torch.equal(found[:, variable], best))
                rollout.advance(best)

        self.every(check)

    def test_samples_follow_the_model(self):
        count = 4000

        def check(case):
            generator = torch.Generator().manual_seed(SEED + 2)
            beliefs, outputs = case.repeated(0, count)
            drawn = q.sample(case.model, beliefs, outputs, generator=generator)
            self.close(drawn.log_prob, case.model.log_prob(beliefs, drawn.values, outputs))
            expected = every_point(case.model, *case.repeated(0, 1))[0].exp() * count
            place = (drawn.values.unsqueeze(1) == case.points).all(2).long().argmax(1)
            self.assert_follow(torch.bincount(place, minlength=len(case.points)).double(), expected)

        self.every(check)

    def test_samples_at_a_temperature_are_more_even_and_their_log_prob_is_the_models(self):
        case = Case("mlp", "uneven", True)
        beliefs, outputs = case.repeated(0, 4000)
        for temperature in (20.0, 0.3):
            rollout, expected = case.model.begin(*case.repeated(0, len(case.points))), 1.0
            for variable in case.model.order:
                value = case.points[:, variable]
                step = (rollout.next_log_probs() / temperature).softmax(1)
                expected = expected * step.gather(1, value.unsqueeze(1)).squeeze(1)
                rollout.advance(value)
            generator = torch.Generator().manual_seed(SEED)
            drawn = q.sample(case.model, beliefs, outputs, generator=generator, temperature=temperature)
            self.close(drawn.log_prob, case.model.log_prob(beliefs, drawn.values, outputs))
            place = (drawn.values.unsqueeze(1) == case.points).all(2).long().argmax(1)
            self.assert_follow(torch.bincount(place, minlength=len(case.points)).double(), expected * 4000)

    def assert_follow(self, counts, expected):
        """Pearson's chi-square, within six standard deviations of its mean; rare points are taken together."""
        rare = expected < 5
        counts = torch.cat([counts[~rare], counts[rare].sum().view(1)])
        expected = torch.cat([expected[~rare], expected[rare].sum().view(1)]).clamp_min(0.5)
        freedom = max(1, len(counts) - 1)
        statistic = ((counts - expected).square() / expected).sum().item()
        self.assertLess(statistic, freedom + 6 * math.sqrt(2 * freedom) + 6)

    def test_gradients_of_beliefs_and_weights(self):
        def check(case):
            values = case.points[torch.tensor([0, len(case.points) // 2, -1])]
            beliefs = case.beliefs.clone().requires_grad_()
            self.assertTrue(torch.autograd.gradcheck(lambda b: case.model.log_prob(b, values, case.outputs), beliefs))
            rollout_gradient = torch.autograd.grad(
                q.SequenceModel.log_prob(case.model, beliefs, values, case.outputs).sum(), beliefs
            )[0]
            gradient = torch.autograd.grad(case.model.log_prob(beliefs, values, case.outputs).sum(), beliefs)[0]
            self.close(self.along_the_simplex(case, rollout_gradient), self.along_the_simplex(case, gradient))
            for name, weight in list(case.model.named_parameters())[:3]:
                others = dict(case.model.named_parameters())

                def of_weight(changed, name=name, others=others):
                    return torch.func.functional_call(case.model, {**others, name: changed}, (case.beliefs, values, case.outputs))

                self.assertTrue(torch.autograd.gradcheck(of_weight, weight.detach().clone().requires_grad_(), fast_mode=True), name)

        self.every(check)

    @staticmethod
    def along_the_simplex(case, gradient):
        """What is left of a gradient in directions in which beliefs stay beliefs."""
        inside = torch.arange(gradient.shape[2]) < torch.tensor(case.problem.worlds).unsqueeze(1)
        mean = (gradient * inside).sum(2, keepdim=True) / inside.sum(1, keepdim=True)
        return (gradient - mean) * inside

    def test_second_derivatives(self):
        for case in (Case("transducer", "addition", False), Case("scan", "addition", False)):
            with self.subTest(case.name):
                values = case.points[:3]
                beliefs = case.beliefs.clone().requires_grad_()
                self.assertTrue(torch.autograd.gradgradcheck(lambda b: case.model.log_prob(b, values), beliefs))

    def test_pruned_samples_satisfy_and_the_pruned_model_sums_to_one(self):
        def check(case):
            pruner, allowed = case.problem.pruner, case.satisfying()
            total = torch.zeros(3, dtype=torch.float64)
            for example in range(3):
                chosen = case.points[allowed[example]]
                beliefs, outputs = case.repeated(example, len(chosen))
                log_prob = q.log_prob(case.model, beliefs, chosen, outputs, pruner)
                total[example] = log_prob.exp().sum()
                self.assertTrue((log_prob >= case.model.log_prob(beliefs, chosen, outputs) - 1e-9).all())
            self.close(total, torch.ones(3, dtype=torch.float64))
            beliefs, outputs = case.repeated(1, 300)
            drawn = q.sample(case.model, beliefs, outputs, generator=torch.Generator().manual_seed(SEED), pruner=pruner)
            place = (drawn.values.unsqueeze(1) == case.points).all(2).long().argmax(1)
            self.assertTrue(allowed[1][place].all())
            self.close(drawn.log_prob, q.log_prob(case.model, beliefs, drawn.values, outputs, pruner))
            found = q.beam_search(case.model, case.beliefs, case.outputs, width=4, pruner=pruner)
            for example in range(3):
                place = (found.values[example].unsqueeze(1) == case.points).all(2).long().argmax(1)
                self.assertTrue(allowed[example][place[found.log_prob[example].isfinite()]].all())

        self.every(check)

    def test_the_normaliser_of_pruning_is_in_the_graph(self):
        for architecture in q.ARCHITECTURES:
            case = Case(architecture, "uneven", False)
            values = case.problem.function(case.beliefs.argmax(2))
            beliefs = case.beliefs.clone().requires_grad_()
            with self.subTest(architecture):
                pruned = lambda b: q.log_prob(case.model, b, values, None, case.problem.pruner)  # noqa: E731
                self.assertTrue(torch.autograd.gradcheck(pruned, beliefs))

    def test_partial_outputs_are_summed_over(self):
        for architecture, name in itertools.product(q.ARCHITECTURES, PROBLEMS):
            case = Case(architecture, name, False)
            every, width = every_point(case.model, case.beliefs), len(case.model.domains)
            for known in itertools.product((False, True), repeat=width):
                with self.subTest(case.name, known=known):
                    values = case.problem.function(case.beliefs.argmax(2)).masked_fill(~torch.tensor(known), q.UNSET)
                    agrees = ((case.points == values.unsqueeze(1)) | (values.unsqueeze(1) == q.UNSET)).all(2)
                    expected = every.masked_fill(~agrees, -torch.inf).logsumexp(1)
                    self.close(case.model.partial_log_prob(case.beliefs, values), expected)
        case = Case("mlp", "addition", False)
        mixed = torch.tensor([[0, 1, 2], [q.UNSET, q.UNSET, 1], [1, q.UNSET, q.UNSET]])
        one_by_one = [case.model.partial_log_prob(case.beliefs[row : row + 1], mixed[row : row + 1]) for row in range(3)]
        self.close(case.model.partial_log_prob(case.beliefs, mixed), torch.cat(one_by_one))
        with self.assertRaisesRegex(ValueError, "completions"):
            case.model.partial_log_prob(case.beliefs, mixed, largest=2)

    def test_a_joint_beam_ranks_outputs_and_worlds(self):
        for architecture in q.ARCHITECTURES:
            whole = (case := Case(architecture, "uneven", True)).whole
            outputs, worlds = points(case.problem.outputs), points(case.problem.worlds)
            found = q.joint_beam_search(whole, case.beliefs, width=len(outputs) * len(worlds))
            joint = every_point(whole.prediction, case.beliefs).unsqueeze(2) + torch.stack(
                [every_point(whole.explanation, case.beliefs, y.expand(3, -1)) for y in outputs], 1
            )
            with self.subTest(architecture):
                self.close(found.log_prob, joint.flatten(1).sort(1, descending=True).values)
                narrow = q.joint_beam_search(whole, case.beliefs, width=3)
                for row in range(3):
                    of_outputs = whole.prediction.log_prob(case.beliefs[row].expand(3, -1, -1), narrow.outputs[row])
                    beliefs = case.beliefs[row].expand(3, -1, -1)
                    of_worlds = whole.explanation.log_prob(beliefs, narrow.worlds[row], narrow.outputs[row])
                    self.close(of_outputs + of_worlds, narrow.log_prob[row])

    def test_weights_go_out_and_in_by_name(self):
        for architecture in q.ARCHITECTURES:
            with self.subTest(architecture):
                one = Case(architecture, "addition", True).whole
                other = q.make_model(addition(), architecture, explains=True, settings=SETTINGS, seed=SEED + 9).double()
                other.load_tensors({**one.tensors(), "perception.weight": torch.ones(1)})
                self.assertEqual(set(one.tensors()), set(other.tensors()))
                self.assertTrue(all(torch.equal(tensor, other.tensors()[name]) for name, tensor in one.tensors().items()))
                damaged = {**one.tensors()}
                damaged.pop(next(iter(damaged)))
                with self.assertRaisesRegex(ValueError, "missing or has another shape"):
                    other.load_tensors(damaged)

    def test_copies_are_whole(self):
        for architecture in q.ARCHITECTURES:
            with self.subTest(architecture):
                case = Case(architecture, "addition", True)
                same = copy.deepcopy(case.whole)
                with torch.no_grad():
                    for parameter in case.whole.parameters():
                        parameter.zero_()
                fresh = Case(architecture, "addition", True)
                worlds = case.beliefs.argmax(2)
                for half in ("prediction", "explanation"):
                    values = case.outputs if half == "prediction" else worlds
                    context = (None,) if half == "prediction" else (case.outputs,)
                    found = getattr(same, half).log_prob(case.beliefs, values, *context)
                    self.close(found, getattr(fresh.whole, half).log_prob(case.beliefs, values, *context))


class TheTransducer(unittest.TestCase):
    def setUp(self):
        self.case = Case("transducer", "addition", True)
        self.model, self.beliefs = self.case.whole.prediction, self.case.beliefs

    def test_is_multilinear(self):
        other = random_beliefs(self.case.problem.worlds, 3, SEED + 5, torch.float64)
        for variable in range(4):
            one, two, mixed = (self.beliefs.clone() for _ in range(3))
            two[:, variable] = other[:, variable]
            mixed[:, variable] = 0.3 * one[:, variable] + 0.7 * two[:, variable]
            expected = 0.3 * every_point(self.model, one).exp() + 0.7 * every_point(self.model, two).exp()
            torch.testing.assert_close(every_point(self.model, mixed).exp(), expected)
        self.assertTrue(self.model.multilinear)

    def test_explains_by_bayes_rule(self):
        worlds = points(self.case.problem.worlds)
        for row in range(3):
            beliefs, outputs = self.case.repeated(row, len(worlds))
            certain = torch.nn.functional.one_hot(worlds, 3).double()
            of_worlds = beliefs.gather(2, worlds.unsqueeze(2)).squeeze(2).prod(1)
            joint = of_worlds * self.model.log_prob(certain, outputs).exp()
            stepwise = q.SequenceModel.log_prob(self.case.model, beliefs, worlds, outputs).exp()
            torch.testing.assert_close(stepwise, joint / joint.sum())

    def test_most_probable_path(self):
        for is_open in (False, True):
            outputs = self.case.outputs.clone()
            if is_open:
                outputs[:, 1] = q.UNSET
            found = self.case.model.most_probable(self.beliefs, outputs)
            for row in range(3):
                scores = [self.best_path(world, row, outputs[row]) for world in points(self.case.problem.worlds).tolist()]
                self.assertAlmostEqual(self.best_path(found[row].tolist(), row, outputs[row]), max(scores))

    def best_path(self, world, row, outputs):
        """The probability of the best path through states with this world, times the world's own."""
        best = self.model.initial.softmax(0)
        for step in self.model.steps:
            table = self.model.tables()[step.kind]
            place = 0
            for variable in step.reads:
                best = best * self.beliefs[row, variable, world[variable]]
                place = place * 3 + world[variable]
            at = table[place]  # [states, emitted, next states]
            value = q.UNSET if step.emits is None else outputs[step.emits].item()
            at = at.sum(1) if value == q.UNSET else at[:, value]
            best = (best.unsqueeze(1) * at).amax(0)
        return best.max().item()

    def test_an_impossible_world_has_no_probability_and_no_gradient_that_is_not_a_number(self):
        with torch.no_grad():
            self.model.initial.copy_(torch.tensor([0.0, 0.0, 0.0]))
            self.model.table0.fill_(-torch.inf)  # emits 0 always
            self.model.table0.view(9, 3, 3, 3)[:, :, 0] = 0
        beliefs = self.beliefs.clone().requires_grad_()
        log_prob = self.model.log_prob(beliefs, torch.tensor([[0, 0, 0], [0, 1, 0], [1, 0, 0]]))
        self.assertEqual(log_prob.isneginf().tolist(), [False, True, False])
        log_prob[log_prob.isfinite()].sum().backward()
        self.assertTrue(beliefs.grad.isfinite().all())
        with self.assertRaisesRegex(ValueError, "no world of positive probability"):
            self.case.model.begin(self.beliefs, torch.tensor([[0, 1, 0]] * 3))

    def test_the_most_probable_world_heads_an_explanation(self):
        best = self.case.model.most_probable(self.beliefs, self.case.outputs)
        log_prob = self.case.model.log_prob(self.beliefs, best, self.case.outputs)
        found = q.explain(self.case.model, self.beliefs, self.case.outputs, width=2)
        self.assertTrue((found.log_prob[:, 0] >= log_prob - 1e-9).all())
        every = every_point(self.case.model, self.beliefs, self.case.outputs)
        wide = q.explain(self.case.model, self.beliefs, self.case.outputs, width=100)
        torch.testing.assert_close(wide.log_prob, every.sort(1, descending=True).values)


class OwnNetwork(torch.nn.Module):
    """Of a user: sees beliefs, what was chosen, and the outputs to explain."""

    def __init__(self, inputs, domains, seen=0):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(inputs + seen + place, size) for place, size in enumerate(domains)])

    def forward(self, beliefs, so_far, *outputs):
        seen = torch.cat([beliefs.flatten(1), *outputs, so_far], 1)
        return self.layers[so_far.shape[1]](seen.to(beliefs.dtype))


class OwnModels(unittest.TestCase):
    def test_predicts_and_explains(self):
        problem = uneven()
        torch.manual_seed(SEED)
        beliefs = random_beliefs(problem.worlds, 3, SEED, torch.float64)
        prediction = q.Stepwise(OwnNetwork(12, [2, 5]), problem.outputs, order=[1, 0]).double()
        explanation = q.Stepwise(OwnNetwork(12, problem.worlds, 2), problem.worlds).double()
        y = problem.function(beliefs.argmax(2))
        for model, outputs in ((prediction, None), (explanation, y)):
            torch.testing.assert_close(every_point(model, beliefs, outputs).exp().sum(1), torch.ones(3).double())
            found = q.beam_search(model, beliefs, outputs, width=5)
            torch.testing.assert_close(
                found.log_prob, every_point(model, beliefs, outputs).sort(1, descending=True).values[:, :5]
            )

    def test_learns(self):
        problem = q.Problem([3, 3], [5], lambda w: w.sum(1, keepdim=True))
        torch.manual_seed(SEED)
        network = torch.nn.Sequential(torch.nn.Linear(6, 32), torch.nn.ReLU(), torch.nn.Linear(32, 5))

        class Mine(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.network = network

            def forward(self, beliefs, outputs_so_far):
                return self.network(beliefs.flatten(1))

        loss = amortized(problem, q.InferenceModel(q.Stepwise(Mine(), [5])), q.Options(pretrain=150, lr=0.02))
        before = divergence(loss)
        loss.pretrain()
        self.assertLess(divergence(loss), 0.3 * before)

    def test_logits_of_another_size_are_refused(self):
        model = q.Stepwise(OwnNetwork(12, [2, 5]), [5, 2])
        with self.assertRaisesRegex(ValueError, r"logits \(2, 2\) for variable 0, expected \(2, 5\)"):
            model.log_prob(random_beliefs([3, 2, 4], 2, 0), torch.zeros(2, 2, dtype=torch.int64))


class Orders(unittest.TestCase):
    def test_what_does_not_fit_is_refused(self):
        for steps, message in (
            ([q.Step([0, 0], 0)], "world variable 0 appears twice"),
            ([q.Step([0], 0)], "world variable 1 is missing"),
            ([q.Step([0, 1])], "output variable 0 is missing"),
            ([q.Step([0, 2], 0)], "world variable 2 does not exist"),
            ([q.Step([0], None), q.Step([1], 0)], "kind 0 differ"),
            ([q.Step([0, 1], 0, 1)], "number them from 0"),
        ):
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                q.ReadingOrder([3, 2], [4], steps)

    def test_all_then_emit(self):
        order = q.ReadingOrder.all_then_emit([3, 2, 3], [4, 4])
        self.assertEqual([step.kind for step in order.steps], [0, 1, 0, 2, 3])
        self.assertEqual((order.read, order.emitted), ([0, 1, 2], [0, 1]))


class ObservedLabels(unittest.TestCase):
    """Of every kind, against what a q that is exact must say."""

    def setUp(self):
        self.problem = uneven()
        self.beliefs = random_beliefs(self.problem.worlds, 6, SEED, torch.float64)
        self.exact = Exact(self.problem, self.beliefs)
        self.whole = q.InferenceModel(ExactPrediction(self.problem), ExactExplanation(self.problem))
        self.worlds = self.beliefs.argmax(2)
        self.outputs = self.problem.function(self.worlds)

    def log_prob(self, outputs=None, worlds=None, holds=None, **more):
        return q.observed_log_prob(self.whole, self.beliefs, q.Labels(outputs, worlds, holds), **more)

    def exactly(self, outputs=None, worlds=None):
        """log p(w_S, y|P) by enumeration."""
        fits = torch.ones_like(self.exact.of_worlds, dtype=torch.bool)
        if outputs is not None:
            fits &= ((self.exact.outputs == outputs.unsqueeze(1)) | (outputs.unsqueeze(1) == q.UNSET)).all(2)
        if worlds is not None:
            fits &= ((self.exact.worlds == worlds.unsqueeze(1)) | (worlds.unsqueeze(1) == q.UNSET)).all(2)
        return (self.exact.of_worlds * fits).sum(1).log()

    def test_outputs(self):
        torch.testing.assert_close(self.log_prob(self.outputs), self.exactly(self.outputs))
        partial = self.outputs.clone()
        partial[::2, 0] = q.UNSET
        torch.testing.assert_close(self.log_prob(partial), self.exactly(partial))

    def test_outputs_that_do_not_hold(self):
        holds = torch.tensor([True, False] * 3)
        yes = self.exactly(self.outputs)
        torch.testing.assert_close(self.log_prob(self.outputs, holds=holds), torch.where(holds, yes, (1 - yes.exp()).log()))

    def test_worlds(self):
        partly = self.worlds.clone()
        partly[::2, 1] = q.UNSET
        partly[1, :] = q.UNSET
        torch.testing.assert_close(self.log_prob(None, partly), self.exactly(None, partly))
        given = self.log_prob(self.outputs, partly)  # rows 3 and 5 are known altogether
        expected = self.exactly(self.outputs, partly)
        whole = torch.tensor([False, False, False, True, False, True])
        torch.testing.assert_close(given, torch.where(whole, expected - self.exactly(self.outputs), expected))

    def test_whole_worlds_by_bayes_rule_if_q_only_predicts(self):
        with_explanation = self.log_prob(self.outputs, self.worlds)
        self.whole = q.InferenceModel(self.whole.prediction)
        torch.testing.assert_close(self.log_prob(self.outputs, self.worlds), with_explanation)

    def test_log_one_minus_exp_keeps_its_digits(self):
        from_torch = q.observed_log_prob.__globals__["log_one_minus_exp"]
        x = torch.tensor([-1e-12, -1e-3, -0.6931, -0.6932, -5.0, -50.0], dtype=torch.float64, requires_grad=True)
        ways = [math.log(-math.expm1(v)) if v > -1 else math.log1p(-math.exp(v)) for v in x.tolist()]
        expected = torch.tensor(ways, dtype=torch.float64)
        torch.testing.assert_close(from_torch(x), expected, rtol=1e-12, atol=0)
        edge = torch.zeros(1, requires_grad=True)
        from_torch(edge).sum().backward()
        self.assertTrue(edge.grad.isfinite().all() and edge.grad.item() < -1e3)

    def test_counted(self):
        """Importance sampling finds the exact likelihood and gradient, whatever q is."""
        poor = q.make_model(self.problem, "mlp", explains=True, settings=SETTINGS, seed=SEED).double()
        poor.requires_grad_(False)
        partly = self.worlds.clone()
        partly[:3, 1] = q.UNSET
        for worlds in (None, partly):
            beliefs = self.beliefs.clone().requires_grad_()
            labels, generator = q.Labels(self.outputs, worlds), torch.Generator().manual_seed(SEED)
            found = q.counted_log_prob(poor, self.problem, beliefs, labels, 20000, generator)
            self.whole = q.InferenceModel(ExactPrediction(self.problem), ExactExplanation(self.problem))
            exact_beliefs = self.beliefs.clone().requires_grad_()
            expected = q.observed_log_prob(self.whole, exact_beliefs, labels)
            torch.testing.assert_close(found, expected, rtol=0, atol=0.15)
            found.sum().backward()
            expected.sum().backward()
            ratio = (beliefs.grad - exact_beliefs.grad).norm() / exact_beliefs.grad.norm()
            self.assertLess(ratio.item(), 0.15)

    def test_labels_must_say_something(self):
        with self.assertRaisesRegex(ValueError, "a label is missing"):
            q.Labels()
        with self.assertRaisesRegex(ValueError, "holds"):
            q.Labels(worlds=self.worlds, holds=torch.ones(6, dtype=torch.bool))


class ExactPrediction(q.SequenceModel):
    """p(y|P) by enumeration."""

    def __init__(self, problem):
        super().__init__(problem.outputs)
        self.problem = problem
        self.unused = torch.nn.Parameter(torch.zeros(1))

    def log_prob(self, beliefs, values, outputs=None):
        return self.partial_log_prob(beliefs, values)

    def partial_log_prob(self, beliefs, values, largest=0):
        worlds = points(self.problem.worlds)
        of_worlds = beliefs[:, torch.arange(worlds.shape[1]), worlds].prod(2)
        fits = ((self.problem.function(worlds) == values.unsqueeze(1)) | (values.unsqueeze(1) == q.UNSET)).all(2)
        return (of_worlds * fits).sum(1).log()


class ExactExplanation(q.SequenceModel):
    """p(w|y,P) by enumeration."""

    def __init__(self, problem):
        super().__init__(problem.worlds)
        self.prediction = ExactPrediction(problem)

    def log_prob(self, beliefs, values, outputs=None):
        of_world = beliefs.gather(2, values.unsqueeze(2)).squeeze(2).log().sum(1)
        return of_world - self.prediction.log_prob(beliefs, outputs)


def total(worlds):
    return worlds.sum(1, keepdim=True)


def amortized(problem, model, options, kind="fixed", **settings):
    settings = {"prior.concentration": 0.7, **settings}
    return q.Amortized(problem, model, q.make_prior(problem.worlds, kind, settings), options, seed=SEED)


def learner(problem, architecture="mlp", kind="fixed", settings=None, **options):
    options = q.Options(**{"samples": 48, "lr": 0.01, "pretrain": 250, "clip": 10.0, **options})
    width = {"mlp.layers": 1, "mlp.width": 32, "scan.width": 24, "transducer.states": 2}
    model = q.make_model(problem, architecture, explains=options.explains, settings=width, seed=SEED)
    return amortized(problem, model, options, kind, **(settings or {}))


@torch.no_grad()
def divergence(loss, explains=False):
    """Mean KL divergence from the exact p(y|P) to q(y|P), or from p(w|y,P) to q(w|y,P), on beliefs of its prior's kind."""
    problem = loss.problem
    beliefs = q.FixedDirichlet(problem.worlds, 0.7).sample(20, torch.Generator().manual_seed(SEED + 77))
    exact = Exact(problem, beliefs)
    if explains:
        outputs = problem.function(beliefs.argmax(2)) if problem.asked is None else torch.tensor([problem.asked] * 20)
        gives = (exact.outputs == outputs.unsqueeze(1)).all(2)
        p = exact.of_worlds * gives
        p = p / p.sum(1, keepdim=True)
        log_q = every_point(loss.model.explanation, beliefs, outputs)
    else:
        p, log_q = exact.of_outputs, every_point(loss.model.prediction, beliefs)
    return torch.where(p > 0, p * (p.clamp_min(1e-300).log() - log_q), 0).sum(1).mean().item()


class Learning(unittest.TestCase):
    """Algorithm 1 brings q near the exact distributions."""

    def check(self, share, explains=True, **options):
        loss = learner(addition(1), **options)
        halves = (False, True) if explains else (False,)
        before = [divergence(loss, half) for half in halves]
        loss.pretrain()
        after = [divergence(loss, half) for half in halves]
        for what, one, other in zip(("q(y|P)", "q(w|y,P)"), before, after):
            self.assertLess(other, share * one, f"{what}: {one:.3f} to {other:.3f} nats; seed {SEED}")

    def test_predict(self):
        for architecture in ("mlp", "scan"):
            with self.subTest(architecture):
                self.check(0.3, False, architecture=architecture)

    def test_predict_with_the_transducer_from_worlds_alone(self):
        self.check(0.1, False, architecture="transducer", kind="certain", lr=0.05)

    def test_predict_with_the_fitted_prior_and_chunks(self):
        self.check(0.3, False, kind="fitted", chunk=20, settings={"prior.initial": 0.7})

    def test_joint_matching(self):
        for architecture in ("mlp", "scan"):
            with self.subTest(architecture):
                self.check(0.6, architecture=architecture, variant="explain", prediction_weight=1.0)

    def test_joint_matching_on_policy_finds_worlds_that_fit(self):
        """By itself it does not find all of them: q only sees what it draws."""
        for worlds in (1, 4):
            with self.subTest(worlds=worlds):
                loss = learner(addition(1), variant="explain", policy="on", worlds=worlds, prediction_weight=1.0)
                before = self.satisfied(loss)
                loss.pretrain()
                self.assertGreater(self.satisfied(loss), max(0.7, 2 * before))

    def test_joint_matching_on_policy_keeps_a_good_q(self):
        near = learner(addition(1), variant="explain", matching="forward_kl", pretrain=400)
        near.pretrain()
        before = divergence(near, explains=True)
        for worlds in (1, 4):
            with self.subTest(worlds=worlds):
                loss = learner(addition(1), variant="explain", policy="on", worlds=worlds, prediction_weight=1.0, lr=0.001)
                loss.model.load_tensors(near.model.tensors())
                for _ in range(100):
                    loss.update()
                self.assertLess(divergence(loss, explains=True), 1.3 * before)
                self.assertGreater(self.satisfied(loss), 0.9)

    @torch.no_grad()
    def satisfied(self, loss):
        """The share of q's own pairs of an output and a world of which the world gives the output."""
        beliefs = q.FixedDirichlet(loss.problem.worlds, 0.7).sample(400, torch.Generator().manual_seed(SEED + 5))
        y = q.sample(loss.model.prediction, beliefs, generator=loss.generator).values
        w = q.sample(loss.model.explanation, beliefs, y, generator=loss.generator).values
        return (loss.problem.function(w) == y).all(1).double().mean().item()

    def test_joint_matching_on_and_off_policy(self):
        self.check(0.6, variant="explain", policy="both", prediction_weight=1.0, on_policy_weight=0.5)

    def test_forward_kl(self):
        self.check(0.3, variant="explain", matching="forward_kl")

    def test_pruned(self):
        for matching in ("joint", "forward_kl"):
            with self.subTest(matching):
                loss = learner(uneven(), variant="prune", matching=matching, pretrain=150)
                beliefs = q.FixedDirichlet(loss.problem.worlds, 0.7).sample(20, torch.Generator().manual_seed(SEED))
                y = loss.problem.function(beliefs.argmax(2))
                worlds, exact = points(loss.problem.worlds), Exact(loss.problem, beliefs)

                def distance():
                    with torch.no_grad():
                        p = (exact.of_outputs * (exact.points == y.unsqueeze(1)).all(2)).sum(1)
                        return (loss.log_prob(beliefs, q.Labels(y)) - p.log()).abs().mean().item()

                before = distance()
                loss.pretrain()
                self.assertLess(distance(), 0.6 * before)
                drawn = q.sample(loss.model.explanation, beliefs, y, generator=loss.generator, pruner=loss.pruner)
                self.assertTrue(torch.equal(loss.problem.function(drawn.values), y))
                self.assertEqual(len(worlds), 24)

    def test_solutions(self):
        loss = learner(constraint(), variant="prune", policy="solutions", pretrain=200)
        before = self.distance_of_asked(loss)
        loss.pretrain()
        self.assertLess(self.distance_of_asked(loss), 0.5 * before)

    def test_solutions_beside_perception(self):
        loss = learner(constraint(), variant="explain", policy="solutions", perceived=True, pretrain=100)
        before = divergence(loss, explains=True)
        loss.pretrain()
        for seed in range(20):
            self.assertIsNotNone(loss.learn(random_beliefs([3, 3, 3], 8, seed)))
        self.assertLess(divergence(loss, explains=True), 0.7 * before)

    @torch.no_grad()
    def distance_of_asked(self, loss):
        """From q(w|y,P) under the pruner to p(w|y,P), for the output that all labels are about."""
        beliefs = q.FixedDirichlet(loss.problem.worlds, 0.7).sample(20, torch.Generator().manual_seed(SEED + 3))
        exact = Exact(loss.problem, beliefs)
        worlds = exact.worlds[(exact.outputs == 1).all(1)]
        p = exact.of_worlds[:, (exact.outputs == 1).all(1)]
        p = p / p.sum(1, keepdim=True)
        count = len(worlds)
        of_each = q.log_prob(
            loss.model.explanation,
            beliefs.repeat_interleave(count, 0),
            worlds.repeat(20, 1),
            torch.ones(20 * count, 1, dtype=torch.int64),
            loss.pruner,
        )
        return (p * (p.log() - of_each.view(20, count))).sum(1).mean().item()


class Updates(unittest.TestCase):
    def test_joint_matching_has_no_loss_at_the_exact_q(self):
        problem = uneven()
        loss = amortized(problem, q.InferenceModel(ExactPrediction(problem), ExactExplanation(problem)), q.Options(variant="explain"))
        beliefs = random_beliefs(problem.worlds, 30, SEED, torch.float64)
        worlds = torch.distributions.Categorical(beliefs).sample()
        exercise = q.Exercise(beliefs, worlds, problem.function(worlds))
        self.assertLess(loss.q_loss(exercise).item(), 1e-20)

    def test_joint_matching_on_policy_has_no_loss_at_the_exact_q(self):
        problem = addition(2)
        exact = q.Transducer(problem, q.TransducerOptions(2)).double()
        with torch.no_grad():
            exact.initial.copy_(torch.tensor([0.0, -torch.inf]))  # the state is the carry
            for parameter in (exact.table0, exact.table1):
                parameter.fill_(-torch.inf)
            for one, two, carry in itertools.product(range(3), range(3), range(2)):
                total = one + two + carry
                exact.table0[one * 3 + two, carry, total % 3 * 2 + total // 3] = 0
            for carry in range(2):
                exact.table1[0, carry, carry * 2] = 0
        for worlds in (1, 5):
            options = q.Options(variant="explain", policy="on", worlds=worlds)
            loss = amortized(problem, q.InferenceModel(exact, q.TransducerExplanation(exact)), options)
            loss.matches = True  # its explanation has no weights
            beliefs = random_beliefs(problem.worlds, 30, SEED, torch.float64)
            drawn = torch.distributions.Categorical(beliefs).sample()
            self.assertLess(loss.q_loss(q.Exercise(beliefs, drawn, problem.function(drawn))).item(), 1e-16)

    def test_a_sample_that_is_impossible_lowers_q(self):
        ratio = q.Amortized.update.__globals__["squared_log_ratio"]
        log_q = torch.tensor([-1.0, -2.0], requires_grad=True)
        value = ratio(log_q, torch.tensor([-torch.inf, -3.0]))
        self.assertEqual(value.tolist(), [100.0, 1.0])
        value.sum().backward()
        self.assertEqual(log_q.grad.tolist(), [20.0, 2.0])

    def test_chunks_change_rounding_alone(self):
        whole, chunked = (learner(addition(1), chunk=chunk, pretrain=0) for chunk in (0, 20))
        for _ in range(3):
            self.assertAlmostEqual(whole.update(), chunked.update(), places=5)
        for name, tensor in whole.model.tensors().items():
            torch.testing.assert_close(tensor, chunked.model.tensors()[name], rtol=1e-3, atol=1e-4)

    def test_the_gradient_is_clipped(self):
        """Adam's first step hides the norm of a gradient; its first moment does not."""
        norms = []
        for clip in (0.0, 1e-3):
            loss = learner(addition(1), clip=clip, pretrain=0)
            loss.update()
            moments = [state["exp_avg"] for state in loss.state_dict()["optimizer"]["state"].values()]
            norms.append(math.sqrt(sum(moment.square().sum().item() for moment in moments)) * 10)
        self.assertGreater(norms[0], 1e-2)
        self.assertAlmostEqual(norms[1], 1e-3, places=5)

    def test_q_is_at_rest_between_updates(self):
        loss = learner(addition(1), variant="explain", pretrain=1)
        loss.pretrain()
        self.assertFalse(loss.model.training or any(parameter.requires_grad for parameter in loss.model.parameters()))
        beliefs = random_beliefs(loss.problem.worlds, 4, SEED).requires_grad_()
        value = loss.loss(beliefs, q.Labels(loss.problem.function(beliefs.argmax(2))))
        value.backward()
        self.assertTrue(beliefs.grad.abs().sum() > 0)
        self.assertTrue(all(parameter.grad is None for parameter in loss.model.parameters()))
        with torch.no_grad():
            self.assertGreater(loss.learn(beliefs), 0)  # learns whatever its caller does

    def test_learns_the_same_whatever_its_caller_is_in(self):
        losses = []
        for context in (contextlib.nullcontext(), torch.no_grad(), torch.inference_mode(), torch.autocast("cpu", torch.bfloat16)):
            loss = learner(addition(1), variant="explain", kind="fitted", perceived=True, pretrain=0)
            with context:
                beliefs = random_beliefs([3, 3], 5, SEED)
                y = loss.problem.function(beliefs.argmax(2))
                losses.append([loss.learn(beliefs) for _ in range(3)] + [loss.loss(beliefs, q.Labels(y)).item()])
        self.assertEqual(losses, losses[:1] * 4)

    def test_a_failed_update_leaves_nothing(self):
        loss = learner(addition(1), pretrain=0)
        beliefs, worlds = loss.prior.sample_with_worlds(8, loss.generator)
        before = {name: tensor.clone() for name, tensor in loss.model.tensors().items()}
        with self.assertRaisesRegex(ValueError, "not a finite number"):
            loss.update_on(q.Exercise(beliefs * math.nan, worlds, loss.problem.function(worlds)), q.Rate(0.1))
        self.assertTrue(all(torch.equal(tensor, before[name]) for name, tensor in loss.model.tensors().items()))
        self.assertTrue(all(weight.grad is None and not weight.requires_grad for weight in loss.model.parameters()))

    def test_every_and_frozen(self):
        beliefs = random_beliefs([3, 3], 4, SEED)
        every = learner(addition(1), every=3, pretrain=0)
        self.assertEqual([every.learn(beliefs) is not None for _ in range(7)], [True, False, False] * 2 + [True])
        frozen = learner(addition(1), frozen=True, pretrain=0)
        before = {name: tensor.clone() for name, tensor in frozen.model.tensors().items()}
        self.assertIsNone(frozen.learn(beliefs))
        self.assertTrue(all(torch.equal(tensor, before[name]) for name, tensor in frozen.model.tensors().items()))

    def test_goes_on_bit_for_bit(self):
        for architecture, kind, options in (
            ("mlp", "fitted", {"variant": "explain", "policy": "both", "every": 2}),
            ("scan", "observed", {"perceived": True}),
            ("transducer", "certain", {}),
            ("mlp", "fixed", {"variant": "explain", "counted": 3}),
        ):
            with self.subTest(architecture, **options):
                one, other = (learner(addition(1), architecture, kind, pretrain=0, **options) for _ in range(2))
                steps = [random_beliefs([3, 3], 5, seed) for seed in range(9)]
                for beliefs in steps[:4]:
                    one.learn(beliefs)
                other.load_state_dict(copy.deepcopy(one.state_dict()))
                for beliefs in steps[4:]:
                    self.assertEqual(one.learn(beliefs), other.learn(beliefs))
                    y = one.problem.function(beliefs.argmax(2))
                    self.assertTrue(torch.equal(one.log_prob(beliefs, q.Labels(y)), other.log_prob(beliefs, q.Labels(y))))
                self.assertTrue(torch.equal(one.generator.get_state(), other.generator.get_state()))

    def test_a_damaged_state_changes_nothing(self):
        one, other = (learner(addition(1), "mlp", "fitted", pretrain=0) for _ in range(2))
        one.learn(random_beliefs([3, 3], 5, 1))
        state = one.state_dict()
        state["generator"] = state["generator"][:5]
        before = copy.deepcopy(other.state_dict())
        with self.assertRaises(Exception):
            other.load_state_dict(state)
        after = other.state_dict()
        for part in ("model", "prior"):
            self.assertTrue(all(torch.equal(after[part][name], tensor) for name, tensor in before[part].items()))

    def test_copies_and_pickles_go_on_as_it_does(self):
        one = learner(q.Problem([3, 3], [5], total), variant="explain", kind="fitted", pretrain=2)
        one.pretrain()
        others = [copy.deepcopy(one), pickle.loads(pickle.dumps(one))]
        for seed in range(3):
            losses = [loss.learn(random_beliefs([3, 3], 5, seed)) for loss in (one, *others)]
            self.assertEqual(losses, losses[:1] * 3)

    def test_partners_share_an_update(self):
        alone, *together = (learner(addition(1), variant="explain", samples=21, pretrain=0) for _ in range(4))
        barrier, messages = threading.Barrier(3, timeout=60), {}

        def work(rank):
            def add_up(message):
                messages[rank] = message.clone()
                barrier.wait()
                message.copy_(messages[0] + messages[1] + messages[2])
                barrier.wait()

            together[rank].join(q.Partners(rank, 3, add_up))
            losses[rank] = [together[rank].update() for _ in range(4)]

        losses = [[], [], []]
        threads = [threading.Thread(target=work, args=(rank,)) for rank in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one, other in zip([alone.update() for _ in range(4)], losses[0]):
            self.assertAlmostEqual(one, other, places=4)
        for name, tensor in together[0].model.tensors().items():
            self.assertTrue(torch.equal(tensor, together[2].model.tensors()[name]))
            torch.testing.assert_close(tensor, alone.model.tensors()[name], rtol=1e-3, atol=1e-4)
        with self.assertRaisesRegex(ValueError, "q.policy=both"):
            learner(addition(1), variant="explain", policy="both").join(q.Partners(0, 2))

    def test_goes_on_in_double_precision(self):
        loss = learner(addition(1), variant="explain", pretrain=3)
        loss.pretrain()
        before = loss.log_prob(random_beliefs([3, 3], 4, 1), q.Labels(torch.tensor([[0, 1]] * 4)))
        after = loss.to(torch.float64).log_prob(random_beliefs([3, 3], 4, 1), q.Labels(torch.tensor([[0, 1]] * 4)))
        self.assertEqual(after.dtype, torch.float64)
        torch.testing.assert_close(before.double(), after, rtol=1e-4, atol=1e-5)
        self.assertTrue(math.isfinite(loss.update()))

    def test_examples_in_the_documentation(self):
        for name in ("model",):
            failed, tried = doctest.testmod(getattr(q, name))
            self.assertEqual((failed, tried > 0), (0, True), name)

    def test_double_precision(self):
        problem = addition(1)
        model = q.make_model(problem, "scan", explains=True, settings=SETTINGS, seed=SEED).double()
        loss = amortized(problem, model, q.Options(variant="explain", samples=8, pretrain=3))
        loss.pretrain()
        beliefs = random_beliefs(problem.worlds, 3, SEED)
        self.assertEqual(loss.log_prob(beliefs, q.Labels(problem.function(beliefs.argmax(2)))).dtype, torch.float64)

    def test_options_that_do_not_fit_are_refused(self):
        problem, uneven_problem = addition(1), q.Problem([3], [3], lambda w: w)
        predicts = q.make_model(problem, "mlp", settings=SETTINGS)
        prior = q.FixedDirichlet(problem.worlds)
        for options in (q.Options(variant="explain"), q.Options(counted=4)):
            with self.assertRaisesRegex(ValueError, "explanation model"):
                q.Amortized(problem, predicts, prior, options)
        explains = q.make_model(uneven_problem, "mlp", explains=True, settings=SETTINGS)
        with self.assertRaisesRegex(ValueError, "no pruner"):
            q.Amortized(uneven_problem, explains, q.FixedDirichlet([3]), q.Options(variant="prune"))
        for settings, message in (
            ({"q.sample": 3}, "no such option"),
            ({"q.samples": "many"}, "not a whole number"),
            ({"q.samples": 0}, "at least 1"),
            ({"q.policy": "of"}, "one of off, on"),
            ({"q.perceived": "yes"}, "true or false"),
        ):
            with self.subTest(settings), self.assertRaisesRegex(ValueError, message):
                q.with_settings(q.Options(), "q", settings)
        found = q.with_settings(q.Options(), "q", {"q.lr": "0.5", "q.perceived": "true", "mlp.width": 3})
        self.assertEqual((found.lr, found.perceived), (0.5, True))

    def test_schedules(self):
        cosine = q.Options(schedule="cosine", lr=1.0)
        self.assertEqual(cosine.rate(0, 100).lr, 1.0)
        self.assertAlmostEqual(cosine.rate(99, 100).lr, 0.02)
        cycle = q.Options(schedule="one_cycle", lr=1.0)
        rates = [cycle.rate(step, 101) for step in range(101)]
        self.assertAlmostEqual(rates[0].lr, 1 / 25)
        self.assertAlmostEqual(rates[20].lr, 1.0)
        self.assertAlmostEqual(rates[20].beta1, 0.85)
        self.assertLess(rates[100].lr, 1e-5)
        self.assertAlmostEqual(q.Options(lr=0.3, joint_lr=0.1).rate_beside().lr, 0.1)


if __name__ == "__main__":
    unittest.main()
