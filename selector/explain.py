"""Why a turn stays unread: the most telling reason, its place, and what would help.

Nothing here can make a turn readable; the charts have found no cover before it is asked. The reasons are tried in the
order in which a person can act on them: the language, a question, a word nobody knows, a value in a form that is not
read, no verb, a call that lacks something, and at last words that fit nowhere.
"""

from collections.abc import Iterator

from ..contract.reading import Unread, UnreadCode
from .clauses import Clause
from .gaps import lacking
from .known_words import KnownWords
from .lexicon import PREFIX, QUESTION
from .numbers import NumberForms
from .phrases import NOTHING
from .sentence import Sentence
from .turns import TurnChart
from .value_reasons import value_reasons

__all__ = ["explain", "explain_words"]


def explain_words(sentence: Sentence, known: KnownWords) -> Unread | None:
    """Return the reason that lies in the words alone, if any: another language, a question, an unknown word."""
    tokens = sentence.tokens
    foreign = known.language_of(sentence)
    if foreign is not None:
        return Unread(
            code="language",
            at=sentence.span(0, sentence.length),
            text=sentence.said(0, sentence.length),
            detail={"looks_like": foreign, "reads": sentence.lexicon.language.code},
        )
    start = next((at for at in range(sentence.length) if tokens[at].kind == "word"), 0)
    asked = sentence.found[start].get(QUESTION, NOTHING)
    if asked and not sentence.found[start].get(PREFIX, NOTHING):
        end = start + asked[0][1]
        return Unread(code="question", at=sentence.span(start, end), text=sentence.said(start, end))
    for at in range(sentence.length):
        if tokens[at].kind == "word" and not known.knows(tokens[at]):
            near = known.near(tokens[at]) if sentence.lexicon.suggest else ()
            return Unread(code="unknown_word", at=sentence.span(at, at + 1), text=tokens[at].text, near=near)
    return None


def explain(sentence: Sentence, turn: TurnChart, numbers: NumberForms, known: KnownWords) -> Unread:
    """Return why there is no cover of the turn."""
    reason = explain_words(sentence, known)
    if reason is None:
        reason = next(value_reasons(sentence, numbers), None)
    if reason is not None:
        return reason
    if sentence.tokens[sentence.length - 1].text == "?" and not _requested(turn):
        at = sentence.length - 1
        return Unread(code="question", at=sentence.span(at, at + 1), text="?")
    if not turn.clauses(turn.start):
        return _at(sentence, "no_tool", turn.start)
    return lacking(sentence, turn) or _left_over(sentence, turn)


def _requested(turn: TurnChart) -> bool:
    return any(clause.asks for clause in turn.clauses(turn.start))


def _at(sentence: Sentence, code: UnreadCode, at: int) -> Unread:
    return Unread(code=code, at=sentence.span(at, at + 1), text=sentence.said(at, at + 1))


def _left_over(sentence: Sentence, turn: TurnChart) -> Unread:
    """Point at the first word no command had a place for, and name what the nearest command could still take."""
    clauses = [clause for at in turn.reached for clause in turn.clauses(at)]
    farthest = max(clause.end for clause in clauses)
    nearest = [clause for clause in clauses if clause.end == farthest]
    open_slots = {name for clause in nearest for name in _open(clause)}
    place = min(farthest, sentence.length - 1)
    return Unread(
        code="left_over",
        at=sentence.span(place, place + 1),
        text=sentence.said(place, sentence.length),
        detail={
            "tool": ", ".join(sorted({clause.tool.name for clause in nearest})),
            "expected": ", ".join(sorted(open_slots)),
        },
    )


def _open(clause: Clause) -> Iterator[str]:
    filled = {one.slot.name for one in clause.filled}
    if clause.objectless:
        yield "object"
    yield from (slot.name for slot in clause.tool.slots if slot.name not in filled)
