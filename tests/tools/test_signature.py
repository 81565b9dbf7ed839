"""From functions to contracts, and arguments to their one wire form and back."""

import dataclasses
import datetime as dt
import enum
import functools
import inspect
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Literal

import pytest
from amends import Kind, ToolContext, Undo, tool
from amends.contract.canonical import sha256
from amends.contract.errors import BadArguments
from amends.contract.mistakes import FileMistake, FileMistakes
from amends.tools.declaration import DECLARATION
from amends.tools.tool import make_tool
from annotated_types import Gt
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

CONTEXT = ToolContext(idempotency_key="0" * 64, session="desk:u-17:1", run="r", step=3, attempt=1, user="u-17")


Look = Callable[[str], dict[str, str]]


class Speed(enum.Enum):
    SLOW = "standard"
    FAST = "express"


class Charge(BaseModel):
    id: str
    amount: Decimal


class Line(BaseModel):
    sku: str
    price: Decimal
    weight: float = 1.0


class Opaque:
    pass


@dataclasses.dataclass
class Address:
    street: str


@tool(writes=True, undo="refund_card", timeout=5)
async def charge_card(
    order_id: Annotated[str, Kind("id", pattern=r"\d{3,10}")],
    amount: Annotated[Decimal, Gt(0)],
    *,
    context: ToolContext,
    weight: float | None = None,
    rates: list[float] = [],  # noqa: B006 -- people write it
    speed: Speed = Speed.SLOW,
    day: dt.date | None = None,
    quantity: int = 1,
    notify: bool = False,
    note: str | None = None,
    line: Line | None = None,
    address: "Address | None" = None,
    tags: frozenset[str] = frozenset(),
    budget: Annotated[str, Kind("money")] = "0",
    due: Annotated[str, Kind("date")] = "2026-01-01",
) -> Charge:
    """Charge the card on file
    for an order. It takes a second."""
    return Charge(id="ch", amount=amount)


def loaded(function):
    return make_tool(function, getattr(function, DECLARATION))


CHARGE = loaded(charge_card)


def canonical(**arguments):
    return CHARGE.canonical({"order_id": "4411", "amount": "40", **arguments})


def test_the_contract_of_a_function():
    contract = CHARGE.contract
    assert contract.name == "charge_card"
    assert contract.summary == "Charge the card on file for an order."
    assert (contract.writes, contract.undo.tool, contract.undo_none, contract.timeout_ms) == (
        True,
        "refund_card",
        False,
        5000,
    )
    assert contract.parameters[0].model_dump() == {
        "name": "order_id",
        "kind": "id",
        "base": "string",
        "required": True,
        "many": False,
        "pattern": r"\d{3,10}",
        "values": (),
    }
    assert "context" not in [parameter.name for parameter in contract.parameters]
    assert [p.name for p in contract.parameters if p.required] == ["order_id", "amount"]
    assert contract.result_schema["properties"]["amount"]["format"] == "decimal"
    assert contract.origin.file == __file__
    assert CHARGE.is_async
    assert CHARGE.function is charge_card


def test_where_a_tool_is_written_does_not_change_its_digest():
    moved = CHARGE.contract.model_copy(update={"origin": CHARGE.contract.origin.model_copy(update={"line": 1})})
    assert moved.digest == CHARGE.contract.digest


@pytest.mark.parametrize(
    ("name", "value", "wire"),
    [
        ("amount", "40", "40.00"),
        ("amount", 40, "40.00"),
        ("amount", "40.5", "40.50"),
        ("amount", "40.500", "40.50"),
        ("amount", "40.125", "40.125"),
        ("amount", "4e1", "40.00"),
        ("amount", Decimal("40.0"), "40.00"),
        ("weight", "2.50", "2.5"),
        ("weight", 3, "3"),
        ("rates", ["0.10", 2], ["0.1", "2"]),
        ("speed", "express", "express"),
        ("day", "2026-03-05", "2026-03-05"),
        ("quantity", "3", 3),
        ("notify", True, True),
        ("note", "cafe\u0301", "caf\u00e9"),
        ("line", {"sku": "a", "price": "2"}, {"sku": "a", "price": "2.00", "weight": "1"}),
        ("line", {"sku": "a", "price": 2, "weight": "2.50"}, {"sku": "a", "price": "2.00", "weight": "2.5"}),
        ("address", {"street": "Rua A"}, {"street": "Rua A"}),
        ("tags", ["b", "a", "b"], ["a", "b"]),
        ("budget", "40", "40.00"),
        ("due", "2026-03-05", "2026-03-05"),
    ],
)
def test_each_value_has_one_wire_form_and_making_it_twice_changes_nothing(name, value, wire):
    first = canonical(**{name: value})
    assert first[name] == wire
    assert CHARGE.canonical(first) == first


