"""The vocabulary files an agent file names: which language each is for, and what it says (SPEC 2.2)."""

from dataclasses import dataclass
from pathlib import Path

from ..contract.canonical import sha256
from ..contract.mistakes import FileMistake, nearest
from ..contract.reading import Language
from ..contract.stated import read_stated
from ..contract.tool import Origin
from ..contract.yaml12 import load_yaml
from ..selector.vocabulary_model import Vocabulary

__all__ = ["VocabularyFile", "read_vocabulary_file"]


@dataclass(frozen=True)
class VocabularyFile:
    """One vocabulary, not yet checked against tools: that is done when a selector is compiled with it.

    Attributes:
        path: the file, as it is named in messages.
        language: the language it is for.
        vocabulary: what it says.
    """

    path: Path
    language: Language
    vocabulary: Vocabulary

    @property
    def digest(self) -> str:
        """SHA-256 of what it says; its layout and comments do not count."""
        return sha256(self.vocabulary.model_dump(mode="json"))


def read_vocabulary_file(path: Path, *, language: Language | None, origin: Origin) -> VocabularyFile:
    """Read a vocabulary file.

    Args:
        path: the file.
        language: the language the agent file gives it to, or None to take its own ``settings.language``.
        origin: where the agent file names it.

    Raises:
        FileMistake: there is no such file, it is no YAML, or it is for another language.
        FileMistakes: unknown keys and values it cannot have.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        beside = path.parent.glob("*.y*ml") if path.parent.is_dir() else ()
        near = nearest(path.name, (file.name for file in beside))
        why = "there is no such file" if isinstance(error, FileNotFoundError) else f"it cannot be read ({error})"
        raise FileMistake(f"vocabulary {path.name!r}: {why}", origin, near) from None
    document = load_yaml(text, file=str(path))
    vocabulary = read_stated(Vocabulary, document.value or {}, document.places)
    said = vocabulary.settings.language if "language" in vocabulary.settings.model_fields_set else None
    if language is not None and said not in (None, language):
        at = document.places.of(("settings", "language"))
        raise FileMistake(f"settings.language is {said}, but {origin} names this file for {language}", at)
    return VocabularyFile(path, language or said or "en", vocabulary)
