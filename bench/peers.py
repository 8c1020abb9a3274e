#!/usr/bin/env python3
"""anesi beside other neurosymbolic libraries: CPU seconds of training until test accuracy reaches a level, on one core.

    python bench/peers.py                                   all systems, MNISTAdd with N = 1 and 2
    python bench/peers.py --digits 1 --systems anesi ABLkit --seconds 120 --json peers.json

Two numbers of N digits each are added; images are labelled with the sum only. All systems see the same images, train
the same LeNet, and run one after the other, each in a process of its own with one thread. Each is written as its users
would write it: the functions named train_* below, whose lines are counted.

The systems are not tuned alike. Our settings were chosen on a part of the training data, to be quick; pylon, which has
no such example, is trained with them too. DeepProbLog and LTNtorch have the optimiser and the batches of their own
examples. ABLkit has those of its example, but a constant learning rate of 1e-3: with the example's one-cycle schedule
of two loops it ended below 98 %.

What is measured: CPU seconds of the process, from the moment when the data are in memory, without imports and without
the evaluations, which are made about every half second of training. A level counts as reached when the sum of the most
likely digits is right on that share of the test data for the first time. CPU time is less disturbed by other programs
than wall time, but not undisturbed: they share caches and memory. Compare figures of one run only.

Each peer is installed from PyPI into a virtual environment of its own, which sees the torch of this interpreter. A peer
that cannot be installed, or fails, is left out with a line that says why. `anesi` must be importable.
"""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import inspect
import json
import math
import os
import pathlib
import platform
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import textwrap
from typing import Any, Callable, NamedTuple

import torch


class Data(NamedTuple):
    digits: int
    images: torch.Tensor  # [examples, 2 * digits, 28, 28], from -1 to 1
    sums: torch.Tensor  # int64 [examples]


