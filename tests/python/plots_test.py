"""anesi.plots: figures of small problems, what their axes say, and what cannot be drawn."""

import importlib.util
import io
import subprocess
import sys
import unittest

import torch

import anesi
from anesi import plots

HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None


def carry(digits):
    """Addition of two binary numbers, the last digits first."""
    steps = [([place, digits + place], digits - place - 1) for place in range(digits)]
    return anesi.Automaton(
        [2] * (2 * digits),
        [2] * digits,
        steps,
        states=2,
        rule=lambda kind, read, state: ((sum(read) + state) % 2, (sum(read) + state) // 2),
    )


def told(automaton, worlds, outputs):
    return anesi.Knowledge(automaton.run, worlds, outputs, automaton=automaton, verbose=False)


def addition(**more):
    return anesi.Knowledge(lambda w: w.sum(1), [3, 3], [5], verbose=False, **more)


def texts(axes):
    return [text.get_text() for text in axes.texts]


def drawn_texts(axes):
    yield from axes.texts
    yield from (axes.xaxis.label, axes.yaxis.label, axes.title)
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        yield from (tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high)


def covered(figure):
    """Pairs of texts that cover each other, as they are drawn."""
    figure.savefig(io.BytesIO(), format="png")
    boxes = [
        # A line of text is lower than its box.
        (text.get_text(), text.get_window_extent().shrunk(0.9, 0.7))
        for axes in figure.axes
        for text in drawn_texts(axes)
        if text.get_text() and text.get_visible()
    ]
    return [
        (text, other_text)
        for index, (text, box) in enumerate(boxes)
        for other_text, other in boxes[:index]
        if box.overlaps(other)
    ]


@unittest.skipUnless(HAS_MATPLOTLIB, "matplotlib is not installed")
class FiguresTest(unittest.TestCase):
    def check_labelled(self, figure, axes):
        self.assertEqual(type(figure).__name__, "Figure")
        for one in figure.axes[:axes]:
            self.assertTrue(one.get_ylabel())
        self.assertTrue(figure.axes[axes - 1].get_xlabel())
        self.assertTrue(figure.axes[0].get_title())

    def test_no_global_state(self):
        addition().plot_rollout(torch.zeros(1, 2, 3))
        self.assertNotIn("matplotlib.pyplot", sys.modules)

    # Machines.

    def test_machine_of_a_carry(self):
        know = told(carry(3), [2] * 6, [2] * 3)
        figure = know.plot_machine(title="binary addition")
        self.check_labelled(figure, 1)
        axes = figure.axes[0]
        self.assertEqual(axes.get_title(), "binary addition")
        self.assertIn("0 0 / 0; 0 1, 1 0 / 1", texts(axes))  # without a carry
        self.assertEqual([label.get_text() for label in axes.get_yticklabels()], ["0", "1"])
        headings = [label.get_text() for label in axes.get_xticklabels()]
        self.assertEqual(headings[0], "step 0\nreads w0, w3\nemits y2")
        self.assertEqual(len(headings), 3)
        self.assertEqual(covered(figure), [])

    def test_machine_that_was_found(self):
        know = anesi.Knowledge(lambda w: w.sum(1) % 3, [3] * 12, [3], verbose=False)
        figure = plots.machine(know)
        self.assertEqual(figure.axes[0].get_title(), "a memory of 3 states")
        self.assertEqual(covered(figure), [])

    def test_many_steps_are_folded(self):
        know = told(carry(20), [2] * 40, [2] * 20)
        axes = know.plot_machine().axes[0]
        headings = [label.get_text() for label in axes.get_xticklabels()]
        self.assertIn("17 more\nsteps", headings)
        self.assertTrue(any(heading.startswith("step 19\n") for heading in headings))

    def test_what_is_given_has_its_own_name(self):
        know = anesi.Knowledge(lambda w, g: (w.sum(1) + g[:, 0]) % 2, [2] * 24, [2], given=[2], verbose=False)
        headings = "\n".join(label.get_text() for label in know.plot_machine().axes[0].get_xticklabels())
        self.assertIn("reads g0", headings)
        self.assertIn("reads w", headings)

    def test_labels_without_room_are_counted(self):
        states = 12
        everything = anesi.Automaton(
            [states] * 2,
            [states],
            [([0], None, 0), ([1], 0, 1)],
            states,
            lambda kind, read, state: (0, (read[0] + state) % states),
        )
        figure = told(everything, [states] * 2, [states]).plot_machine()
        self.assertEqual(covered(figure), [])

    def test_no_memory(self):
        with self.assertRaisesRegex(ValueError, r"^machine: [^\n]*$"):
            addition().plot_machine()

    def test_too_many_states(self):
        counter = anesi.Automaton(
            [2] * 40, [2], [([place], 0, 1) if place == 39 else ([place], None, 0) for place in range(40)], 41,
            lambda kind, read, state: (0, min(40, state + read[0])),
        )  # fmt: skip
        with self.assertRaisesRegex(ValueError, r"^machine: [^\n]*\d+ states[^\n]*24$"):
            told(counter, [2] * 40, [2]).plot_machine()

    def test_too_many_edges(self):
        states = 20
        dense = anesi.Automaton(
            [states] * 2,
            [2],
            [([0], None, 0), ([1], 0, 1)],
            states,
            lambda kind, read, state: (0, (read[0] + state) % states),
        )
        with self.assertRaisesRegex(ValueError, r"^machine: [^\n]*400 edges in step 1; [^\n]*150$"):
            told(dense, [states] * 2, [2]).plot_machine()

    # Rollouts.

    def test_rollout(self):
        figure = addition().plot_rollout(torch.zeros(4, 2, 3), torch.tensor([4, 0, 0, 0]))
        self.check_labelled(figure, 1)
        axes = figure.axes[0]
        self.assertEqual([label.get_text() for label in axes.get_xticklabels()], ["y0", "w0", "w1"])
        self.assertEqual(axes.get_title(), "output 4: 11.1 %\nworld given it 2 2: 100 %")
        self.assertEqual(covered(figure), [])

    def test_rollout_of_the_most_likely_output(self):
        beliefs = torch.tensor([[[0.1, 0.9, 0.0], [0.2, 0.8, 0.0]]])
        figure = plots.rollout(addition(), beliefs=beliefs)
        self.assertTrue(figure.axes[0].get_title().startswith("output 2: 72.0 %"))

    def test_rollout_with_given(self):
        know = anesi.Knowledge(lambda w, g: (w.sum(1) + g[:, 0]) % 3, [3, 3], [3], given=[3], verbose=False)
        figure = know.plot_rollout(torch.zeros(1, 2, 3), torch.tensor([1]), given=torch.tensor([[2]]))
        self.assertEqual([label.get_text() for label in figure.axes[0].get_xticklabels()], ["y0", "w0", "w1"])

    def test_rollout_of_a_network(self):
        know = addition(architecture="mlp", settings={"q.pretrain": 1})
        names = [label.get_text() for label in know.plot_rollout(torch.zeros(1, 2, 3)).axes[0].get_xticklabels()]
        self.assertEqual(names[0], "y0")

    def test_what_cannot_be_completed_is_crossed_out(self):
        choices = [
            plots._Choice(True, 0, 1, [0.5, 0.5], [True, True]),
            plots._Choice(True, 1, 0, [0.6, 0.3, 0.1], [True, True, False]),
        ]
        figure = plots._draw_choices(plots.modules("figure", "collections", "lines", "patches"), choices)
        legend = [text.get_text() for text in figure.legends[0].get_texts()]
        self.assertTrue(any(text.startswith("crossed out") for text in legend), legend)
        crosses = [line for line in figure.axes[0].lines if line.get_color() == "black"]
        self.assertEqual([list(line.get_ydata()) for line in crosses], [[1.5, 2.5]])
        figure.savefig(io.BytesIO(), format="png")
        box = figure.legends[0].get_window_extent()
        self.assertTrue(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1)

    def test_twelve_variables(self):
        know = anesi.Knowledge(lambda w: w.sum(1), [2] * 12, [13], verbose=False)
        self.assertEqual(covered(know.plot_rollout(torch.randn(1, 12, 2))), [])

    def test_rollout_errors(self):
        know = addition()
        with self.assertRaisesRegex(ValueError, r"^rollout: [^\n]*\b0\b[^\n]*$"):
            know.plot_rollout(beliefs=torch.tensor([[[0.0, 1.0, 0.0], [0.5, 0.5, 0.0]]]), outputs=torch.tensor([0]))
        with self.assertRaisesRegex(ValueError, r"^rollout: output 0[^\n]* 0 to 4$"):
            know.plot_rollout(torch.zeros(1, 2, 3), torch.tensor([5]))
        with self.assertRaisesRegex(ValueError, r"^rollout: [^\n]*$"):
            know.plot_rollout(torch.zeros(0, 2, 3))
        with self.assertRaisesRegex(TypeError, "logits.*beliefs"):
            know.plot_rollout()

    # Calibration.

    def test_calibration(self):
        generator = torch.Generator().manual_seed(0)
        know, logits = addition(), torch.randn(500, 2, 3, generator=generator)
        worlds = torch.distributions.Categorical(logits=logits).sample()
        figure = know.plot_calibration(logits, worlds.sum(1))
        self.check_labelled(figure, 2)
        # Worlds were drawn from the beliefs.
        self.assertRegex(figure.axes[0].get_title(), r"^[^\n]* 0\.0\d\d\n")
        counts = [bar.get_height() for bar in figure.axes[1].patches]
        self.assertEqual(len(counts), 10)
        self.assertEqual(sum(counts), 500)
        self.assertEqual(covered(figure), [])

    def test_error_of_a_sure_and_wrong_prediction(self):
        beliefs = torch.tensor([[[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]])
        figure = addition().plot_calibration(beliefs=beliefs, outputs=torch.tensor([[3]]), bins=4)
        self.assertRegex(figure.axes[0].get_title(), r"^[^\n]* 1\.000\b")

    def test_calibration_errors(self):
        know = addition()
        with self.assertRaisesRegex(TypeError, "^calibration: [^\n]*outputs[^\n]*$"):
            know.plot_calibration(torch.zeros(1, 2, 3))
        with self.assertRaisesRegex(ValueError, "^bins: "):
            know.plot_calibration(torch.zeros(1, 2, 3), torch.tensor([0]), bins=0)
        with self.assertRaisesRegex(ValueError, r"^calibration: outputs [^\n]*\(2,\)[^\n]* \(1, 1\)$"):
            know.plot_calibration(torch.zeros(1, 2, 3), torch.tensor([0, 1]))
        with self.assertRaisesRegex(ValueError, "^calibration: [^\n]*$"):
            know.plot_calibration(torch.zeros(0, 2, 3), torch.zeros(0))


class WithoutMatplotlibTest(unittest.TestCase):
    def test_one_line_says_what_to_install(self):
        program = (
            "import sys, torch, anesi\n"
            "sys.modules['matplotlib'] = None\n"
            "know = anesi.Knowledge(lambda w: w.sum(1), [2, 2], [3], verbose=False)\n"
            "know.plot_rollout(torch.zeros(1, 2, 2))\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertRegex(done.stderr.splitlines()[-1], "^ImportError: .*pip install matplotlib$")


if __name__ == "__main__":
    unittest.main()
