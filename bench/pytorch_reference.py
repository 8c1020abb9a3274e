#!/usr/bin/env python3
"""A-NeSI's training step in plain PyTorch, to time ours against: `anesi bench --reference bench/pytorch_reference.py`.

Multi-digit MNISTAdd, the prediction-only variant, at the paper's hyperparameters. It is written as a PyTorch user would
write it: library modules, autograd, torch.optim.Adam, one call of each network a step. Inputs are random images, for
time does not depend on what they show.

    python bench/pytorch_reference.py                                  a table, all cores, N = 1, 4, 15
    python bench/pytorch_reference.py --json --digits 4 --only q_step  {"q_step/4": seconds}
"""

import argparse
import json
import os
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical, Dirichlet

BATCH = 16  # sums a step
SAMPLES = 600  # beliefs sampled from the prior a step
HIDDEN = 800
LEARNING_RATE = 1e-3
WINDOW = 2500  # beliefs the prior is fitted to
PRIOR_ITERATIONS = 50
PRIOR_LEARNING_RATE = 1e-2
PRIOR_START = 0.1
PRIOR_L2 = 900_000.0


class Perception(nn.Sequential):
    """The LeNet of DeepProbLog: images [n, 1, 28, 28] to distributions over the ten digits [n, 10]."""

    def __init__(self):
        super().__init__(
            nn.Conv2d(1, 6, 5),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Conv2d(6, 16, 5),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(256, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, 10),
            nn.Softmax(dim=-1),
        )


class Addition:
    """c(w): the digits of the sum of two numbers of `digits` digits each, most significant first."""

    def __init__(self, digits):
        self.variables = 2 * digits
        self.output_sizes = [2] + [10] * digits
        self.powers = 10 ** torch.arange(digits, -1, -1)  # [digits + 1]

    def __call__(self, worlds):  # [batch, 2 * digits]
        numbers = worlds.view(len(worlds), 2, -1) * self.powers[1:]
        total = numbers.sum(dim=(1, 2))
        return total[:, None] // self.powers % 10  # [batch, digits + 1]


class PredictionModel(nn.Module):
    """q(y|P): one network a factor, reading the belief and the one-hot outputs before it."""

    def __init__(self, variables, output_sizes):
        super().__init__()
        self.sizes = output_sizes
        self.factors = nn.ModuleList()
        width = variables * 10
        for size in output_sizes:
            self.factors.append(
                nn.Sequential(
                    nn.Linear(width, HIDDEN),
                    nn.ReLU(),
                    nn.Linear(HIDDEN, HIDDEN),
                    nn.ReLU(),
                    nn.Linear(HIDDEN, HIDDEN),
                    nn.ReLU(),
                    nn.Linear(HIDDEN, size),
                )
            )
            width += size

    def loss(self, beliefs, outputs):
        """-log q(y|P), mean over the batch, with the given outputs fed to each factor."""
        inputs = torch.cat(
            [beliefs.flatten(1)] + [F.one_hot(outputs[:, i], size) for i, size in enumerate(self.sizes)], dim=1
        )
        loss = 0.0
        for i, factor in enumerate(self.factors):
            logits = factor(inputs[:, : factor[0].in_features])
            loss = loss + F.cross_entropy(logits, outputs[:, i])
        return loss

    def greedy(self, beliefs):
        inputs = beliefs.flatten(1)
        outputs = []
        for factor, size in zip(self.factors, self.sizes):
            outputs.append(factor(inputs).argmax(dim=-1))
            inputs = torch.cat([inputs, F.one_hot(outputs[-1], size)], dim=1)
        return torch.stack(outputs, dim=1)


class Prior:
    """An independent Dirichlet for each variable, fitted to the latest beliefs."""

    def __init__(self, variables):
        start = torch.full((variables, 10), PRIOR_START)
        self.parameter = start.expm1().log().requires_grad_()  # softplus of it is PRIOR_START
        self.optimizer = torch.optim.Adam([self.parameter], lr=PRIOR_LEARNING_RATE)
        self.window = torch.empty(0, variables, 10)

    def observe(self, beliefs):
        self.window = torch.cat([self.window, beliefs.detach()])[-WINDOW:]

    def fit(self):
        # The log-density is linear in log P, so the mean over the window is the value at the geometric mean, which no
        # iteration changes. That point is not on the simplex, hence validate_args.
        smallest = torch.finfo(torch.float32).tiny
        mean = self.window.clamp_min(smallest).log().mean(dim=0).exp()  # [variables, 10]
        for _ in range(PRIOR_ITERATIONS):
            alpha = F.softplus(self.parameter)
            log_likelihood = Dirichlet(alpha, validate_args=False).log_prob(mean)  # [variables]
            loss = PRIOR_L2 * alpha.square().mean() - len(self.window) * log_likelihood.mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def sample(self):
        alpha = F.softplus(self.parameter.detach())
        beliefs = Dirichlet(alpha).sample((SAMPLES,))  # [SAMPLES, variables, 10]
        return beliefs, Categorical(beliefs).sample()


