"""The selector: a turn to a plan, by the unique exact cover of its words, or unread with a reason (SPEC 2.1, 2.2).

Compiling reads the language files; reading is a pure function of the turn, the compiled lexicon and the day it is told.
It uses no clock, no file, no locale and no chance, and always the same answer comes out, in a workflow's sandbox too.
"""

import datetime as dt
from collections.abc import Sequence

from pydantic import JsonValue

from ..contract.reading import Language, ReadCall, Reading, Unread
from ..contract.tool import ToolContract
from .answers import read_value, value_fits
from .clauses import ClauseChart
from .explain import explain, explain_words
from .faults import NotRead
from .gaps import lacks
from .items import Items
from .known_words import KnownWords
from .language import LANGUAGES, load_language
from .lexicon import Lexicon, build_lexicon
from .numbers import NumberForms
from .references import Answer, calls_of, repeated_write
from .reserved import scan
from .sentence import Sentence
from .tool_words import words_of_tool
from .turns import Cover, Covers, TurnChart
from .values import Values
from .vocabulary_model import Vocabulary
from .word_clashes import Clashes

__all__ = ["Selector", "compile_selector", "written_call"]


def compile_selector(
    tools: Sequence[ToolContract], *, language: Language, vocabulary: Vocabulary | None = None
) -> "Selector":
    """Compile the tools of an agent into a selector of one language.

    The vocabulary's own ``settings.language`` does not count here: the caller has chosen (SPEC 2.2).

    Raises:
        ValueError: two tools have one name, the shape of an id is not a linear pattern, or a phrase of the vocabulary
            holds a character no turn may have.
    """
    names = [tool.name for tool in tools]
    if len(set(names)) != len(names):
        raise ValueError(f"two tools are named {next(name for name in names if names.count(name) > 1)}")
    lexicon = _lexicon(tools, language, vocabulary or Vocabulary())
    other = next(code for code in LANGUAGES if code != language)
    return Selector(lexicon, KnownWords(lexicon, _lexicon(tools, other, Vocabulary())))


def _lexicon(tools: Sequence[ToolContract], code: Language, vocabulary: Vocabulary) -> Lexicon:
    language = load_language(code)
    clashes = Clashes(language)
    try:
        words = [words_of_tool(tool, language, vocabulary, clashes) for tool in tools]
        return build_lexicon(language, vocabulary, tools, words)
    except NotRead as error:
        character = error.unread.detail.get("character") or error.unread.text
        raise ValueError(f"a phrase of the vocabulary holds {character}, which no turn may have") from error


