"""Results as they are recorded: whatever a tool returned, writing it down never fails."""

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import json
import math
import uuid
from decimal import Decimal

import pytest
from amends.contract.canonical import canonical_json
from amends.tools.wire import wire_argument, wire_result
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr, computed_field


class Color(enum.Enum):
    RED = "red"


class Charge(BaseModel):
    charge_id: str = Field(alias="chargeId")
    amount: Decimal
    secret: SecretStr = SecretStr("s3cret")

    @computed_field  # type: ignore[prop-decorator]  # mypy's own gap
    @property
    def paid(self) -> bool:
        return True


@dataclasses.dataclass
class Point:
    x: float
    y: int


Pair = collections.namedtuple("Pair", "one other")


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class HostileMapping(dict[str, int]):
    def items(self):
        raise RuntimeError("no")


class NumberLike:
    def __index__(self) -> int:
        return 7


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (None, None),
        (True, True),
        (17, 17),
        (Decimal("40.00"), "40.00"),
        (Decimal("1E+3"), "1000"),
        (Decimal("NaN"), "NaN"),
        (Decimal("1E+999999"), "1E+999999"),
        (40.5, "40.5"),
        (0.1, "0.1"),
        (1e22, "10000000000000000000000"),
        (math.inf, "inf"),
        (math.nan, "nan"),
        ("caf\u00e9", "caf\u00e9"),
        ("\ud800x", "\\ud800x"),
        (b"\xff", "/w=="),
        (Color.RED, "red"),
        (dt.date(2026, 3, 5), "2026-03-05"),
        (dt.datetime(2026, 3, 5, tzinfo=dt.UTC), "2026-03-05T00:00:00Z"),
        (dt.timedelta(seconds=90), "PT1M30S"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (
            Charge(chargeId="ch_1", amount=Decimal("40.00")),
            {"charge_id": "ch_1", "amount": "40.00", "secret": "**********", "paid": True},
        ),
        (Point(1.5, 2), {"x": "1.5", "y": 2}),
        (Pair(1, 2.5), [1, "2.5"]),
        ((1, [2, {3}]), [1, [2, [3]]]),
        ({"b", "a"}, ["a", "b"]),
        ({1: "a", None: "b", dt.date(2026, 3, 5): "c"}, {"1": "a", "null": "b", "2026-03-05": "c"}),
        (ValueError("x"), "ValueError('x')"),
        (Hostile(), "<Hostile>"),
        ([Hostile(), 1], ["<Hostile>", 1]),
        (object(), "<object object>"),
        (10**400, hex(10**400)),
    ],
)
def test_a_result_has_its_wire_form(value, wire):
    assert wire_result(value) == wire
    json.dumps(wire_result(value)).encode()


def test_two_keys_with_one_text_are_both_kept():
    wire = wire_result({1: "a", "1": "b"})
    assert isinstance(wire, dict)
    assert sorted(map(str, wire.values())) == ["a", "b"]


def test_a_result_that_holds_itself_ends():
    loop: list[object] = [1]
    loop.append(loop)
    assert wire_result(loop) == [1, "<itself>"]


def test_deep_and_endless_results_are_cut_and_say_so():
    deep: object = "bottom"
    for _ in range(500):
        deep = [deep]
    assert "<left out>" in json.dumps(wire_result(deep))
    wide: object = "x"
    for _ in range(9):
        wide = [wide] * 10
    assert "<left out>" in json.dumps(wire_result([wide, wide]))


def test_a_hostile_mapping_becomes_its_repr():
    assert wire_result(HostileMapping(a=1)) == "{'a': 1}"


def test_a_generator_is_not_consumed():
    source = iter([1, 2])
    assert isinstance(wire_result(source), str)
    assert next(source) == 1


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.decimals()
    | st.dates() | st.datetimes() | st.uuids() | st.complex_numbers() | st.builds(Hostile) | st.just(Color.RED)
    | st.just(NumberLike()) | st.just(Decimal("sNaN")),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.integers() | st.text() | st.none() | st.floats(), inner, max_size=4)
    | st.tuples(inner, inner).map(lambda two: Pair(*two)),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(junk)
def test_writing_a_result_is_total_deterministic_and_free_of_floats(value):
    wire = wire_result(value)
    assert wire_result(value) == wire
    assert canonical_json(wire)  # it refuses floats
    json.dumps(wire, ensure_ascii=False).encode()
    assert wire_result(wire) == wire


@pytest.mark.parametrize("value", [object(), Decimal("NaN"), math.inf, {"a": object()}, Hostile(), "\ud800"])
def test_an_argument_that_cannot_travel_is_refused(value):
    with pytest.raises((TypeError, ValueError)):
        wire_argument(value)


def test_an_argument_does_not_depend_on_the_decimal_context():
    with decimal.localcontext(decimal.Context(prec=3)):
        assert wire_argument(Decimal("123456.789"), money=True) == "123456.789"
