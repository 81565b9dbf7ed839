"""From a document to a stated model: every mistake at once, with its line and the nearest known word."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

import pytest
from amends.contract.mistakes import FileMistakes
from amends.contract.model import Stated
from amends.contract.stated import read_stated
from amends.contract.yaml12 import load_yaml


class Cap(Stated):
    limit: Decimal
    per: Literal["session", "day"] = "session"


class Rule(Stated):
    when: Cap | str | None = None
    caps: tuple[Cap, ...] = ()


class Sheet(Stated):
    rules: Mapping[str, Rule] = {}
    strict: bool = False
    count: int | None = None


def read(text: str) -> Sheet:
    document = load_yaml(text, file="sheet.yaml")
    return read_stated(Sheet, document.value, document.places)


def mistakes(text: str) -> list[str]:
    with pytest.raises(FileMistakes) as caught:
        read(text)
    return [str(mistake) for mistake in caught.value.mistakes]


def test_values_are_read_exactly():
    sheet = read("rules:\n  a: {caps: [{limit: 0.10}], when: always}\nstrict: true\ncount: 3\n")
    assert sheet.rules["a"].caps[0].limit == Decimal("0.10")
    assert (sheet.rules["a"].when, sheet.strict, sheet.count) == ("always", True, 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rulse: {}", ["sheet.yaml:1: unknown key 'rulse'; did you mean rules?"]),
        ("zzz: 1", ["sheet.yaml:1: unknown key 'zzz'; known here are count, rules, strict"]),
        ("strict: yes", ["sheet.yaml:1: strict is 'yes'; it should be a valid boolean"]),
        ('count: "3"', ["sheet.yaml:1: count is '3'; it should be a valid integer"]),
        ("rules:\n  a:\n    cpas: []", ["sheet.yaml:3: unknown key 'cpas'; did you mean caps?"]),
        (
            "rules:\n  a:\n    caps:\n      - {limt: 3}\n      - {limit: x}",
            [
                "sheet.yaml:4: rules.a.caps.0.limit is missing",
                "sheet.yaml:4: unknown key 'limt'; did you mean limit?",
                "sheet.yaml:5: rules.a.caps.1.limit is 'x'; it should be a valid decimal",
            ],
        ),
        (
            "rules:\n  a:\n    when: {limit: 3, per: dya}",
            ["sheet.yaml:3: rules.a.when.per is 'dya'; it is one of session, day; did you mean day?"],
        ),
        ("- 1", ["sheet.yaml:1: the file holds keys with values; [1] has none"]),
    ],
)
def test_each_mistake_has_its_line_and_the_way_out(text, said):
    assert mistakes(text) == said
