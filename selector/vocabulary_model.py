"""The vocabulary file: a team's own words for its tools, added to what names, types and the language file give."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints

from ..contract.model import Stated
from ..contract.reading import Language
from ..contract.tool import KindName, ToolName

__all__ = ["ArgumentWords", "Example", "Phrase", "Settings", "ToolWords", "Vocabulary"]

Phrase = Annotated[str, StringConstraints(min_length=1, max_length=60, strip_whitespace=True)]
"""One to sixty characters of a turn: words, not a pattern."""


class Settings(Stated):
    """How turns are read.

    ``currency`` (ISO 4217) and ``date_order`` default to the language's own: USD and none for English, BRL and
    day-month-year for pt-BR. With no date order ``03/05/2026`` is unread. ``typos`` says whether an unread turn names
    known words like the unknown one; a typo is never corrected.
    """

    language: Language = "en"
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] | None = None
    date_order: Literal["dmy", "mdy"] | None = None
    typos: Literal["suggest", "off"] = "suggest"


class ArgumentWords(Stated):
    r"""Words of one parameter.

    ``nouns`` name it ("order 4411"); ``introduced_by`` phrases lead to its value ("saying ..."); ``shape`` is the whole
    form of an id, such as ``\d{3,10}``; ``kind`` overrides the annotation; ``bare`` says whether the value may stand
    without a noun; ``values`` are the phrases of an enum's values, or of ``true`` and ``false``.
    """

    nouns: tuple[Phrase, ...] = ()
    introduced_by: tuple[Phrase, ...] = ()
    shape: Annotated[str, StringConstraints(min_length=1, max_length=80)] | None = None
    kind: KindName | None = None
    bare: bool | None = None
    values: Mapping[str, tuple[Phrase, ...]] = {}


class Example(Stated):
    """A turn and the calls it must read to: each a mapping of ``tool`` and its arguments."""

    say: str
    reads: Annotated[tuple[Mapping[str, JsonValue], ...], Field(min_length=1)]


class ToolWords(Stated):
    """Words of one tool.

    ``verbs`` are added to the tool's own, unless ``only_these_verbs``; pt-BR ones are infinitives. ``object`` holds
    more phrases for what the verb acts on. ``object_optional`` overrides whether it may be left out, which otherwise it
    may unless one of the verbs is a light one, such as *send* or *update*. ``asks`` are question frames ("where is"),
    for tools that do not write.
    """

    verbs: tuple[Phrase, ...] = ()
    only_these_verbs: bool = False
    object: tuple[Phrase, ...] = ()
    object_optional: bool | None = None
    asks: tuple[Phrase, ...] = ()
    arguments: Mapping[str, ArgumentWords] = {}


class Vocabulary(Stated):
    """A whole vocabulary file.

    ``arguments`` gives words by parameter name, for every tool. ``examples`` must read to exactly their calls and the
    turns of ``unread`` must stay unread, or the file does not load.
    """

    settings: Settings = Settings()
    arguments: Mapping[str, ArgumentWords] = {}
    tools: Mapping[ToolName, ToolWords] = {}
    examples: tuple[Example, ...] = ()
    unread: tuple[str, ...] = ()
