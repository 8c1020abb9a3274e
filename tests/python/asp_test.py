"""anesi.asp against plain functions."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch
from reference import Reference

import anesi

if importlib.util.find_spec("clingo"):
    import anesi.asp


def knowledge(*arguments, **more):
    return anesi.asp.Knowledge(*arguments, verbose=False, **more)


@unittest.skipUnless(importlib.util.find_spec("clingo"), "clingo is not installed")
class AnswerSets(unittest.TestCase):
    def test_sums_agree_with_enumeration(self):
        know = knowledge("sum(X - Y) :- digit(a, X), digit(b, Y).", {"digit(a, D)": range(4), "digit(b, D)": range(5)}, "sum(Z)")
        self.assertEqual(know.answers, list(range(-4, 4)))
        logits = [torch.randn(3, 4, dtype=torch.float64), torch.randn(3, 5, dtype=torch.float64)]
        expected = Reference(lambda w: w[:, 0] - w[:, 1] + 10, [4, 5])
        labels = [2, -1, -4]
        found = know.log_prob(logits, labels)
        beliefs = [part.softmax(1) for part in logits]
        self.assertTrue(torch.allclose(found, expected.log_prob(beliefs, torch.tensor(labels).unsqueeze(1) + 10)))
        self.assertTrue(torch.equal(found, know.log_prob(logits, torch.tensor(labels))))

    def test_recursion_and_aggregates(self):
        roads = [(1, 2), (2, 3), (3, 1), (3, 4)]
        know = knowledge(
            "reach(1). reach(Y) :- reach(X), road(X,Y,on). reached(N) :- N = #count { X : reach(X) }.",
            {f"road({x},{y},S)": ["off", "on"] for x, y in roads}, "reached(N)",
        )  # fmt: skip
        self.assertEqual(know.answers, [1, 2, 3, 4])
        self.assertEqual(know.decode(know.function(torch.tensor([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]]))), [4, 2, 1])

    def test_a_memory_is_found_for_many_worlds(self):
        bits = 18
        know = knowledge(
            "p(0,0). p(I+1,(S+B) \\ 2) :- p(I,S), bit(I+1,B).", {f"bit({i},B)": [0, 1] for i in range(1, bits + 1)}, f"p({bits},S)",
            settings={"discover.draws": 2000},
        )  # fmt: skip
        self.assertTrue(know.exact)
        worlds = torch.randint(2, (50, bits))
        self.assertTrue(torch.equal(know.function(worlds)[:, 0], worlds.sum(1) % 2))

    def test_terms_and_truth(self):
        know = knowledge("kind(f(X, Y)) :- a(X), b(Y).", {"a(V)": ["u", "v"], "b(V)": [1, 2]}, "kind(K)")
        self.assertEqual(know.answers, ["f(u,1)", "f(u,2)", "f(v,1)", "f(v,2)"])
        self.assertAlmostEqual(know.log_prob(torch.zeros(1, 2, 2), ["f(u, 2)"]).exp().item(), 0.25, places=6)
        proper = knowledge("ok :- a(X), b(Y), X != Y.", {"a(V)": ["u", "v"], "b(V)": ["u", "v"]}, "ok")
        self.assertAlmostEqual(proper.log_prob(torch.zeros(1, 2, 2), [True]).exp().item(), 0.5, places=6)

    def test_scripts_do_not_run(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = pathlib.Path(folder) / "ran"
            for language, text in (("python", f"open({str(ran)!r}, 'w').close()"), ("lua", f'io.open("{ran}", "w"):close()')):
                with self.subTest(language), self.assertRaises(ValueError) as caught:
                    knowledge(f"#script ({language})\n{text}\n#end.\nr(X) :- a(X).", choices={"a(X)": [1, 2]}, query="r(N)")
                self.assertGreater(len(str(caught.exception)), len("program: "))  # it says why
                self.assertFalse(ran.exists())

    def test_mistakes_are_told_in_a_line(self):
        bit = {"c(X)": [0, 1]}
        cases = [
            ("p :- ", bit, "p", "^program: "),
            ("a :- not b. b :- not a.", bit, "a", r"query a\b"),
            ("a(1; 2).", bit, "a(X)", r"a\(X\)"),
            ("a(X) :- c(X), X > 0.", bit, "a(X)", r"a\(X\).*c\(X\) = 0\b.*partial=True"),
            (":- c(1).", bit, "c(X)", r"c\(X\) = 1\b"),
            ("", {"c": [0, 1]}, "a", r"\bc\b"),
            ("", {}, "a", "choices"),
        ]
        for program, choices, query, message in cases:
            with self.subTest(program=program), self.assertRaisesRegex(ValueError, message) as caught:
                knowledge(program, choices, query)
            self.assertNotIn("\n", str(caught.exception))
        partial = knowledge("a(X) :- c(X), X > 0.", bit, "a(X)", partial=True)
        self.assertTrue(torch.allclose(partial.log_prob(torch.zeros(2, 2), [None, 1]).exp(), torch.tensor(0.5)))


class Without(unittest.TestCase):
    def test_the_package_is_optional(self):
        text = "import sys; sys.modules['clingo'] = None\nimport anesi\ntry: import anesi.asp\nexcept ImportError as e: print(e)"
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
        self.assertIn("pip install clingo==5.8.2\n", done.stdout, done.stderr)


if __name__ == "__main__":
    if not importlib.util.find_spec("clingo"):
        print("clingo is not installed: only that anesi does without it is tested (pip install clingo==5.8.2)", flush=True)
    unittest.main(verbosity=1)