class Selector:
    """Reads turns of one language for the tools of one agent. Make it with `compile_selector`."""

    def __init__(self, lexicon: Lexicon, known: KnownWords) -> None:
        self._lexicon = lexicon
        self._known = known
        self._numbers = NumberForms(lexicon.language.numbers)
        self._tools = {tool.name: tool for tool in lexicon.tools}

    @property
    def language(self) -> Language:
        """The language of the turns it reads."""
        return self._lexicon.language.code

    @property
    def lexicon(self) -> str:
        """The SHA-256 of the language file, the vocabulary and the tools it was compiled from."""
        return self._lexicon.sha256

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out when compiling, and which tools no turn can say."""
        return self._lexicon.warnings

    def read(self, turn: str, *, today: dt.date | None = None) -> Reading | Unread:
        """Read a turn completely, or say why it stays unread.

        Args:
            turn: what the person wrote.
            today: the day the person means by "today". Without it, such words are not read.
        """
        return self._read(turn, today, None)

    def read_value(self, tool: str, parameter: str, turn: str, *, today: dt.date | None = None) -> JsonValue | Unread:
        """Read the answer to a question for one value, with that value's grammar and nothing else (SPEC 2.4).

        "4411" and "order 4411, please" are read as an order's id. Anything but the value, its noun and politeness is
        unread, and the caller takes the turn as a new one.

        Raises:
            KeyError: the selector has no such tool, or no turn can say this parameter of it.
        """
        slot = next((slot for slot in self._tools[tool].slots if slot.name == parameter), None)
        if slot is None:
            raise KeyError(f"{tool}.{parameter}")
        try:
            sentence = Sentence(turn, self._lexicon, today)
            answer = read_value(sentence, self._tools[tool], slot, self._numbers, self._known)
        except NotRead as error:
            answer = error.unread
        return self._spoken(answer) if isinstance(answer, Unread) else answer

    def complete(
        self, turn: str, tool: str, parameter: str, value: JsonValue, *, today: dt.date | None = None
    ) -> Reading | Unread:
        """Read a turn that lacked one value, with the value a person gave when asked for it.

        The turn is read again from its words. It is read only if exactly one list of calls covers it in which a single
        call lacks a single thing, and that thing is ``tool.parameter``; ``value`` is then that argument. A turn that
        lacks more, or lacks it in two places, stays unread with `missing_argument`, and a turn that lacks nothing is
        `ambiguous`: it has no place for the answer.

        Args:
            turn: the unread turn, unchanged.
            tool: the tool whose call lacks the value, as ``Unread.missing`` named it.
            parameter: the parameter it lacks.
            value: what `read_value` returned.
            today: as for `read`.

        Raises:
            KeyError: the selector has no such tool, or no turn can say this parameter of it.
            ValueError: the value is not one that `read_value` returns for this parameter.
        """
        slot = next((slot for slot in self._tools[tool].slots if slot.name == parameter), None)
        if slot is None:
            raise KeyError(f"{tool}.{parameter}")
        if not value_fits(slot, value):
            raise ValueError(f"{value!r} is no value of {tool}.{parameter}; take it from read_value")
        return self._read(turn, today, (tool, parameter, value))

    def _read(self, turn: str, today: dt.date | None, answer: Answer | None) -> Reading | Unread:
        try:
            sentence = Sentence(turn, self._lexicon, today)
        except NotRead as error:
            return self._spoken(error.unread)
        if not sentence.length:
            return Unread(code="empty", language=self.language)
        refused = scan(sentence)
        if refused is not None:
            foreign = explain_words(sentence, self._known)
            return self._spoken(foreign if foreign is not None and foreign.code == "language" else refused)
        values = Values(sentence, self._numbers)
        chart = TurnChart(sentence, ClauseChart(sentence, Items(sentence, values)))
        covers = chart.covers()
        if answer is not None:
            if covers.all:
                at = sentence.span(0, sentence.length)
                return self._spoken(Unread(code="ambiguous", at=at, text=sentence.text))
            covers = _completed(chart, answer)
        if not covers.all:
            return self._spoken(explain(sentence, chart, self._numbers, self._known))
        decided = self._decide(sentence, covers, answer)
        return self._spoken(decided) if isinstance(decided, Unread) else decided

    def _decide(self, sentence: Sentence, covers: Covers, answer: Answer | None) -> Reading | Unread:
        """Choose nothing: one list of calls is read, none or several are not."""
        asked = any(token.text == "?" for token in sentence.tokens)
        lists: list[tuple[Cover, tuple[ReadCall, ...]]] = []
        unresolved: Unread | None = None
        for cover in covers.all:
            calls = calls_of(sentence, cover, answer)
            if isinstance(calls, Unread):
                unresolved = calls
            elif not any(_meaning(calls) == _meaning(other) for _, other in lists):
                lists.append((cover, calls))
        if len(lists) > 1 or (lists and covers.overflowed):
            return _ambiguous(sentence, lists)
        if not lists:
            assert unresolved is not None
            return unresolved
        cover, calls = lists[0]
        if asked and not cover[0].asks:
            at = next(at for at, token in enumerate(sentence.tokens) if token.text == "?")
            return Unread(code="question", at=sentence.span(at, at + 1), text="?")
        again = repeated_write(cover, calls)
        if again is not None:
            text = sentence.text[again.span.start : again.span.end]
            return Unread(code="repeated_write", at=again.span, text=text, detail={"tool": again.tool})
        return Reading(language=self.language, lexicon=self.lexicon, calls=calls)

    def _spoken(self, unread: Unread) -> Unread:
        return unread.model_copy(update={"language": self.language})


def _completed(chart: TurnChart, answer: Answer) -> Covers:
    """Return the covers that lack just what was answered."""
    gapped = chart.covers(gaps=True)
    fitting = tuple(cover for cover in gapped.all if lacks(cover) == [f"{answer[0]}.{answer[1]}"])
    return Covers(fitting, gapped.overflowed)


def _meaning(calls: Sequence[ReadCall]) -> list[tuple[str, dict[str, JsonValue]]]:
    return [(call.tool, call.values) for call in calls]


def _ambiguous(sentence: Sentence, lists: Sequence[tuple[Cover, tuple[ReadCall, ...]]]) -> Unread:
    first, *others = [calls for _, calls in lists]
    place = next(
        (
            one.span
            for number, one in enumerate(first)
            for other in others
            if _meaning(other[number : number + 1]) != _meaning([one])
        ),
        sentence.span(0, sentence.length),
    )
    return Unread(
        code="ambiguous",
        at=place,
        text=sentence.text[place.start : place.end],
        readings=tuple(tuple(written_call(call) for call in calls) for _, calls in lists),
    )


def written_call(call: ReadCall) -> str:
    """Write a call for a person: ``charge_card(order_id=4411, amount=40.00)``."""
    return f"{call.tool}({', '.join(f'{name}={_shown(value)}' for name, value in call.values.items())})"


def _shown(value: JsonValue) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_shown(one) for one in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
