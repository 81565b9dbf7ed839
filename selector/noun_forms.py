"""The plural of a noun, made when an agent is loaded: only a parameter that takes a list has one."""

from ..contract.reading import Language

__all__ = ["plural"]

_PORTUGUESE = (("ão", "ões"), ("m", "ns"), ("il", "is"), ("l", "is"), ("r", "res"), ("z", "zes"), ("s", "s"))


def plural(language: Language, noun: str) -> str:
    """Return the regular plural. A phrase has that of its last word in English, and none made in pt-BR."""
    if language == "en":
        return _english(noun)
    if " " in noun:
        return noun
    for ending, many in _PORTUGUESE:
        if noun.endswith(ending):
            return noun.removesuffix(ending) + many
    return noun + "s"


def _english(noun: str) -> str:
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return noun[:-1] + "ies"
    return noun + "s"
