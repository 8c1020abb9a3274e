"""Right answers, by going through all worlds: what anesi's answers are compared with.

A problem is a list of all worlds with their outputs. A row is one belief: the log-probability of each value of each
variable. The log-probability of a world is the sum of those of its values, and every answer is a sum, a maximum or a
ranking over worlds, in logarithms and 64 bits. Nothing of anesi or torch is used, and nothing is made fast at the cost
of being plain.

    two_dice = Oracle.of(lambda w: w.sum(1), [6, 6])
    row = two_dice.row(log_beliefs_of_logits([np.zeros(6), np.zeros(6)]))
    math.exp(row.log_prob(Label(output=(0,))))          # 1/36
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

UNKNOWN = -1  # in the world of a label: nothing is told of this variable
ENDED = -1  # in an output: past its end
OPEN = -2  # in an output: it may have any value


@dataclass(frozen=True)
class Label:
    """What is said of one row."""

    output: tuple | None = None  # None: nothing is said of the output
    holds: bool = True  # False: the output is anything but that
    world: tuple | None = None  # UNKNOWN where a variable is not told
    given: tuple = ()  # extra inputs of the function

    @property
    def is_of_whole_world(self):
        """Whether it asks for log p(w|y): it tells the whole world, and the output that it gives."""
        return self.world is not None and UNKNOWN not in self.world and self.output is not None and self.holds

    @property
    def kind(self):
        """For summaries."""
        told = [] if self.world is None else [value != UNKNOWN for value in self.world]
        world = "world" if told and all(told) else "some variables" if any(told) else ""
        output = "" if self.output is None else "output" if self.holds else "not output"
        ends = " that ends early" if self.output is not None and ENDED in self.output else ""
        return (" and ".join(part for part in (world, output) if part) or "nothing") + ends


def log_sum_exp(values):
    """log of the sum of exp(values); -inf where there are none."""
    largest = np.max(values, initial=-math.inf)
    return largest if largest == -math.inf else float(largest + math.log(np.exp(values - largest).sum()))


def log_beliefs_of_logits(logits):
    """Of each variable, from logits of any precision."""
    parts = [np.asarray(part, dtype=np.float64) for part in logits]
    return [part - log_sum_exp(part) for part in parts]


def log_beliefs_of_beliefs(beliefs):
    """Of each variable, from probabilities; -inf where one is 0."""
    with np.errstate(divide="ignore"):
        return [np.log(np.asarray(part, dtype=np.float64)) for part in beliefs]


class Oracle:
    """A function of few worlds.

    Args:
        outputs: of all combinations of extra inputs and worlds, in the order of itertools.product, extra inputs first.
        domains: how many values each variable of the world has.
        given: how many values each extra input has.
        log_factor: by world, what is added to the sum of its log-beliefs: the weights of soft clauses, say.
    """

    def __init__(self, outputs, domains, given=(), log_factor=0.0):
        self.domains = list(domains)
        self.worlds = np.array(list(itertools.product(*map(range, domains))), dtype=np.int64)
        self.log_factor = log_factor
        told = list(itertools.product(*map(range, given)))
        parts = np.asarray(outputs, dtype=np.int64).reshape(len(told), len(self.worlds), -1)
        self.outputs = dict(zip(told, parts))  # of all worlds, by extra inputs

    @classmethod
    def of(cls, function, domains, given=()):
        """Of a function from int64 ``[n, variables]``, and extra inputs where it takes any, to whole numbers."""
        points = np.array(list(itertools.product(*map(range, [*given, *domains]))), dtype=np.int64)
        told, worlds = points[:, : len(given)], points[:, len(given) :]
        return cls(np.asarray(function(worlds, told) if len(given) else function(worlds)), domains, given)

    def row(self, log_beliefs, given=()):
        """Answers for one belief: an array of each variable's log-probabilities."""
        return Row(self, log_beliefs, given)


