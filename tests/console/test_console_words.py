"""The words of the pages: each in both languages, with the same gaps."""

import re
from typing import get_args

import pytest
from amends.console import words_en, words_pt_br
from amends.contract.decision import Verdict
from amends.contract.question import ANSWERS, QuestionKind
from amends.contract.run import RunState, StepState


def test_every_word_stands_in_both_languages_with_the_same_gaps() -> None:
    def gaps(words: dict[str, str]) -> dict[str, list[str]]:
        return {name: sorted(re.findall(r"{(\w+)}", said)) for name, said in words.items()}

    assert gaps(words_en.WORDS) == gaps(words_pt_br.WORDS)


@pytest.mark.parametrize(
    ("said", "all_of_them"),
    [
        (words_pt_br.RUN_STATES, get_args(RunState)),
        (words_pt_br.STEP_STATES, get_args(StepState)),
        (words_pt_br.OTHERS, {*get_args(QuestionKind), *get_args(Verdict)}),
    ],
)
def test_every_state_has_a_portuguese_word(said: dict[str, str], all_of_them: tuple[str, ...]) -> None:
    assert set(said) == set(all_of_them)


def test_every_answer_has_a_word_and_a_meaning_in_both_languages() -> None:
    for words in (words_en.WORDS, words_pt_br.WORDS):
        for answer in (answer for several in ANSWERS.values() for answer in several):
            assert words[answer]
            assert words[f"{answer}_means"]
