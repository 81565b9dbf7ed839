"""What an unread turn is told, in the language the turn was to be read in (SPEC 6.3)."""

from . import wording_unread_en, wording_unread_pt_br
from .reading import Language, Unread

__all__ = ["unread_sentence", "value_question"]


def unread_sentence(unread: Unread, language: Language | None = None) -> str:
    """Return one or two plain sentences that say why the turn is unread and what to say instead.

    Args:
        unread: the outcome.
        language: of the sentence; the language of reading when not given.
    """
    if (language or unread.language) == "pt-BR":
        return wording_unread_pt_br.unread_sentence(unread)
    return wording_unread_en.unread_sentence(unread)


def value_question(tool: str, parameter: str, language: Language) -> str:
    """Return the question for the one value that a turn lacks (SPEC 2.4)."""
    name = parameter.replace("_", " ")
    if language == "pt-BR":
        return wording_unread_pt_br.value_question(tool, name)
    return wording_unread_en.value_question(tool, name)
