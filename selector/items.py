"""Items: what may follow a verb at one position, an object or an argument of the verb's tool."""

from collections.abc import Iterator
from re import Pattern
from typing import Literal, NamedTuple

from .lexicon import DETERMINER, NUMBER_MARK, PREPOSITION, TERM, Slot, Tool
from .phrases import NOTHING
from .sentence import Reference, Sentence
from .values import Value, Values

__all__ = ["Filled", "Items", "SameAs"]

_LINKED = frozenset({"money", "int", "decimal", "enum", "date"})  # "amount of 40.00", "quantity to 3"
_LINKS = frozenset({"of", "to", "de", "para", "em"})


class SameAs(NamedTuple):
    """A reference to the one value of a noun said earlier in the turn: "the same order"."""

    noun: str


class Filled(NamedTuple):
    """One slot filled: the value, the positions it stands at, and what told which slot it is."""

    slot: Slot
    value: Value | SameAs
    start: int
    end: int
    by: Literal["noun", "introducer", "bare", "same"]


class Items:
    """The items of one sentence, tool by tool and position by position."""

    __slots__ = ("_sentence", "_values")

    def __init__(self, sentence: Sentence, values: Values) -> None:
        self._sentence = sentence
        self._values = values

    def objects(self, tool: Tool, at: int, *, behind_verb: bool) -> list[int]:
        """Return the positions behind each phrase for the tool's object that starts here.

        Right behind the verb it may stand bare; later it needs a determiner. In "refund order 4411, charge 40.00" the
        word *charge* may well be a second command, and "the charge" could not be.
        """
        if not tool.objects:
            return []
        found = self._sentence.found
        starts = [at + length for _, length in found[at].get(DETERMINER, NOTHING)]
        if behind_verb:
            starts.append(at)
        return [
            start + length
            for start in starts
            for term, length in found[start].get(TERM, NOTHING)
            if term in tool.objects
        ]

    def arguments(self, tool: Tool, at: int, free: int, doubt: Pattern[str] | None) -> Iterator[tuple[Filled, int]]:
        """Yield every argument that starts here, with the position behind it.

        Args:
            tool: whose arguments.
            at: the position.
            free: the slots not filled yet, as a set of bits.
            doubt: the shape of what a plain whole number could be here instead of an amount: in "refund charge 12" the
                number of the charge, in "refund order 4411, 4412" a second order. Such a number is no amount.
        """
        for name, term, end in self._sentence.terms(at):
            for slot in tool.by_noun.get(term, ()):
                if slot.bit & free and _takes(slot, name):
                    yield from self._after_noun(slot, end)
        for term, length in self._sentence.found[at].get(TERM, NOTHING):
            for slot in tool.by_introducer.get(term, ()):
                if slot.bit & free:
                    yield from self._valued(slot, at + length, "introducer")
        for slot in tool.bare:
            if slot.bit & free:
                yield from self._bare(slot, at, doubt)
        for slot in tool.counted:
            if slot.bit & free:
                yield from self._counted(slot, at)
        references = self._sentence.references(at)
        if references:
            yield from self._same(tool, references, free)

    def after_noun(self, slot: Slot, at: int) -> list[int]:
        """Return where the value may start behind the slot's noun: "order no. 4411", "amount: 40.00"."""
        sentence = self._sentence
        starts = [at]
        for _, length in sentence.found[at].get(NUMBER_MARK, NOTHING):
            starts.append(at + length)
            starts += [at + length + more for _, more in sentence.found[at + length].get(NUMBER_MARK, NOTHING)]
        if sentence.tokens[at].text in (":", "="):
            starts.append(at + 1)
        if slot.kind in _LINKED:
            starts += [at + n for name, n in sentence.found[at].get(PREPOSITION, NOTHING) if name in _LINKS]
        return starts

    def _after_noun(self, slot: Slot, at: int) -> Iterator[tuple[Filled, int]]:
        for start in self.after_noun(slot, at):
            yield from self._valued(slot, start, "noun")

    def _valued(
        self, slot: Slot, start: int, by: Literal["noun", "introducer", "bare"]
    ) -> Iterator[tuple[Filled, int]]:
        for value, end in self._values.of(slot, start):
            yield Filled(slot, value, start, end, by), end

    def _bare(self, slot: Slot, at: int, doubt: Pattern[str] | None) -> Iterator[tuple[Filled, int]]:
        for value, end in self._values.of(slot, at):
            if slot.kind != "money" or self._plainly_money(slot, at, doubt):
                yield Filled(slot, value, at, end, "bare"), end
        for name, length in self._sentence.found[at].get(PREPOSITION, NOTHING):
            if name in slot.prepositions:
                start = at + length
                for value, end in self._values.of(slot, start):
                    if slot.kind != "money" or self._plainly_money(slot, start, None):
                        yield Filled(slot, value, start, end, "bare"), end

    def _plainly_money(self, slot: Slot, at: int, doubt: Pattern[str] | None) -> bool:
        if slot.marked:
            return self._values.marked(at)
        return doubt is None or self._values.exact(at) or not doubt.fullmatch(self._sentence.tokens[at].text)

    def _counted(self, slot: Slot, at: int) -> Iterator[tuple[Filled, int]]:
        """Read a number with its noun behind it: "3 units", "to 3 units"."""
        starts = [at]
        starts += [at + n for name, n in self._sentence.found[at].get(PREPOSITION, NOTHING) if _takes(slot, name)]
        for start in starts:
            for value, end in self._values.of(slot, start):
                for term, length in self._sentence.found[end].get(TERM, NOTHING):
                    if term in slot.nouns:
                        yield Filled(slot, value, start, end, "noun"), end + length

    def _same(self, tool: Tool, references: list[Reference], free: int) -> Iterator[tuple[Filled, int]]:
        for slot in tool.referable:
            if slot.bit & free:
                for name, start, noun, end in references:
                    if noun in slot.nouns and _takes(slot, name):
                        yield Filled(slot, SameAs(noun), start, end, "same"), end


def _takes(slot: Slot, preposition: str | None) -> bool:
    if slot.forced is not None:
        return preposition == slot.forced
    return preposition is None or preposition in slot.prepositions
