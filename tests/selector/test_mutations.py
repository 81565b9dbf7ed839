"""What must hold for every turn, tried on mutations of the readable ones: nothing is read that was not said."""

import random

import pytest
from amends.contract.reading import Reading
from amends.contract.tool import Parameter
from amends.selector.compiled import compile_selector
from amends.selector.language import load_language
from amends.selector.tokens import tokenize
from amends.selector.vocabulary_model import ArgumentWords, ToolWords, Vocabulary
from amends.tests.selector.desk import AMOUNT, DESK, all_turns, read_tool, said, selector_for, vocabulary_of, write_tool
from hypothesis import given, settings
from hypothesis import strategies as st

READABLE = [(language, turn["say"]) for language, turn in all_turns() if "calls" in turn]
SOME = settings(max_examples=150, deadline=None, derandomize=True)


def calls_of(read):
    return [said(call) for call in read.calls] if isinstance(read, Reading) else None


def places(turn):
    """Return the places between the tokens of a turn, its edges included."""
    text, tokens = tokenize(turn)
    return text, [0, *(token.end for token in tokens)]


def insert(turn, word, number):
    text, spots = places(turn)
    at = spots[number % len(spots)]
    return f"{text[:at]} {word} {text[at:]}"


def words_for(language, *codes):
    reserved = load_language(language).reserved
    return [word for code in codes for word in reserved[code] if " " not in word and "'" not in word]


@SOME
@given(st.sampled_from(READABLE), st.integers(0, 60), st.from_regex(r"[a-z]{3,9}", fullmatch=True))
def test_an_unknown_word_anywhere_is_never_read(turn, place, word):
    language, say = turn
    selector = selector_for(language)
    _, tokens = tokenize(word)
    if selector._known.knows(tokens[0]):
        word = "zork" + word
    assert not isinstance(selector.read(insert(say, word, place)), Reading)


@SOME
@given(st.sampled_from(READABLE), st.integers(0, 60), st.integers(0, 999))
def test_a_negator_condition_or_choice_anywhere_is_never_read(turn, place, which):
    language, say = turn
    words = words_for(language, "negation", "conditional", "choice", "quantity", "pronoun", "number_words")
    changed = insert(say, words[which % len(words)], place)
    read = selector_for(language).read(changed)
    assert not isinstance(read, Reading) or not changed_outside_quotes(say, changed), (changed, read)


def changed_outside_quotes(before, after):
    outside = [[token.small for token in tokenize(turn)[1] if token.kind != "quoted"] for turn in (before, after)]
    return outside[0] != outside[1]


@SOME
@given(st.sampled_from(READABLE), st.integers(0, 60), st.integers(0, 60), st.sampled_from(["drop", "swap", "double"]))
def test_a_typo_is_never_corrected(turn, which, where, how):
    language, say = turn
    selector = selector_for(language)
    text, tokens = tokenize(say)
    words = [token for token in tokens if token.kind == "word" and len(token.text) > 3]
    word = words[which % len(words)]
    at = where % (len(word.text) - 1)
    letters = word.text
    wrong = {
        "drop": letters[:at] + letters[at + 1 :],
        "swap": letters[:at] + letters[at + 1] + letters[at] + letters[at + 2 :],
        "double": letters[: at + 1] + letters[at:],
    }[how]
    (_, found), before = tokenize(wrong), calls_of(selector.read(say))
    if not selector._known.knows(found[0]):
        assert calls_of(selector.read(text[: word.start] + wrong + text[word.end :])) is None
    assert before is not None


@SOME
@given(st.sampled_from(READABLE), st.integers(0, 60))
def test_two_words_swapped_say_the_same_or_nothing(turn, which):
    language, say = turn
    _, tokens = tokenize(say)
    at = which % (len(tokens) - 1)
    order = [*tokens[:at], tokens[at + 1], tokens[at], *tokens[at + 2 :]]
    swapped = " ".join(token.text for token in order)
    read = calls_of(selector_for(language).read(swapped))
    plain = calls_of(selector_for(language).read(say))
    assert read in (plain, None)


