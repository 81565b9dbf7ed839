"""The vocabulary files an agent file names: which language each is for, and what it says (SPEC 2.2)."""

import hashlib
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..contract.mistakes import FileMistake, nearest
from ..contract.reading import Language
from ..contract.tool import Origin
from ..contract.yaml12 import Document, load_yaml

__all__ = ["VocabularyFile", "read_vocabulary_file"]

_LANGUAGES: Final[tuple[Language, ...]] = typing.get_args(Language)


@dataclass(frozen=True)
class VocabularyFile:
    """One vocabulary, not yet checked against tools: the selector does that when it is compiled.

    Attributes:
        path: the file, as it is named in messages.
        language: the language it is for.
        text: its content as it was read.
    """

    path: Path
    language: Language
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of its content."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def read_vocabulary_file(path: Path, *, language: Language | None, origin: Origin) -> VocabularyFile:
    """Read a vocabulary file as far as its language.

    Args:
        path: the file.
        language: the language the agent file gives it to, or None to take its own ``settings.language``.
        origin: where the agent file names it.

    Raises:
        FileMistake: there is no such file, it is no YAML, or it is for another language.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        beside = path.parent.glob("*.y*ml") if path.parent.is_dir() else ()
        near = nearest(path.name, (file.name for file in beside))
        why = "there is no such file" if isinstance(error, FileNotFoundError) else f"it cannot be read ({error})"
        raise FileMistake(f"vocabulary {str(path)!r}: {why}", origin, near) from None
    document = load_yaml(text, file=str(path))
    said = _own_language(document)
    if language is not None and said is not None and said != language:
        at = document.places.of(("settings", "language"))
        raise FileMistake(f"settings.language is {said}, but {origin} names this file for {language}", at)
    return VocabularyFile(path, language or said or "en", text)


def _own_language(document: Document) -> Language | None:
    settings = document.value.get("settings") if isinstance(document.value, Mapping) else None
    said = settings.get("language") if isinstance(settings, Mapping) else None
    for language in _LANGUAGES:
        if said == language:
            return language
    if said is None:
        return None
    at = document.places.of(("settings", "language"))
    known = ", ".join(_LANGUAGES)
    raise FileMistake(f"settings.language is {said!r}; the languages are {known}", at, nearest(str(said), _LANGUAGES))
