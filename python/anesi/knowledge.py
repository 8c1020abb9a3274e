"""Knowledge: a function from worlds to outputs, as a loss for any PyTorch model."""

from __future__ import annotations

import math
import os
from typing import Any, Callable, Iterable, Mapping, Sequence, Union

import torch

from . import _arguments, _core, _partners
from ._messages import say
from .answers import Explanation, MostProbable, Prediction, ranked
from .checks import Certificate, Check, check_from
from .facts import Automaton, Cnf
from .function import Function, domains
from .q import InferenceModel

Logits = Union[torch.Tensor, Sequence[torch.Tensor]]
Labels = Union[torch.Tensor, Sequence[Any]]
Settings = Mapping[str, Union[str, int, float, bool]]


class Knowledge(torch.nn.Module):
    """A function from worlds to outputs, ready to be learned from.

    The function takes a batch of worlds, int64 ``[n, variables]``, and returns their outputs, ``[n]`` or
    ``[n, outputs]``. It is asked many times when Knowledge is made, to find out how it works. Where a finite memory,
    tables or a list of all worlds say what it does, everything that follows is exact; else a network q learns it from
    samples, at once and beside your own training (A-NeSI).

    Args:
        function: int64 ``[n, variables]`` to whole numbers ``[n]`` or ``[n, outputs]``. With ``given`` it takes a second
            batch: what it is told besides the world. It must depend on these alone.
        worlds: how many values each variable has, ``[10, 10]``.
        outputs: how many values each output has, ``[19]``; ``19`` for one output.
        given: how many values each number has that the function is told besides the world.
        pointwise: the function takes one world, a list of ints, in place of a batch.
        numpy: the function takes and returns numpy arrays.
        order: the variables in the order in which the function is best read, where you know it.
        automaton: an :class:`Automaton` that says all the function does.
        cnf: a :class:`Cnf` that says all the function does.
        architecture: of q: ``"exact"``, ``"transducer"``, ``"scan"``, ``"mlp"``, …; by default the one that suits.
        settings: options by the names that ``anesi train --help`` lists: ``{"discover.seconds": 5, "q.samples": 64}``.
        seed: decides every random draw.
        verbose: print what was found, and what happens by itself later.

    Example:
        >>> import torch, anesi
        >>> know = anesi.Knowledge(lambda w: w.sum(1), worlds=[10, 10], outputs=[19], verbose=False)
        >>> know
        Knowledge(exact: all 100 worlds)
        >>> logits = torch.zeros(1, 2, 10, requires_grad=True)
        >>> loss = know.loss(logits, torch.tensor([0]))  # only 0 + 0 gives 0
        >>> round(loss.item(), 3)  # log(100)
        4.605
        >>> loss.backward()
    """

    def __init__(
        self,
        function: Callable[..., Any],
        worlds: int | Sequence[int],
        outputs: int | Sequence[int],
        *,
        given: int | Sequence[int] | None = None,
        pointwise: bool = False,
        numpy: bool = False,
        order: Sequence[int] | None = None,
        automaton: Automaton | None = None,
        cnf: Cnf | None = None,
        architecture: str | None = None,
        settings: Settings | None = None,
        seed: int = 0,
        verbose: bool = True,
    ) -> None:
        super().__init__()
        world_domains, output_domains = domains(worlds, "worlds"), domains(outputs, "outputs")
        given_domains = [] if given is None else domains(given, "given")
        if order is not None and sorted(order) != list(range(len(world_domains))):
            raise ValueError(f"order: each of the variables 0 to {len(world_domains) - 1} once, not {list(order)}")
        places = list(range(len(given_domains))) + [len(given_domains) + place for place in order] if order else []
        ask = Function(function, len(output_domains), len(given_domains), pointwise, numpy)
        seed = _arguments.seed(seed)

        def make(choice: Mapping[str, Any] | None) -> _core.Core:
            return _core.Core(
                _arguments.Weakly(ask),
                given_domains + world_domains,
                output_domains,
                len(given_domains),
                architecture or "",
                _as_settings(settings),
                seed,
                say if verbose else None,
                places,
                None if automaton is None else automaton._core,
                None if cnf is None else cnf._core,
                choice,
            )

        self._take(_partners.make_together(make), verbose, ask)
        self._announce()

    @classmethod
    def from_cnf(
        cls,
        formula: str | os.PathLike[str] | Iterable[Sequence[int]],
        as_: str = "constraint",
        *,
        shown: Sequence[int] | None = None,
        outputs: Sequence[int] | None = None,
        given: Sequence[int] | None = None,
        seconds: float = 5,
        architecture: str | None = None,
        settings: Settings | None = None,
        seed: int = 0,
        verbose: bool = True,
    ) -> Knowledge:
        """Knowledge that is a formula: a file, or clauses as lists of literals (3 says that variable 3 holds, -3 not).

        A *constraint* says which worlds there may be. Labels are then worlds, which satisfy it: ``know.loss(logits,
        worlds=labels)`` is their conditional likelihood, ``know.loss(logits)`` the semantic loss of inputs without
        labels, and ``know.most_probable(logits).worlds`` always satisfies it. As *clauses*, the output tells of each
        clause whether it holds. As *definition*, the variables that are not shown are the outputs, which the formula
        must define by those that are.

        Variables of which exactly one holds, by the formula itself, become one variable with as many values.

        Args:
            formula: a file in DIMACS (``.cnf``, with ``c p show``), a circuit (``.nnf`` of c2d or D4, ``.sdd`` with its
                ``.vtree``; constraints only), or clauses.
            as_: ``"constraint"``, ``"clauses"`` or ``"definition"``.
            shown: the variables that worlds are made of, for clauses; by default all of them.
            outputs: of a definition, which variables are outputs; by default all that are not shown.
            given: variables that you know for certain with each input: the loss and the answers take their values as
                ``given``, in this order, and logits are of the others. Of variables of which exactly one holds, what is
                left is which of the others holds if no given one does; a single one that is left is no variable.
            seconds: after which compiling the formula is given up. Probabilities of a constraint are then approximate, by
                belief propagation along its clauses (``know.exact`` is False), and worlds are found under a SAT solver;
                with ``architecture="graph"`` a network learns it instead.

        Example:
            >>> import torch, anesi
            >>> one_of_three = anesi.Knowledge.from_cnf([[1, 2, 3], [-1, -2], [-1, -3], [-2, -3]], verbose=False)
            >>> one_of_three.worlds  # a group of which exactly one holds
            [3]
            >>> know = anesi.Knowledge.from_cnf([[-1, -2], [1, 2]], verbose=False)  # one of two: also a group
            >>> umbrella = anesi.Knowledge.from_cnf([[-1, 2]], verbose=False)  # 1 implies 2
            >>> logits = torch.tensor([[[0.0, 2.0], [1.0, 0.0]]])  # likely 1, rather not 2
            >>> umbrella.most_probable(logits).worlds.tolist()
            [[1, 1]]
            >>> round(umbrella.log_prob(logits).exp().item(), 3)  # that the constraint holds
            0.356
        """
        path = os.fspath(formula) if isinstance(formula, (str, os.PathLike)) else None
        if path is not None and shown is not None:
            raise TypeError("shown: a file says itself which variables it shows, in lines `c p show`")
        text = "" if path is not None else _as_dimacs(formula, shown)  # type: ignore[arg-type]
        told = _arguments.variables(given or [], "given")
        options = _core.FormulaOptions(as_, _arguments.variables(outputs or [], "outputs"), told, float(seconds))
        seed = _arguments.seed(seed)

        def make(choice: Mapping[str, Any] | None) -> _core.Core:
            return _core.formula_core(
                path, text, options, len(told), architecture or "", _as_settings(settings), seed, say if verbose else None, choice
            )

        know = cls._of(_partners.make_together(make), verbose)
        know._announce()
        return know

    @classmethod
    def _of(cls, core: _core.Core, verbose: bool, ask: Function | None = None) -> Knowledge:
        know = cls.__new__(cls)
        torch.nn.Module.__init__(know)
        know._take(core, verbose, ask)
        return know

    def _take(self, core: _core.Core, verbose: bool, ask: Function | None = None) -> None:
        self._core, self._function = core, ask  # the engine only borrows the function
        self._partners_joined = _partners.join(core)
        self._type = torch.float32
        self.verbose = verbose

    def _announce(self) -> None:
        if self.verbose:
            say(self._summary())

    # What was found.

    @property
    def worlds(self) -> list[int]:
        """How many values each variable has."""
        return self._core.worlds

    @property
    def outputs(self) -> list[int]:
        """How many values each output has."""
        return self._core.outputs

    @property
    def given(self) -> list[int]:
        """How many values each number has that the function is told besides the world; empty where there are none."""
        return self._core.given

    @property
    def exact(self) -> bool:
        """Whether probabilities are exact, as far as the certificate says, rather than a network's or approximate."""
        return self._core.exact

    @property
    def states(self) -> int | None:
        """States of the memory that was found or told; None where there is none."""
        automaton = self._core.automaton
        return None if automaton is None else automaton.states

    @property
    def architecture(self) -> str:
        """Of q: ``"exact"``, ``"propagation"`` (approximate, of a formula that did not compile) or that of a network."""
        return str(self._core.choice["architecture"])

    @property
    def reason(self) -> str:
        """Why it was chosen, in a line."""
        return str(self._core.choice["reason"])

    @property
    def certificate(self) -> Certificate | None:
        """On how many worlds what was found differs from the function at most; None where nothing like it is known."""
        found = self._core.choice["certificate"]
        if found is not None:
            return Certificate(**found)
        return Certificate(0.0, 1.0, self._points(), 0, "all worlds") if self._enumerates() else None

    @property
    def automaton(self) -> Automaton | None:
        """The memory that was found or told."""
        automaton = self._core.automaton
        return None if automaton is None else Automaton._of(automaton)

    @property
    def q(self) -> InferenceModel:
        """The model of q(y|P), ``q.prediction``, and of q(w|y,P), ``q.explanation`` or None; see :mod:`anesi.q`.

        A network learns by itself, so its weights are not among ``know.parameters()``: an optimiser that gets those trains
        your network alone.
        """
        return self._core.answers.model

    @property
    def grown(self) -> int:
        """How often a memory that was found had to be found anew, because it was wrong on a perceived world."""
        return self._core.grown

    def function(self, worlds: torch.Tensor) -> torch.Tensor:
        """What the function makes of worlds, int64 ``[n, variables]`` to ``[n, outputs]``; what is given stands first."""
        return self._core.apply(worlds)

    # To learn from.

    def loss(
        self,
        logits: Logits | None = None,
        outputs: Labels | None = None,
        *,
        beliefs: Logits | None = None,
        worlds: torch.Tensor | None = None,
        holds: torch.Tensor | None = None,
        given: torch.Tensor | None = None,
        learn: bool | None = None,
    ) -> torch.Tensor:
        """Minus the mean log-probability of the labels: minimise it.

        In training mode q, where it is a network, learns once beside you (Algorithm 2 of the paper), and a memory that
        was found is compared with the function on a few worlds that you believe in. ``know.eval()`` or ``learn=False``
        leaves both as they are: use it in all but one step where gradients are accumulated, and where activations are
        computed twice.

        Args:
            logits: ``[batch, variables, values]``, of any floating type on any device; a list of ``[batch, values]``
                where variables have different numbers of values.
            outputs: the labels, ``[batch]`` or ``[batch, outputs]``.
            beliefs: probabilities in place of logits.
            worlds: labels that tell variables of the world, ``[batch, variables]``, -1 where one is not known.
            holds: ``[batch]`` of bool; False where the label says "not this output".
            given: ``[batch, given]``, what the function was told besides.
            learn: whether q learns; by default in training mode.

        Example:
            >>> import torch, anesi
            >>> know = anesi.Knowledge(lambda w: w[:, 0] == w[:, 1], [3, 3], [2], verbose=False)
            >>> logits = torch.zeros(4, 2, 3, requires_grad=True)
            >>> know.loss(logits, torch.tensor([1, 1, 0, 0])).backward()
            >>> know.loss(logits, torch.tensor([1, 1, 0, 0]), holds=torch.tensor([True, True, True, False])).ndim
            0
        """
        values, is_logits = self._values(logits, beliefs)
        if values.shape[:1] == (0,):
            raise ValueError("loss: the batch is empty, so it has no mean")
        self._join_late()
        if (self.training if learn is None else learn) and self._core.learns:
            self._learn(values, is_logits, _tensor(given, "given"))
        labels = self._labels(given, outputs, holds, worlds, len(values))
        return self._core.loss(values, is_logits, *labels)

    def log_prob(
        self,
        logits: Logits | None = None,
        outputs: Labels | None = None,
        *,
        beliefs: Logits | None = None,
        worlds: torch.Tensor | None = None,
        holds: torch.Tensor | None = None,
        given: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """How likely each label is, ``[batch]``, in nats; -inf where it is impossible. Differentiable.

        Example:
            >>> import torch, anesi
            >>> know = anesi.Knowledge(lambda w: w.sum(1), [2, 2], [3], verbose=False)
            >>> know.log_prob(torch.zeros(3, 2, 2), torch.tensor([0, 1, 2])).exp()
            tensor([0.2500, 0.5000, 0.2500])
        """
        values, is_logits = self._values(logits, beliefs)
        labels = self._labels(given, outputs, holds, worlds, len(values))
        result: torch.Tensor = self._core.log_prob(values, is_logits, *labels)
        return result

    def forward(self, logits: Logits, outputs: Labels | None = None, **more: Any) -> torch.Tensor:
        """The same as :meth:`loss`."""
        return self.loss(logits, outputs, **more)

    def _learn(self, values: torch.Tensor, is_logits: bool, given: torch.Tensor | None) -> None:
        with torch.no_grad():
            beliefs = _partners.gathered(self._core.beliefs(values.detach(), is_logits, given))
        if self._core.learns_q:
            self._core.learn(beliefs)
        wrong = self._core.watch(beliefs)
        if wrong is not None:
            _partners.grow_together(self._core, wrong)

    # To ask.

    def predict(
        self,
        logits: Logits | None = None,
        *,
        beliefs: Logits | None = None,
        given: torch.Tensor | None = None,
        top: int | None = None,
    ) -> Prediction:
        """The most likely outputs, how likely they are, and the most likely world.

        Example:
            >>> import torch, anesi
            >>> know = anesi.Knowledge(lambda w: w.sum(1), [2, 2], [3], verbose=False)
            >>> found = know.predict(torch.zeros(1, 2, 2))
            >>> found.outputs.tolist(), round(found.probability.item(), 6)
            ([[1]], 0.5)
        """
        values, is_logits = self._values(logits, beliefs)
        found = self._core.predict(values, is_logits, _tensor(given, "given"), _arguments.count(1 if top is None else top, "top"))
        return ranked((part.to(values.device) for part in found), top)

    def explain(
        self,
        logits: Logits | None = None,
        outputs: Labels | None = None,
        *,
        beliefs: Logits | None = None,
        given: torch.Tensor | None = None,
        top: int = 5,
    ) -> Explanation:
        """Which worlds stand behind outputs, most probable first; behind the predicted ones where none are named.

        Example:
            >>> import torch, anesi
            >>> know = anesi.Knowledge(lambda w: w.sum(1), [3, 3], [5], verbose=False)
            >>> why = know.explain(torch.zeros(1, 2, 3), torch.tensor([1]), top=3)
            >>> sorted(why.worlds[0].tolist()), [round(share, 6) for share in why.probability[0].tolist()]
            ([[0, 1], [1, 0]], [0.5, 0.5])
        """
        values, is_logits = self._values(logits, beliefs)
        worlds, probability = self._core.explain(
            values, is_logits, _tensor(given, "given"), self._asked(outputs, len(values)), _arguments.count(top, "top")
        )
        return Explanation(worlds.to(values.device), probability.to(values.device))

    def marginals(
        self,
        logits: Logits | None = None,
        outputs: Labels | None = None,
        *,
        beliefs: Logits | None = None,
        given: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """What is believed of each variable once the output is known, ``[batch, variables, values]``.

        Example:
            >>> import torch, anesi
            >>> know = anesi.Knowledge(lambda w: w.sum(1), [2, 2], [3], verbose=False)
            >>> know.marginals(torch.zeros(1, 2, 2), torch.tensor([2]))[0, 0].tolist()
            [0.0, 1.0]
        """
        values, is_logits = self._values(logits, beliefs)
        result: torch.Tensor = self._core.marginals(values, is_logits, _tensor(given, "given"), self._named(outputs, len(values)))
        return result.to(values.device)

    def sample(
        self,
        logits: Logits | None = None,
        outputs: Labels | None = None,
        *,
        beliefs: Logits | None = None,
        given: torch.Tensor | None = None,
        count: int = 1,
        seed: int | None = None,
    ) -> torch.Tensor:
        """Worlds drawn from those that give the outputs, int64 ``[batch, count, variables]``.

        Where q is a network, some of them may not.

        Example:
            >>> import torch, anesi
            >>> know = anesi.Knowledge(lambda w: w.sum(1), [3, 3], [5], verbose=False)
            >>> know.sample(torch.zeros(1, 2, 3), torch.tensor([2]), count=4).sum(2).tolist()
            [[2, 2, 2, 2]]
        """
        values, is_logits = self._values(logits, beliefs)
        count, chosen = _arguments.count(count, "count"), _arguments.seed_or_fresh(seed)
        named = self._named(outputs, len(values))
        result: torch.Tensor = self._core.sample(values, is_logits, _tensor(given, "given"), named, count, chosen)
        return result.to(values.device)

    def most_probable(
        self,
        logits: Logits | None = None,
        outputs: Labels | None = None,
        *,
        beliefs: Logits | None = None,
        given: torch.Tensor | None = None,
    ) -> MostProbable:
        """The most probable world that gives each output: the label's explanation.

        Example:
            >>> import torch, anesi
            >>> know = anesi.Knowledge(lambda w: w.sum(1), [3, 3], [5], verbose=False)
            >>> know.most_probable(torch.zeros(1, 2, 3), torch.tensor([4])).worlds.tolist()
            [[2, 2]]
        """
        values, is_logits = self._values(logits, beliefs)
        worlds, log_prob = self._core.most_probable(values, is_logits, _tensor(given, "given"), self._named(outputs, len(values)))
        return MostProbable(worlds.to(values.device), log_prob.to(values.device))

    def check(
        self,
        logits: Logits | None = None,
        *,
        beliefs: Logits | None = None,
        given: torch.Tensor | None = None,
        samples: int = 100,
    ) -> Check:
        """How far what is computed is from the truth on these beliefs, with a certificate where there is one.

        Example:
            >>> import torch, anesi
            >>> know = anesi.Knowledge(lambda w: w.sum(1), [3, 3], [5], verbose=False)
            >>> know.check(torch.zeros(8, 2, 3)).distance
            0.0
        """
        values, is_logits = self._values(logits, beliefs)
        figures = self._core.check(values, is_logits, _tensor(given, "given"), _arguments.count(samples, "samples"))
        if self._enumerates():
            figures["certificate"] = vars(self.certificate)
        return check_from(figures, self._summary())

    # To keep.

    def save(
        self, path: str | os.PathLike[str], *, perception: torch.nn.Module | None = None, example: Any = None
    ) -> None:
        """Writes a folder that :func:`anesi.load` reads, and C++ does (``anesi::load_predictor``).

        The function itself is not saved; a memory, tables, all its outputs, or a formula of up to 4 MB are, where there
        are such, and then it need not be brought again. ``perception`` is saved beside it as TorchScript, traced with the input ``example``, so
        that a C++ program can run it (``anesi::load_scripted_perception``).
        """
        script = None
        if perception is not None:
            if example is None:
                raise ValueError("save: perception is traced with an input; give one as `example`")
            was_training = perception.training
            script = torch.jit.trace(perception.eval(), example)  # type: ignore[no-untyped-call]
            perception.train(was_training)
        self._core.save(os.fspath(path))
        if script is not None:
            script.save(os.path.join(os.fspath(path), "perception.pt"))

    def get_extra_state(self) -> dict[str, torch.Tensor]:
        """All that the future depends on: q, its optimiser, its prior, what was found, and the generator."""
        state: dict[str, torch.Tensor] = self._core.state()
        return state

    def set_extra_state(self, state: dict[str, torch.Tensor]) -> None:
        """Takes up what :meth:`get_extra_state` gave. Knowledge must have been made in the same way."""
        if not isinstance(state, dict):
            raise TypeError(f"state: what state_dict() gave is expected, not {type(state).__name__}")
        for name, tensor in state.items():
            if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
                raise ValueError(f"state: {name} is {type(tensor).__name__}; tensors by name are expected")
        state = {name: tensor.cpu() for name, tensor in state.items()}
        self._core.load_state(state)
        types = {tensor.dtype for name, tensor in state.items() if name.startswith("q.") and tensor.is_floating_point()}
        self._type = torch.float64 if torch.float64 in types else torch.float32

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Knowledge:
        # know.double() and know.float() say what q computes in. It stays on the CPU.
        self._compute_in(fn(torch.zeros((), dtype=self._type)).dtype)
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def _compute_in(self, dtype: torch.dtype) -> None:
        if dtype in (torch.float32, torch.float64):  # in nothing less
            self._type = dtype
            self._core.to_double(dtype == torch.float64)

    def __getstate__(self) -> dict[str, Any]:
        # Of a copy, also one in another process. Whether it learns together with others is found out there.
        return {**self.__dict__, "_partners_joined": False}

    # To look at.

    def _summary(self) -> str:
        choice = self._core.choice
        if not self.exact:
            return str(choice["reason"])
        asked = f", {choice['calls']:,} calls, {choice['seconds']:.2f} s" if choice["calls"] else ""
        if self.states is not None:
            return f"exact: a memory of {self.states} states{asked}"
        return f"exact: all {self._points():,} worlds" if self._enumerates() else str(choice["reason"])

    def _enumerates(self) -> bool:
        return self.exact and str(self.reason).startswith("exact inference: there are only")

    def _points(self) -> int:
        return math.prod(self.given + self.worlds)

    def __repr__(self) -> str:
        return f"Knowledge({self._summary()})"

    def _repr_svg_(self) -> str | None:
        """In notebooks: the memory, where it is small enough to be drawn."""
        automaton = self.automaton
        return None if automaton is None else automaton._repr_svg_()

    def plot_machine(self, **options: Any) -> Any:
        """The memory that was found, as a matplotlib figure."""
        from . import plots

        return plots.machine(self, **options)

    def plot_rollout(self, logits: Logits | None = None, outputs: torch.Tensor | None = None, **options: Any) -> Any:
        """How q chooses an output, and a world behind it, step by step, as a matplotlib figure; of the first example."""
        from . import plots

        return plots.rollout(self, logits, outputs, **options)

    def plot_calibration(self, logits: Logits | None = None, outputs: torch.Tensor | None = None, **options: Any) -> Any:
        """How often predictions are right, against how sure they are, as a matplotlib figure."""
        from . import plots

        return plots.calibration(self, logits, outputs, **options)

    # What is inside.

    def _perceived(self) -> list[int]:
        """How many values each variable has that logits are of."""
        return self.worlds

    def _values(self, logits: Logits | None, beliefs: Logits | None) -> tuple[torch.Tensor, bool]:
        if (logits is None) == (beliefs is None):
            raise TypeError("give logits or beliefs, one of the two")
        is_logits = logits is not None
        name, values = ("logits", logits) if is_logits else ("beliefs", beliefs)
        if isinstance(values, torch.Tensor):
            if values.dim() == 2 and len(self._perceived()) == 1:
                values = values.unsqueeze(1)
            return values, is_logits
        return self._padded(values, name), is_logits

    def _padded(self, parts: Any, name: str) -> torch.Tensor:
        sizes = self._perceived()
        if not isinstance(parts, (list, tuple)) or not all(isinstance(part, torch.Tensor) for part in parts):
            raise TypeError(f"{name}: a tensor or a list of tensors is expected, not {type(parts).__name__}")
        if len(parts) != len(sizes):
            raise ValueError(f"{name}: {len(parts)} tensors for {len(sizes)} variables")
        for place, (part, size) in enumerate(zip(parts, sizes)):
            if part.dim() != 2 or part.shape[1] != size:
                raise ValueError(f"{name}: variable {place} has shape {tuple(part.shape)}, expected (batch, {size})")
            if part.shape[0] != parts[0].shape[0]:
                raise ValueError(f"{name}: variable {place} has {part.shape[0]} examples, the first {parts[0].shape[0]}")
        return torch.stack([widened(part, max(sizes)) for part in parts], 1)

    def _labelled(self, outputs: Any) -> torch.Tensor | None:
        """Labels as the library takes them."""
        return _tensor(outputs, "outputs")

    def _asked(self, outputs: Any, batch: int) -> torch.Tensor | None:
        """Labels, or where none are named the output that all of them are about: that a constraint holds."""
        asked = self._core.asked
        if outputs is None and asked is not None:
            return torch.tensor(asked).expand(batch, -1)
        return self._labelled(outputs)

    def _labels(self, given: Any, outputs: Any, holds: Any, worlds: Any, batch: int) -> tuple[torch.Tensor | None, ...]:
        return _tensor(given, "given"), self._asked(outputs, batch), _tensor(holds, "holds"), _tensor(worlds, "worlds")

    def _named(self, outputs: Any, batch: int) -> torch.Tensor:
        named = self._asked(outputs, batch)
        if named is None:
            raise TypeError("outputs: say which outputs are meant")
        return named

    def _join_late(self) -> None:
        """A process group that was set up after Knowledge was made."""
        if not self._partners_joined and _partners.together():
            _partners.make_equal(self._core)
            self._partners_joined = _partners.join(self._core)


def widened(values: torch.Tensor, width: int) -> torch.Tensor:
    """The same with zeros after it, past a variable's own values."""
    return torch.nn.functional.pad(values, (0, width - values.shape[-1]))


def _as_settings(settings: Settings | None) -> list[str]:
    def text(value: Any) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    return [f"{name}={text(value)}" for name, value in (settings or {}).items()]


def _as_dimacs(clauses: Iterable[Sequence[int]], shown: Sequence[int] | None) -> str:
    listed = [list(clause) for clause in clauses]
    literals = [literal for clause in listed for literal in clause] + list(shown or [])
    if not all(isinstance(literal, int) and literal != 0 for literal in literals):
        raise TypeError("clauses: lists of literals are expected, which are whole numbers but 0")
    lines = [f"p cnf {max((abs(literal) for literal in literals), default=0)} {len(listed)}"]
    if shown is not None:
        lines.append(" ".join(["c p show", *map(str, shown), "0"]))
    return "\n".join(lines + [" ".join(map(str, [*clause, 0])) for clause in listed]) + "\n"


def _tensor(value: Any, name: str) -> torch.Tensor | None:
    """Labels may be lists or arrays, too."""
    if value is None or isinstance(value, torch.Tensor):
        return value
    try:
        return torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{name}: a tensor of whole numbers is expected, not {type(value).__name__}") from error