ANY_ORDER = Parameter(name="order_id", kind="id")
NOTE = Parameter(name="note", kind="text", required=False)
MODE = Parameter(name="mode", kind="enum", values=("express", "slow"), required=False)
PRICE = Parameter(name="amount", kind="money", required=False)
DECOYS = (
    write_tool("charge_wallet", "", ANY_ORDER, AMOUNT),
    write_tool("refund_order", "", ANY_ORDER),
    write_tool("send_order", "", ANY_ORDER),
    write_tool("update_order", "", ANY_ORDER, NOTE),
    write_tool("cancel_delivery", "", ANY_ORDER),
    write_tool("provision_card", "", ANY_ORDER, PRICE),
    write_tool("ship", "", ANY_ORDER, MODE),
    read_tool("show_order", "", ANY_ORDER),
)


@pytest.mark.parametrize("language", ["en", "pt-BR"])
@pytest.mark.parametrize("seed", range(4))
def test_adding_tools_never_changes_one_reading_into_another(language, seed):
    chosen = random.Random(seed)
    tools = [*DESK, *chosen.sample(DECOYS, 4)]
    chosen.shuffle(tools)
    more = compile_selector(tools, language=language, vocabulary=vocabulary_of(language))
    ambiguous = 0
    for own, say in READABLE:
        if own == language:
            before, after = calls_of(selector_for(language).read(say)), more.read(say)
            assert calls_of(after) in (before, None), say
            ambiguous += calls_of(after) is None
    assert ambiguous < len(READABLE) // 2


WORDS = {
    "en": ("verbs", ["charge", "refund", "cancel", "process", "send", "get"]),
    "pt-BR": ("verbs", ["cobrar", "reembolsar", "cancelar", "processar", "enviar", "mostrar"]),
}
OBJECTS = {"en": ["order", "card", "purchase", "receipt"], "pt-BR": ["pedido", "cartão", "compra", "recibo"]}


@settings(max_examples=60, deadline=None, derandomize=True)  # each compiles a lexicon
@given(
    st.sampled_from(READABLE), st.integers(0, len(DESK) - 1), st.integers(0, 5), st.integers(0, 3), st.integers(0, 2)
)
def test_adding_a_word_never_changes_one_reading_into_another(turn, tool, verb, noun, kind):
    language, say = turn
    base = vocabulary_of(language)
    name = DESK[tool].name
    had = base.tools.get(name, ToolWords())
    if kind == 0:
        words = had.model_copy(update={"verbs": (*had.verbs, WORDS[language][1][verb])})
    elif kind == 1:
        words = had.model_copy(update={"object": (*had.object, OBJECTS[language][noun])})
    else:
        parameter = DESK[tool].parameters[0].name
        own = had.arguments.get(parameter, ArgumentWords())
        own = own.model_copy(update={"nouns": (*own.nouns, OBJECTS[language][noun])})
        words = had.model_copy(update={"arguments": {**had.arguments, parameter: own}})
    grown = base.model_copy(update={"tools": {**base.tools, name: words}})
    assert isinstance(grown, Vocabulary)
    read = compile_selector(DESK, language=language, vocabulary=grown).read(say)
    assert calls_of(read) in (calls_of(selector_for(language).read(say)), None)


@SOME
@given(st.text(max_size=200), st.sampled_from(["en", "pt-BR"]))
def test_any_text_at_all_is_answered(text, language):
    read = selector_for(language).read(text)
    assert read.language == language
    assert type(read).model_validate_json(read.model_dump_json()) == read


PIECES = ["charge", "order", "4411", "40.00", "then", ",", "the", "same", "refund", "card", "please", "and", "for", "?"]
SPANNED = st.lists(st.sampled_from(PIECES), max_size=14)


@SOME
@given(SPANNED)
def test_every_argument_of_a_reading_stands_where_its_span_says(pieces):
    turn = " ".join(pieces)
    read = selector_for("en").read(turn)
    if isinstance(read, Reading):
        for call in read.calls:
            for argument in call.arguments.values():
                assert argument.span is not None
                assert call.span.start <= argument.span.start < argument.span.end <= call.span.end
                written = turn[argument.span.start : argument.span.end]
                assert argument.by == "same" or written.rstrip("0").rstrip(".") in str(argument.value)
    elif read.at is not None:
        assert 0 <= read.at.start <= read.at.end <= len(turn)
