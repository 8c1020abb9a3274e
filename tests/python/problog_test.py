"""anesi.problog against ProbLog's own exact inference, and programs that are ground against the same programs run."""

import importlib.util
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
import warnings

import torch

import anesi

SEED = int(os.environ.get("ANESI_TEST_SEED", random.randrange(1 << 30)))

if importlib.util.find_spec("problog"):
    from problog import get_evaluatable
    from problog.program import PrologString

    import anesi.problog
    from anesi._problog_ground import GroundFunction
    from anesi._problog_program import Program
    from anesi._problog_worlds import WorldFunction

warnings.filterwarnings("ignore", message="The use of")  # ProbLog's, of == and \==

DIGIT = "nn(net, [X], Y, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) :: digit(X, Y).\n"
ADDITION = """
addition(X, Y, Z) :- digit(X, X2), digit(Y, Y2), Z is X2 + Y2.
number([], N, N).
number([H|T], Before, N) :- digit(H, D), After is D + 10 * Before, number(T, After, N).
number(L, N) :- number(L, 0, N).
sum(X, Y, Z) :- number(X, X2), number(Y, Y2), Z is X2 + Y2.
"""
COINS = """
nn(first, [X], Y, [heads, tails]) :: coin(1, X, Y).
nn(second, [X], Y, [heads, tails]) :: coin(2, X, Y).
"""
GAME = """
outcome(X, X, win).
outcome(X, Y, loss) :- \\+ outcome(X, Y, win).
game(X, O) :- coin(1, X, A), coin(2, X, B), outcome(A, B, O).
"""
CARDS = """
t(1/4) :: house(jack); t(1/4) :: house(queen); t(1/4) :: house(king); t(1/4) :: house(ace).
nn(net, [X], Y, [jack, queen, king, ace]) :: rank(X, Y).
value(jack, 0). value(queen, 1). value(king, 2). value(ace, 3).
pair([A, B], V) :- member(X, [A, B]), house(X), value(X, V).
pair([A, A], V) :- house(H), A \\= H, value(A, V).
best(Cards, V) :- pair(Cards, V), \\+ (pair(Cards, W), W > V).
best(Cards, -1) :- \\+ pair(Cards, _).
result(V, W, win) :- V > W.
result(V, W, loss) :- V < W.
result(V, V, draw).
play([A, B, C, D], R) :- rank(A, A2), rank(B, B2), rank(C, C2), rank(D, D2),
    best([A2, B2], V), best([C2, D2], W), result(V, W, R).
"""
SORT = """
nn(swap, [X, Y], Z, [no, yes]) :: swap(X, Y, Z).
order(X, Y, X, Y) :- swap(X, Y, no).
order(X, Y, Y, X) :- swap(X, Y, yes).
bubble([X], [], X).
bubble([X, Y|T], [A|R], L) :- order(X, Y, A, B), bubble([B|T], R, L).
sorted([], L, L).
sorted(L, Done, S) :- bubble(L, R, X), sorted(R, [X|Done], S).
sort3(L, S) :- sorted(L, [], S).
"""
FORMULA = """
nn(numbers, [X], Y, [0, 1, 2, 3]) :: number(X, Y).
nn(signs, [X], Y, [+, -, *, /]) :: sign(X, Y).
read([N], [M]) :- number(N, M).
read([N, S|T], [M, R|U]) :- number(N, M), sign(S, R), read(T, U).
value([N], N).
value([N, +|T], R) :- value(T, S), R is N + S.
value([N, -|T], R) :- value([-1, *|T], S), R is N + S.
value([N, *, M|T], R) :- P is N * M, value([P|T], R).
value([N, /, M|T], R) :- M \\= 0, P is float(N / M), P \\= 0.0, value([P|T], R).
formula(L, R) :- read(L, S), value(S, R).
"""


def knowledge(program, query=None, **more):
    return anesi.problog.Knowledge(program, query, verbose=False, **more)


def disjunction(atoms, beliefs):
    return "; ".join(f"{belief - 1e-10:.10f} :: {atom}" for atom, belief in zip(atoms, beliefs)) + ".\n"


def probabilities(program, query):
    """What ProbLog says of each answer, by its text."""
    found = get_evaluatable().create_from(PrologString(program + f"\nquery({query}).")).evaluate()
    return {str(term): float(probability) for term, probability in found.items()}


