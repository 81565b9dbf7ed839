"""Every unread code has a sentence in both languages and a section in the docs, whose turns do what it says."""

import re
from pathlib import Path
from typing import get_args

import pytest
from amends.contract import wording_unread_en, wording_unread_pt_br
from amends.contract.reading import Reading, Unread, UnreadCode
from amends.contract.wording_unread import unread_sentence
from amends.tests.selector.desk import all_turns, read, selector_for

CODES = get_args(UnreadCode)
PAGE = (Path(__file__).parents[2] / "docs" / "unread.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
WITHOUT_TURNS = {"empty", "too_long", "ambiguous"}  # nothing to show, too long to show, and no two of the desk's tools


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_every_code_has_one_plain_sentence_that_names_the_place(code, language):
    unread = Unread(code=code, language=language, text="zork", missing=("charge_card.amount",))
    sentence = unread_sentence(unread)
    assert sentence[0].isupper() or sentence[0] == "“"
    assert sentence.endswith(".")
    assert "{" not in sentence
    assert "None" not in sentence
    assert len(sentence) < 220


def test_sentences_differ_by_code_and_language_and_cover_every_code():
    for module in (wording_unread_en, wording_unread_pt_br):
        assert set(module.SENTENCES) == set(CODES)
        assert len({module.unread_sentence(Unread(code=code)) for code in CODES}) == len(CODES)
    for code in CODES:
        told = {unread_sentence(Unread(code=code), language) for language in ("en", "pt-BR")}
        assert len(told) == 2


def test_near_words_are_offered_as_a_question():
    unread = Unread(code="unknown_word", text="chrage", near=("change", "charge", "chargé"))
    assert unread_sentence(unread).endswith("Did you mean “change”, “charge” or “chargé”?")
    assert unread_sentence(unread, "pt-BR").endswith("Você quis dizer “change”, “charge” ou “chargé”?")


def test_what_is_missing_is_named():
    assert "amount for charge_card" in unread_sentence(read(selector_for("en"), "charge order 4411"))
    assert "amount de charge_card" in unread_sentence(read(selector_for("pt-BR"), "cobre o pedido 4411"))


def test_every_unread_turn_of_the_cases_has_its_sentence_in_its_language():
    for language, turn in all_turns():
        unread = selector_for(language).read(turn["say"])
        if isinstance(unread, Unread):
            sentence = unread_sentence(unread)
            assert sentence
            assert "“" in sentence or unread.code in ("empty", "odd_character", "unbalanced_quote", "language"), (
                sentence
            )


def test_the_page_has_one_section_for_every_code():
    assert sorted(SECTIONS) == sorted(CODES)
    assert len(re.findall(r"^### ", PAGE, re.MULTILINE)) == len(CODES)


@pytest.mark.parametrize("code", sorted(set(CODES) - WITHOUT_TURNS))
def test_the_turns_of_a_section_are_unread_for_its_code_and_read_when_said_otherwise(code):
    wrong, right = re.findall(r"```text\n(.*?)\n```", SECTIONS[code], re.DOTALL)
    unread = selector_for("en").read(wrong)
    assert isinstance(unread, Unread)
    assert unread.code == code
    assert isinstance(selector_for("en").read(right), Reading)


def test_the_sections_without_turns_have_none():
    assert all("```" not in SECTIONS[code] for code in WITHOUT_TURNS)