def test_an_optional_argument_without_a_value_stays_out():
    assert canonical(note=None, day=None) == canonical() == {"order_id": "4411", "amount": "40.00"}


def test_the_order_of_arguments_is_that_of_the_parameters():
    assert list(CHARGE.canonical({"note": "x", "amount": "1", "order_id": "4411"})) == ["order_id", "amount", "note"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("amount", 40.5, "binary float, which has lost digits; write it as text, '40.5'"),
        ("amount", 40.0, "binary float"),
        ("line", {"sku": "a", "price": 2.5}, "binary float"),
        ("amount", "-1", "greater than 0"),
        ("amount", "forty", "valid decimal"),
        ("amount", "NaN", "finite number"),
        ("amount", "1e999999", "at most 1000 digits"),
        ("amount", True, "amount = True"),
        ("order_id", 4411, "valid string"),
        ("order_id", "44", r"has not the shape \d{3,10}"),
        ("speed", "fast", "'standard' or 'express'"),
        ("day", 20260305, "valid date"),
        ("day", "05/03/2026", "valid date"),
        ("quantity", True, "valid integer"),
        ("quantity", "03", "valid integer"),
        ("quantity", None, "valid integer"),
        ("notify", "yes", "valid boolean"),
        ("notify", 1, "valid boolean"),
        ("line", {"price": "2"}, "line.sku"),
        ("budget", "much", "'much' is no number"),
        ("due", "soon", "Invalid isoformat"),
        ("ammount", "2", "there is no such argument; did you mean amount?"),
        ("context", {}, "there is no such argument"),
        ("note", "\ud800", "note"),
        ("note", b"x", "a bytes is not JSON"),
    ],
)
def test_what_is_not_what_the_annotation_says_is_refused_by_name_and_value(name, value, said):
    with pytest.raises(BadArguments) as caught:
        canonical(**{name: value})
    assert said in str(caught.value)
    assert caught.value.tool == "charge_card"
    assert caught.value.problems[0].argument.startswith(name)


def test_every_problem_is_named_at_once():
    with pytest.raises(BadArguments) as caught:
        CHARGE.canonical({"amount": 1.5, "nota": "x", "notify": "yes"})
    assert [problem.argument for problem in caught.value.problems] == ["nota", "order_id", "amount", "notify"]


def test_a_call_gets_the_types_of_the_function_and_the_context():
    wire = canonical(
        weight="2.5",
        rates=["0.1"],
        speed="express",
        day="2026-03-05",
        tags=["b", "a"],
        line={"sku": "a", "price": "2", "weight": "0.5"},
        address={"street": "A"},
    )
    bound = CHARGE.call(wire, CONTEXT)
    assert bound == {
        "order_id": "4411",
        "amount": Decimal("40.00"),
        "weight": 2.5,
        "rates": [0.1],
        "speed": Speed.FAST,
        "day": dt.date(2026, 3, 5),
        "tags": frozenset({"a", "b"}),
        "line": Line(sku="a", price=Decimal("2.00"), weight=0.5),
        "address": Address("A"),
        "context": CONTEXT,
    }
    assert type(bound["weight"]) is float
    assert type(bound["rates"][0]) is float
    inspect.signature(charge_card).bind(**bound)


def test_a_call_with_bad_arguments_is_refused_before_the_function_runs():
    with pytest.raises(BadArguments, match="amount: it is missing"):
        CHARGE.call({"order_id": "4411"}, CONTEXT)


