"""What an unread turn lacks: the covers in which a command misses a value or its object, and how an answer fills one.

Completing a turn is sound because it is the same exact cover: every word of the turn stands in a clause, one single
clause lacks one single value, and the person was asked for just that. With two such clauses, or with two covers that
could take the answer, nothing is completed.
"""

from ..contract.reading import Unread
from .references import calls_of
from .sentence import Sentence
from .turns import Cover, TurnChart

__all__ = ["lacking", "lacks"]


def lacking(sentence: Sentence, turn: TurnChart) -> Unread | None:
    """Return what the turn lacks, by its covers with the fewest gaps; None if no such cover exists."""
    covers = turn.covers(gaps=True)
    if not covers.all:
        return None
    fewest = min(_gaps(cover) for cover in covers.all)
    nearest = [cover for cover in covers.all if _gaps(cover) == fewest]
    missing = tuple(dict.fromkeys(name for cover in nearest for name in lacks(cover)))
    objectless = any(clause.objectless for cover in nearest for clause in cover)
    gap = next(clause for clause in nearest[0] if not clause.complete)
    partial = None
    if len(nearest) == 1 and not covers.overflowed and sum(not clause.complete for clause in nearest[0]) == 1:
        calls = calls_of(sentence, nearest[0])
        partial = None if isinstance(calls, Unread) else calls[nearest[0].index(gap)]
    return Unread(
        code="missing_object" if objectless else "missing_argument",
        at=sentence.span(gap.start, gap.end),
        text=sentence.said(gap.start, gap.end),
        missing=missing,
        partial=partial,
    )


def lacks(cover: Cover) -> list[str]:
    """Return what the clauses of a cover lack, as ``tool.parameter`` or ``tool.object``, one for each gap."""
    found = []
    for clause in cover:
        if clause.objectless:
            found.append(f"{clause.tool.name}.object")
        found += [f"{clause.tool.name}.{slot.name}" for slot in clause.tool.slots if slot.bit & clause.missing]
    return found


def _gaps(cover: Cover) -> int:
    return sum(clause.missing.bit_count() + clause.objectless for clause in cover)