@unittest.skipUnless(importlib.util.find_spec("problog"), "problog is not installed")
class AsProbLogSays(unittest.TestCase):
    """The same weights give the same probabilities."""

    def draw(self, *shape):
        return torch.randn(*shape, dtype=torch.float64, generator=self.rng)

    def setUp(self):
        self.rng = torch.Generator().manual_seed(SEED)

    def agree(self, know, logits, expected, text):
        """expected: what ProbLog says, by the text of an atom; text: that of an answer."""
        self.assertEqual({text(answer) for answer in know.answers}, set(expected))
        for answer in know.answers:
            found = know.log_prob(logits, [answer]).exp().item()
            self.assertAlmostEqual(found, expected[text(answer)], places=6, msg=text(answer))

    def test_addition(self):
        know = knowledge(DIGIT + ADDITION, "addition(a, tensor(train(3)), Z)")
        self.assertEqual([each.inputs for each in know.inputs], [("a",), ("tensor(train(3))",)])
        logits = self.draw(1, 2, 10)
        beliefs = logits.softmax(2)[0].tolist()
        neural = disjunction([f"digit(a,{d})" for d in range(10)], beliefs[0])
        neural += disjunction([f"digit(tensor(train(3)),{d})" for d in range(10)], beliefs[1])
        expected = probabilities(neural + ADDITION, "addition(a, tensor(train(3)), Z)")
        self.assertEqual(len(expected), 19)
        self.agree(know, logits, expected, lambda z: f"addition(a,tensor(train(3)),{z})")

    def test_coins(self):
        logits = self.draw(1, 2, 2)
        beliefs = logits.softmax(2)[0].tolist()
        neural = "".join(disjunction([f"coin({n},x,heads)", f"coin({n},x,tails)"], beliefs[n - 1]) for n in (1, 2))
        know = knowledge(COINS + GAME, "game(x, O)")
        self.assertEqual([each.network for each in know.inputs], ["first", "second"])
        self.assertEqual(know.answers, ["loss", "win"])
        self.agree(know, logits, probabilities(neural + GAME, "game(x, O)"), lambda o: f"game(x,{o})")
        win = knowledge(COINS + GAME + "win :- game(x, win).\nquery(win).")
        self.assertEqual(win.answers, [False, True])
        expected = probabilities(neural + GAME + "win :- game(x, win).", "win")["win"]
        self.assertAlmostEqual(win.log_prob(logits, [True]).exp().item(), expected, places=6)
        self.assertAlmostEqual(win.log_prob(logits, torch.tensor([0])).exp().item(), 1 - expected, places=6)

    def test_what_the_program_leaves_to_chance(self):
        rules = """
            0.3 :: broken.
            0.2 :: shift(X, 1); 1/3 :: shift(X, 2) :- \\+ broken.
            0.25 :: unused; 0.5 :: other.
            seen(X, Y) :- bit(X, D), shift(X, S), Y is D + S.
            seen(X, D) :- bit(X, D), \\+ shift(X, 1), \\+ shift(X, 2), \\+ other.
            seen(X, 7) :- \\+ shift(X, 1), \\+ shift(X, 2), other.
        """
        know = knowledge("nn(net, [X], Y, [0, 1]) :: bit(X, Y)." + rules, "seen(a, Y)")
        self.assertEqual(len(know.inputs), 1)
        self.assertEqual(sorted(len(each.values) for each in know.chances), [2, 2, 3])
        for dtype in (torch.float64, torch.float32):
            logits = self.draw(1, 2).to(dtype)
            neural = disjunction(["bit(a,0)", "bit(a,1)"], logits.double().softmax(1)[0].tolist())
            expected = probabilities(neural + rules, "seen(a, Y)")
            self.agree(know, logits, expected, lambda y: f"seen(a,{y})")
        found = know.log_prob(beliefs=logits.softmax(1).unsqueeze(1), outputs=[7]).exp().item()
        self.assertAlmostEqual(found, expected["seen(a,7)"], places=6)
        self.assertEqual(know.explain(logits, [7]).worlds.shape[2], 1 + len(know.chances))

    def test_neural_facts_and_clauses(self):
        rules = """
            warm(X) :- hot(X).
            loud(r).
            alarm :- warm(r), \\+ asleep(r).
            alarm :- asleep(s), kind(r, bad).
        """
        neural = """
            nn(heat, [X]) :: hot(X).
            nn(sleep, [X]) :: asleep(X).
            nn(ear, [X], Y, [good, bad]) :: kind(X, Y) :- loud(X).
        """
        know = knowledge(neural + rules, "alarm")
        logits = [self.draw(1, 2) for _ in know.inputs]
        belief = {(each.network, *each.inputs): x.softmax(1)[0].tolist() for each, x in zip(know.inputs, logits)}
        facts = f"{belief['heat', 'r'][1]}::hot(r). {belief['sleep', 'r'][1]}::asleep(r). {belief['sleep', 's'][1]}::asleep(s).\n"
        expected = probabilities(facts + disjunction(["kind(r,good)", "kind(r,bad)"], belief["ear", "r"]) + rules, "alarm")
        self.assertAlmostEqual(know.log_prob(logits, [True]).exp().item(), expected["alarm"], places=6)

    def test_random_programs(self):
        draw = random.Random(SEED)
        for number in range(20):
            rules, atoms = "", ["bit(a,1)", "bit(b,1)", "bit(c,2)", "luck"]
            for head in range(5):
                for _ in range(draw.randint(1, 3)):
                    body = [draw.choice(["", "\\+ "]) + draw.choice(atoms) for _ in range(draw.randint(1, 3))]
                    rules += f"p{head} :- {', '.join(body)}.\n"
                atoms.append(f"p{head}")
            rules += "0.35 :: luck.\nreach(X) :- edge(Y, X), reach(Y).\nreach(1).\nedge(1, 2) :- p3.\nedge(2, 1) :- p1.\nedge(2, 3) :- p2.\nedge(3, 2)."
            query = draw.choice(["p4", "reach(3)"])  # the second is cyclic: only ProbLog's tabling ends there
            logits = [self.draw(1, 3) for _ in range(3)]
            neural = "".join(
                disjunction([f"bit({name},{value})" for value in range(3)], part.softmax(1)[0].tolist())
                for name, part in zip("abc", logits)
            )
            with self.subTest(number=number, rules=rules, query=query):
                expected = probabilities(neural + rules, query)[query]
                try:
                    know = knowledge("nn(n, [X], Y, [0, 1, 2]) :: bit(X, Y).\n" + rules, query)
                except ValueError as error:
                    self.assertIn(query, str(error))
                    continue
                asked = [logits["abc".index(each.inputs[0])] for each in know.inputs]
                self.assertAlmostEqual(know.log_prob(asked, [True]).exp().item(), expected, places=6)