class Training:
    """The state of one training run, and its steps."""

    def __init__(self, digits, precision):
        self.problem = Addition(digits)
        self.perception = Perception()
        self.q = PredictionModel(self.problem.variables, self.problem.output_sizes)
        self.prior = Prior(self.problem.variables)
        self.perception_optimizer = torch.optim.Adam(self.perception.parameters(), lr=LEARNING_RATE)
        self.q_optimizer = torch.optim.Adam(self.q.parameters(), lr=LEARNING_RATE)
        self.precision = precision

    def autocast(self):
        return torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.precision == "bf16")

    def perceive(self, images):  # [batch, variables, 1, 28, 28]
        return self.perception(images.flatten(0, 1)).view(len(images), -1, 10)

    def sample(self):
        beliefs, worlds = self.prior.sample()
        return beliefs, self.problem(worlds)

    def update_q(self, beliefs, outputs):
        self.q_optimizer.zero_grad()
        with self.autocast():
            loss = self.q.loss(beliefs, outputs)
        loss.backward()
        self.q_optimizer.step()
        return loss

    def update_perception(self, beliefs, outputs):
        self.perception_optimizer.zero_grad()
        with self.autocast():
            loss = self.q.loss(beliefs, outputs)
        loss.backward()
        self.perception_optimizer.step()
        return loss

    def perception_step(self, images, outputs):
        return self.update_perception(self.perceive(images), outputs)

    def step(self, images, outputs):
        """Algorithm 2 of the paper, with Algorithm 1 in its middle."""
        beliefs = self.perceive(images)
        self.prior.observe(beliefs)
        self.prior.fit()
        self.update_q(*self.sample())
        return self.update_perception(beliefs, outputs)

    @torch.inference_mode()
    def query(self, images):
        with self.autocast():
            return self.q.greedy(self.perceive(images))


def median_seconds(function, budget):
    """The median time of a call: two calls to warm up, then as many as fit the budget, at least five."""
    for _ in range(2):
        function()
    times = []
    end = time.perf_counter() + budget
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def benchmarks(digits, precision):
    """Name and function of everything that is timed at one number of digits."""
    torch.manual_seed(0)
    training = Training(digits, precision)
    variables = training.problem.variables
    training.prior.observe(Dirichlet(torch.ones(variables, 10)).sample((WINDOW,)))
    images = torch.rand(BATCH, variables, 1, 28, 28)
    outputs = training.problem(torch.randint(10, (BATCH, variables)))
    samples = training.sample()
    return {
        f"dirichlet_fit/{digits}": training.prior.fit,
        f"dirichlet_sample/{digits}": training.sample,
        f"q_step/{digits}": lambda: training.update_q(*samples),
        f"perception_step/{digits}": lambda: training.perception_step(images, outputs),
        f"step/{digits}": lambda: training.step(images, outputs),
        f"query/{digits}": lambda: training.query(images[:1]),
    }


def main():
    parser = argparse.ArgumentParser(description="Times A-NeSI's training step in plain PyTorch (MNISTAdd).")
    parser.add_argument("--digits", type=int, nargs="+", default=[1, 4, 15], metavar="N", help="digits of each number")
    parser.add_argument("--only", nargs="+", default=[""], metavar="PREFIX", help="only the names that start so")
    parser.add_argument("--seconds", type=float, default=2.0, help="time to spend on each name (default 2)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="default: all cores")
    parser.add_argument("--precision", choices=["f32", "bf16"], default="f32", help="of q's networks")
    parser.add_argument("--json", action="store_true", help="print one JSON object {name: seconds}")
    arguments = parser.parse_args()
    if not all(1 <= digits <= 17 for digits in arguments.digits):
        parser.error("--digits: 1 to 17, so that a sum fits an int64")

    torch.set_num_threads(arguments.threads)
    results = {}
    for digits in arguments.digits:
        for name, function in benchmarks(digits, arguments.precision).items():
            if name.startswith(tuple(arguments.only)):
                results[name] = median_seconds(function, arguments.seconds)
                if not arguments.json:
                    print(f"{name:20} {1e3 * results[name]:10.2f} ms", flush=True)
    if arguments.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
