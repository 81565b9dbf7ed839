from decimal import Decimal

import pytest
from amends.contract.mistakes import FileMistake, FileMistakes, edits_between, nearest
from amends.contract.tool import Origin
from amends.contract.yaml12 import load_yaml


def value_of(text):
    return load_yaml(text, file="a.yaml").value


def mistake_in(text):
    with pytest.raises(FileMistake) as caught:
        load_yaml(text, file="a.yaml")
    return caught.value


def test_on_off_yes_and_no_are_words():
    assert value_of("on: [on, off, yes, no, Y, n]") == {"on": ["on", "off", "yes", "no", "Y", "n"]}


def test_true_and_false_are_booleans_and_keys_are_text():
    assert value_of("{true: true, 1: False, a: ~}") == {"true": True, "1": False, "a": None}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("200", 200),
        ("-7", -7),
        ("007", "007"),
        ("1_000", "1_000"),
        ("200.10", Decimal("200.10")),
        (".5", Decimal("0.5")),
        ("1e3", Decimal("1e3")),
        (".inf", ".inf"),
        ("12:30", "12:30"),
        ("2026-03-05", "2026-03-05"),
        ("'200'", "200"),
        ("", None),
        ("null", None),
        ("|\n  a\n  b\n", "a\nb\n"),
    ],
)
def test_a_plain_value_is_read_without_surprise(text, value):
    read = value_of(text)
    assert read == value
    assert type(read) is type(value)


def test_every_key_and_value_has_a_line():
    places = load_yaml("a: 1\ntools:\n  x:\n    - p\n    - q\n  y: {k: v}\n", file="a.yaml").places
    assert places.of(("a",)) == Origin(file="a.yaml", line=1)
    assert places.of(("tools", "x")).line == 3
    assert places.of(("tools", "x", 1)).line == 5
    assert places.of(("tools", "y", "k")).line == 6


def test_a_path_the_document_lacks_is_where_its_parent_is():
    places = load_yaml("a: 1\nb:\n  c: 2\n", file="a.yaml").places
    assert places.of(("b", "missing", 3)).line == 2
    assert places.of(("missing",)).line == 1


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "given twice; it stands on line 1"),
        ("a: 1\n? [x]\n: 2\n", 2, "a key is plain text"),
        ("a: &here 1\nb: *here\n", 1, "write the value out"),
        ("a: 1\nb: !!python/object:os.system x\n", 2, "tag"),
        ("a: 1\nb: [1, 2\n", 3, "not readable as YAML"),
        ("a: 1\n---\nb: 2\n", 2, "not readable as YAML"),
        ("a: \x07", 1, "not readable as YAML"),
        ("[" * 60 + "]" * 60, 1, "nested more than 40 deep"),
    ],
)
def test_what_is_not_read_is_refused_with_its_line(text, line, words):
    mistake = mistake_in(text)
    assert (mistake.file, mistake.line) == ("a.yaml", line)
    assert words in str(mistake)


def test_a_mistake_names_the_nearest_known_words():
    mistake = FileMistake("unknown tool 'chrage_card'", Origin(file="v.yaml", line=7), ("charge_card",))
    assert str(mistake) == "v.yaml:7: unknown tool 'chrage_card'; did you mean charge_card?"


def test_mistakes_are_told_in_the_order_of_their_lines():
    two = FileMistakes([FileMistake("b", Origin(file="v", line=9)), FileMistake("a", Origin(file="v", line=2))])
    assert str(two) == "v:2: a\nv:9: b"


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [
        ("", "", 0),
        ("a", "", 1),
        ("charge", "chrage", 1),
        ("charge", "chare", 1),
        ("ab", "ba", 1),
        ("ship", "chip", 1),
        ("kitten", "sitting", 3),
    ],
)
def test_edits_are_counted_with_swaps_as_one(one, other, edits):
    assert edits_between(one, other) == edits_between(other, one) == edits


def test_nearest_reaches_one_edit_in_short_words_and_two_in_long_ones():
    assert nearest("chrage", ["charge", "change", "refund"]) == ("charge", "change")
    assert nearest("shp", ["ship", "shop", "stop"]) == ("ship", "shop")
    assert nearest("zork", ["charge"]) == ()
