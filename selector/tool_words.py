"""Which words say a tool: gathered from its name, its parameters, its docstring, the language file and a vocabulary.

A tool is named ``verb_noun``. Its words in English are those of its name; in pt-BR the language file has words for the
common ones. Everything made here is a fixed phrase; nothing is worked out when a turn is read.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from re import Pattern

from pydantic import JsonValue

from ..contract.tool import KindName, Parameter, ToolContract
from .faults import NotRead
from .language import LanguageFile, VerbForm
from .noun_forms import plural
from .shapes import DEFAULT_SHAPE, compile_shape
from .verb_forms import NotAnInfinitive, verb_forms
from .vocabulary_model import ArgumentWords, ToolWords, Vocabulary
from .word_clashes import Clashes

__all__ = ["SlotWords", "WordsOfTool", "words_of_tool"]

_PARTICLES = frozenset({"up", "out", "in", "off", "down", "back", "over", "on"})
_ID_SUFFIXES = frozenset({"id", "ids", "number", "numbers", "code", "codes", "ref", "refs", "no"})
_NUMBER_KINDS = frozenset({"money", "decimal", "int"})
_BARE_KINDS = frozenset({"money", "email", "date", "text"})
_SUMMARY = re.compile(
    r"([A-Z][a-z]+(?: (?:up|out|in|off|down|back|over|on))?) (?:a|an|the) ([a-z]+)"
    r"(?: (?:for|of|to|on|from|in) (?:a|an|the) [a-z]+)*\.?\Z"
)


@dataclass(frozen=True, slots=True)
class SlotWords:
    """How one parameter is said. ``bare``: without a noun; ``marked``: bare only with a currency sign or word."""

    parameter: Parameter
    kind: KindName
    nouns: tuple[str, ...]
    introducers: tuple[str, ...]
    forced: str | None
    bare: bool
    marked: bool
    shape: Pattern[str] | None
    values: tuple[tuple[str, JsonValue], ...]


@dataclass(frozen=True, slots=True)
class WordsOfTool:
    """How one tool is said. ``heads`` is empty when no turn can say it; ``warnings`` tell why, and what was dropped."""

    contract: ToolContract
    verbs: tuple[str, ...]
    heads: tuple[tuple[VerbForm, str], ...]
    objects: tuple[str, ...]
    object_needed: bool
    named: bool
    asks: tuple[str, ...]
    slots: tuple[SlotWords, ...]
    warnings: tuple[str, ...]


def words_of_tool(tool: ToolContract, language: LanguageFile, vocabulary: Vocabulary, clashes: Clashes) -> WordsOfTool:
    """Gather the words of ``tool`` in one language.

    Raises:
        ValueError: the shape of an id is no pattern, or not one that can be matched in linear time.
    """
    return _Gathering(tool, language, vocabulary, clashes).gather()


class _Gathering:
    def __init__(self, tool: ToolContract, language: LanguageFile, vocabulary: Vocabulary, clashes: Clashes) -> None:
        self._tool = tool
        self._language = language
        self._vocabulary = vocabulary
        self._clashes = clashes
        self._said = vocabulary.tools.get(tool.name, ToolWords())
        self._warnings: list[str] = []
        self._name_verb, self._name_noun = _split_name(tool.name, language)

    def gather(self) -> WordsOfTool:
        objects = self._keep([*self._nouns_for(self._name_noun), *self._said.object], "object")
        verbs = self._verbs(objects)
        slots = self._slots(objects)
        heads = self._heads(verbs)
        named = bool(self._name_noun or objects)
        needed = named and self._object_needed(verbs)
        unsayable = self._unsayable(heads, slots, objects, needed=needed)
        if unsayable:
            self._warnings.append(f"{self._tool.name} cannot be said in {self._language.code}: {unsayable}")
            heads = ()
        return WordsOfTool(
            contract=self._tool,
            verbs=verbs,
            heads=heads,
            objects=objects,
            object_needed=needed,
            named=named,
            asks=() if unsayable or self._tool.writes else self._said.asks,
            slots=slots,
            warnings=tuple(self._warnings),
        )

    def _unsayable(
        self, heads: Sequence[object], slots: tuple[SlotWords, ...], objects: tuple[str, ...], *, needed: bool
    ) -> str:
        sayable = {slot.parameter.name for slot in slots}
        for parameter in self._tool.parameters:
            if parameter.required and parameter.name not in sayable:
                return f"no turn can say its parameter {parameter.name}"
        if not heads:
            return "it has no verb; give it one in the vocabulary file"
        if needed and not objects:
            return f"{self._name_noun!r} has no word; give it an object in the vocabulary file"
        return ""

    def _verbs(self, objects: tuple[str, ...]) -> tuple[str, ...]:
        made: list[str] = []
        if not self._said.only_these_verbs:
            if self._language.code == "en":
                made = [self._name_verb, *self._summary_verb(objects)]
            else:
                made = list(self._language.words.verbs.get(self._name_verb, ()))
        return _distinct([*made, *self._said.verbs])

    def _summary_verb(self, objects: tuple[str, ...]) -> list[str]:
        """One more verb from the docstring's first sentence, if that says it of the tool's own object."""
        match = _SUMMARY.match(self._tool.summary.strip())
        return [match.group(1).lower()] if match and match.group(2) in objects else []

    def _heads(self, verbs: tuple[str, ...]) -> tuple[tuple[VerbForm, str], ...]:
        heads: list[tuple[VerbForm, str]] = []
        for verb in verbs:
            try:
                forms = verb_forms(self._language.code, verb)
            except NotAnInfinitive as error:
                self._warnings.append(f"{self._tool.name}: {error}")
                continue
            heads += [(form, phrase) for form, phrase in forms.items() if self._keep([phrase], f"form of {verb!r}")]
        return tuple(dict.fromkeys(heads))

    def _object_needed(self, verbs: tuple[str, ...]) -> bool:
        if self._said.object_optional is not None:
            return not self._said.object_optional
        light = set(self._language.light_verbs)
        return any(verb.split()[0] in light for verb in verbs)

    def _nouns_for(self, name_words: str) -> list[str]:
        if not name_words:
            return []
        if self._language.code == "en":
            return [name_words]
        return list(self._language.words.nouns.get(name_words, ()))

    def _keep(self, phrases: list[str], what: str) -> tuple[str, ...]:
        kept: list[str] = []
        for phrase in phrases:
            code = self._clashes.reserved(phrase)
            if code is not None or self._clashes.closed(phrase):
                why = f"a turn with it would be unread as {code}" if code else "the grammar has it for itself"
                self._warnings.append(f"{self._tool.name}: the {what} {phrase!r} is left out; {why}")
            else:
                kept.append(phrase)
        return _distinct(kept)

    # ----- parameters -----

    def _slots(self, objects: tuple[str, ...]) -> tuple[SlotWords, ...]:
        words = {p.name: self._argument_words(p) for p in self._tool.parameters}
        kinds = {p.name: words[p.name].kind or p.kind for p in self._tool.parameters}
        said = [kind for kind in kinds.values() if kind is not None]
        slots = []
        for parameter in self._tool.parameters:
            kind = kinds[parameter.name]
            if kind is not None and self._shapely(parameter, kind, words[parameter.name]):
                slots.append(self._slot(parameter, kind, words[parameter.name], objects, said))
        return tuple(slots)

    def _shapely(self, parameter: Parameter, kind: KindName, words: ArgumentWords) -> bool:
        """Whether an id's shape can be used. One from another system's schema cannot be mended here, so it is left."""
        if kind != "id" or words.shape is not None or self._tool.source == "python":
            return True
        try:
            compile_shape(parameter.pattern or DEFAULT_SHAPE)
        except ValueError as error:
            self._warnings.append(f"{self._tool.name}: no turn can say {parameter.name}; {error}")
            return False
        return True

    def _slot(
        self,
        parameter: Parameter,
        kind: KindName,
        words: ArgumentWords,
        objects: tuple[str, ...],
        kinds: list[KindName],
    ) -> SlotWords:
        of_kind = self._language.kinds[kind]
        forced, own = self._slot_nouns(parameter, objects)
        nouns = self._keep([*own, *words.nouns, *of_kind.nouns], f"noun of {parameter.name}")
        if kind == "bool":
            nouns = ()
        if parameter.many:
            nouns = _distinct([*nouns, *(plural(self._language.code, noun) for noun in nouns)])
        alone = kinds.count(kind) == 1
        marked = kind == "money" and sum(k in _NUMBER_KINDS for k in kinds) > 1
        values = self._values(parameter, kind, words)
        spelt = all(any(letter.isalpha() for letter in phrase) for phrase, _ in values)
        bare = kind == "bool" or (kind == "enum" and spelt) or (kind in _BARE_KINDS and alone)
        return SlotWords(
            parameter=parameter,
            kind=kind,
            nouns=nouns,
            introducers=self._introducers([*of_kind.introducers, *words.introduced_by]),
            forced=self._language.forced[forced] if forced else None,
            bare=bare if words.bare is None else words.bare,
            marked=marked and words.bare is None,
            shape=self._shape(parameter, words) if kind == "id" else None,
            values=values,
        )

    def _introducers(self, phrases: list[str]) -> tuple[str, ...]:
        """An introducer may be a preposition, such as the "to" of "to 3", but holds no reserved word."""
        return _distinct([phrase for phrase in phrases if self._clashes.reserved(phrase) is None])

    def _argument_words(self, parameter: Parameter) -> ArgumentWords:
        everywhere = self._vocabulary.arguments.get(parameter.name, ArgumentWords())
        here = self._said.arguments.get(parameter.name, ArgumentWords())
        return ArgumentWords(
            nouns=(*here.nouns, *everywhere.nouns),
            introduced_by=(*here.introduced_by, *everywhere.introduced_by),
            shape=here.shape or everywhere.shape,
            kind=here.kind or everywhere.kind,
            bare=everywhere.bare if here.bare is None else here.bare,
            values={**everywhere.values, **here.values},
        )

    def _slot_nouns(self, parameter: Parameter, objects: tuple[str, ...]) -> tuple[str | None, list[str]]:
        parts = parameter.name.split("_")
        forced = parts[0] if parts[0] in self._language.forced and len(parts) > 1 else None
        if forced:
            parts = parts[1:]
        if parts[-1] in _ID_SUFFIXES:
            parts = parts[:-1]
        if not parts:  # a parameter named plain `id` is the id of the tool's object
            return forced, list(objects)
        if parameter.many and parts[-1].endswith("s") and not parts[-1].endswith("ss"):
            parts[-1] = parts[-1][:-1]
        return forced, self._nouns_for(" ".join(parts))

    def _shape(self, parameter: Parameter, words: ArgumentWords) -> Pattern[str]:
        try:
            return compile_shape(words.shape or parameter.pattern or DEFAULT_SHAPE)
        except ValueError as error:
            raise ValueError(f"{self._tool.name}, parameter {parameter.name}: {error}") from error

    def _values(self, parameter: Parameter, kind: KindName, words: ArgumentWords) -> tuple[tuple[str, JsonValue], ...]:
        said: list[tuple[str, JsonValue]] = []
        if kind == "enum":
            for value in parameter.values:
                own = value.replace("_", " ").replace("-", " ").strip()
                said += [(phrase, value) for phrase in (own, *words.values.get(value, ())) if phrase]
        elif kind == "bool":
            said = [(phrase, name == "true") for name, phrases in words.values.items() for phrase in phrases]
        return tuple((phrase, value) for phrase, value in dict.fromkeys(said) if self._value_phrase(parameter, phrase))

    def _value_phrase(self, parameter: Parameter, phrase: str) -> bool:
        """A reserved word may stand inside such a phrase, as in "without notifying the customer", but not be all of it.

        "all" or "double" may be: they say a number of things, which is what the type's author made a value of.
        """
        try:
            whole = self._clashes.reserved_whole(phrase)
        except NotRead:
            self._warnings.append(f"{self._tool.name}: {phrase!r} cannot be said for {parameter.name}; give it words")
            return False
        if whole in (None, "quantity", "number_words") and (whole is not None or not self._clashes.closed(phrase)):
            return True
        self._warnings.append(
            f"{self._tool.name}: {phrase!r} cannot be said for {parameter.name}; the grammar needs it"
        )
        return False


def _split_name(name: str, language: LanguageFile) -> tuple[str, str]:
    verb, *rest = name.split("_")
    rest = [part for part in rest if part]
    if language.code == "en" and len(rest) > 1 and rest[0] in _PARTICLES:
        return f"{verb} {rest[0]}", " ".join(rest[1:])
    return verb, " ".join(rest)


def _distinct(phrases: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(phrases))
