"""Asks a problem of oracle_problems.py every query and label, and compares the answers with the oracle's."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from oracle import OPEN, UNKNOWN, Label, complaint_of_samples, log_beliefs_of_beliefs, log_beliefs_of_logits

GAPS = [0, 1, 10, 17, 40, 100, 200, 400, 800, 1000]  # between the logits of a variable, in nats
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-5, torch.float16: 1e-5, torch.bfloat16: 1e-5}
ROUNDING = {torch.float64: 0, torch.float32: 0, torch.float16: 1e-3, torch.bfloat16: 1e-2}  # of gradients of at most 1
UNSET = -2  # in an answer: no world was found
DRAWS = 400


@dataclass
class Batch:
    """Beliefs of some rows, as anesi takes them and as the oracle does."""

    values: dict  # {"logits": tensor or list} or {"beliefs": …}
    given: torch.Tensor | None
    rows: list  # oracle.Row
    dtype: torch.dtype
    gap: float

    @property
    def is_logits(self):
        return "logits" in self.values

    @property
    def keywords(self):
        return {**self.values, **({} if self.given is None else {"given": self.given})}

    def leaf(self):
        """The same with gradients, and what has them."""
        (name, values), *_ = self.values.items()
        if isinstance(values, list):
            leaves = [part.clone().requires_grad_() for part in values]
            return {**self.keywords, name: leaves}, leaves
        leaf = values.clone().requires_grad_()
        return {**self.keywords, name: leaf}, leaf


def random_logits(draw, domains, gap, with_zeros):
    rough = draw.random() < 0.7
    parts = []
    for size in domains:
        part = [gap * draw.randrange(2) + rough * draw.gauss(0, 1) for _ in range(size)]
        if with_zeros:
            sure = draw.randrange(size)
            part = [x if value == sure or draw.random() < 0.5 else -math.inf for value, x in enumerate(part)]
        parts.append(part)
    return parts


def random_probabilities(draw, domains, fine):
    """Of which some are 0 or 1. All are multiples of a power of two, so that they sum to 1 in any precision."""
    parts = []
    for size in domains:
        shares = [0] * size
        for _ in range(draw.choice([1, 2, 8])):
            shares[draw.randrange(size)] += 1
        part = [share / sum(shares) for share in shares]
        if fine and size > 1:
            largest = max(range(size), key=lambda value: part[value])
            part[largest] -= 2.0**-40
            part[largest - 1] += 2.0**-40
        parts.append(part)
    return parts


def random_batch(draw, problem, count, only_tensors=False, gap=None, dtype=None):
    domains = problem.perceived
    dtype = dtype or draw.choices([torch.float64, torch.float32, torch.float16, torch.bfloat16], [50, 40, 5, 5])[0]
    is_logits = only_tensors or dtype in (torch.float16, torch.bfloat16) or draw.random() < 0.75
    gap = draw.choice(GAPS) if gap is None else gap
    if is_logits:
        with_zeros = dtype in (torch.float64, torch.float32) and draw.random() < 0.1
        rows = [random_logits(draw, domains, gap, with_zeros) for _ in range(count)]
    else:
        fine = dtype == torch.float64 and draw.random() < 0.3
        rows = [random_probabilities(draw, domains, fine) for _ in range(count)]
    parts = [torch.tensor([row[v] for row in rows], dtype=dtype).reshape(count, size) for v, size in enumerate(domains)]
    name = "logits" if is_logits else "beliefs"
    if only_tensors or draw.random() < 0.6:
        beyond = 7.0 if is_logits else 0.0  # what lies past a variable's own values is ignored
        width = max(domains)
        values = torch.stack([torch.nn.functional.pad(part, (0, width - part.shape[1]), value=beyond) for part in parts], 1)
    else:
        values = parts
    given = None
    if problem.given:
        told = [[draw.randrange(size) for size in problem.given] for _ in range(count)]
        given = torch.tensor(told, dtype=torch.int64).reshape(count, len(problem.given))
    log_beliefs = log_beliefs_of_logits if is_logits else log_beliefs_of_beliefs
    as_read = [[part[row].double().numpy() for part in parts] for row in range(count)]
    told = [() if given is None else tuple(given[row].tolist()) for row in range(count)]
    asked = [problem.oracle.row(log_beliefs(row) + problem.chances, extra) for row, extra in zip(as_read, told)]
    return Batch({name: values}, given, asked, dtype, gap)


def some_world(draw, row):
    """A world, as a rule a possible one."""
    kind = draw.random()
    if kind < 0.3:
        return int(np.argmax(row.log_probs))
    if kind < 0.9:
        possible = np.nonzero(row.log_probs > -math.inf)[0]
        return int(possible[draw.randrange(len(possible))])
    return draw.randrange(len(row.worlds))


def random_output(draw, problem, row, impossible=0.15):
    if draw.random() < impossible:
        return tuple(draw.randrange(size) for size in problem.outputs)
    return tuple(row.outputs[some_world(draw, row)].tolist())


def random_label(draw, problem, row, family):
    world = some_world(draw, row)
    output = tuple(row.outputs[world].tolist())
    if draw.random() < 0.15:
        output = random_output(draw, problem, row, impossible=0.5)
    if problem.asked is not None and draw.random() < 0.7:
        output = problem.asked
    told = None
    if "worlds" in family:
        share = draw.choice([1, 1, 0.5, 0.5, 0])
        told = tuple(value if draw.random() < share else UNKNOWN for value in row.worlds[world].tolist())
    holds = draw.random() < 0.5 if "holds" in family else True
    return Label(None if family == "worlds alone" else output, holds, told)


FAMILIES = ["outputs", "outputs, holds", "outputs, worlds", "outputs, worlds, holds", "worlds alone"]


def same(found, right, tolerance):
    if math.isnan(found):
        return False
    return found == right or abs(found - right) <= tolerance * max(1.0, abs(right))


def as_text(value):
    """A value as it can be pasted."""
    if isinstance(value, torch.Tensor):
        numbers = repr(value.tolist()).replace("inf", "float('inf')").replace("nan", "float('nan')")
        shape = f".reshape({tuple(value.shape)})" if value.numel() == 0 else ""
        return f"torch.tensor({numbers}, dtype={value.dtype}){shape}"
    if isinstance(value, list) and value and isinstance(value[0], torch.Tensor):
        return "[" + ", ".join(map(as_text, value)) + "]"
    return repr(value)


def rows_of(value, kept, count):
    """The part of an argument that is about some of the rows."""
    if isinstance(value, torch.Tensor):
        return value[kept]
    if isinstance(value, list) and value and isinstance(value[0], torch.Tensor):
        return [part[kept] for part in value]
    return [value[row] for row in kept] if isinstance(value, list) and len(value) == count else value


class Questions:
    """All that one problem is asked.

    Args:
        problem: of oracle_problems.py.
        draw: random.Random.
        tally: `tally.asked(query, kind)` counts; `tally.wrong(query, kind, text, found, right)` tells of a wrong answer.
    """

    def __init__(self, problem, draw, tally):
        self.problem, self.know, self.draw, self.tally = problem, problem.know, draw, tally

    # The parts of a comparison.

    def attempt(self, name, keywords):
        """The answer, or the exception."""
        try:
            return getattr(self.know, name)(**keywords)
        except Exception as error:  # whatever it is, it is compared with what was expected
            return error

    def wrong(self, query, kind, name, keywords, row, count, found, right):
        told = {key: value if row is None else rows_of(value, [row], count) for key, value in keywords.items()}
        text = f"know.{name}({', '.join(f'{key}={as_text(value)}' for key, value in told.items())})"
        if isinstance(found, Exception):
            found = f"{type(found).__name__}: {found}"
        self.tally.wrong(query, kind, text, found, right)

    def failed(self, query, kind, name, keywords, answer, right):
        """Whether the answer is an exception, which is wrong then."""
        self.tally.asked(query, kind)
        if not isinstance(answer, Exception):
            return False
        if query in self.problem.may_refuse and isinstance(answer, ValueError):
            return True
        self.wrong(query, kind, name, keywords, None, None, answer, right)
        return True

    def labelled(self, batch, labels):
        """The labels as arguments."""
        keywords, outputs = batch.keywords, [label.output for label in labels]
        if outputs[0] is not None and not (self.problem.asked and all(o == self.problem.asked for o in outputs)):
            keywords["outputs"] = self.as_outputs(outputs)
        if any(label.world is not None for label in labels):
            keywords["worlds"] = torch.tensor([label.world for label in labels])
        if not all(label.holds for label in labels):
            keywords["holds"] = torch.tensor([label.holds for label in labels])
        return keywords

    def as_outputs(self, outputs):
        terms = self.problem.terms
        if terms is not None and all(output in terms for output in outputs) and self.draw.random() < 0.5:
            return [terms[output] for output in outputs]
        if len(outputs[0]) == 1 and self.draw.random() < 0.5:
            return torch.tensor([output[0] for output in outputs])
        return torch.tensor(outputs)

    def without(self, batch, keywords, kept):
        """The arguments of some of the rows."""
        return {name: rows_of(value, kept, len(batch.rows)) for name, value in keywords.items()}

    def tolerance(self, batch):
        return TOLERANCE[batch.dtype if self.problem.exact else torch.float32]  # a q that learns computes in 32 bits

    # How likely labels are.

    def ask_labels(self, batch, family):
        problem = self.problem
        labels = [random_label(self.draw, problem, row, family) for row in batch.rows]
        if problem.asked and self.draw.random() < 0.5:
            labels = [Label(problem.asked, label.holds, label.world) for label in labels]
        right = [row.log_prob(label) for row, label in zip(batch.rows, labels)]
        keywords = self.labelled(batch, labels)
        tolerance = self.tolerance(batch)
        found = self.attempt("log_prob", keywords)
        if self.failed("log_prob", family, "log_prob", keywords, found, right):
            return
        for row, (label, value) in enumerate(zip(labels, right)):
            self.tally.asked("log_prob", label.kind)
            if not same(float(found[row]), value, tolerance):
                self.wrong("log_prob", label.kind, "log_prob", keywords, row, len(labels), float(found[row]), value)
        possible = [row for row, value in enumerate(right) if value > -math.inf]
        if len(possible) < len(labels):
            self.ask_impossible_loss(keywords, labels, right)
        if possible:
            self.ask_loss(batch, labels, right, possible)

    def ask_impossible_loss(self, keywords, labels, right):
        first = next(row for row, value in enumerate(right) if value == -math.inf)
        self.tally.asked("loss", "impossible " + labels[first].kind)
        found = self.attempt("loss", keywords)
        if not isinstance(found, ValueError):
            text = f"ValueError, for row {first} is impossible"
            self.wrong("loss", "impossible " + labels[first].kind, "loss", keywords, None, None, found, text)

    def ask_loss(self, batch, labels, right, possible):
        """The loss of possible labels, and its gradient."""
        kinds = sorted({labels[row].kind for row in possible})
        kind = kinds[0] if len(kinds) == 1 else "several"
        with_leaf, leaf = batch.leaf()
        keywords = {**self.labelled(batch, labels), **{name: with_leaf[name] for name in batch.keywords}}
        keywords = self.without(batch, keywords, possible)
        value = -sum(right[row] for row in possible) / len(possible)
        loss = self.attempt("loss", keywords)
        if self.failed("loss", kind, "loss", keywords, loss, value):
            return
        if not same(loss.item(), value, self.tolerance(batch)):
            self.wrong("loss", kind, "loss", keywords, None, None, loss.item(), value)
        try:
            loss.backward()
        except Exception as error:
            self.wrong("gradient", kind, "loss", keywords, None, None, error, "a gradient")
            return
        for row in possible:
            self.compare_gradient(batch, labels[row], row, len(possible), leaf, keywords, possible.index(row))

    def compare_gradient(self, batch, label, row, count, leaf, keywords, place):
        """By the logits; where beliefs were given, by logits of which they are the softmax, by the chain rule."""
        tolerance = self.tolerance(batch) + ROUNDING[batch.dtype]
        oracle, problem = batch.rows[row], self.problem
        right = oracle.gradient(label)
        self.tally.asked("gradient", label.kind)
        for variable, size in enumerate(problem.perceived):
            part = leaf[variable] if isinstance(leaf, list) else leaf
            mine = (part.grad[row] if isinstance(leaf, list) else part.grad[row, variable]).double() * -count
            expected = right[variable]
            if not batch.is_logits:
                shares = (part[row] if isinstance(leaf, list) else part[row, variable]).detach().double()
                mine = shares * mine
                mine = mine - shares * mine.sum()
            found = mine.numpy()
            beyond = found[size:] if batch.is_logits else []
            if not (np.abs(found[:size] - expected) <= tolerance).all() or np.any(beyond):
                self.wrong("gradient", label.kind, "loss", keywords, place, count,
                           f"variable {variable}: {found.tolist()}", f"{np.asarray(expected).tolist()} (of log_prob)")  # fmt: skip
                return

    def ask_second_derivative(self, batch, family):
        """Right, or refused."""
        labels = [random_label(self.draw, self.problem, row, family) for row in batch.rows]
        kept = [row for row, label in enumerate(labels) if batch.rows[row].log_prob(label) > -math.inf]
        if not kept:
            return
        keywords = self.labelled(batch, labels)
        keywords["logits"] = batch.values["logits"].clone().requires_grad_()
        leaf = keywords["logits"]
        keywords = self.without(batch, keywords, kept)
        direction = torch.tensor([[[self.draw.gauss(0, 1) for _ in part] for part in row] for row in leaf.tolist()], dtype=leaf.dtype)
        try:
            (slope,) = torch.autograd.grad(self.know.log_prob(**keywords).sum(), leaf, create_graph=True)
            (found,) = torch.autograd.grad((slope * direction).sum(), leaf)
        except RuntimeError:
            return  # refused
        except Exception as error:
            kind = labels[kept[0]].kind
            self.tally.asked("second derivative", kind)
            self.wrong("second derivative", kind, "log_prob", keywords, None, None, error, "a derivative, or a RuntimeError")
            return
        for row in kept:
            self.tally.asked("second derivative", labels[row].kind)
            along = [direction[row, variable].numpy() for variable in range(direction.shape[1])]
            along += [np.zeros(len(part)) for part in self.problem.chances]
            right = batch.rows[row].second_derivative(labels[row], along)
            for variable, size in enumerate(self.problem.perceived):
                if not np.allclose(found[row, variable, :size].numpy(), right[variable], rtol=1e-8, atol=1e-8):
                    self.wrong("second derivative", labels[row].kind, "log_prob", keywords, kept.index(row), len(kept),
                               found[row, variable].tolist(), f"{right[variable].tolist()} along {direction[row].tolist()}")  # fmt: skip
                    return

    # What stands behind outputs.

    def ask_worlds(self, batch, count=DRAWS, explains=True):
        draw, problem = self.draw, self.problem
        outputs = [random_output(draw, problem, row) for row in batch.rows]
        if problem.asked is not None and draw.random() < 0.7:
            outputs = [problem.asked] * len(outputs)
        possible = [row for row, output in enumerate(outputs) if batch.rows[row].most_probable(output) > -math.inf]
        keywords = self.labelled(batch, [Label(output) for output in outputs])
        self.ask_most_probable(batch, outputs, keywords)
        for top in (3, 1000) if explains else ():
            self.ask_explain(batch, outputs, {**keywords, "top": top})
        if len(possible) < len(outputs) and problem.exact:
            for name in ("marginals", "sample"):
                self.tally.asked(name, "impossible output")
                found = self.attempt(name, keywords)
                if not isinstance(found, ValueError):
                    bad = next(row for row in range(len(outputs)) if row not in possible)
                    self.wrong(name, "impossible output", name, keywords, bad, len(outputs), found, "ValueError")
        if possible:
            keywords = self.without(batch, keywords, possible)
            rows = [batch.rows[row] for row in possible]
            self.ask_marginals(batch, rows, [outputs[row] for row in possible], keywords)
            if count > 0:
                self.ask_sample(rows, [outputs[row] for row in possible], keywords, count)
        self.ask_open_output(batch, outputs)

    def ask_open_output(self, batch, outputs):
        """Some outputs may have any value: only the most probable world is asked for so."""
        draw = self.draw
        if self.problem.asked is not None or any(-1 in output for output in outputs):
            return
        outputs = [tuple(OPEN if draw.random() < 0.5 else value for value in output) for output in outputs]
        keywords = {**batch.keywords, "outputs": torch.tensor(outputs)}
        self.ask_most_probable(batch, outputs, keywords, "open output")

    def ask_most_probable(self, batch, outputs, keywords, kind="output"):
        right = [row.most_probable(output) for row, output in zip(batch.rows, outputs)]
        found = self.attempt("most_probable", keywords)
        if self.failed("most_probable", kind, "most_probable", keywords, found, right):
            return
        for place, (row, output, value) in enumerate(zip(batch.rows, outputs, right)):
            self.tally.asked("most_probable", kind)
            world, log_prob = found.worlds[place].tolist(), float(found.log_prob[place])
            none = all(each == UNSET for each in world) and log_prob == -math.inf
            if none and (value == -math.inf or self.may_give_up(row, value)):
                continue
            index = None if none else np.nonzero((row.worlds == np.array(world)).all(1))[0]
            fine = not none and len(index) == 1 and row.giving(output)[index[0]]
            tolerance = self.tolerance(batch)
            # What a q that learns computes in 32 bits begins with logits, which are rounded to those.
            fine = fine and same(log_prob, float(row.log_probs[index[0]]), tolerance if self.problem.exact else 1e-3)
            if fine and (self.problem.exact or self.problem.method.startswith("tables")):
                fine = same(log_prob, value, tolerance if self.problem.exact else 1e-3)
            if not fine:
                best = row.worlds[np.argmax(np.where(row.giving(output), row.log_probs, -math.inf))].tolist()
                right_text = f"{best if value > -math.inf else [UNSET] * len(world)}, log p(w) = {value}"
                self.wrong("most_probable", kind, "most_probable", keywords, place, len(outputs), f"{world}, {log_prob}", right_text)

    def may_give_up(self, row, value):
        """Where nothing is exact, or only the product of tables is, worlds are searched for up to a limit."""
        return not self.problem.exact or (self.know.architecture == "tables" and row.log_probs.max() - value > 39)

    def ask_explain(self, batch, outputs, keywords):
        top = keywords["top"]
        query = "explain all" if top == 1000 else "explain"
        found = self.attempt("explain", keywords)
        if self.failed(query, "output", "explain", keywords, found, "worlds"):
            return
        if not self.problem.exact and self.problem.promises != "pruned":
            return
        tolerance = self.tolerance(batch)
        for place, (row, output) in enumerate(zip(batch.rows, outputs)):
            self.tally.asked(query, "output")
            if not self.problem.exact:
                giving = {tuple(world) for world in row.worlds[row.giving(output)].tolist()}
                shown = [(tuple(world), float(share)) for world, share in zip(found.worlds[place].tolist(), found.probability[place])]
                if not all(world in giving for world, share in shown if share > 0):
                    self.wrong(query, "output", "explain", keywords, place, len(outputs), shown, "worlds that give the output")
                continue
            worlds, shares = found.worlds[place].tolist(), found.probability[place].tolist()
            right = row.explanations(output)
            complaint = complaint_of_ranking(
                [tuple(world) for world in worlds], shares, [(world, math.exp(share)) for world, share in right], top, tolerance
            )
            if complaint:
                shown = [(list(world), math.exp(share)) for world, share in right[:4]]
                self.wrong(query, "output", "explain", keywords, place, len(outputs), f"{complaint}: {worlds[:6]}, {shares[:6]}", shown)

    def ask_explain_predicted(self, batch):
        """Where no outputs are named, worlds stand behind the most likely output, or behind the one that is asked for."""
        keywords = {**batch.keywords, "top": 1000}
        found = self.attempt("explain", keywords)
        if self.failed("explain predicted", "", "explain", keywords, found, "worlds"):
            return
        for place, row in enumerate(batch.rows):
            ranked = row.predictions()
            if self.problem.asked is None and len(ranked) > 1 and ranked[1][1] > ranked[0][1] - 1e-3:
                continue  # either will do
            if self.problem.asked is None and "explain predicted" in self.problem.may_refuse:
                continue  # it cannot choose, and may explain another output
            self.tally.asked("explain predicted", "")
            right = row.explanations(self.problem.asked or ranked[0][0])
            worlds, shares = [tuple(world) for world in found.worlds[place].tolist()], found.probability[place].tolist()
            right = [(world, math.exp(share)) for world, share in right]
            complaint = complaint_of_ranking(worlds, shares, right, 1000, self.tolerance(batch))
            if complaint:
                told = f"{complaint}: {worlds[:6]}, {shares[:6]}"
                self.wrong("explain predicted", "", "explain", keywords, place, len(batch.rows), told, right[:4])

    def ask_marginals(self, batch, rows, outputs, keywords):
        found = self.attempt("marginals", keywords)
        if self.failed("marginals", "output", "marginals", keywords, found, "marginals"):
            return
        for place, (row, output) in enumerate(zip(rows, outputs)):
            self.tally.asked("marginals", "output")
            right = row.marginals(output)
            if not self.problem.exact:
                if not bool(found[place].isfinite().all()):
                    self.wrong("marginals", "output", "marginals", keywords, place, len(rows), found[place].tolist(), "finite numbers")
                continue
            for variable, part in enumerate(right):
                mine = found[place, variable].double().numpy()
                if not (np.abs(mine[: len(part)] - part) <= self.tolerance(batch)).all() or np.any(mine[len(part) :]):
                    self.wrong("marginals", "output", "marginals", keywords, place, len(rows),
                               f"variable {variable}: {mine.tolist()}", part.tolist())  # fmt: skip
                    break

    def ask_sample(self, rows, outputs, keywords, count):
        keywords = {**keywords, "count": count, "seed": self.draw.randrange(1 << 30)}
        found = self.attempt("sample", keywords)
        if self.failed("sample", "output", "sample", keywords, found, "worlds"):
            return
        for place, (row, output) in enumerate(zip(rows, outputs)):
            self.tally.asked("sample", "output")
            drawn = [tuple(world) for world in found[place].tolist()]
            complaint = None
            if len(drawn) != count:
                complaint = f"{len(drawn)} worlds"
            elif self.problem.exact:
                complaint = complaint_of_samples(drawn, dict(row.explanations(output)))
            elif self.problem.promises == "pruned":
                giving = {tuple(world) for world in row.worlds[row.giving(output)].tolist()}
                bad = next((world for world in drawn if world not in giving), None)
                complaint = bad and f"{bad} does not give {output}"
            if complaint:
                right = [(list(world), math.exp(share)) for world, share in row.explanations(output)[:4]]
                self.wrong("sample", "output", "sample", keywords, place, len(rows), complaint, right)

    # Outputs.

    def ask_predictions(self, batch):
        every = math.prod(self.problem.outputs)
        if every <= 300:
            self.ask_ranked(batch, {**batch.keywords, "top": every + 1})
        found = self.attempt("predict", batch.keywords)
        if self.failed("predict", "", "predict", batch.keywords, found, "the most likely output"):
            return
        for place, row in enumerate(batch.rows):
            self.tally.asked("predict", "")
            right = row.predictions()
            world, symbolic = found.world[place].tolist(), found.symbolic[place].tolist()
            index = np.nonzero((row.worlds == np.array(world)).all(1))[0]
            likely = self.is_most_likely(row, index, world)
            complaint = None
            if not likely or len(index) != 1:
                complaint = f"world {world}"
            elif symbolic != row.outputs[index[0]].tolist():
                complaint = f"symbolic {symbolic} of world {world}"
            elif self.problem.exact:
                output, probability = tuple(found.outputs[place].tolist()), float(found.probability[place])
                log_prob = dict(right).get(output, -math.inf)
                tolerance = self.tolerance(batch)
                if not same(math.exp(log_prob), math.exp(right[0][1]), tolerance) or not same(probability, math.exp(log_prob), tolerance):
                    complaint = f"{output}, {probability}"
            elif self.problem.promises == "pruned" and not row.giving(found.outputs[place].tolist()).any():
                complaint = f"{found.outputs[place].tolist()}, which no world gives"
            if complaint:
                self.wrong("predict", "", "predict", batch.keywords, place, len(batch.rows), complaint, [(y, math.exp(p)) for y, p in right[:4]])

    def is_most_likely(self, row, index, world):
        """Whether predict may give this world: the most likely one; under a constraint, of those that keep it."""
        asked = self.problem.asked
        best = -math.inf if asked is None else row.most_probable(asked)
        if best > -math.inf:
            return len(index) == 1 and bool(row.giving(asked)[index[0]]) and row.log_probs[index[0]] >= best - 1e-5 * max(1, abs(best))
        return all(part[value] >= part.max() - 1e-5 for part, value in zip(row.log_beliefs, world))

    def ask_ranked(self, batch, keywords):
        found = self.attempt("predict", keywords)
        if self.failed("predict all", "", "predict", keywords, found, "all outputs") or not self.problem.exact:
            return
        if "predict all" in self.problem.may_refuse and found.outputs.shape[1] == 0:
            return  # it says that it cannot choose
        for place, row in enumerate(batch.rows):
            self.tally.asked("predict all", "")
            right = [(output, math.exp(log_prob)) for output, log_prob in row.predictions()]
            outputs, shares = [tuple(y) for y in found.outputs[place].tolist()], found.probability[place].tolist()
            complaint = complaint_of_ranking(outputs, shares, right, keywords["top"], self.tolerance(batch))
            if complaint:
                told = f"{complaint}: {[(y, p) for y, p in zip(outputs, shares) if p > 0][:8]}"
                self.wrong("predict all", "", "predict", keywords, place, len(batch.rows), told, right[:8])

    # A q that learns.

    def ask_learned(self, batch):
        """What is promised of it: probabilities that sum to at most 1, and no world that does not give its output."""
        every = [tuple(map(int, output)) for output in np.ndindex(*self.problem.outputs)]
        total = np.zeros(len(batch.rows))
        for output in every:
            keywords = {**batch.keywords, "outputs": torch.tensor([output] * len(batch.rows))}
            found = self.attempt("log_prob", keywords)
            if self.failed("log_prob", "every output", "log_prob", keywords, found, "log-probabilities"):
                return
            total += found.detach().double().exp().numpy()
        for place in range(len(batch.rows)):
            self.tally.asked("log_prob", "every output")
            if not total[place] <= 1 + 1e-4:
                self.wrong("log_prob", "every output", "log_prob", batch.keywords, place, len(batch.rows), f"they sum to {total[place]}", 1)
        self.ask_worlds(batch, count=20)
        self.ask_predictions(batch)

    # A batch of no rows.

    def ask_empty(self):
        problem, know = self.problem, self.know
        batch = random_batch(self.draw, problem, 0, only_tensors=True, dtype=torch.float64)
        variables, outputs = len(problem.oracle.domains), len(problem.outputs)
        width = max(know.worlds)
        none = torch.zeros(0, outputs, dtype=torch.int64)
        expected = {
            "log_prob": lambda found: found.shape == (0,),
            "marginals": lambda found: found.shape == (0, variables, width),
            "sample": lambda found: found.shape == (0, 1, variables),
            "most_probable": lambda found: found.worlds.shape == (0, variables) and found.log_prob.shape == (0,),
            "explain": lambda found: found.worlds.shape[0::2] == (0, variables) and found.probability.shape[:1] == (0,),
            "predict": lambda found: found.outputs.shape == (0, outputs) and found.probability.shape == (0,)
            and found.world.shape == (0, variables) and found.symbolic.shape == (0, outputs),
        }  # fmt: skip
        for name, is_right in expected.items():
            if name in problem.may_refuse:
                continue
            keywords = {**batch.keywords, **({} if name == "predict" else {"outputs": none})}
            found = self.attempt(name, keywords)
            if not self.failed(name, "no rows", name, keywords, found, "an answer of no rows") and not is_right(found):
                shapes = [tuple(part.shape) for part in ([found] if isinstance(found, torch.Tensor) else found)]
                self.wrong(name, "no rows", name, keywords, None, 0, f"shapes {shapes}", "an answer of no rows")
        self.tally.asked("loss", "no rows")
        keywords = {**batch.keywords, "outputs": none}
        found = self.attempt("loss", keywords)
        if not isinstance(found, ValueError):
            self.wrong("loss", "no rows", "loss", keywords, None, 0, found, "ValueError")

    # Everything.

    def ask_all(self, batches=2):
        problem, draw = self.problem, self.draw
        if problem.weights is not None:
            return MarkovQuestions(problem, draw, self.tally).ask_all()
        self.know.eval()
        self.tally.asked("exact", "")
        if bool(self.know.exact) != problem.exact:
            self.wrong("exact", "", "__repr__", {}, None, None, self.know.exact, problem.exact)
        if len(problem.oracle.worlds) > 1000:
            batches = 1
        for _ in range(batches):
            batch = random_batch(draw, problem, draw.choice([1, 2, 2, 3, 4]) if len(problem.oracle.worlds) < 1000 else 2)
            if not problem.exact:
                if problem.method.startswith("tables"):  # a product of marginals, at beliefs that do not underflow
                    self.ask_worlds(random_batch(draw, problem, 2, gap=draw.choice([0, 1, 10])), count=0)
                else:
                    self.ask_learned(batch)
                continue
            for family in FAMILIES:
                if family != "worlds alone" or problem.asked is None:
                    self.ask_labels(batch, family)
            self.ask_worlds(batch)
            self.ask_predictions(batch)
            if len(problem.oracle.worlds) < 1000:
                self.ask_explain_predicted(batch)
        if problem.exact:
            gentle = random_batch(draw, problem, 2, only_tensors=True, gap=draw.choice([0, 1, 10]), dtype=torch.float64)
            for family in ("outputs", "outputs, holds", "outputs, worlds"):
                self.ask_second_derivative(gentle, family)
        self.ask_empty()


class MarkovQuestions(Questions):
    """Of soft clauses: there is one output, that the hard clauses hold."""

    def ask_all(self):
        for dtype in (torch.float64, torch.float32):
            batch = random_batch(self.draw, self.problem, self.draw.choice([1, 3]), only_tensors=True, dtype=dtype)
            possible = [row for row in batch.rows if row.most_probable((1,)) > -math.inf]
            if len(possible) == len(batch.rows):
                self.ask(batch)

    def ask(self, batch):
        know, truth, logits = self.know, self.problem.weights, batch.values["logits"]
        tolerance, rows = self.tolerance(batch), batch.rows
        weighed = {"logits": logits}
        posteriors = [np.exp(row.log_posterior((1,))) for row in rows]
        partition = [row.log_prob(Label((1,))) for row in rows]

        def compare(query, name, keywords, right, tolerance, of=lambda found: found):
            found = self.attempt(name, keywords)
            if self.failed(query, "", name, keywords, found, right):
                return
            for place, value in enumerate(right):
                mine = np.asarray(of(found)[place].detach().double())
                allowed = tolerance * np.maximum(1, np.abs(value))
                if not (mine == value).all() and not (np.abs(mine - value) <= allowed).all():
                    self.wrong(query, "", name, keywords, place, len(rows), mine.tolist(), np.asarray(value).tolist())

        compare("log_partition", "log_partition", weighed, np.array(partition), tolerance)
        compare("holds_with", "holds_with", weighed, [share @ truth for share in posteriors], tolerance)
        width = logits.shape[2]
        padded = [np.stack([np.pad(part, (0, width - len(part))) for part in row.marginals((1,))]) for row in rows]
        compare("marginals", "marginals", weighed, padded, tolerance)
        compare("most_probable", "most_probable", weighed, [row.explanations((1,))[0][1] for row in rows], tolerance, lambda found: found.log_prob)
        chosen = [some_world(self.draw, row) for row in rows]
        worlds = torch.tensor(np.stack([row.worlds[place] for row, place in zip(rows, chosen)]))
        right = [float(row.log_posterior((1,))[place]) for row, place in zip(rows, chosen)]
        compare("log_prob", "log_prob", {**weighed, "worlds": worlds}, np.array(right), tolerance)
        self.compare_samples(batch)
        self.compare_gradients(batch, worlds, chosen, right, posteriors)

    def compare_samples(self, batch):
        keywords = {"logits": batch.values["logits"], "count": DRAWS, "seed": self.draw.randrange(1 << 30)}
        found = self.attempt("sample", keywords)
        if self.failed("sample", "", "sample", keywords, found, "worlds"):
            return
        for place, row in enumerate(batch.rows):
            complaint = complaint_of_samples([tuple(world) for world in found[place].tolist()], dict(row.explanations((1,))))
            if complaint:
                self.wrong("sample", "", "sample", keywords, place, len(batch.rows), complaint, row.explanations((1,))[:4])

    def compare_gradients(self, batch, worlds, chosen, right, posteriors):
        logits = batch.values["logits"].clone().requires_grad_()
        keywords, count = {"logits": logits, "worlds": worlds}, len(batch.rows)
        impossible = -math.inf in right
        self.know.zero_grad()
        loss = self.attempt("loss", keywords)
        if impossible:
            self.tally.asked("loss", "impossible world")
            if not isinstance(loss, ValueError):
                self.wrong("loss", "impossible world", "loss", keywords, right.index(-math.inf), count, loss, "ValueError")
            return
        if self.failed("loss", "world", "loss", keywords, loss, right):
            return
        tolerance = self.tolerance(batch)
        if not same(loss.item(), -sum(right) / count, tolerance):
            self.wrong("loss", "world", "loss", keywords, None, None, loss.item(), -sum(right) / count)
        loss.backward()
        truth = self.problem.weights
        of_weights = sum(truth[place] - share @ truth for place, share in zip(chosen, posteriors)) / -count
        self.tally.asked("gradient", "weights")
        if not (np.abs(self.know.weights.grad.double().numpy() - of_weights) <= tolerance).all():
            self.wrong("gradient", "weights", "loss", keywords, None, None, self.know.weights.grad.tolist(), of_weights.tolist())
        for place, row in enumerate(batch.rows):
            self.tally.asked("gradient", "world")
            gradient = row.gradient(Label((1,), world=tuple(row.worlds[chosen[place]].tolist())))
            for variable, part in enumerate(gradient):
                mine = logits.grad[place, variable, : len(part)].double().numpy() * -count
                if not (np.abs(mine - part) <= tolerance).all():
                    self.wrong("gradient", "world", "loss", keywords, place, count, f"variable {variable}: {mine.tolist()}", part.tolist())
                    break


def complaint_of_ranking(found, shares, right, top, tolerance):
    """What is wrong with a ranking, or None. right: all that is possible with its probability, the highest first.

    A place whose share is 0 is not filled. Shares of less than the tolerance may be missing at the end.
    """
    of = dict(right)
    filled = [(each, share) for each, share in zip(found, shares) if share != 0]
    if any(math.isnan(share) for share in shares):
        return "a share is not a number"
    if len({each for each, _ in filled}) < len(filled):
        return "one stands there twice"
    for each, share in filled:
        if each not in of:
            return f"{each} is impossible"
        if abs(share - of[each]) > tolerance:
            return f"{each} has {share}, which should be {of[each]}"
    if any(later > earlier + tolerance for earlier, later in zip(shares, shares[1:])):
        return "not in order"
    for place, (each, share) in enumerate(right[:top]):
        if share > tolerance and (place >= len(filled) or abs(filled[place][1] - share) > tolerance):
            return f"{each} with {share} is missing at place {place}"
    return None
