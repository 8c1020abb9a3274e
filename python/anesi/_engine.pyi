# What python/engine/*.cc offers, for type checkers. Arrays are NumPy's, in one piece; those named as answers are
# written. `threads` is how many threads compute; 0: as many as there are cores.
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
Float = NDArray[np.float32]
Flags = NDArray[np.bool_]
Step = tuple[Sequence[int], int | None, int]  # variables read, output emitted, kind

version: str
build: str
has_cadical: bool
has_libsdd: bool

class Bound(TypedDict):
    bound: float
    level: float
    draws: int
    differing: int
    beliefs: str

class StepSaid(TypedDict):
    reads: list[int]
    emits: int | None
    kind: int

class Automaton:
    def __init__(
        self,
        worlds: Sequence[int],
        outputs: Sequence[int],
        steps: Sequence[Step],
        states: int,
        start: int,
        rule: Callable[[int, list[int], int], tuple[int, int]],
    ) -> None: ...
    @property
    def states(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def widths(self) -> list[int]: ...
    @property
    def steps(self) -> list[StepSaid]: ...
    def table(self, kind: int) -> dict[str, Any]: ...
    def run(self, worlds: Whole) -> Whole: ...
    def svg(self, title: str = "") -> str: ...

class Cnf:
    def __init__(self, worlds: Sequence[int], outputs: Sequence[int]) -> None: ...
    def world(self, variable: int, value: int) -> int: ...
    def output(self, variable: int, value: int) -> int: ...
    def fresh_variable(self) -> int: ...
    def add(self, clause: Sequence[int]) -> None: ...
    def exactly_one(self, literals: Sequence[int]) -> None: ...
    @property
    def clauses(self) -> list[list[int]]: ...
    @property
    def variables(self) -> int: ...

class Problem:
    """A function from int64 [n, variables] to int64 [n, outputs], and what is known of it. Constant."""

    def __init__(self, function: Callable[[Whole], Whole], worlds: Sequence[int], outputs: Sequence[int]) -> None: ...
    @property
    def worlds(self) -> list[int]: ...
    @property
    def outputs(self) -> list[int]: ...
    @property
    def points(self) -> float: ...
    def apply(self, worlds: Whole, threads: int = 0) -> Whole: ...
    def with_automaton(self, automaton: Automaton) -> Problem: ...
    def with_cnf(self, cnf: Cnf) -> Problem: ...
    def with_reading_order(self, steps: Sequence[Step]) -> Problem: ...
    def with_found(self, facts: Mapping[str, NDArray[Any]], summary: str = "") -> Problem: ...
    @property
    def found(self) -> dict[str, NDArray[Any]]: ...
    def check(self, seed: int = 0, threads: int = 0) -> None:
        """Raises ValueError where an automaton or a formula says something else than the function."""
    @property
    def automaton(self) -> Automaton | None: ...
    @property
    def has_cnf(self) -> bool: ...
    @property
    def has_tables(self) -> bool: ...
    @property
    def has_circuit(self) -> bool: ...
    @property
    def has_pruner(self) -> bool: ...
    @property
    def asked(self) -> list[int] | None: ...

def read_formula(
    path: str,
    *,
    as_: str = "constraint",
    outputs: Sequence[int] = [],
    given: Sequence[int] = [],
    seconds: float = 5,
    warn: Callable[[str], object] | None = None,
) -> Problem: ...
def parse_formula(
    text: str,
    *,
    as_: str = "constraint",
    outputs: Sequence[int] = [],
    given: Sequence[int] = [],
    seconds: float = 5,
    warn: Callable[[str], object] | None = None,
) -> Problem: ...

class Split(TypedDict, total=False):
    """Examples of a task; what is not known of them is missing."""

    inputs: NDArray[Any]
    index: Whole
    outputs: Whole
    holds: Flags
    observed_worlds: Whole
    worlds: Whole

class TaskData(TypedDict):
    origin: str
    train: Split
    validation: Split | None
    test: Split

def task_names() -> list[tuple[str, str]]: ...
def task_options(name: str) -> list[tuple[str, str, str, str]]:
    """Name, default, range and help of each."""

def task_problem(name: str, settings: Sequence[str] = []) -> Problem: ...
def load_task(
    name: str,
    settings: Sequence[str] = [],
    *,
    seed: int = 0,
    data: str | None = None,
    validation: bool = False,
    say: Callable[[str], object] | None = None,
    sources: Sequence[tuple[str, Callable[[str], str]]] = [],
    threads: int = 0,
) -> TaskData:
    """With an index, example i shows ``inputs[index[i]]``. A source leaves MNIST's files in the folder that it returns."""

def mnist_files() -> list[str]: ...

class Discovery:
    @property
    def problem(self) -> Problem: ...
    @property
    def facts(self) -> dict[str, NDArray[Any]]:
        """For :meth:`Problem.with_found`, in this process or another."""
    @property
    def has_automaton(self) -> bool: ...
    @property
    def has_tables(self) -> bool: ...
    @property
    def certificate(self) -> Bound | None: ...
    @property
    def order_by(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def influence(self) -> Real: ...
    @property
    def calls(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    @property
    def seconds(self) -> float: ...

def discover(
    problem: Problem,
    *,
    settings: Sequence[str] = [],
    order: Sequence[int] = [],
    seed: int = 0,
    say: Callable[[str], object] | None = None,
    threads: int = 0,
) -> Discovery: ...
def discover_again(
    problem: Problem, worlds: Whole, *, settings: Sequence[str] = [], seed: int = 0, threads: int = 0
) -> Discovery:
    """The problem's automaton found again so that it is right on these worlds, too."""

def certify(
    problem: Problem, logs: Real | None = None, *, draws: int = 30000, seed: int = 0, threads: int = 0
) -> Bound | None:
    """How far the problem's automaton or tables are from the function, on worlds of these beliefs or of mixed ones."""

def wrong_worlds(problem: Problem, worlds: Whole, *, threads: int = 0) -> Whole:
    """Those of the worlds on which the automaton or the tables differ from the function."""

def discover_options() -> list[tuple[str, str, str, str]]:
    """Name, default, range and help of each."""

class Backend:
    def __init__(self, problem: Problem, *, settings: Sequence[str] = [], threads: int = 0) -> None:
        """The cheapest, or the one that ``exact.method=NAME`` names. Raises RuntimeError if there is none."""
    @property
    def name(self) -> str: ...
    @property
    def why_not(self) -> str: ...
    @property
    def worlds(self) -> list[int]: ...
    @property
    def outputs(self) -> list[int]: ...
    @property
    def exact(self) -> bool: ...
    @property
    def lists_worlds(self) -> bool: ...
    @property
    def outputs_end(self) -> bool: ...
    def log_prob_of_logits(
        self,
        logits: NDArray[Any],
        log_probs: NDArray[Any],
        gradient: NDArray[Any] | None = None,
        given: Whole | None = None,
        outputs: Whole | None = None,
        holds: Flags | None = None,
        worlds: Whole | None = None,
        joint: bool = False,
        threads: int = 0,
    ) -> None: ...
    def loss_of_logits(
        self,
        logits: NDArray[Any],
        loss: NDArray[Any],
        gradient: NDArray[Any] | None = None,
        given: Whole | None = None,
        outputs: Whole | None = None,
        holds: Flags | None = None,
        worlds: Whole | None = None,
        joint: bool = False,
        threads: int = 0,
    ) -> int:
        """Minus the mean. The first example whose label is impossible, or -1."""
    def log_prob(
        self,
        logs: Real,
        log_probs: Real,
        gradient: Real | None = None,
        *,
        outputs: Whole | None = None,
        holds: Flags | None = None,
        worlds: Whole | None = None,
        joint: bool = False,
        threads: int = 0,
    ) -> None: ...
    def hessian_product(
        self,
        logs: Real,
        direction: Real,
        result: Real,
        *,
        outputs: Whole | None = None,
        holds: Flags | None = None,
        worlds: Whole | None = None,
        joint: bool = False,
        threads: int = 0,
    ) -> None: ...
    def most_probable(self, logs: Real, outputs: Whole, worlds: Whole, log_probs: Real, threads: int = 0) -> None: ...
    def ranked_worlds(
        self, logs: Real, outputs: Whole, top: int, threads: int = 0
    ) -> tuple[Whole, Real, list[bool]]: ...
    def ranked_outputs(self, logs: Real, top: int, threads: int = 0) -> tuple[Whole, Real, list[bool]]: ...
    def sample(self, logs: Real, outputs: Whole, worlds: Whole, seed: int, threads: int = 0) -> None: ...
    def entropy(
        self, logs: Real, outputs: Whole, entropies: Real, gradient: Real | None = None, threads: int = 0
    ) -> None: ...

def backend_names() -> list[tuple[str, str]]: ...

class Markov:
    """A weighted formula from a file in WCNF or, if there is no path, from its text."""

    def __init__(self, path: str | None, text: str, seconds: float) -> None: ...
    @property
    def worlds(self) -> list[int]: ...
    @property
    def exact(self) -> bool: ...
    @property
    def weights(self) -> list[float]: ...
    @property
    def clauses(self) -> list[list[int]]: ...
    @property
    def propagation_is_exact(self) -> bool: ...
    def holds(self, worlds: Whole) -> Real: ...
    def keeps(self, worlds: Whole) -> Whole: ...
    def log_partition(
        self,
        logs: Real,
        weights: Real,
        log_partitions: Real,
        by_beliefs: Real | None = None,
        by_weights: Real | None = None,
        threads: int = 0,
    ) -> None: ...
    def propagated(
        self,
        logs: Real,
        weights: Real,
        log_partitions: Real,
        by_beliefs: Real | None = None,
        by_weights: Real | None = None,
        threads: int = 0,
    ) -> None: ...
    def covariance(self, logs: Real, weights: Real, covariances: Real, threads: int = 0) -> None: ...
    def most_probable(self, logs: Real, weights: Real, worlds: Whole, log_probs: Real, threads: int = 0) -> None: ...
    def sample(self, logs: Real, weights: Real, worlds: Whole, seed: int, threads: int = 0) -> None: ...

def read_safetensors(path: str) -> tuple[dict[str, NDArray[Any]], dict[str, str]]: ...
def write_safetensors(path: str, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str] = {}) -> None: ...
def read_npy(path: str) -> NDArray[Any]: ...

def fit_dirichlets_by_adam(
    domains: Sequence[int],
    mean_logs: Real,
    beliefs: float,
    l2: float,
    x: Real,
    first: Real,
    second: Real,
    before: int,
    steps: int,
    lr: float,
) -> None:
    """On one thread. A number for each value, variable after variable; ``x`` and its moments are written."""

def add_log_beliefs(beliefs: Float, sign: int, sums: Whole) -> None:
    """Beliefs ``[n, variables, domain]``, sums ``[variables, domain]`` in units of 2^-40 nats."""

def draw_dirichlets(concentration: Real, seed: int, beliefs: Float, threads: int = 0) -> None:
    """Of concentrations ``[variables, domain]``, 0 past a domain, beliefs ``[count, variables, domain]``."""

def pool_and_rectify(pixels: Float, pooled: Float, threads: int = 0) -> None:
    """Pixels ``[images, 2 height, 2 width, channels]``: the largest of each square of four, or 0."""

def gradient_of_pooling(pixels: Float, pooled: Float, gradient: Float, result: Float, threads: int = 0) -> None: ...
def most_probable_worlds(
    problem: Problem, logs: Real, outputs: Whole, *, nats: float = 40, nodes: int = 20000, threads: int = 0
) -> tuple[Whole, Real, list[bool]]:
    """By search: worlds, what each costs against the most probable of all in nats (infinite if there is none), proven."""

def allow_outputs(problem: Problem, chosen: Whole, variable: int, *, threads: int = 0) -> Flags:
    """What the problem's pruner allows, ``[rows, domain of the variable]``; -2 in a row: not chosen yet."""

def allow_worlds(problem: Problem, outputs: Whole, chosen: Whole, variable: int, *, threads: int = 0) -> Flags: ...
def reading_steps(problem: Problem) -> list[Step] | None: ...
def saved_formula(problem: Problem) -> dict[str, NDArray[Any]]:
    """The problem's formula, for :meth:`Problem.with_found`; of one that is too large, only that there was one."""

def problem_of_formula(problem: Problem) -> Problem | None:
    """The function that the problem's formula is."""
