"""The turn chart: every way to cover the whole turn with clauses, and what stands between and after them."""

from collections.abc import Iterator
from typing import NamedTuple

from .clauses import Clause, ClauseChart
from .lexicon import CONNECTOR, FILLER, GREETING
from .phrases import NOTHING
from .sentence import Sentence

__all__ = ["Cover", "Covers", "TurnChart"]

_MOST_COVERS = 4  # kept for each position; two different ones are enough to call a turn ambiguous
_MOST_GAPPED = 8

Cover = tuple[Clause, ...]


class _Chain(NamedTuple):
    """A cover from one position to the end, as a clause and the chain behind it; ``meaning`` numbers what it says."""

    clause: Clause
    rest: "_Chain | None"
    meaning: int


class Covers(NamedTuple):
    """The different lists of clauses that cover a turn; ``overflowed`` when there were more than are kept."""

    all: tuple[Cover, ...]
    overflowed: bool


class TurnChart:
    """The covers of one sentence.

    ``start`` is the position behind the greeting, where the first clause starts.
    """

    def __init__(self, sentence: Sentence, clauses: ClauseChart) -> None:
        self._sentence = sentence
        self._chart = clauses
        self.start = self._behind_greeting()
        self._clauses: dict[int, list[Clause]] = {}
        self._followers: dict[int, list[tuple[int, bool]]] = {}

    def covers(self, *, gaps: bool = False) -> Covers:
        """Return the covers of the whole turn, compared by their calls and not by their words.

        Args:
            gaps: whether clauses that lack something count too; they say what an unread turn lacks.
        """
        self._explore(gaps=gaps)
        chains: dict[int, list[_Chain]] = {}
        meanings: dict[object, int] = {}
        overflowed = self._chart.overflowed
        most = _MOST_GAPPED if gaps else _MOST_COVERS
        for at in sorted(self._clauses, reverse=True):
            here: dict[int, _Chain] = {}
            for said, clause, rest in self._from(at, chains, gaps=gaps):
                meaning = meanings.setdefault((said, rest.meaning if rest else -1), len(meanings))
                known = here.get(meaning)
                if known is None and len(here) >= most:
                    overflowed = True
                elif known is None or (clause.asks and not known.clause.asks):
                    here[meaning] = _Chain(clause, rest, meaning)
            chains[at] = list(here.values())
        return Covers(tuple(_unrolled(chain) for chain in chains.get(self.start, [])), overflowed)

    @property
    def reached(self) -> list[int]:
        """The positions at which a clause was looked for, in order."""
        return sorted(self._clauses)

    def clauses(self, at: int) -> list[Clause]:
        """Return every clause that starts at a position, incomplete ones too."""
        known = self._clauses.get(at)
        if known is None:
            known = self._clauses[at] = self._chart.at(at, first=at == self.start)
        return known

    def _explore(self, *, gaps: bool) -> None:
        """Find the clauses of every position at which one may start, from left to right."""
        waiting = {self.start}
        while waiting:
            at = min(waiting)
            waiting.remove(at)
            for clause in self.clauses(at):
                if gaps or clause.complete:
                    waiting.update(nxt for nxt, _ in self._after(clause.end) if nxt > at)

    def _from(
        self, at: int, chains: dict[int, list[_Chain]], *, gaps: bool
    ) -> Iterator[tuple[object, Clause, _Chain | None]]:
        """Yield each clause of a position with what it says and, one by one, the chains that may stand behind it."""
        for clause in self._clauses[at]:
            if not gaps and not clause.complete:
                continue
            ends, after = self._ends(clause.end), self._after(clause.end)
            if not ends and not after:
                continue
            said = (clause.key, clause.missing, clause.objectless)
            if ends:
                yield said, clause, None
            if clause.alone:
                continue
            for nxt, last in after:
                for rest in chains.get(nxt, ()):
                    if not rest.clause.alone and not (last and rest.rest):
                        yield said, clause, rest

    def _behind_greeting(self) -> int:
        sentence = self._sentence
        at = 0
        while True:
            greeting = sentence.found[at].get(GREETING, NOTHING)
            if greeting:
                at += greeting[0][1]
            elif at and (sentence.tokens[at].text in (",", "!", ".") or sentence.tokens[at].kind == "newline"):
                at += 1
            else:
                return at

    def _after(self, at: int) -> list[tuple[int, bool]]:
        """Return where the next clause may start behind a separator, and whether it must be the last one."""
        known = self._followers.get(at)
        if known is None:
            known = self._followers[at] = list(self._separated(at))
        return known

    def _separated(self, at: int) -> Iterator[tuple[int, bool]]:
        tokens, length = self._sentence.tokens, self._sentence.length
        start = at
        if tokens[at].text in (",", ";", ".", "!"):
            at += 1
        if tokens[at].kind == "newline":
            at += 1
        if at > start and at < length:
            yield at, False
        for last, words in self._sentence.found[at].get(CONNECTOR, NOTHING):
            behind = at + words
            if behind < length:
                yield behind, last
            if tokens[behind].text == "," and behind + 1 < length:
                yield behind + 1, last

    def _ends(self, at: int) -> bool:
        """Whether nothing but thanks and marks is left. A question mark is judged by who asks."""
        tokens, found = self._sentence.tokens, self._sentence.found
        while at < self._sentence.length:
            filler = found[at].get(FILLER, NOTHING)
            if filler:
                at += filler[0][1]
            elif tokens[at].text in (".", "!", ",", "?") or tokens[at].kind == "newline":
                at += 1
            else:
                return False
        return True


def _unrolled(chain: _Chain | None) -> Cover:
    clauses = []
    while chain is not None:
        clauses.append(chain.clause)
        chain = chain.rest
    return tuple(clauses)
