"""The compiled lexicon: every phrase of a language and its tools in one index, and the tools as charts need them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from re import Pattern
from typing import Literal, NamedTuple

from pydantic import JsonValue

from ..contract.canonical import sha256
from ..contract.tool import KindName, ToolContract
from .language import LanguageFile, ReservedCode, VerbForm
from .phrases import Index, Tag
from .tool_words import SlotWords, WordsOfTool
from .vocabulary_model import Vocabulary

__all__ = [
    "AFTER_AMOUNT", "ASK", "BEFORE_AMOUNT", "CONNECTOR", "DATE_WORD", "DAY", "DETERMINER", "FILLER", "FIRST",
    "GREETING", "HEAD", "LIST_WORD", "MONTH", "NUMBER_MARK", "PREFIX", "PREPOSITION", "QUESTION", "RESERVED", "SAME",
    "TERM", "YES_NO", "Lexicon", "Opening", "Slot", "Tool", "build_lexicon",
]  # fmt: skip

SEMANTICS = 1  # raised when the same words would be read otherwise; part of the lexicon's hash


class Opening(NamedTuple):
    """A prefix: the verb form it fixes, and whether the turn may end with a question mark."""

    form: VerbForm
    asks: bool


DETERMINER: Tag[None] = Tag("determiner")
PREPOSITION: Tag[str] = Tag("preposition")
NUMBER_MARK: Tag[None] = Tag("number mark")
LIST_WORD: Tag[None] = Tag("list word")
GREETING: Tag[None] = Tag("greeting")
FILLER: Tag[None] = Tag("filler")
FIRST: Tag[None] = Tag("first")
CONNECTOR: Tag[bool] = Tag("connector")  # whether it says that its clause is the last one
PREFIX: Tag[Opening] = Tag("prefix")
SAME: Tag[str | None] = Tag("same")  # the preposition it is contracted with
RESERVED: Tag[ReservedCode] = Tag("reserved")
QUESTION: Tag[None] = Tag("question word")
BEFORE_AMOUNT: Tag[str] = Tag("before an amount")
AFTER_AMOUNT: Tag[str] = Tag("after an amount")
MONTH: Tag[int] = Tag("month")
DAY: Tag[int] = Tag("day")
DATE_WORD: Tag[None] = Tag("date word")
YES_NO: Tag[bool] = Tag("yes or no")
HEAD: Tag[tuple[int, VerbForm]] = Tag("head")  # which tool, in which form
ASK: Tag[int] = Tag("question frame")
TERM: Tag[str] = Tag("term")  # an object, a noun, an introducer or a value of some tool


@dataclass(frozen=True, slots=True)
class Slot:
    """One parameter as the charts need it. ``bit`` marks it in a set of filled slots."""

    bit: int
    name: str
    kind: KindName
    required: bool
    many: bool
    whole: bool
    """An id whose type is an integer: its digits go out as a number."""
    forced: str | None
    prepositions: frozenset[str]
    bare: bool
    marked: bool
    shape: Pattern[str] | None
    nouns: frozenset[str]
    values: Mapping[str, tuple[JsonValue, ...]]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as the charts need it.

    ``object_bit`` marks that the object was said; ``object_slots`` are the slots whose noun is the object itself, as in
    "cancel order 4411". ``required`` is the set of slots a call needs.
    """

    name: str
    writes: bool
    slots: tuple[Slot, ...]
    objects: frozenset[str]
    object_needed: bool
    named: bool
    object_bit: int
    object_slots: int
    required: int
    by_noun: Mapping[str, tuple[Slot, ...]]
    by_introducer: Mapping[str, tuple[Slot, ...]]
    bare: tuple[Slot, ...]
    referable: tuple[Slot, ...]
    """The slots a reference such as "the same order" may fill: single ids."""
    counted: tuple[Slot, ...]
    """The slots whose value may stand before its noun, as in "3 units"."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Everything a turn is read with. ``sha256`` covers language file, vocabulary, tools and the grammar's number.

    ``ids`` are the slots of all tools that take an id, and ``has_decimals`` tells whether any takes a plain decimal;
    both serve to explain what is unread.
    """

    language: LanguageFile
    currency: str
    date_order: Literal["dmy", "mdy"] | None
    suggest: bool
    tools: tuple[Tool, ...]
    ids: tuple[Slot, ...]
    has_decimals: bool
    index: Index
    sha256: str
    warnings: tuple[str, ...]


def build_lexicon(
    language: LanguageFile, vocabulary: Vocabulary, contracts: Sequence[ToolContract], words: Sequence[WordsOfTool]
) -> Lexicon:
    """Compile what was gathered into one lexicon."""
    index = Index()
    _add_closed_class(index, language, vocabulary)
    tools = tuple(_tool(said, language) for said in words)
    for number, (tool, said) in enumerate(zip(tools, words, strict=True)):
        _add_tool(index, number, tool, said)
    index.freeze()
    settings = vocabulary.settings
    return Lexicon(
        language=language,
        currency=settings.currency or language.currency,
        date_order=settings.date_order or language.date_order,
        suggest=settings.typos == "suggest",
        tools=tools,
        ids=tuple(slot for tool in tools for slot in tool.slots if slot.kind == "id"),
        has_decimals=any(slot.kind == "decimal" for tool in tools for slot in tool.slots),
        index=index,
        sha256=sha256(
            {
                "semantics": SEMANTICS,
                "language": language.model_dump(mode="json"),
                "vocabulary": vocabulary.model_dump(mode="json"),
                "tools": [
                    {
                        "name": contract.name,
                        "summary": contract.summary,
                        "writes": contract.writes,
                        "parameters": [parameter.model_dump(mode="json") for parameter in contract.parameters],
                    }
                    for contract in contracts
                ],
            }
        ),
        warnings=tuple(warning for said in words for warning in said.warnings),
    )