@settings(max_examples=60, deadline=None)
@given(st.decimals(min_value="0.01", max_value="1e12", allow_nan=False, allow_infinity=False))
def test_an_amount_keeps_its_value_and_every_spelling_of_it_has_one_form(amount):
    made = canonical(amount=str(amount))["amount"]
    assert Decimal(made) == amount
    assert len(made.partition(".")[2]) >= 2
    spellings = {canonical(amount=spelling)["amount"] for spelling in (f"{amount:f}", f"{amount:e}", f"{amount:f}")}
    assert spellings == {made}
    assert sha256(json.loads(json.dumps(canonical(amount=str(amount))))) == sha256(canonical(amount=str(amount)))


def test_a_sync_tool_and_one_wrapped_by_another_decorator_are_read_through():
    def logged(function: Look) -> Look:
        @functools.wraps(function)
        def call(order_id: str) -> dict[str, str]:
            return function(order_id)

        return call

    @logged
    @tool
    def look(order_id: str) -> dict[str, str]:
        """Look up an order."""
        return {}

    read = loaded(look)
    assert [p.name for p in read.contract.parameters] == ["order_id"]
    assert not read.is_async


@pytest.mark.parametrize(
    ("returns", "schema"), [(None, {"type": "null"}), (float, {"type": "string", "format": "decimal"}), (object, None)]
)
def test_the_result_schema_says_what_the_record_holds(returns, schema):
    def look(): ...

    look.__annotations__["return"] = returns
    tool(look)
    assert loaded(look).contract.result_schema == schema


def test_a_return_annotation_that_has_no_schema_says_nothing():
    @tool
    def look() -> Opaque: ...  # type: ignore[empty-body]

    @tool
    def glance(): ...

    assert loaded(look).contract.result_schema is None
    assert loaded(glance).contract.result_schema is None


def star(*names: str): ...
def stars(**names: str): ...
def bare(name): ...
def slashed(name: str, /): ...
def opaque(thing: Opaque): ...
def field(name: str = Field("x")): ...
def twice(one: ToolContext, other: ToolContext): ...
def marked(amount: Annotated[int, Kind("money")]): ...
def unknown(order: "Ordr"): ...  # type: ignore[name-defined] # noqa: F821 -- it is the mistake


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (star, "star(*names: str: a tool names each of its parameters; write them out)"),
        (stars, "stars(**names: str: a tool names each"),
        (bare, "bare(name: it has no annotation; write name: str"),
        (slashed, "slashed(name, /: arguments are given by name; take the / away)"),
        (opaque, "opaque(thing: a call cannot carry"),
        (field, "field(name: Field() is no default here; write Annotated[..., Field(...)])"),
        (twice, "twice asks for the context twice: one, other"),
        (marked, 'marked(amount: Kind("money") does not go with int'),
        (unknown, "unknown: its annotations cannot be read: name 'Ordr' is not defined"),
    ],
)
def test_a_parameter_that_a_call_cannot_fill_is_refused_with_file_line_and_what_to_write(function, said):
    with pytest.raises(FileMistakes) as caught:
        loaded(tool(function))
    mistake = caught.value.mistakes[0]
    assert said in str(mistake)
    assert (mistake.file, mistake.line) == (__file__, function.__code__.co_firstlineno)


def test_all_bad_parameters_of_a_function_are_named_at_once():
    @tool
    def bad(one, two, *three: str): ...

    with pytest.raises(FileMistakes) as caught:
        loaded(bad)
    assert len(caught.value.mistakes) == 3


def test_a_name_that_is_no_tool_name_is_refused_with_one_that_is():
    @tool
    def ChargeCard(): ...  # noqa: N802 -- it is the mistake

    with pytest.raises(FileMistake, match=r'or write @tool\(name="charge_card"\)'):
        loaded(ChargeCard)


def test_a_name_given_to_the_decorator_stands():
    @tool(name="charge_card", writes=True, undo=Undo("charge_card", amount="$args.amount"))
    def ChargeCard(amount: Decimal): ...  # noqa: N802

    contract = loaded(ChargeCard).contract
    assert contract.name == "charge_card"
    assert contract.undo.arguments == {"amount": "$args.amount"}


def test_undo_none_is_in_the_contract():
    @tool(writes=True, undo=None)
    def draft(): ...

    assert loaded(draft).contract.undo_none


def test_a_literal_is_an_enum():
    @tool
    def ship(speed: Literal["slow", "fast"] = "slow"): ...

    assert loaded(ship).contract.parameters[0].values == ("slow", "fast")
