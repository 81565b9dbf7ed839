"""The words of a vocabulary file, checked one by one: names that exist, phrases a turn can hold, safe shapes."""

from collections.abc import Iterator, Sequence

from ..contract.mistakes import FileMistake, nearest
from ..contract.reading import UnreadCode
from ..contract.tool import Parameter, ToolContract
from ..contract.yaml12 import Places, YamlPath
from .faults import NotRead
from .language import LanguageFile
from .shapes import compile_shape
from .tokens import fold, tokenize
from .verb_forms import NotAnInfinitive, verb_forms
from .vocabulary_model import ArgumentWords, ToolWords, Vocabulary
from .word_clashes import Clashes

__all__ = ["VocabularyChecks"]

_WORDS = frozenset({"word"})
_VALUE_WORDS = frozenset({"word", "number", "id"})


class VocabularyChecks:
    """Checks what a vocabulary says, without reading a turn. Every method yields mistakes with file and line."""

    def __init__(
        self, vocabulary: Vocabulary, tools: Sequence[ToolContract], language: LanguageFile, places: Places
    ) -> None:
        self._vocabulary = vocabulary
        self._tools = {tool.name: tool for tool in tools}
        self._language = language
        self._places = places
        self._clashes = Clashes(language)

    def mistakes(self) -> Iterator[FileMistake]:
        """Yield everything that is wrong with names, phrases and shapes."""
        every: dict[str, list[Parameter]] = {}
        for tool in self._tools.values():
            for parameter in tool.parameters:
                every.setdefault(parameter.name, []).append(parameter)
        for name, words in self._vocabulary.arguments.items():
            path: YamlPath = ("arguments", name)
            if name not in every:
                yield self._mistake(path, f"no tool has an argument named {name!r}", nearest(name, every))
            else:
                yield from self._argument(path, every[name], words)
        for name, said in self._vocabulary.tools.items():
            if name not in self._tools:
                yield self._mistake(("tools", name), f"there is no tool named {name!r}", nearest(name, self._tools))
            else:
                yield from self._tool(("tools", name), self._tools[name], said)

    def accents(self) -> Iterator[FileMistake]:
        """Yield the words the language file writes with an accent and the vocabulary without; the turn may omit it."""
        accented = {fold(word): word for word in self._accented_words()}
        for path, phrase in self._phrases():
            for word in phrase.split():
                if word.isascii() and word.casefold() in accented:
                    right = accented[word.casefold()]
                    yield self._mistake(path, f"{word!r} is written {right!r}; with its accent both spellings are read")

    def _tool(self, path: YamlPath, tool: ToolContract, said: ToolWords) -> Iterator[FileMistake]:
        for number, verb in enumerate(said.verbs):
            yield from self._phrase((*path, "verbs", number), verb)
            yield from self._verb((*path, "verbs", number), verb)
        for number, phrase in enumerate(said.object):
            yield from self._phrase((*path, "object", number), phrase)
        if said.asks and tool.writes:
            yield self._mistake((*path, "asks"), f"{tool.name} writes; a question may only call a tool that does not")
        for number, phrase in enumerate(said.asks):
            yield from self._ask((*path, "asks", number), phrase)
        parameters = {parameter.name: parameter for parameter in tool.parameters}
        for name, words in said.arguments.items():
            here: YamlPath = (*path, "arguments", name)
            if name not in parameters:
                yield self._mistake(here, f"{tool.name} has no argument {name!r}", nearest(name, parameters))
            else:
                yield from self._argument(here, [parameters[name]], words)

    def _argument(self, path: YamlPath, parameters: Sequence[Parameter], words: ArgumentWords) -> Iterator[FileMistake]:
        for number, noun in enumerate(words.nouns):
            yield from self._phrase((*path, "nouns", number), noun)
        for number, phrase in enumerate(words.introduced_by):
            yield from self._phrase((*path, "introduced_by", number), phrase, introduces=True)
        kinds = {words.kind or parameter.kind for parameter in parameters}
        if words.shape is not None:
            if kinds != {"id"}:
                yield self._mistake((*path, "shape"), "only an id has a shape; add kind: id or leave the shape out")
            try:
                compile_shape(words.shape)
            except ValueError as error:
                yield self._mistake((*path, "shape"), str(error))
        if words.values:
            yield from self._values((*path, "values"), parameters, words)

    def _values(self, path: YamlPath, parameters: Sequence[Parameter], words: ArgumentWords) -> Iterator[FileMistake]:
        kind = words.kind or parameters[0].kind
        if kind not in ("enum", "bool"):
            yield self._mistake(path, f"only an enum or a bool has values in words, and this is {kind or 'neither'}")
            return
        known = ("true", "false") if kind == "bool" else parameters[0].values
        owner: dict[str, str] = {}
        for value, phrases in words.values.items():
            if value not in known:
                yield self._mistake((*path, value), f"{value!r} is none of {', '.join(known)}", nearest(value, known))
            for number, phrase in enumerate(phrases):
                place: YamlPath = (*path, value, number)
                yield from self._made_of(place, phrase, _VALUE_WORDS)
                if owner.setdefault(phrase.casefold(), value) != value:
                    yield self._mistake(place, f"{phrase!r} stands for {owner[phrase.casefold()]!r} already")
                code = self._reserved_whole(phrase)
                if code not in (None, "quantity", "number_words"):
                    yield self._mistake(place, f"{phrase!r} alone makes a turn unread ({code}); say more words")

    def _phrase(self, path: YamlPath, phrase: str, *, introduces: bool = False) -> Iterator[FileMistake]:
        wrong = list(self._made_of(path, phrase, _WORDS))
        if wrong:
            yield from wrong
            return
        code = self._clashes.reserved(phrase)
        if code is not None:
            yield self._mistake(path, f"{phrase!r} holds a word that makes every turn unread ({code})")
        elif self._clashes.closed(phrase) and not (introduces and self._is_preposition(phrase)):
            yield self._mistake(path, f"{phrase!r} has a part in the grammar already; choose another word")

    def _verb(self, path: YamlPath, verb: str) -> Iterator[FileMistake]:
        try:
            verb_forms(self._language.code, verb)
        except NotAnInfinitive as error:
            yield self._mistake(path, str(error))

    def _ask(self, path: YamlPath, phrase: str) -> Iterator[FileMistake]:
        yield from self._made_of(path, phrase, _WORDS)
        words = phrase.split()
        rest = " ".join(words[1:] if words[0].casefold() in self._language.question_words else words)
        code = self._clashes.reserved(rest) if rest else None
        if code is not None:
            yield self._mistake(path, f"{phrase!r} holds a word that makes every turn unread ({code})")

    def _made_of(self, path: YamlPath, phrase: str, kinds: frozenset[str]) -> Iterator[FileMistake]:
        try:
            _, tokens = tokenize(phrase)
        except NotRead as error:
            character = error.unread.text or error.unread.detail.get("character", "")
            yield self._mistake(path, f"{phrase!r} holds {character!r}, which no turn may have")
            return
        odd = [token.text for token in tokens if token.kind not in kinds]
        if odd or not tokens:
            yield self._mistake(path, f"{phrase!r} is not made of words{': ' + odd[0] if odd else ''}")

    def _reserved_whole(self, phrase: str) -> UnreadCode | None:
        try:
            return self._clashes.reserved_whole(phrase)
        except NotRead:
            return None

    def _is_preposition(self, phrase: str) -> bool:
        return any(phrase.casefold() in words for words in self._language.prepositions.values())

    def _phrases(self) -> Iterator[tuple[YamlPath, str]]:
        for name, words in self._vocabulary.arguments.items():
            yield from _argument_phrases(("arguments", name), words)
        for name, said in self._vocabulary.tools.items():
            path: YamlPath = ("tools", name)
            for key, phrases in (("verbs", said.verbs), ("object", said.object), ("asks", said.asks)):
                yield from (((*path, key, number), phrase) for number, phrase in enumerate(phrases))
            for argument, words in said.arguments.items():
                yield from _argument_phrases((*path, "arguments", argument), words)

    def _accented_words(self) -> Iterator[str]:
        names = self._language.words
        written = (*names.verbs.values(), *names.nouns.values(), tuple(self._language.closed_class))
        words = {word for phrases in written for phrase in phrases for word in phrase.split()}
        yield from (word for word in sorted(words) if not word.isascii() and fold(word) not in words)

    def _mistake(self, path: YamlPath, message: str, near: tuple[str, ...] = ()) -> FileMistake:
        return FileMistake(message, self._places.of(path), near)


def _argument_phrases(path: YamlPath, words: ArgumentWords) -> Iterator[tuple[YamlPath, str]]:
    lists = [("nouns", words.nouns), ("introduced_by", words.introduced_by)]
    for key, phrases in lists:
        yield from (((*path, key, number), phrase) for number, phrase in enumerate(phrases))
    for value, phrases in words.values.items():
        yield from (((*path, "values", value, number), phrase) for number, phrase in enumerate(phrases))
