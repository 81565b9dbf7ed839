"""The language files as data: nothing has two parts in the grammar, and made forms are the reviewed ones."""

from pathlib import Path

import pytest
from amends.contract.yaml12 import load_yaml
from amends.selector.language import LANGUAGES, load_language
from amends.selector.noun_forms import plural
from amends.selector.tokens import fold, tokenize
from amends.selector.tool_words import words_of_tool
from amends.selector.verb_forms import NotAnInfinitive, verb_forms
from amends.selector.vocabulary_model import Vocabulary
from amends.selector.word_clashes import Clashes
from amends.tests.selector.desk import DESK

GOLDEN = Path(__file__).parent / "golden" / "pt_verb_forms.yaml"


def golden_forms():
    return load_yaml(GOLDEN.read_text(encoding="utf-8"), file=GOLDEN.name).value


def test_portuguese_forms_are_the_reviewed_ones():
    forms = golden_forms()
    assert len(forms) > 150
    for verb, (command, familiar) in forms.items():
        made = verb_forms("pt-BR", verb)
        assert made == {"subjunctive": command, "familiar": familiar, "infinitive": verb}


def test_every_verb_of_the_portuguese_table_is_a_reviewed_one():
    verbs = {verb for words in load_language("pt-BR").words.verbs.values() for verb in words}
    assert not sorted(verbs - set(golden_forms()))


@pytest.mark.parametrize("word", ["cobre", "cobro", "ar", "", "cobrança"])
def test_what_is_no_infinitive_is_refused(word):
    with pytest.raises(NotAnInfinitive):
        verb_forms("pt-BR", word)


def test_words_behind_the_verb_stay_as_they_are():
    assert verb_forms("pt-BR", "dar baixa")["subjunctive"] == "dê baixa"
    assert verb_forms("en", "pull up") == {"base": "pull up"}


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_reserved_word_has_no_other_part_unless_a_longer_phrase_holds_it(code):
    language = load_language(code)
    reserved = {fold(word): kind for kind, words in language.reserved.items() for word in words}
    assert sum(map(len, language.reserved.values())) == len({w for words in language.reserved.values() for w in words})
    parts = {
        "determiner": language.determiners,
        "preposition": [word for words in language.prepositions.values() for word in words],
        "filler": language.fillers,
        "greeting": language.greetings,
        "connector": (*language.connectors, *language.last_connectors, *language.first),
        "prefix": [say for prefix in language.prefixes for say in prefix.say],
        "month": language.months,
        "verb": [verb for words in language.words.verbs.values() for verb in words],
        "noun": [noun for words in language.words.nouns.values() for noun in words],
    }
    clashing = {(part, phrase) for part, phrases in parts.items() for phrase in phrases if fold(phrase) in reserved}
    assert not clashing


@pytest.mark.parametrize("code", LANGUAGES)
def test_no_made_word_of_the_desk_is_dropped_and_every_phrase_is_words(code):
    language = load_language(code)
    clashes = Clashes(language)
    for tool in DESK:
        assert words_of_tool(tool, language, Vocabulary(), clashes).slots is not None
    for phrase in language.closed_class - set(language.number_marks):
        assert {token.kind for token in tokenize(phrase)[1]} == {"word"}, phrase


def test_the_light_verbs_of_both_languages_are_made_of_the_same_idea():
    english, portuguese = load_language("en"), load_language("pt-BR")
    for verb in ("send", "update", "get", "add", "set"):
        assert verb in english.light_verbs
        assert set(portuguese.words.verbs[verb]) & set(portuguese.light_verbs)


@pytest.mark.parametrize(
    ("code", "noun", "many"),
    [
        ("en", "order", "orders"),
        ("en", "box", "boxes"),
        ("en", "delivery", "deliveries"),
        ("en", "day", "days"),
        ("pt-BR", "pedido", "pedidos"),
        ("pt-BR", "cartão", "cartões"),
        ("pt-BR", "valor", "valores"),
        ("pt-BR", "item", "itens"),
        ("pt-BR", "total", "totais"),
        ("pt-BR", "nota fiscal", "nota fiscal"),
    ],
)
def test_plurals_are_regular(code, noun, many):
    assert plural(code, noun) == many
