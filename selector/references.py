"""References inside a turn: "the same order" stands for the one order named before it, or for nothing."""

import json
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from ..contract.reading import Argument, ReadCall, Unread
from .clauses import Clause
from .items import Filled, SameAs
from .sentence import Sentence
from .turns import Cover

__all__ = ["Answer", "calls_of", "repeated_write"]

Answer = tuple[str, str, JsonValue]
"""A tool, a parameter and the value a person gave when asked for it."""


def calls_of(sentence: Sentence, cover: Cover, answer: Answer | None = None) -> tuple[ReadCall, ...] | Unread:
    """Turn a cover into calls, with every reference replaced by the value it stands for.

    A reference needs exactly one different value of its noun in the clauses before its own. Within one clause it would
    say the same thing twice, and money would go from an account to itself.
    ``answer`` fills the one slot the cover lacks.
    """
    said: list[tuple[Filled, JsonValue]] = []
    calls: list[ReadCall] = []
    for clause in cover:
        arguments: dict[str, Argument] = {}
        here: list[tuple[Filled, JsonValue]] = []
        for filled in sorted(clause.filled, key=lambda one: one.start):
            value = _value(filled, said)
            if value is None:
                span = sentence.span(filled.start, filled.end)
                return Unread(code="no_antecedent", at=span, text=sentence.said(filled.start, filled.end))
            if filled.slot.kind == "id":
                here.append((filled, value))
            arguments[filled.slot.name] = Argument(
                value=value, kind=filled.slot.kind, by=filled.by, span=sentence.span(filled.start, filled.end)
            )
        said += here
        calls.append(_call(sentence, clause, arguments, answer))
    return tuple(calls)


def _call(sentence: Sentence, clause: Clause, arguments: Mapping[str, Argument], answer: Answer | None) -> ReadCall:
    given = dict(arguments)
    for slot in clause.tool.slots:
        if slot.bit & clause.missing and answer is not None:
            given[slot.name] = Argument(value=answer[2], kind=slot.kind, by="answer")
    named = {slot.name: given[slot.name] for slot in clause.tool.slots if slot.name in given}
    return ReadCall(tool=clause.tool.name, arguments=named, span=sentence.span(clause.start, clause.end))


def repeated_write(cover: Cover, calls: Sequence[ReadCall]) -> ReadCall | None:
    """Return the second of two equal writes. Nobody means it, or they mean it too seldom to let it pass."""
    seen: set[tuple[str, str]] = set()
    for clause, call in zip(cover, calls, strict=True):
        if clause.tool.writes:
            what = (call.tool, json.dumps(call.values, sort_keys=True))
            if what in seen:
                return call
            seen.add(what)
    return None


def _value(filled: Filled, said: Sequence[tuple[Filled, JsonValue]]) -> JsonValue:
    if not isinstance(filled.value, SameAs):
        return list(filled.value) if isinstance(filled.value, tuple) else filled.value
    before: list[JsonValue] = []
    for other, value in said:
        if filled.value.noun in other.slot.nouns:
            before += [one for one in (value if isinstance(value, list) else [value]) if one not in before]
    return before[0] if len(before) == 1 and _fits(filled, before[0]) else None


def _fits(filled: Filled, value: JsonValue) -> bool:
    shape = filled.slot.shape
    return shape is None or shape.fullmatch(str(value)) is not None
