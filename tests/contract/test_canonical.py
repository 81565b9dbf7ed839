"""One spelling for one meaning (SPEC 5.1)."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from amends.contract.canonical import canonical_json, decimal_text, sha256
from amends.contract.keys import idempotency_key
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None, "x"]}, '{"a":[true,null,"x"],"b":1}'),
        (Decimal("40.00"), "40"),
        (Decimal("40.50"), "40.5"),
        (Decimal("4E+1"), "40"),
        (Decimal("-0.0"), "0"),
        (Decimal("0.1") + Decimal("0.2"), "0.3"),
        ("e\u0301", '"\u00e9"'),
        ({"e\u0301": 1}, '{"\u00e9":1}'),
        (dt.date(2026, 3, 5), '"2026-03-05"'),
        (dt.datetime(2026, 3, 5, 10, tzinfo=dt.timezone(dt.timedelta(hours=-3))), '"2026-03-05T13:00:00+00:00"'),
    ],
)
def test_each_value_has_one_spelling(value: object, text: str) -> None:
    assert canonical_json(value) == text


@pytest.mark.parametrize(
    ("value", "place"),
    [({"amount": 40.0}, "amount"), ({"items": [1, 2.5]}, "items"), ({"x": object()}, "x"), ({1: "a"}, "1")],
)
def test_what_has_no_exact_form_is_refused_with_its_place(value: object, place: str) -> None:
    with pytest.raises(TypeError, match=place):
        canonical_json(value)


@pytest.mark.parametrize("value", [Decimal("NaN"), Decimal("Infinity"), {"\u00e9": 1, "e\u0301": 2}])
def test_what_is_not_one_value_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"finite|same text"):
        canonical_json(value)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        canonical_json(dt.datetime(2026, 3, 5))  # noqa: DTZ001


@given(st.decimals(min_value=-(10**12), max_value=10**12, places=4))
def test_decimal_text_is_exact_and_does_not_depend_on_trailing_zeros(value: Decimal) -> None:
    text = decimal_text(value)
    assert Decimal(text) == value
    assert "E" not in text
    assert decimal_text(value.quantize(Decimal("0.0000001"))) == text


def test_a_digest_does_not_depend_on_the_order_of_keys_or_on_the_spelling_of_an_amount() -> None:
    assert sha256({"a": 1, "amount": Decimal("40.0")}) == sha256({"amount": Decimal("40.00"), "a": 1})
    assert sha256({"amount": Decimal(40)}) != sha256({"amount": Decimal(400)})


CALL: dict[str, Any] = {
    "session": "desk:u-17:a1",
    "step": 3,
    "tool": "charge_card",
    "arguments": {"order_id": "4411"},
}


def test_the_same_call_at_the_same_step_has_the_same_key() -> None:
    assert idempotency_key(**CALL) == idempotency_key(**CALL)
    assert len(idempotency_key(**CALL)) == 64


@pytest.mark.parametrize(
    "other",
    [
        {"session": "desk:u-18:a1"},
        {"step": 4},
        {"tool": "refund_card"},
        {"arguments": {"order_id": "4412"}},
        {"tenant": "acme"},
        {"undo": True},
    ],
)
def test_another_call_has_another_key(other: dict[str, object]) -> None:
    assert idempotency_key(**{**CALL, **other}) != idempotency_key(**CALL)


def test_the_key_is_pinned() -> None:
    """A released key never changes: a provider would take a retry across a deploy for another call."""
    assert idempotency_key(**CALL) == "a710e56fac66806fc3b227ac5f393b035ae479fabf1bb8fa3456b0122911ea13"