def lenet(*last: torch.nn.Module) -> torch.nn.Module:
    """[images, 1, 28, 28] to [images, 10], as anesi.LeNet is."""
    from torch import nn

    return nn.Sequential(
        *(nn.Conv2d(1, 6, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(6, 16, 5), nn.MaxPool2d(2), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(256, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
        *last,
    )


# What users write. Lines that mention `watch` are this benchmark's, and are not counted.


def train_anesi(data: Data, watch: Watch) -> None:
    import anesi
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    powers = 10 ** torch.arange(data.digits - 1, -1, -1)
    know = anesi.Knowledge(
        lambda w: (w.view(-1, 2, data.digits) * powers).sum((1, 2)),
        worlds=[10] * (2 * data.digits),
        outputs=[2 * 10**data.digits - 1],
        verbose=False,
    )
    net = anesi.LeNet(10)
    average = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.99))
    epochs, batch = 4 * data.digits, 64 // data.digits
    optimizer = torch.optim.AdamW(net.parameters(), betas=(0.9, 0.99), weight_decay=0.05, fused=True)
    steps = epochs * math.ceil(len(data.images) / batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=6e-3, total_steps=steps, pct_start=0.1)
    for _ in range(epochs):
        for rows in torch.randperm(len(data.images)).split(batch):
            loss = know.loss(net(data.images[rows]), data.sums[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            average.update_parameters(net)
            watch(average)


def train_ablkit(data: Data, watch: Watch) -> None:
    from ablkit.bridge import SimpleBridge
    from ablkit.learning import ABLModel, BasicNN
    from ablkit.reasoning import KBBase, Reasoner

    class Addition(KBBase):
        def __init__(self):
            super().__init__(pseudo_label_list=list(range(10)))

        def logic_forward(self, numbers):
            value = functools.partial(functools.reduce, lambda number, digit: 10 * number + digit)
            return value(numbers[: data.digits]) + value(numbers[data.digits :])

    net = lenet()
    optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3, alpha=0.9)
    base = BasicNN(net, torch.nn.CrossEntropyLoss(label_smoothing=0.2), optimizer, batch_size=32)
    bridge = SimpleBridge(ABLModel(base), Reasoner(Addition()), [])
    inputs = [list(images.unsqueeze(1)) for images in data.images]
    sums = data.sums.tolist()
    watch.after(base, "fit", net)
    bridge.train((inputs, None, sums), val_data=(inputs[:1], None, sums[:1]), loops=1000, segment_size=0.01)


def train_deepproblog(data: Data, watch: Watch) -> None:
    from deepproblog.dataset import DataLoader, QueryDataset
    from deepproblog.engines import ExactEngine
    from deepproblog.model import Model
    from deepproblog.network import Network
    from deepproblog.query import Query
    from deepproblog.train import TrainObject
    from problog.logic import Constant, Term, list2term

    program = """
        nn(net, [X], Y, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) :: digit(X, Y).
        number([], Result, Result).
        number([H|T], Before, Result) :- digit(H, D), Next is D + 10 * Before, number(T, Next, Result).
        addition(X, Y, Z) :- number(X, 0, A), number(Y, 0, B), Z is A + B.
    """

    class Images:
        def __getitem__(self, place):
            return data.images[int(place[0]), int(place[1])].unsqueeze(0)

    def query(row):
        names = [Term(f"p{place}") for place in range(2 * data.digits)]
        tensors = [Term("tensor", Term("train", Constant(row), Constant(place))) for place in range(len(names))]
        numbers = [list2term(names[: data.digits]), list2term(names[data.digits :])]
        return Query(Term("addition", *numbers, Constant(int(data.sums[row]))), dict(zip(names, tensors)))

    net = lenet(torch.nn.Softmax(1))
    network = Network(net, "net", batching=True)
    network.optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    model = Model(program, [network], load=False)
    model.set_engine(ExactEngine(model), cache=True)
    model.add_tensor_source("train", Images())
    loader = DataLoader(QueryDataset([query(row) for row in range(len(data.images))]), batch_size=2)
    training = TrainObject(model)
    training.hooks.append((10, lambda _: watch(net)))
    training.train(loader, 100)


def train_ltntorch(data: Data, watch: Watch) -> None:
    import ltn

    net = lenet(torch.nn.Softmax(1))
    powers = [10**place for place in range(data.digits - 1, -1, -1)] * 2
    believes = ltn.Predicate(func=lambda beliefs, digit: torch.gather(beliefs, 1, digit.long()))
    both = ltn.Connective(ltn.fuzzy_ops.AndProd())
    exists = ltn.Quantifier(ltn.fuzzy_ops.AggregPMean(p=2), quantifier="e")
    for_all = ltn.Quantifier(ltn.fuzzy_ops.AggregPMeanError(p=2), quantifier="f")
    digits = [ltn.Variable(f"d{place}", torch.arange(10)) for place in range(2 * data.digits)]
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(1000):
        power = [1, 2, 4, 6][min(epoch // 4, 3)]
        for rows in torch.randperm(len(data.images)).split(32):
            beliefs = net(data.images[rows].view(-1, 1, 28, 28)).view(len(rows), -1, 10)
            seen = [ltn.Variable(f"x{place}", beliefs[:, place]) for place in range(2 * data.digits)]
            label = ltn.Variable("sum", data.sums[rows])
            satisfied = for_all(
                ltn.diag(*seen, label),
                exists(
                    digits,
                    functools.reduce(both, [believes(image, digit) for image, digit in zip(seen, digits)]),
                    cond_vars=[*digits, label],
                    cond_fn=lambda *v: sum(p * d.value for p, d in zip(powers, v)) == v[-1].value,
                    p=power,
                ),
            )
            loss = 1 - satisfied.value
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            watch(net)


def train_pylon(data: Data, watch: Watch) -> None:
    from pylon.brute_force_solver import SatisfactionBruteForceSolver
    from pylon.constraint import constraint
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    powers = 10 ** torch.arange(data.digits - 1, -1, -1)
    net = lenet()
    average = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.99))
    epochs, batch = 4 * data.digits, 64 // data.digits
    optimizer = torch.optim.AdamW(net.parameters(), betas=(0.9, 0.99), weight_decay=0.05, fused=True)
    steps = epochs * math.ceil(len(data.images) / batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=6e-3, total_steps=steps, pct_start=0.1)
    for _ in range(epochs):
        for rows in torch.randperm(len(data.images)).split(batch):
            sums = data.sums[rows]
            adds_up = constraint(
                lambda w: (w.view(-1, 2, data.digits) * powers).sum((1, 2)) == sums, SatisfactionBruteForceSolver()
            )
            logits = net(data.images[rows].view(-1, 1, 28, 28)).view(len(rows), -1, 10)
            loss = adds_up(logits) / len(rows)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            average.update_parameters(net)
            watch(average)


class System(NamedTuple):
    train: Callable[[Data, Watch], None]
    packages: list[str]  # the first is the system itself
    needs: tuple[str, ...] = ()  # with what these need in turn


SYSTEMS = {
    "anesi": System(train_anesi, []),
    # pyswip and torchvision, which it asks for, are used by its Prolog knowledge bases and its examples only.
    "ABLkit": System(train_ablkit, ["ablkit==1.0.0", "zoopt==0.4.2", "termcolor==3.3.0"], ("matplotlib==3.11.2",)),
    "DeepProbLog": System(
        train_deepproblog, ["deepproblog==2.1.0", "problog==2.3.0", "PySDD==1.0.6", "pillow==13.0.0"]
    ),
    "LTNtorch": System(train_ltntorch, ["LTNtorch==1.0.2"]),
    "pylon": System(train_pylon, ["pylon-lib==0.1.0", "astor==0.8.1"]),
}


def user_lines(train: Callable[..., None]) -> int:
    """Of a function's body: lines that are neither blank nor a comment nor this benchmark's."""
    lines = [line.strip() for line in inspect.getsource(train).splitlines()[1:]]
    return sum(bool(line) and not line.startswith("#") and "watch" not in line for line in lines)


# In the process that trains.


class Done(Exception):
    """All levels are reached, or the time is up."""


def cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Watch:
    """Looks at the test data now and then, off the clock."""

    def __init__(self, test: Data, levels: list[float], limit: float, result: pathlib.Path) -> None:
        self.test, self.levels, self.limit, self.result = test, levels, limit, result
        self.powers = 10 ** torch.arange(test.digits - 1, -1, -1)
        self.reached: dict[str, float] = {}
        self.best = self.trained = self.last = 0.0
        signal.signal(signal.SIGPROF, self._time_is_up)
        self._start()

    def _start(self) -> None:
        self.started = cpu_seconds()
        signal.setitimer(signal.ITIMER_PROF, max(0.01, self.limit - self.trained))

    def _stop(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.trained += cpu_seconds() - self.started

    def _time_is_up(self, *_: Any) -> None:
        # Where it takes effect: a library may catch what is thrown from here.
        self.finish()
        os._exit(0)

    def __call__(self, net: torch.nn.Module) -> None:
        now = self.trained + cpu_seconds() - self.started
        if now - self.last < 0.4 + 0.02 * now:
            return
        self._stop()
        self._look(net)
        self.last = self.trained
        self._start()

    def after(self, owner: Any, method: str, net: torch.nn.Module) -> None:
        """Looks after each call of a method."""
        plain = getattr(owner, method)

        def watched(*arguments: Any, **named: Any) -> Any:
            result = plain(*arguments, **named)
            self(net)
            return result

        setattr(owner, method, watched)

    def _look(self, net: torch.nn.Module) -> None:
        training = net.training
        net.eval()
        with torch.no_grad():
            parts = [net(part).argmax(-1).flatten() for part in self.test.images.view(-1, 1, 28, 28).split(1000)]
        net.train(training)
        sums = (torch.cat(parts).view(-1, 2, self.test.digits) * self.powers).sum((1, 2))
        accuracy = 100 * (sums == self.test.sums).double().mean().item()
        self.best = max(self.best, accuracy)
        for level in self.levels:
            if accuracy >= level:
                self.reached.setdefault(f"{level:g}", round(self.trained, 2))
        self.write()
        if len(self.reached) == len(self.levels):
            raise Done

    def write(self) -> None:
        told = {"seconds": self.reached, "best": round(self.best, 2), "trained": round(self.trained, 2)}
        self.result.write_text(json.dumps(told))

    def finish(self) -> None:
        self._stop()
        self.write()


def run_one(arguments: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    stored = torch.load(arguments.run_data)
    train, test = (Data(stored["digits"], *stored[part]) for part in ("train", "test"))
    __import__({"LTNtorch": "ltn", "pylon": "pylon.constraint"}.get(arguments.run, arguments.run.lower()))
    watch = Watch(test, arguments.levels, arguments.seconds, pathlib.Path(arguments.run_result))
    try:
        SYSTEMS[arguments.run].train(train, watch)
    except Done:
        return
    watch.finish()


# In the process that compares.


class Left(Exception):
    """Why a system is left out."""


def last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no message"


def make_environment(name: str, cache: pathlib.Path) -> str:
    """The interpreter of a virtual environment in which a peer is installed, beside this interpreter's packages."""
    system = SYSTEMS[name]
    wanted = "\n".join([sys.version, *system.packages, *system.needs])
    place = cache / name.lower()
    python, marker = str(place / "bin" / "python"), place / "installed"
    if marker.exists() and marker.read_text() == wanted:
        return python
    shutil.rmtree(place, ignore_errors=True)
    tag = f"python{sys.version_info.major}.{sys.version_info.minor}"
    commands = [[sys.executable, "-m", "venv", str(place)]]
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    commands.append([*pip, "--no-deps", *system.packages])
    if system.needs:
        commands.append([*pip, *system.needs])
    for number, command in enumerate(commands):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise Left(f"cannot be installed: {last_line(done.stderr)}")
        if number == 0:
            own = place / "lib" / tag / "site-packages" / "beside.pth"
            own.write_text("\n".join(path for path in sys.path if path.endswith("site-packages")) + "\n")
    marker.write_text(wanted)
    return python


def measure(name: str, digits: int, seed: int, python: str, scratch: pathlib.Path, arguments: Any) -> dict[str, Any]:
    result = scratch / f"{name}-{digits}-{seed}.json"
    data = scratch / f"{digits}.pt"
    command = [python, __file__, "--run", name, "--run-data", str(data), "--run-result", str(result)]
    command += ["--seed", str(seed), "--seconds", str(arguments.seconds), "--levels", *map(str, arguments.levels)]
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    # Where one call of a library takes longer than all the time there is.
    most = int(3 * arguments.seconds + 120)
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=scratch,
        env={**os.environ, **threads},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most)),
    )
    if not result.exists():
        raise Left(f"failed: {last_line(done.stderr)}" if done.returncode > 0 else f"no step in {most} s of CPU")
    return {"seed": seed, **json.loads(result.read_text())}


def store_data(digits: int, scratch: pathlib.Path, data: str | None) -> None:
    import anesi

    task = anesi.tasks.load("mnist-add", digits=digits, data=data)
    powers = 10 ** torch.arange(digits, -1, -1)
    stored: dict[str, Any] = {"digits": digits}
    for name, part in (("train", task.train), ("test", task.test)):
        stored[name] = part.inputs(torch.arange(len(part))), (part.outputs * powers).sum(1)
    torch.save(stored, scratch / f"{digits}.pt")


def shown(runs: list[dict[str, Any]], level: str) -> str:
    """The median over seeds, where most of them got there."""
    seconds = sorted(run["seconds"].get(level, math.inf) for run in runs)
    middle = statistics.median_high(seconds)
    return "-" if math.isinf(middle) else f"{middle:.1f}"


def print_table(results: list[dict[str, Any]], arguments: Any) -> None:
    levels = [f"{level:g}" for level in arguments.levels]
    print(
        f"\nCPU seconds of training to a test accuracy of …; - where it was not reached, in {arguments.seconds:g} s at most"
    )
    columns = "".join(f"{level + ' %':>9}" for level in levels)
    print(f"{'N':>2}  {'system':24}{columns}   best %  trained s  lines")
    for row in results:
        best, trained = (statistics.median(run[key] for run in row["runs"]) for key in ("best", "trained"))
        print(
            f"{row['digits']:>2}  {row['system'] + ' ' + row['version']:24}"
            + "".join(f"{shown(row['runs'], level):>9}" for level in levels)
            + f"{best:9.2f}{trained:11.1f}{row['lines']:7}"
        )


def version_of(name: str) -> str:
    if SYSTEMS[name].packages:
        return SYSTEMS[name].packages[0].split("==")[1]
    import anesi

    return str(anesi.__version__)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--digits", type=int, nargs="+", default=[1, 2], metavar="N", help="digits of each number")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS), metavar="NAME",
                        help=f"some of {', '.join(SYSTEMS)}")  # fmt: skip
    parser.add_argument("--levels", type=float, nargs="+", default=[95, 97, 98], help="test accuracies in percent")
    parser.add_argument("--seconds", type=float, default=600, help="of CPU, for each system at each N (default 600)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds; the table shows medians (default 1)")
    parser.add_argument("--cache", help="folder for the peers' virtual environments; without it they are thrown away")
    parser.add_argument("--data", help="folder with MNIST, as for anesi train")
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    for internal in ("--run", "--run-data", "--run-result"):
        parser.add_argument(internal, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    if arguments.run:
        run_one(arguments)
        return
    results, left = [], {}
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        cache = pathlib.Path(arguments.cache).resolve() if arguments.cache else scratch / "environments"
        cache.mkdir(parents=True, exist_ok=True)
        interpreters = {}
        for name in arguments.systems:
            try:
                interpreters[name] = make_environment(name, cache) if SYSTEMS[name].packages else sys.executable
            except Left as why:
                left[name] = str(why)
                print(f"{name}: {why}", flush=True)
        for digits in arguments.digits:
            store_data(digits, scratch, arguments.data)
            for name, python in interpreters.items():
                try:
                    runs = [
                        measure(name, digits, seed, python, scratch, arguments)
                        for seed in range(arguments.seed, arguments.seed + arguments.seeds)
                    ]
                except Left as why:
                    left[f"{name}, N = {digits}"] = str(why)
                    print(f"{name}, N = {digits}: {textwrap.shorten(str(why), 150)}", flush=True)
                    continue
                lines = user_lines(SYSTEMS[name].train)
                results.append(
                    {"system": name, "version": version_of(name), "digits": digits, "lines": lines, "runs": runs}
                )
                print(f"{name}, N = {digits}: {runs}", flush=True)
    print_table(results, arguments)
    if arguments.json:
        about = {
            "python": platform.python_version(),
            "torch": importlib.metadata.version("torch"),
            "machine": platform.machine(),
            "packages": {name: [*SYSTEMS[name].packages, *SYSTEMS[name].needs] for name in arguments.systems},
        }
        pathlib.Path(arguments.json).write_text(
            json.dumps({"about": about, "seconds": arguments.seconds, "results": results, "left_out": left}, indent=2)
        )


if __name__ == "__main__":
    main()
