"""The q that suits a function which nobody described (``q.architecture=auto``).

The first of these that there is: exact inference by an automaton or a formula that was declared, or by enumeration if
worlds are few; by an automaton that is found by querying the function, or else by enumeration if worlds are not too many;
tables, if each output is of a few world variables; and else a neural q along the order that matters to the outputs, ``scan``
or ``mlp``, whichever gives held-out samples of the function the higher likelihood after a short training.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Callable

import torch

from .. import _engine, q
from ..q.beliefs import sample_worlds
from .kernels import compiled
from .options import EXACT, PROPAGATION, TABLES, Options
from .problem import apply, q_problem, some_worlds

Say = Callable[[str], None]
_FEW_WORLDS, _FEW = 1 << 16, 1 << 18  # worlds, and worlds times output values, that are listed
_CONCENTRATION, _UPDATES, _SAMPLES, _HELD_OUT = 0.2, 150, 64, 512


@dataclass
class Chosen:
    """Which q, why, and the problem with what was found of it."""

    problem: _engine.Problem
    architecture: str
    reason: str
    facts: dict[str, Any] = field(default_factory=dict)
    calls: int = 0
    seconds: float = 0.0
    certificate: _engine.Bound | None = None
    backend: _engine.Backend | None = None


def reason_of(architecture: str, problem: _engine.Problem) -> str:
    """Of one that was named."""
    if architecture != PROPAGATION:
        return f"{architecture}, as told"
    reason = "propagation: approximate, messages along the clauses"
    return reason if problem.has_circuit else f"{reason}; no circuit compiled in time"


def choose(problem: _engine.Problem, options: Options, order: list[int], seed: int, say: Say | None) -> Chosen:
    if problem.automaton is not None:
        return Chosen(problem, EXACT, "exact inference: the problem tells its memory")
    if problem.has_cnf or problem.has_circuit:
        told = _by_formula(problem, options, say)
        if told is not None:
            return told
    enumerated = Chosen(problem, EXACT, f"exact inference: there are only {problem.points:.0f} worlds")
    seconds = options.number("discover.seconds")
    # If the function is slow, even few worlds take too long.
    listable = problem.points <= _FEW_WORLDS and _seconds_a_call(problem, seed) * problem.points <= seconds
    if listable and problem.points * sum(problem.outputs) <= _FEW:
        return enumerated
    threads = torch.get_num_threads()
    found = _engine.discover(problem, settings=options.discover, order=order, seed=seed, say=say, threads=threads)
    if not found.has_automaton and listable:
        return enumerated
    chosen = _by_what_was_found(problem, found, options, seed, say)
    chosen.calls, chosen.seconds, chosen.certificate = found.calls, found.seconds, found.certificate
    return chosen


def _by_formula(problem: _engine.Problem, options: Options, say: Say | None) -> Chosen | None:
    try:
        backend = _engine.Backend(problem, settings=options.exact.settings(), threads=torch.get_num_threads())
        return Chosen(problem, EXACT, "exact inference by the formula that was told", backend=backend)
    except RuntimeError as error:
        why_not = str(error)
    if problem.asked is not None:
        return Chosen(problem, "mlp", f"mlp: {why_not}")
    if say is not None:
        say(f"the formula that was told is passed over: {why_not}")
    return None


def _by_what_was_found(
    problem: _engine.Problem, found: _engine.Discovery, options: Options, seed: int, say: Say | None
) -> Chosen:
    facts = found.facts
    if found.has_automaton:
        automaton = found.problem.automaton
        assert automaton is not None
        what = f"exact inference: a memory of {automaton.states} states was found, which {_in_words(found.certificate)}"
        return Chosen(problem.with_found(facts, what), EXACT, what, facts)
    if found.has_tables:
        what = f"tables: every output is of a few world variables; each by itself {_in_words(found.certificate)}"
        return Chosen(problem.with_found(facts, what), TABLES, what, facts)
    if len(found.influence) == 0:  # the function is too slow to be asked often, or too much is unknown of it
        return Chosen(problem, "mlp", f"mlp: {found.reason}")
    return _best_of(found, options, seed, say)


def _best_of(found: _engine.Discovery, options: Options, seed: int, say: Say | None) -> Chosen:
    best, architecture = -float("inf"), ""
    for name in ("scan", "mlp"):
        if say is not None:
            say(f"no memory was found ({found.reason}); trying a q of architecture {name}")
        likelihood = _held_out_likelihood(found.problem, name, options, seed)
        if not architecture or likelihood > best:
            best, architecture = likelihood, name
    what = f"{architecture}: {found.reason}; of scan and mlp it gives samples of c the higher likelihood ({best:.3g} nats)"
    return Chosen(found.problem, architecture, what, found.facts)


def _held_out_likelihood(problem: _engine.Problem, architecture: str, options: Options, seed: int) -> float:
    """Mean log q(c(w)|P) of fresh beliefs and worlds, after a few updates of q."""
    of_q, prior = q_problem(problem), q.FixedDirichlet(problem.worlds, _CONCENTRATION)
    model = make_network(of_q, architecture, options, seed)
    learning = q.Amortized(of_q, model, compiled(prior), q.Options(samples=_SAMPLES), seed)
    for _ in range(_UPDATES):
        learning.update(q.Rate(0.002))
    generator = torch.Generator().manual_seed((seed + 1) % 2**64)
    with torch.no_grad():
        beliefs = prior.sample(_HELD_OUT, generator)
        outputs = of_q.function(sample_worlds(beliefs, generator))
        return float(model.prediction.log_prob(beliefs, outputs).mean())


def make_network(of_q: q.Problem, architecture: str, options: Options, seed: int) -> q.InferenceModel:
    explains = options.q.explains
    weights = (seed + 1) % 2**64
    return q.make_model(of_q, architecture, explains=explains, settings=options.values, seed=weights).to(torch.float32)


def _seconds_a_call(problem: _engine.Problem, seed: int) -> float:
    """In a batch; the fastest of a few, since a busy machine makes any call slow now and then."""
    asked = 16
    worlds, fastest = some_worlds(problem, asked, seed), float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        apply(problem, worlds)
        fastest = min(fastest, time.perf_counter() - begin)
        if fastest > 1:
            break
    return fastest / asked


def _in_words(bound: _engine.Bound | None) -> str:
    assert bound is not None
    share, level = f"{bound['bound']:.1e}", f"{100 * bound['level']:.0f}"
    return f"differs from c on at most {share} of worlds of {bound['beliefs']}, {level} % sure"
