"""Which words the pages use: those of the language chosen for this browser, else the browser's own, else English."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from ..contract.question import Question
from ..contract.wording import IRREVERSIBLE, NOTHING_UNDOES
from . import words_en, words_pt_br

__all__ = [
    "ConsoleLanguage",
    "catalogue",
    "chosen",
    "other_word",
    "run_state",
    "step_state",
    "translated",
    "undo_status",
]

ConsoleLanguage: TypeAlias = Literal["en", "pt-BR"]

_PT = {
    IRREVERSIBLE: "Nada pode desfazer este passo depois que ele for executado.",
    NOTHING_UNDOES: "Nada desfaz este passo, e os passos depois dele não podem desfazê-lo.",
    "The call was sent and no answer came back.": "A chamada foi enviada e nenhuma resposta voltou.",
    "It was being sent when the run stopped.": "Ela estava sendo enviada quando a execução parou.",
}


def catalogue(language: ConsoleLanguage) -> Mapping[str, str]:
    """Return every word of the pages in a language."""
    return words_pt_br.WORDS if language == "pt-BR" else words_en.WORDS


def run_state(state: str, language: ConsoleLanguage) -> str:
    """Return the word for a run's state."""
    return words_pt_br.RUN_STATES.get(state, state) if language == "pt-BR" else state


def step_state(state: str, language: ConsoleLanguage) -> str:
    """Return the word for a step's state."""
    return words_pt_br.STEP_STATES.get(state, state) if language == "pt-BR" else state


def undo_status(status: str, language: ConsoleLanguage) -> str:
    """Return the word for what became, or would become, of a write in an unwind."""
    return words_pt_br.UNDO_STATUSES.get(status, status) if language == "pt-BR" else status


def other_word(word: str, language: ConsoleLanguage) -> str:
    """Return the word for a kind of question or a verdict of the check."""
    return words_pt_br.OTHERS.get(word, word) if language == "pt-BR" else word


def chosen(cookie: str | None, accepted: str) -> ConsoleLanguage:
    """Return the language of a browser: its cookie, or the first of those it accepts that we have."""
    if cookie in ("en", "pt-BR"):
        return "pt-BR" if cookie == "pt-BR" else "en"
    first = accepted.split(",", maxsplit=1)[0].strip().lower()
    return "pt-BR" if first.startswith("pt") else "en"


def translated(text: str, question: Question | None, language: ConsoleLanguage) -> str:
    """Return a question's text or a warning in the console's language; empty where it is English already.

    The English sentence is what was asked and what the record keeps, so a page shows both.
    """
    if language == "en":
        return ""
    if question is None:
        return _PT.get(text, "")
    for english, portuguese in _PT.items():
        text = text.replace(english, portuguese)
    ways = {
        "confirm": (f"Run {question.tool}?", f"Executar {question.tool}?"),
        "outcome": (f"Did {question.tool} take effect?", f"{question.tool} teve efeito?"),
        "undo": ("", ""),
    }
    if question.kind == "undo":
        return f"Desfazer {question.tool} falhou. Nada mais é desfeito até que alguém responda."
    return text.replace(*ways[question.kind])