def _add_closed_class(index: Index, language: LanguageFile, vocabulary: Vocabulary) -> None:
    plain: tuple[tuple[Tag[None], Iterable[str]], ...] = (
        (DETERMINER, language.determiners),
        (NUMBER_MARK, language.number_marks),
        (LIST_WORD, language.list_words),
        (GREETING, language.greetings),
        (FILLER, language.fillers),
        (FIRST, language.first),
        (QUESTION, language.question_words),
        (DATE_WORD, language.date_words),
    )
    for tag, phrases in plain:
        for phrase in phrases:
            index.add(phrase, tag, None)
    for name, phrases in language.prepositions.items():
        for phrase in phrases:
            index.add(phrase, PREPOSITION, name)
    connectors = [(phrase, False) for phrase in language.connectors]
    for phrase, last in [*connectors, *((phrase, True) for phrase in language.last_connectors)]:
        index.add(phrase, CONNECTOR, last)
    for prefix in language.prefixes:
        for phrase in prefix.say:
            index.add(phrase, PREFIX, Opening(prefix.form, prefix.asks))
    same: list[tuple[str | None, tuple[str, ...]]] = [(None, language.same), *language.same_contracted.items()]
    for contracted, phrases in same:
        for phrase in phrases:
            index.add(phrase, SAME, contracted)
    for code, phrases in language.reserved.items():
        for phrase in phrases:
            index.add(phrase, RESERVED, code)
    _add_values(index, language, vocabulary)


def _add_values(index: Index, language: LanguageFile, vocabulary: Vocabulary) -> None:
    for code, words in language.currencies.items():
        for phrase in words.before:
            index.add(phrase, BEFORE_AMOUNT, code)
        for phrase in words.after:
            index.add(phrase, AFTER_AMOUNT, code)
    own = vocabulary.settings.currency
    if own and own not in language.currencies:
        index.add(own, BEFORE_AMOUNT, own)
        index.add(own, AFTER_AMOUNT, own)
    for number, month in enumerate(language.months, 1):
        index.add(month, MONTH, number)
    for word, offset in language.days.items():
        index.add(word, DAY, offset)
    for phrases, meaning in ((language.yes, True), (language.no, False)):
        for phrase in phrases:
            index.add(phrase, YES_NO, meaning)


def _add_tool(index: Index, number: int, tool: Tool, said: WordsOfTool) -> None:
    for form, phrase in said.heads:
        index.add(phrase, HEAD, (number, form))
    for phrase in said.asks:
        index.add(phrase, ASK, number)
    terms = {*tool.objects, *tool.by_noun, *tool.by_introducer, *(term for slot in tool.slots for term in slot.values)}
    for term in sorted(terms):
        index.add(term, TERM, term)


def _tool(said: WordsOfTool, language: LanguageFile) -> Tool:
    slots = tuple(_slot(1 << place, slot, language) for place, slot in enumerate(said.slots))
    objects = frozenset(said.objects)
    return Tool(
        name=said.contract.name,
        writes=said.contract.writes,
        slots=slots,
        objects=objects,
        object_needed=said.object_needed,
        named=said.named,
        object_bit=1 << len(slots),
        object_slots=sum(slot.bit for slot in slots if slot.nouns & objects),
        required=sum(slot.bit for slot in slots if slot.required),
        by_noun=_by_phrase((slot, words.nouns) for slot, words in zip(slots, said.slots, strict=True)),
        by_introducer=_by_phrase((slot, words.introducers) for slot, words in zip(slots, said.slots, strict=True)),
        bare=tuple(slot for slot in slots if slot.bare and not slot.forced),
        referable=tuple(slot for slot in slots if slot.kind == "id" and not slot.many),
        counted=tuple(slot for slot in slots if slot.kind in ("int", "decimal")),
    )


def _slot(bit: int, said: SlotWords, language: LanguageFile) -> Slot:
    values: dict[str, tuple[JsonValue, ...]] = {}
    for phrase, value in said.values:
        values[phrase] = (*values.get(phrase, ()), value)
    return Slot(
        bit=bit,
        name=said.parameter.name,
        kind=said.kind,
        required=said.parameter.required,
        many=said.parameter.many,
        whole=said.kind == "id" and said.parameter.base == "integer",
        forced=said.forced,
        prepositions=frozenset(language.kinds[said.kind].prepositions),
        bare=said.bare,
        marked=said.marked,
        shape=said.shape,
        nouns=frozenset(said.nouns),
        values=values,
    )


def _by_phrase(slots: Iterable[tuple[Slot, tuple[str, ...]]]) -> dict[str, tuple[Slot, ...]]:
    found: dict[str, tuple[Slot, ...]] = {}
    for slot, phrases in slots:
        for phrase in phrases:
            found[phrase] = (*found.get(phrase, ()), slot)
    return found
