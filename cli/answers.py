"""What a person may type at the prompt for each answer. There is no default, no short form and no guess (SPEC 4.2)."""

import unicodedata
from collections.abc import Mapping

from ..contract.question import AnswerWord, Question

__all__ = ["answer_typed"]

_SAME_AS: Mapping[str, AnswerWord] = {
    "skip this step": "skip",
    "aprovar": "approve",
    "pular": "skip",
    "pular este passo": "skip",
    "cancelar tudo": "cancel all",
    "aconteceu": "happened",
    "nao aconteceu": "did not happen",
    "tentar de novo": "retry",
    "feito a mao": "done by hand",
    "deixar": "abandon",
}
"""Words of people that stand for an answer; the run itself takes only the English ones."""


def answer_typed(typed: str, question: Question) -> AnswerWord | None:
    """Return the answer that was typed whole, in English or Portuguese, with any capitals, with or without accents.

    None when it is none of the question's answers.
    """
    plain = _plain(typed)
    for answer in question.answers:
        if plain == answer or _SAME_AS.get(plain) == answer:
            return answer
    return None


def _plain(typed: str) -> str:
    parted = unicodedata.normalize("NFKD", typed.casefold())
    return " ".join("".join(each for each in parted if not unicodedata.combining(each)).split())