class Row:
    """All answers about one belief."""

    def __init__(self, oracle, log_beliefs, given):
        self.domains, self.worlds = oracle.domains, oracle.worlds
        self.outputs = oracle.outputs[tuple(given)]
        self.log_beliefs = [np.asarray(part)[:size] for part, size in zip(log_beliefs, oracle.domains)]
        self.log_probs = np.zeros(len(self.worlds)) + oracle.log_factor  # of each world
        for variable, part in enumerate(self.log_beliefs):
            self.log_probs = self.log_probs + part[self.worlds[:, variable]]

    # Which worlds a label is about, bool [worlds].

    def giving(self, output):
        wanted = np.asarray(output)
        return ((self.outputs == wanted) | (wanted == OPEN)).all(1)

    def agreeing(self, label):
        agree = np.ones(len(self.worlds), dtype=bool)
        if label.output is not None:
            agree &= self.giving(label.output) == label.holds
        if label.world is not None:
            told = np.asarray(label.world)
            agree &= ((self.worlds == told) | (told == UNKNOWN)).all(1)
        return agree

    # How likely a label is.

    def log_prob(self, label):
        """log of the sum of the worlds that agree; of a whole world and its output y, that less log p(y)."""
        log_prob = log_sum_exp(self.log_probs[self.agreeing(label)])
        if label.is_of_whole_world and log_prob > -math.inf:
            log_prob -= log_sum_exp(self.log_probs[self.giving(label.output)])
        return log_prob

    def gradient(self, label):
        """Of log_prob, by the logits of each variable.

        The derivative of log p(w) by the logit of value v of variable i is [w_i = v] - P_i(v). So that of log p(A) is
        p(w_i = v | A) - P_i(v), and of log p(A) - log p(B) the difference of the two.
        """
        above = self.marginals_in(self.agreeing(label))
        below = self.marginals_in(self.giving(label.output)) if label.is_of_whole_world else self.beliefs()
        return [mine - theirs for mine, theirs in zip(above, below)]

    def second_derivative(self, label, direction):
        """The Hessian of log_prob by the logits, times a direction (an array of each variable): covariances."""
        in_label = self._covariance(self.agreeing(label), direction)
        if label.is_of_whole_world:
            before = self._covariance(self.giving(label.output), direction)
        else:
            before = [p * (d[: len(p)] - p @ d[: len(p)]) for p, d in zip(self.beliefs(), direction)]
        return [mine - theirs for mine, theirs in zip(in_label, before)]

    def loss(self, label):
        return -self.log_prob(label)

    # Worlds behind an output.

    def log_posterior(self, output):
        """log p(w|y) of each world; None where no world gives y."""
        log_probs = np.where(self.giving(output), self.log_probs, -math.inf)
        total = log_sum_exp(log_probs)
        return None if total == -math.inf else log_probs - total

    def most_probable(self, output):
        """The highest log p(w) of a world that gives the output; -inf where none does."""
        return float(np.max(self.log_probs[self.giving(output)], initial=-math.inf))

    def explanations(self, output):
        """Worlds that give the output, with log p(w|y), most probable first; none where it is impossible."""
        log_posterior = self.log_posterior(output)
        if log_posterior is None:
            return []
        order = np.argsort(-log_posterior, kind="stable")
        return [(tuple(self.worlds[i].tolist()), log_posterior[i]) for i in order if log_posterior[i] > -math.inf]

    def marginals(self, output):
        """p(w_i = v | y), an array of each variable; None where no world gives y."""
        giving = self.giving(output)
        return None if log_sum_exp(self.log_probs[giving]) == -math.inf else self.marginals_in(giving)

    # Outputs.

    def predictions(self):
        """All outputs of positive probability with their log-probability, the most likely first."""
        distinct, which = np.unique(self.outputs, axis=0, return_inverse=True)
        which = which.reshape(-1)
        found = [(tuple(y.tolist()), log_sum_exp(self.log_probs[which == place])) for place, y in enumerate(distinct)]
        return sorted((pair for pair in found if pair[1] > -math.inf), key=lambda pair: -pair[1])

    # Parts of the above.

    def beliefs(self):
        return [np.exp(part) for part in self.log_beliefs]

    def marginals_in(self, chosen):
        """p(w_i = v | w is chosen), an array of each variable."""
        probs = np.exp(self.log_probs[chosen] - log_sum_exp(self.log_probs[chosen]))
        worlds = self.worlds[chosen]
        return [np.bincount(worlds[:, i], weights=probs, minlength=size) for i, size in enumerate(self.domains)]

    def _covariance(self, chosen, direction):
        """Of [w_i = v] with the sum of the direction over a world's values, among chosen worlds."""
        probs = np.exp(self.log_probs[chosen] - log_sum_exp(self.log_probs[chosen]))
        worlds = self.worlds[chosen]
        along = sum(np.asarray(part)[worlds[:, i]] for i, part in enumerate(direction))
        centred = probs * (along - probs @ along)
        return [np.bincount(worlds[:, i], weights=centred, minlength=size) for i, size in enumerate(self.domains)]


def complaint_of_samples(drawn, log_posterior_of):
    """What is wrong with worlds that were drawn, or None.

    Args:
        drawn: tuples.
        log_posterior_of: log p(w|y) by world; worlds that are missing are impossible.

    Pearson's chi-square, in which worlds with fewer than five expected draws count as one. A chi-square of n degrees of
    freedom exceeds n + 2 sqrt(17 n) + 34 with a probability of at most exp(-17) (Laurent and Massart, 2000).
    """
    counts = {}
    for world in drawn:
        counts[world] = counts.get(world, 0) + 1
    for world in counts:
        if log_posterior_of.get(world, -math.inf) == -math.inf:
            return f"{world} was drawn, which is impossible"
    expected = {world: len(drawn) * math.exp(log_prob) for world, log_prob in log_posterior_of.items()}
    rare = [world for world, mean in expected.items() if mean < 5]
    cells = [(counts.get(world, 0), mean) for world, mean in expected.items() if mean >= 5]
    of_rare = sum(expected[world] for world in rare)
    found_rare = sum(counts.get(world, 0) for world in rare)
    if of_rare >= 5:
        cells.append((found_rare, of_rare))
    elif found_rare > 5 + 40:  # a Poisson variable of mean 5 or less
        return f"{found_rare} draws of worlds of which {of_rare:.2g} were expected"
    freedom = len(cells) - 1
    statistic = sum((count - mean) ** 2 / mean for count, mean in cells)
    if freedom < 1 or statistic <= freedom + 2 * math.sqrt(17 * freedom) + 34:
        return None
    worst = max(expected, key=lambda world: abs(counts.get(world, 0) - expected[world]))
    return f"{worst} was drawn {counts.get(worst, 0)} times in {len(drawn)}, and {expected[worst]:.1f} were expected"