@unittest.skipUnless(importlib.util.find_spec("problog"), "problog is not installed")
class GroundAndRun(unittest.TestCase):
    """The two ways to evaluate a program agree on every world."""

    def agree(self, text, query):
        program = Program(text)
        asked = program.query(query)
        ground, run = GroundFunction(program, asked, 100_000), WorldFunction(program, asked, 0)
        self.assertEqual(sorted(map(str, ground.variables)), sorted(map(str, run.variables)))
        places = [ground.variables.index(variable) for variable in run.variables]
        rng = torch.Generator().manual_seed(SEED)
        worlds = torch.stack([torch.randint(len(each.values), (300,), generator=rng) for each in ground.variables], 1)

        def told(function, worlds):
            found, answers = function(worlds)
            return [answers[place] if place >= 0 else place for place in found.tolist()]

        self.assertEqual(told(ground, worlds), told(run, worlds[:, places]))

    def test_on_programs(self):
        tens = DIGIT.replace("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]", "[0, 1, 2]")
        cases = [
            (DIGIT + ADDITION, "addition(a, b, Z)"),
            (tens + ADDITION, "sum([a, b], [c, d], Z)"),
            (COINS + GAME, "game(x, O)"),
            (CARDS, "play([a, b, c, d], R)"),
            (SORT, "sort3([3, 1, 2], S)"),
            (FORMULA, "formula([a, s, b, t, c], R)"),
            (DIGIT + "same(X, Y) :- digit(X, D), digit(Y, D).", "same(a, b)"),
            (DIGIT + "0.4 :: dark. low(X, L) :- digit(X, D), between(0, 2, L), D == L, \\+ dark.", "low(a, L)"),
            (DIGIT + "all(X, L) :- digit(X, D), digit(y, E), L = [D, E, f(D)].", "all(a, L)"),
            (DIGIT + "both([]). both([H|T]) :- H, both(T). two(X) :- both([digit(X, D), D > 4, digit(b, D)]).", "two(a)"),
        ]
        for text, query in cases:
            with self.subTest(query):
                self.agree(text, query)


