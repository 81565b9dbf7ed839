"""The language files: the closed-class words of English and Brazilian Portuguese, as reviewed data.

Files are read when an agent is loaded, never when a turn is read.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import ValidationError

from ..contract.mistakes import FileMistake
from ..contract.model import Stated
from ..contract.reading import Language
from ..contract.tool import KindName
from ..contract.yaml12 import load_yaml

__all__ = ["LANGUAGES", "LanguageFile", "ReservedCode", "VerbForm", "load_language"]

LANGUAGES: tuple[Language, ...] = ("en", "pt-BR")

VerbForm = Literal["base", "subjunctive", "familiar", "infinitive"]
"""A form a command may take. `base`: English. `subjunctive`: the você command. `familiar`: the colloquial tu one."""

ReservedCode = Literal["negation", "conditional", "choice", "quantity", "number_words", "pronoun"]
"""Why a turn that holds a reserved word is never read; each is an unread code."""


class Numbers(Stated):
    """How numbers are written: the decimal mark and the mark between groups of three digits."""

    decimal: str
    group: str


class Prefix(Stated):
    """Words before a command, and the verb form they fix. ``asks``: a question mark may follow at the end."""

    say: tuple[str, ...]
    form: VerbForm
    asks: bool = False


class CurrencyWords(Stated):
    """What is written before or after an amount of one currency."""

    before: tuple[str, ...]
    after: tuple[str, ...]


class KindWords(Stated):
    """Words that go with a kind of value: prepositions by name, phrases that introduce it, nouns that name it."""

    prepositions: tuple[str, ...] = ()
    introducers: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()


class NameWords(Stated):
    """Words of this language for the English words of tool and parameter names."""

    verbs: Mapping[str, tuple[str, ...]]
    nouns: Mapping[str, tuple[str, ...]]


class LanguageFile(Stated):
    """One language, as its file says. The comments of the files say what each list is for."""

    code: Language
    numbers: Numbers
    currency: str
    date_order: Literal["dmy", "mdy"] | None = None
    forced: Mapping[str, str]
    determiners: tuple[str, ...]
    prepositions: Mapping[str, tuple[str, ...]]
    number_marks: tuple[str, ...]
    list_words: tuple[str, ...]
    greetings: tuple[str, ...]
    fillers: tuple[str, ...]
    first: tuple[str, ...]
    connectors: tuple[str, ...]
    last_connectors: tuple[str, ...]
    prefixes: tuple[Prefix, ...]
    same: tuple[str, ...]
    same_contracted: Mapping[str, tuple[str, ...]]
    reserved: Mapping[ReservedCode, tuple[str, ...]]
    question_words: tuple[str, ...]
    currencies: Mapping[str, CurrencyWords]
    months: tuple[str, ...]
    month_link: str
    days: Mapping[str, int]
    date_words: tuple[str, ...]
    yes: tuple[str, ...]
    no: tuple[str, ...]
    light_verbs: tuple[str, ...]
    kinds: Mapping[KindName, KindWords]
    words: NameWords

    @property
    def closed_class(self) -> frozenset[str]:
        """Every phrase with a fixed part in the grammar; a verb, noun or object may not be one of them."""
        phrases = [
            *self.determiners,
            *(word for words in self.prepositions.values() for word in words),
            *self.number_marks,
            *self.list_words,
            *self.greetings,
            *self.fillers,
            *self.first,
            *self.connectors,
            *self.last_connectors,
            *(say for prefix in self.prefixes for say in prefix.say),
            *self.same,
            *(say for words in self.same_contracted.values() for say in words),
            *(word for words in self.reserved.values() for word in words),
        ]
        return frozenset(phrases)


@cache
def load_language(code: Language) -> LanguageFile:
    """Read the file of a language.

    Raises:
        FileMistake: the file is not what it should be; an installation is broken.
    """
    name = code.replace("-", "_") + ".yaml"
    value, places = load_yaml((files(__package__) / "languages" / name).read_text(encoding="utf-8"), file=name)
    try:
        return LanguageFile.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        raise FileMistake(first["msg"], places.of(tuple(first["loc"]))) from error
