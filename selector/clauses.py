"""The clause chart: every way to read a command that starts at one position.

A clause is a verb of a tool, then items in any order, each slot at most once. The search is a worklist over (position,
filled slots, values): every token is covered or the clause ends before it, and nothing is skipped.
"""

import re
from re import Pattern
from typing import NamedTuple

from .items import Filled, Items, SameAs
from .language import VerbForm
from .lexicon import ASK, FILLER, FIRST, HEAD, PREFIX, Tool
from .phrases import NOTHING
from .sentence import Sentence
from .values import Value

__all__ = ["Clause", "ClauseChart", "ClauseKey"]

_MOST_STATES = 20_000  # over one turn; only a lexicon that is ambiguous beyond use comes near it

_ANY_NUMBER = re.compile(r"[0-9]+")  # behind the object's phrase a plain number may be the number of that object

_State = tuple[int, int, Pattern[str] | None, tuple[Filled, ...]]  # position, slots, what a number may be, values
ClauseKey = tuple[str, tuple[tuple[int, Value | SameAs], ...]]


class Clause(NamedTuple):
    """One way to read one command, complete or not.

    ``missing`` is the set of required slots without a value, ``objectless`` says that the object had to be said and was
    not. ``asks``: the turn may end with a question mark. ``alone``: it is a question frame, which is a whole turn.
    """

    start: int
    end: int
    tool: Tool
    filled: tuple[Filled, ...]
    missing: int
    objectless: bool
    asks: bool
    alone: bool

    @property
    def complete(self) -> bool:
        """Whether it is a call that lacks nothing."""
        return not self.missing and not self.objectless

    @property
    def key(self) -> ClauseKey:
        """What the clause means, apart from the words it was said with: the tool and its values."""
        return self.tool.name, tuple(sorted((f.slot.bit, f.value) for f in self.filled))


class _Head(NamedTuple):
    tool: Tool
    at: int
    asks: bool
    alone: bool


class ClauseChart:
    """The clauses of one sentence, worked out once for each position they are asked for.

    ``farthest`` is the position up to which any clause got, ``overflowed`` tells that the search was given up.
    """

    def __init__(self, sentence: Sentence, items: Items) -> None:
        self._sentence = sentence
        self._items = items
        self._states = 0
        self.farthest = 0
        self.overflowed = False

    def at(self, start: int, *, first: bool) -> list[Clause]:
        """Return all clauses that start here, incomplete ones too. ``first``: at the beginning of the turn."""
        clauses: list[Clause] = []
        for head in self._heads(start, first=first):
            self._search(start, head, clauses)
        return clauses

    def _heads(self, start: int, *, first: bool) -> list[_Head]:
        """Follow fillers, "first" and a prefix to every verb that may head the clause."""
        sentence = self._sentence
        found = sentence.found
        heads: list[_Head] = []
        leads: list[tuple[int, VerbForm | None, bool]] = [(start, None, False)]
        for at, form, asks in leads:  # grows while it is walked
            here = found[at]
            steps = [(at + length, form, asks) for _, length in here.get(FILLER, NOTHING)]
            if first:
                steps += [(at + length, form, asks) for _, length in here.get(FIRST, NOTHING)]
            if form is None:
                steps += [(at + length, opening.form, opening.asks) for opening, length in here.get(PREFIX, NOTHING)]
            if at > start and sentence.tokens[at].text == ",":
                steps.append((at + 1, form, asks))
            leads += [step for step in steps if step not in leads]
            for (number, said), length in here.get(HEAD, NOTHING):
                if form in (None, said):
                    heads.append(_Head(sentence.lexicon.tools[number], at + length, asks, alone=False))
            if first and form is None:
                for number, length in here.get(ASK, NOTHING):
                    heads.append(_Head(sentence.lexicon.tools[number], at + length, asks=True, alone=True))
        return heads

    def _search(self, start: int, head: _Head, clauses: list[Clause]) -> None:
        tool, tokens, found = head.tool, self._sentence.tokens, self._sentence.found
        every = tool.object_bit - 1
        mask = tool.object_bit if head.alone else 0
        stack: list[_State] = [(head.at, mask, None, ())]
        seen: set[object] = set()
        while stack:
            at, mask, doubt, filled = stack.pop()
            key = (at, mask, doubt, tuple((f.slot.bit, f.value) for f in filled))
            if key in seen:
                continue
            seen.add(key)
            self._states += 1
            if self._states > _MOST_STATES:
                self.overflowed = True
                return
            self.farthest = max(self.farthest, at)
            missing = tool.required & ~mask
            clauses.append(
                Clause(start, at, tool, filled, missing, _objectless(tool, mask, filled), head.asks, head.alone)
            )
            next_at = at + 1 if tokens[at].text == "," and at > head.at else at
            fillers = found[next_at].get(FILLER, NOTHING)
            stack += [(next_at + length, mask, doubt, filled) for _, length in fillers]
            if not mask & tool.object_bit:
                objects = self._items.objects(tool, next_at, behind_verb=next_at == at and not filled)
                stack += [(end, mask | tool.object_bit, _ANY_NUMBER, filled) for end in objects]
            free = every & ~mask
            if free:
                for one, end in self._items.arguments(tool, next_at, free, doubt):
                    stack.append((end, mask | one.slot.bit, one.slot.shape, (*filled, one)))


def _objectless(tool: Tool, mask: int, filled: tuple[Filled, ...]) -> bool:
    """The object rule: what the verb acts on is said, or the verb is telling enough and an argument has its noun.

    It looks at this tool alone, so a tool added elsewhere never changes what this one needs.
    """
    if not tool.named or mask & tool.object_bit:
        return False
    by_noun = [one.slot.bit for one in filled if one.by in ("noun", "same")]
    if any(bit & tool.object_slots for bit in by_noun):
        return False
    return tool.object_needed or not by_noun
