"""Numbers, tokens and shapes: exactly the forms that are stated, against Babel as an outside judge."""

import re

import pytest
from amends.selector.faults import NotRead
from amends.selector.language import load_language
from amends.selector.numbers import NumberForms
from amends.selector.shapes import DEFAULT_SHAPE, compile_shape
from amends.selector.tokens import tokenize
from babel.numbers import NumberFormatError, parse_decimal
from hypothesis import given, settings
from hypothesis import strategies as st

FORMS = {code: NumberForms(load_language(code).numbers) for code in ("en", "pt-BR")}
LOCALES = {"en": "en_US", "pt-BR": "pt_BR"}


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.sampled_from(["en", "pt-BR"]), st.from_regex(r"[0-9]{1,7}([.,][0-9]{1,4}){0,3}", fullmatch=True))
def test_what_is_read_as_an_amount_is_what_babel_reads_strictly(code, text):
    amount = FORMS[code].money(text)
    if amount is not None:
        assert parse_decimal(text, locale=LOCALES[code], strict=True) == __import__("decimal").Decimal(amount)
    else:
        try:
            value = parse_decimal(text, locale=LOCALES[code], strict=True)
        except NumberFormatError:
            return
        decimals = re.split(re.escape(load_language(code).numbers.decimal), text)[1:]
        assert value == 0 or text.startswith("0") or (decimals and len(decimals[0]) != 2)


@pytest.mark.parametrize(
    ("code", "text", "amount"),
    [
        ("en", "40", "40.00"),
        ("en", "1,234.56", "1234.56"),
        ("en", "1234.56", "1234.56"),
        ("en", "1,234,567", "1234567.00"),
        ("en", "0.01", "0.01"),
        ("en", "40.5", None),
        ("en", "1.000", None),
        ("en", "0", None),
        ("en", "0.00", None),
        ("en", "007", None),
        ("en", "12,34", None),
        ("en", "9" * 23, None),
        ("pt-BR", "1.000", "1000.00"),
        ("pt-BR", "1.234,56", "1234.56"),
        ("pt-BR", "40,00", "40.00"),
        ("pt-BR", "1,000", None),
        ("pt-BR", "40.00", None),
    ],
)
def test_amounts_have_no_or_two_decimals(code, text, amount):
    assert FORMS[code].money(text) == amount


def test_integers_and_decimals_keep_to_the_language():
    assert FORMS["en"].integer("1,200") == 1200
    assert FORMS["pt-BR"].integer("1.200") == 1200
    assert FORMS["en"].integer("1.200") is None
    assert FORMS["en"].decimal("2.5") == "2.5"
    assert FORMS["pt-BR"].decimal("1.234,5") == "1234.5"
    assert FORMS["en"].decimal("1.000") is None


@pytest.mark.parametrize(
    ("turn", "kinds"),
    [
        ("charge order 4411", "word word number"),
        ("R$ 40,00 us$ 5 €3", "currency number currency number currency number"),
        ("ORD-4411 C100 550e8400-e29b", "id id id"),
        ("nº 44 n.º 44 no. 44 no.", "word number word number word number word mark"),
        ("a.b@c-d.co 2026-03-05 05/03/2026", "email iso_date slash_date"),
        ("say \"a b\" “c d” «e f» 'g h'", "word quoted quoted quoted quoted"),
        ("don't I\u2019d e-mail", "word word word"),
        ("a\r\n\r\n b", "word newline word"),
        ("1. a\n2. b\n", "word newline word"),
        ("- a\n• b", "word newline word"),
        ("x: y = #4, z; w. v! u?", "word mark word mark mark number mark word mark word mark word mark word mark"),
    ],
)
def test_a_turn_is_cut_into_its_tokens(turn, kinds):
    text, tokens = tokenize(turn)
    assert " ".join(token.kind for token in tokens) == kinds
    for token in tokens:
        assert token.kind == "newline" or text[token.start : token.end] == token.text


@pytest.mark.parametrize(
    ("turn", "code", "character", "start"),
    [
        ("pay 44\u200b11", "odd_character", "U+200B", 6),
        ("pay \ufeff1", "odd_character", "U+FEFF", 4),
        ("p\u0430y", "odd_character", "U+0430", 1),
        ("pay \uff14", "odd_character", "U+FF14", 4),
        ("pay \u0664", "odd_character", "U+0664", 4),
        ("pay ½", "odd_character", "U+00BD", 4),
        ("pay \ud800", "odd_character", "U+D800", 4),
        ("pay 'a\u2066b'", "odd_character", "U+2066", 6),
        ("pay \u212a\u0327", "odd_character", "U+0136", 4),
        ("pay “a", "unbalanced_quote", "", 4),
        ("pay a'", "unbalanced_quote", "", 5),
        ("p\u017fay", "odd_character", "U+017F", 1),
        ("a\u2028b", "odd_character", "U+2028", 1),
    ],
)
def test_an_odd_character_is_named_with_its_place(turn, code, character, start):
    with pytest.raises(NotRead) as caught:
        tokenize(turn)
    unread = caught.value.unread
    assert (unread.code, unread.detail.get("character", "")) == (code, character)
    assert unread.at is not None
    assert unread.at.start == start
    assert unread.model_dump_json()


@pytest.mark.parametrize(
    "shape", [DEFAULT_SHAPE, r"\d{3,10}", r"(?:[A-Z]{2}-)?\d+", r"[A-F0-9]{8}(-[A-F0-9]{4})", r"A|B\d", r"[]a-z\]]+"]
)
def test_linear_shapes_compile(shape):
    assert compile_shape(shape).pattern == shape


@pytest.mark.parametrize(
    "shape", [r"(a+)+", r"(a|b)*", r"(?:a?){9}", r"((a)?)+", r"(a)\1", r"(?=a)a", r"(?P<x>a)", r"(", r"[", "a" * 81]
)
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=r"shape|expression|repeats a group"):
        compile_shape(shape)
