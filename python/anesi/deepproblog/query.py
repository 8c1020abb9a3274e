"""A query with its answer in place."""
# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

from typing import Any, Mapping, Sequence

from problog.logic import Var


class Query:
    """A query with its answer in place.

    Args:
        query: a term of ProbLog, such as ``addition(a, b, 7)``.
        substitution: what stands for which of its atoms: ``{Term("a"): Term("tensor", …)}``.
        p: how likely it is; the label.
        output_ind: which arguments are the answer; the last one by default.
    """

    def __init__(
        self, query: Any, substitution: Mapping[Any, Any] | None = None, p: float = 1.0, output_ind: Sequence[int] = (-1,)
    ) -> None:
        self.query, self.substitution, self.p, self.output_ind = query, dict(substitution or {}), p, tuple(output_ind)

    def substitute(self, substitution: Mapping[Any, Any] | None = None) -> Query:
        """With tensors in place of the atoms that stand for them."""
        told = self.substitution if substitution is None else substitution
        return Query(self.query.apply_term(told), None, self.p, self.output_ind)

    def variable_output(self) -> Query:
        """With variables in place of the answer."""
        return self.replace_output([Var(f"X_{place % len(self.query.args)}") for place in self.output_ind])

    def replace_output(self, new_values: Sequence[Any]) -> Query:
        """With another answer."""
        arguments = list(self.query.args)
        for place, value in zip(self.output_ind, new_values):
            arguments[place] = value
        return Query(self.query.with_args(*arguments), self.substitution, self.p, self.output_ind)

    def output_values(self) -> list[Any]:
        """The answer."""
        return [self.query.args[place] for place in self.output_ind]

    def to_text_query(self) -> str:
        """A line as :class:`~anesi.deepproblog.QueryDataset` reads it."""
        told = ",".join(f"[{atom},{tensor}]" for atom, tensor in sorted(self.substitution.items(), key=str))
        return f"{self.p}::subs({self.query},[{told}])."

    def _parts(self) -> tuple[Any, ...]:
        return self.query, frozenset(self.substitution.items()), self.p, self.output_ind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"({self.p}::{self.query}, {self.substitution})"