@unittest.skipUnless(importlib.util.find_spec("problog"), "problog is not installed")
class Large(unittest.TestCase):
    def test_fifteen_digits(self):
        names = [[f"{row}{place}" for place in range(15)] for row in "ab"]
        know = knowledge(DIGIT + ADDITION, f"sum([{','.join(names[0])}], [{','.join(names[1])}], Z)")
        self.assertTrue(know.exact)
        self.assertEqual([each.inputs[0] for each in know.inputs], sum(names, []))
        self.assertEqual(know.outputs, [2] + [10] * 15)
        self.assertIsNone(know.answers)
        worlds = torch.randint(10, (3, 30))
        numbers = [[int("".join(map(str, part))) for part in (row[:15], row[15:])] for row in worlds.tolist()]
        sums = [first + second for first, second in numbers]
        sure = 40.0 * torch.nn.functional.one_hot(worlds, 10)
        self.assertEqual(know.predict(sure).answers, sums)
        self.assertAlmostEqual(know.loss(sure, torch.tensor(sums)).item(), 0, places=4)

        def add(digits):
            ten = 10 ** torch.arange(14, -1, -1)
            total = (digits[:, :15] * ten).sum(1) + (digits[:, 15:] * ten).sum(1)
            return torch.stack([total // 10**place % 10 for place in range(15, -1, -1)], 1)

        plain = anesi.Knowledge(add, [10] * 30, [2] + [10] * 15, verbose=False)
        logits = torch.randn(3, 30, 10)
        self.assertTrue(torch.allclose(know.log_prob(logits, sums), plain.log_prob(logits, add(worlds)), atol=1e-3))

    def test_answers_may_be_told(self):
        names = ",".join(f"a{place}" for place in range(4))
        told = knowledge(DIGIT + ADDITION, f"number([{names}], N)", answers=range(100_000), limit=0)
        self.assertEqual(told.outputs, [10] * 5)
        with self.assertRaisesRegex(ValueError, r"number\(.*\d+"):
            knowledge(DIGIT + ADDITION, f"number([{names}], N)", answers=range(5))

    def test_answers_of_few_worlds_are_all_found(self):
        for limit in (100_000, 100):
            know = knowledge(FORMULA, "formula([a, s, b], R)", limit=limit, partial=True)
            self.assertEqual(len(know.answers), 19)
            self.assertAlmostEqual(know.log_prob([torch.zeros(1, 4)] * 3, [1.5]).exp().item(), 1 / 64, places=6)

    def test_what_cannot_be_run_says_so(self):
        with self.assertRaisesRegex(ValueError, r"\b0\b.*findall/3"):
            knowledge(DIGIT + "all(X, L) :- findall(D, digit(X, D), L).", "all(a, L)", limit=0)
        endless = Program(DIGIT + "p(X) :- p(X).\np(X) :- digit(X, 1).")
        with self.assertRaisesRegex(ValueError, "1,000"):
            WorldFunction(endless, endless.query("p(a)"), 0, steps=1000)


@unittest.skipUnless(importlib.util.find_spec("problog"), "problog is not installed")
class Labels(unittest.TestCase):
    def test_as_terms_as_numbers_and_as_outputs(self):
        tens = DIGIT.replace("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]", "[0, 4, 9]")
        know = knowledge(tens + ADDITION, "sum([a, b], [c, d], Z)")
        self.assertEqual(know.outputs, [2, 10, 10])
        logits = torch.randn(2, 4, 3)
        loss = know.loss(logits, [198, 4])
        for same in (torch.tensor([198, 4]), torch.tensor([[1, 9, 8], [0, 0, 4]]), (198, 4), [torch.tensor(198), 4]):
            self.assertTrue(torch.equal(know.loss(logits, same), loss))
        self.assertEqual(know.decode(know.encode([198, 4])), [198, 4])
        found = know.predict(logits, top=3)
        self.assertEqual(len(found.answers[0]), 3)
        self.assertEqual(found.answers[1][0], know.predict(logits).answers[1])
        self.assertTrue(torch.isclose(know.log_prob(logits, found.answers[0][:1] * 2)[0].exp(), found.probability[0, 0].float()))
        with self.assertRaisesRegex(ValueError, r"outputs.*example 1\b.*'x'.*sum\("):
            know.loss(logits, [1, "x"])
        with self.assertRaisesRegex(ValueError, r"example 0\b.*1998"):
            know.loss(logits, torch.tensor([1998, 3]))

    def test_negative_numbers_lists_and_several_variables(self):
        minus = knowledge(DIGIT + "minus(X, Y, Z) :- digit(X, A), digit(Y, B), Z is A - B.", "minus(a, b, Z)")
        self.assertEqual(minus.outputs, [2, 10])
        sure = 40.0 * torch.nn.functional.one_hot(torch.tensor([[3, 8]]), 10)
        self.assertEqual(minus.predict(sure).answers, [-5])
        self.assertAlmostEqual(minus.loss(sure, torch.tensor([-5])).item(), 0, places=4)
        order = knowledge(SORT, "sort3([3, 1, 2], S)")
        self.assertEqual(len(order.outputs), 3)
        self.assertEqual([each.inputs for each in order.inputs][0], ("3", "1"))
        answer = order.predict(torch.zeros(1, len(order.inputs), 2)).answers[0]
        self.assertEqual(sorted(answer), [1, 2, 3])
        order.loss(torch.zeros(1, len(order.inputs), 2), [answer])
        pair = knowledge(DIGIT + "f(X, A, card(B)) :- digit(X, D), A is D mod 2, B is D // 2.", "f(a, A, C)")
        self.assertEqual(pair.predict(sure[:, :1]).answers, [(1, "card(1)")])
        self.assertAlmostEqual(pair.loss(sure[:, :1], [(1, "card( 1 )")]).item(), 0, places=4)

    def test_worlds_without_an_answer_or_with_several(self):
        half = DIGIT + "half(X, H) :- digit(X, D), 0 =:= D mod 2, H is D // 2."
        message = r"half\(a,H\).*net\(a\) = [13579]\b.*partial=True"
        for limit in (20_000, 0):
            with self.assertRaisesRegex(ValueError, message):
                knowledge(half, "half(a, H)", limit=limit)
            know = knowledge(half, "half(a, H)", partial=True, limit=limit)
            found = know.log_prob(torch.zeros(3, 10), [0, 4, None]).exp()
            self.assertTrue(torch.allclose(found, torch.tensor([0.1, 0.1, 0.5])))
            self.assertEqual(know.decode(know.encode([3, None])), [3, None])
            with self.assertRaisesRegex(ValueError, r"p\(a,Y\).*net\(a\) = 0"):
                knowledge(DIGIT + "p(X, Y) :- digit(X, Y). p(X, 10) :- digit(X, 0).", "p(a, Y)", limit=limit)


@unittest.skipUnless(importlib.util.find_spec("problog"), "problog is not installed")
class Use(unittest.TestCase):
    def test_networks_are_read_by_name(self):
        know = knowledge(COINS + DIGIT + "f(X, Y, Z) :- coin(1, X, heads), digit(Y, Z). f(X, Y, 0) :- coin(1, X, tails).", "f(x, y, Z)")
        calls = []

        def net(images):
            calls.append(tuple(images.shape))
            return images[:, :10]

        double = knowledge(DIGIT + ADDITION, "addition(a, b, Z)")
        logits = double.read({"net": net}, {"a": torch.ones(4, 12), "b": torch.zeros(4, 12)})
        self.assertEqual(calls, [(8, 12)])
        self.assertEqual([part[0, 0].item() for part in logits], [1, 0])
        read = know.read({"first": torch.nn.Linear(5, 2), "net": net}, {"x": torch.zeros(4, 5), "y": torch.zeros(4, 12)})
        know.loss(read, [0, 1, 2, 3]).backward()
        with self.assertRaisesRegex(ValueError, "'first'"):
            know.read({"net": net}, {})
        with self.assertRaisesRegex(ValueError, "'y'"):
            know.read({"first": net, "net": net}, {"x": torch.zeros(4, 12)})

    def test_probabilities_are_learned(self):
        know = knowledge(DIGIT + "t(0.1) :: noisy. f(X, D) :- digit(X, D), \\+ noisy. f(X, 10) :- noisy.", "f(a, D)")
        (parameter,) = know.parameters()
        self.assertTrue(torch.allclose(parameter.softmax(0), torch.tensor([0.1, 0.9])))
        optimizer = torch.optim.SGD(know.parameters(), 1.0)
        for _ in range(100):
            optimizer.zero_grad()
            know.loss(torch.zeros(2, 10), [10, 3]).backward()
            optimizer.step()
        self.assertAlmostEqual(parameter.softmax(0)[0].item(), 0.5, places=2)
        again = knowledge(DIGIT + "t(_) :: noisy. f(X, D) :- digit(X, D), \\+ noisy. f(X, 10) :- noisy.", "f(a, D)")
        again.load_state_dict(know.state_dict())
        self.assertTrue(torch.equal(next(again.parameters()), parameter))

    def test_a_clause_learns_its_probabilities_once(self):
        program = "nn(net, [X], Y, [0, 1]) :: bit(X, Y).\nt(0.2) :: low(X); t(0.3) :: high(X); t(_) :: off.\n"
        program += "f(D) :- low(a), high(b), bit(x, D). f(2) :- \\+ low(a). f(2) :- low(a), \\+ high(b)."
        for limit in (20_000, 0):
            know = knowledge(program, "f(D)", limit=limit)
            self.assertEqual([len(each.values) for each in know.chances], [4, 4])
            self.assertEqual(len(list(know.parameters())), 1)
            self.assertAlmostEqual(know.log_prob(torch.zeros(1, 2), [1]).exp().item(), 0.2 * 0.3 / 2, places=6)
        with self.assertRaisesRegex(ValueError, "u.*v"):
            knowledge(program + "\nt(0.1) :: u; 0.2 :: v.", "f(D)")

    def test_impossible_and_certain_facts(self):
        know = knowledge(DIGIT + "0.0 :: never. 1.0 :: always. 0.0 :: a; 1.0 :: b.\n"
                         "p(X) :- digit(X, 1), always, b, \\+ a. p(X) :- digit(X, 2), never. p(X) :- digit(X, 3), a.", "p(x)")  # fmt: skip
        logits = torch.zeros(1, 10, requires_grad=True)
        found = know.log_prob(logits, [True])
        self.assertAlmostEqual(found.exp().item(), 0.1, places=6)
        found.sum().backward()
        self.assertTrue(logits.grad.isfinite().all())

    def test_networks_that_give_tensors(self):
        know = knowledge("nn(rnn, [T], E) :: rnn(T, E).\nnn(op, [E], O, [plus, times]) :: op(E, O).\n"
                         "f(T, X) :- rnn(T, E), op(E, plus), X is 2 + 3. f(T, X) :- rnn(T, E), op(E, times), X is 2 * 3.", "f(text, X)")  # fmt: skip
        self.assertEqual(know.inputs[0].inputs, ("tensor(nn(rnn,[text]))",))
        self.assertEqual(know.answers, [5, 6])

    def test_explain_check_and_keep(self):
        know = knowledge(DIGIT + ADDITION, "addition(a, b, Z)")
        why = know.explain(torch.zeros(1, 2, 10), [1], top=3)
        self.assertEqual(sorted(why.worlds[0].tolist()), [[0, 1], [1, 0]])
        self.assertEqual(know.check(torch.zeros(4, 2, 10)).distance, 0)
        self.assertEqual(know.marginals(torch.zeros(1, 2, 10), [18])[0, 0, 9].item(), 1)
        with tempfile.TemporaryDirectory() as folder:
            know.save(folder)
            plain = anesi.load(folder, verbose=False)
            logits = torch.randn(2, 2, 10)
            self.assertTrue(torch.equal(plain.log_prob(logits, torch.tensor([3, 4])), know.log_prob(logits, [3, 4])))

    def test_a_program_may_be_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "addition.pl"
            path.write_text(DIGIT + ADDITION + "query(addition(a, b, Z)).")
            self.assertEqual(repr(knowledge(path)), "Knowledge(addition(a,b,Z), exact: all 100 worlds)")

    def test_mistakes_are_told_in_a_line(self):
        cases = [
            ("p :- q", None, "program: "),
            ("p :- (q.", None, "program: "),
            ("p.", "p", ""),
            (DIGIT, None, r"\b0\b"),
            (DIGIT, "digit(a", r"digit\(a"),
            (DIGIT + "p(X) :- qq(X), digit(X, 1).", "p(a)", "qq/1"),
            (DIGIT + "p.", "p", r"\bp\b"),
            (DIGIT + "query(digit(X, 1)) :- X = a.", None, "query"),
            ("nn(net, X, Y, [0]) :: d(X, Y).", "d(a, Y)", r"\bnn\b.*\bX\b"),
            ("nn(net, [X], 3, [0]) :: d(X).", "d(a)", r"\bnn\b.*\b3\b"),
            ("nn(net, [X], Y, Z) :: d(X, Y, Z).", "d(a, Y, Z)", r"\bnn\b.*\bZ\b"),
            ("nn(net, [X], Y, [0], 4) :: d(X, Y).", "d(a, Y)", r"\bnn\b"),
            (DIGIT + "0.7 :: a; 0.8 :: b.\np :- a, digit(x, 1). p :- b.", "p", r"\b1\b"),
            (DIGIT + "f(X, Y) :- digit(X, 1). f(X, Y) :- digit(X, D), D > 1.", "f(a, Y)", ""),
        ]
        for program, query, message in cases:
            with self.subTest(program=program), self.assertRaisesRegex(ValueError, message) as caught:
                knowledge(program, query)
            self.assertNotIn("\n", str(caught.exception))
        know = knowledge(DIGIT + ADDITION, "addition(a, b, Z)")
        with self.assertRaisesRegex(ValueError, r"logits.*\(1, 3, 10\).*\(batch, 2, 10\).*net\(a\), net\(b\)"):
            know.loss(torch.zeros(1, 3, 10), [3])
        with self.assertRaisesRegex(TypeError, "^answers"):
            knowledge(DIGIT + ADDITION, "addition(a, b, Z)", answers=3)


@unittest.skipUnless(importlib.util.find_spec("problog"), "problog is not installed")
class Files(unittest.TestCase):
    """Programs of several files, and what is refused in any of them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.ran = self.folder / "ran"
        self.write("code.py", f"open({str(self.ran)!r}, 'w').close()\nfrom problog.extern import problog_export\n"
                              "@problog_export('-int')\ndef five():\n    return 5\n")  # fmt: skip

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def test_files_are_consulted_relative_to_those_that_name_them(self):
        self.write("parts/digits.pl", DIGIT + ":- [more].\n")
        self.write("parts/more.pl", "t(_) :: dark. seen(X, D) :- digit(X, D), \\+ dark. seen(X, 10) :- dark.\n:- consult('digits.pl').\n")
        main = self.write("main.pl", ":- consult('parts/digits').\nquery(seen(a, D)).\n")
        for limit in (20_000, 0):
            know = knowledge(main, limit=limit)
            self.assertEqual(len(list(know.parameters())), 1)
            self.assertAlmostEqual(know.log_prob(torch.zeros(1, 10), [3]).exp().item(), 0.05, places=6)
        with self.assertRaises(ValueError):
            knowledge(self.write("lost.pl", DIGIT + ":- consult(nowhere).\n"), "digit(a, D)")

    def test_evidence_is_refused(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)  # where a goal of a clause looks for files
        told = ("evidence(digit(a, 1)).", "evidence(digit(a, 1), true).", "evidence(digit(a, 1)) :- true.", "0.5 :: evidence(digit(a, 1)).")
        for evidence in told:
            self.write("told.pl", evidence)
            self.write("module.pl", ":- module(told, []).\n" + evidence)
            for text in (evidence, ":- consult('told.pl').", ":- [told].", ":- use_module(told).", ":- use_module(module).",
                         "odd(X) :- consult('told.pl').", "odd(X) :- try_call(consult('told.pl')).", ":- use_module(library(assert)). odd(X) :- assertz(evidence(digit(a, 1)))."):  # fmt: skip
                program = self.write("main.pl", DIGIT + text + "\nodd(X) :- digit(X, 1).")
                with self.subTest(text=text, evidence=evidence), self.assertRaises(ValueError):
                    knowledge(program, "odd(a)")

    def test_python_runs_only_if_that_is_allowed(self):
        above = "../" * 20 + str(self.folder / "code").lstrip("/")
        self.write("uses.pl", ":- use_module('code.py').\n")
        ways = [":- use_module('code.py').", ":- use_module(code).", ":- use_module('code.py', [five/1]).", ":- consult(uses).",
                f":- use_module(library('{self.folder}/code')).", f":- use_module(library('{above}')).", ":- call(use_module('code.py')).",
                ":- '_use_module'(x, 'code.py').", "odd(X) :- use_module('code.py').", "odd(X) :- findall(Y, use_module('code.py'), L).",
                "odd(X) :- forall(true, use_module('code.py')).", "odd(X) :- subquery(use_module('code.py'), P).",
                "odd(X) :- try_call(use_module('code.py'))."]  # fmt: skip
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        for way in ways:
            text = DIGIT + way + "\nodd(X) :- digit(X, 1)."
            for program in (text, self.write("main.pl", text)):
                with self.subTest(way=way), self.assertRaises(ValueError):
                    knowledge(program, "odd(a)")
                self.assertFalse(self.ran.exists(), way)
        text = DIGIT + ":- use_module('code.py').\nmore(X, Y) :- digit(X, D), five(F), Y is D + F."
        self.assertEqual(knowledge(text, "more(a, Y)", allow_python=True).answers, list(range(5, 15)))
        self.assertTrue(self.ran.exists())

    def test_python_in_a_model_of_deepproblog(self):
        from anesi.deepproblog import Model, Network

        program = self.write("main.pl", DIGIT + f":- use_module('{self.folder}/code.py').\nmore(X, Y) :- digit(X, D), five(F), Y is D + F.")
        for allowed in (False, True):
            model = Model(program, [Network(torch.nn.Linear(2, 10), "net")], allow_python=allowed)
            if allowed:
                self.assertEqual(model._knowledge("more(a, Y)").answers, [*range(5, 15), None])
            else:
                self.assertRaises(ValueError, model._knowledge, "more(a, Y)")
            self.assertEqual(self.ran.exists(), allowed)


@unittest.skipUnless(importlib.util.find_spec("problog"), "problog is not installed")
class Unusual(unittest.TestCase):
    def test_findall(self):
        bits = "nn(net, [X], Y, [0, 1]) :: bit(X, Y).\n"
        know = knowledge(bits + "ones(L) :- findall(X, (member(X, [a, b]), bit(X, 1)), L).", "ones(L)")
        self.assertEqual(len(know.answers), 4)
        first = torch.tensor([0.3, 0.7])
        second = torch.tensor([0.6, 0.4])
        beliefs = [{"a": first, "b": second}[variable.inputs[0]].unsqueeze(0) for variable in know.inputs]
        for answer, expected in (([], 0.18), (["a"], 0.42), (["b"], 0.12), (["a", "b"], 0.28)):
            answer = answer or "[]"
            self.assertAlmostEqual(know.log_prob(beliefs=beliefs, outputs=[answer]).exp().item(), expected, places=6)

    def test_findall_is_not_misled_by_what_proves_itself(self):
        program = DIGIT + "a(1) :- digit(x, 1), a(1). a(1) :- digit(x, 2). n(M) :- findall(N, a(N), L), sort(L, S), length(S, M)."
        know = knowledge(program, "n(M)")
        self.assertAlmostEqual(know.log_prob(torch.zeros(1, 10), [1]).exp().item(), 0.1, places=6)

    def test_directives_are_obeyed_or_refused(self):
        program = DIGIT + ":- use_module(library(scope)).\nscope(1):a :- digit(x, 1). scope(1):b :- digit(y, 1). p :- scope(1):(a, b)."
        know = knowledge(program, "p")
        self.assertAlmostEqual(know.log_prob(torch.zeros(1, 2, 10), [True]).exp().item(), 0.01, places=6)
        read = Program(program)
        with self.assertRaises(ValueError):
            WorldFunction(read, read.query("p"), 0)

    def test_cycles_through_negation_are_errors(self):
        for text in ("p :- \\+ p, digit(x, 1).", "p :- \\+ q, digit(x, 1). q :- \\+ p, digit(x, 1).",
                     "p :- digit(x, 1), q(0). q(N) :- M is N + 1, \\+ q(M)."):  # fmt: skip
            read = Program(DIGIT + text)
            with self.subTest(text), self.assertRaises(ValueError):
                WorldFunction(read, read.query("p"), 0)
        deep = Program(DIGIT + "p :- digit(x, 1), q(0). q(N) :- N < 40, M is N + 1, \\+ q(M).")  # goes down, and no cycle
        function = WorldFunction(deep, deep.query("p"), 0)
        self.assertEqual(function(torch.arange(10).unsqueeze(1))[0].tolist(), [-1] * 10)

    def test_probabilities_of_all_heads_are_checked(self):
        for clause in ("0.7 :: a; 0.8 :: b.", "0.7 :: a(X); 0.8 :: b(X) :- X = 1.", "1.3 :: a.", "-0.1 :: a.", "t(0.7) :: a; t(0.8) :: b.",
                       "0.7 :: unused; 0.8 :: other."):  # fmt: skip
            for limit in (20_000, 0):
                with self.subTest(clause), self.assertRaises(ValueError):
                    knowledge(DIGIT + clause + "\np :- digit(x, 1). p :- digit(x, 2), a.\na :- fail.\n", "p", limit=limit)
        self.assertEqual(knowledge(DIGIT + "1/3 :: a; 1/3 :: b; 1/3 :: c. p :- digit(x, 1), a.", "p").answers, [False, True])


class Without(unittest.TestCase):
    def test_the_package_is_optional(self):
        text = "import sys; sys.modules['problog'] = None\nimport anesi\n"
        for module in ("problog", "deepproblog"):
            text += f"try: import anesi.{module}\nexcept ImportError as error: print(error)\n"
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout.count("pip install problog==2.3.0\n"), 2, done.stdout + done.stderr)


if __name__ == "__main__":
    if not importlib.util.find_spec("problog"):
        print("problog is not installed: only that anesi does without it is tested (pip install problog==2.3.0)", flush=True)
    print(f"seed {SEED} (ANESI_TEST_SEED)", flush=True)
    unittest.main(verbosity=1)
