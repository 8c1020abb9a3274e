#!/usr/bin/env python3
"""anesi.problog beside DeepProbLog: the same programs, the same networks, probabilities compared and steps timed.

    pip install problog==2.3.0 deepproblog==2.1.0 pysdd
    PYTHONPATH=build/release/python python bench/problog_programs.py

Images are random. Probabilities are those of all queries of the first two batches; gradients, of the first. A step is a batch through the network,
the loss, its gradient and the optimiser's step; its time is the median of CPU milliseconds, on one thread. DeepProbLog
caches what it has ground and compiled, as in its own examples, and its steps are timed after it has seen each query
once: what that takes is told apart. DeepProbLog is asked about one digit and about two, unless --theirs says otherwise;
beyond it takes too long.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings

import torch

import anesi.problog

warnings.filterwarnings("ignore")

ADDITION = """
nn(mnist_net, [X], Y, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) :: digit(X, Y).
number([], N, N).
number([H|T], Before, N) :- digit(H, D), After is D + 10 * Before, number(T, After, N).
number(L, N) :- number(L, 0, N).
addition(X, Y, Z) :- number(X, X2), number(Y, Y2), Z is X2 + Y2.
"""
COINS = """
nn(net1, [X], Y, [heads, tails]) :: coin(1, X, Y).
nn(net2, [X], Y, [heads, tails]) :: coin(2, X, Y).
outcome(X, X, win).
outcome(X, Y, loss) :- \\+ outcome(X, Y, win).
game(X, O) :- coin(1, X, A), coin(2, X, B), outcome(A, B, O).
"""


def make_network(values: int) -> torch.nn.Module:
    nn = torch.nn
    return nn.Sequential(
        *(nn.Conv2d(1, 6, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(6, 16, 5), nn.MaxPool2d(2), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(256, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, values)),
    )


class Ours:
    """A program with one network for each of its neural predicates."""

    def __init__(self, program, query, networks, names):
        start = time.process_time()
        self.know = anesi.problog.Knowledge(program, query, verbose=False)
        self.seconds = time.process_time() - start
        self.networks, self.names = networks, names
        self.optimizer = torch.optim.Adam([p for net in networks.values() for p in net.parameters()], 1e-3)

    def probabilities(self, images, answers):  # images [batch, names, 1, 28, 28]
        logits = self.know.read(self.networks, dict(zip(self.names, images.unbind(1))))
        return self.know.log_prob(logits, answers).exp()

    def learn(self, images, answers):
        self.know.loss(self.know.read(self.networks, dict(zip(self.names, images.unbind(1)))), answers).backward()

    def step(self, images, answers):
        self.optimizer.zero_grad()
        self.learn(images, answers)
        self.optimizer.step()


class Theirs:
    """The same in DeepProbLog."""

    def __init__(self, program, query, networks, names):
        from deepproblog.engines import ExactEngine
        from deepproblog.model import Model
        from deepproblog.network import Network
        from deepproblog.query import Query
        from problog.logic import Constant, Term

        wrapped = []
        for name, network in networks.items():
            wrapped.append(Network(torch.nn.Sequential(network, torch.nn.Softmax(1)), name, batching=True))
            wrapped[-1].optimizer = torch.optim.Adam(network.parameters(), 1e-3)
        self.model = Model(program, wrapped, load=False)
        self.model.set_engine(ExactEngine(self.model), cache=True)
        self.images = {}
        self.model.add_tensor_source("images", self)
        template = Term.from_string(query)

        def make(answer, row):
            told = Constant(answer) if isinstance(answer, int) else Term(answer)
            term = template.with_args(*template.args[:-1], told)
            places = range(row * len(names), (row + 1) * len(names))
            tensors = [Term("tensor", Term("images", Constant(place))) for place in places]
            return Query(term, {Term(name): tensor for name, tensor in zip(names, tensors)})

        self.make = make

    def __getitem__(self, place):
        return self.images[int(place[0])]

    def queries(self, images, answers):
        self.images = dict(enumerate(images.flatten(0, 1)))
        return [self.make(answer, row) for row, answer in enumerate(answers)]

    def probabilities(self, images, answers):
        results = self.model.solve(self.queries(images, answers))
        return torch.stack([torch.as_tensor(next(iter(result.result.values()))) for result in results])

    def learn(self, images, answers):
        from deepproblog.train import TrainObject

        TrainObject(self.model).get_loss(self.queries(images, answers), self.model.solver.semiring.cross_entropy)

    def step(self, images, answers):
        self.model.optimizer.zero_grad()
        self.learn(images, answers)
        self.model.optimizer.step()


def gradients_apart(ours, theirs, batch):
    """The largest difference, over the largest gradient. Both have the same networks."""
    parameters = [parameter for network in ours.networks.values() for parameter in network.parameters()]

    def of(learn):
        for parameter in parameters:
            parameter.grad = None
        learn(*batch)
        return torch.cat([parameter.grad.flatten() for parameter in parameters])

    mine, other = of(ours.learn), of(theirs.learn)
    return ((mine - other).abs().max() / other.abs().max()).item()


def milliseconds(system, batches):
    found = []
    for images, answers in batches:
        start = time.process_time()
        system.step(images, answers)
        found.append(1000 * (time.process_time() - start))
    return statistics.median(found)


def draw(names, options, label):
    """Random images [batch, names, 1, 28, 28] and answers."""
    batches = []
    for _ in range(options.steps):
        images = torch.randn(options.batch, len(names), 1, 28, 28)
        batches.append((images, [label() for _ in range(options.batch)]))
    return batches


def compare(title, program, query, networks, names, batches, theirs=True):
    ours = Ours(program, query, {name: make() for name, make in networks.items()}, names)
    line = f"{title}: anesi made in {ours.seconds:.2f} s ({ours.know._summary()})"
    if theirs:
        other = Theirs(program, query, ours.networks, names)
        start = time.process_time()
        expected = [other.probabilities(*batch) for batch in batches[:2]]
        for batch in batches[2:]:
            other.probabilities(*batch)
        compiled = time.process_time() - start
        apart = max(
            (ours.probabilities(*batch) / wanted - 1).abs().max().item() for batch, wanted in zip(batches, expected)
        )
        line += f"; probabilities differ by at most {apart:.1e} of themselves, gradients by {gradients_apart(ours, other, batches[0]):.1e}"
        line += f"; DeepProbLog {milliseconds(other, batches):.2f} ms a step, after {compiled:.1f} s of its first queries"
    print(f"{line}; anesi {milliseconds(ours, batches):.2f} ms a step", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--digits", type=int, nargs="*", default=[1, 2, 4, 15])
    parser.add_argument("--theirs", type=int, default=2, help="up to how many digits DeepProbLog adds; 0: it is left out")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    try:
        import deepproblog.model  # noqa: F401

        peer = options.theirs > 0
    except ImportError as error:
        print(f"DeepProbLog is left out: {error}")
        peer = False

    sides = ["win", "loss"]
    batches = draw(["x"], options, lambda: sides[int(torch.randint(2, ()))])
    coins = {"net1": lambda: make_network(2), "net2": lambda: make_network(2)}
    compare("coins", COINS, "game(x, O)", coins, ["x"], batches, peer)
    for digits in options.digits:
        names = [f"{row}{place}" for row in "ab" for place in range(digits)]
        query = f"addition([{','.join(names[:digits])}], [{','.join(names[digits:])}], Z)"
        batches = draw(names, options, lambda: sum(int(torch.randint(10**digits, ())) for _ in range(2)))  # noqa: B023
        networks = {"mnist_net": lambda: make_network(10)}
        compare(f"addition of {digits} digits", ADDITION, query, networks, names, batches, peer and digits <= options.theirs)


if __name__ == "__main__":
    main()
