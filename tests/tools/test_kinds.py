"""Annotations to kinds: what a turn may say for each parameter."""

import datetime as dt
import enum
import uuid
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, NewType, Optional

import pytest
from amends import Kind
from amends.tools.kinds import parameter_of
from annotated_types import Gt
from pydantic import BaseModel, EmailStr

OrderId = Annotated[str, Kind("id", pattern=r"\d{3,10}")]
AccountId = NewType("AccountId", str)


class Speed(enum.Enum):
    STANDARD = "standard"
    EXPRESS = "express"


class Size(enum.IntEnum):
    SMALL = 1


class Item(BaseModel):
    sku: str


@pytest.mark.parametrize(
    ("name", "annotation", "kind", "base", "many"),
    [
        ("order_id", str, "id", "string", False),
        ("id", int, "id", "integer", False),
        ("zip_code", str, "id", "string", False),
        ("reference", str, "text", "string", False),
        ("invoice_no", str, "id", "string", False),
        ("account", AccountId, "text", "string", False),
        ("account_ref", AccountId, "id", "string", False),
        ("order_ids", list[str], "id", "string", True),
        ("order_id", uuid.UUID, "id", "string", False),
        ("who", OrderId, "id", "string", False),
        ("who", OrderId | None, "id", "string", False),
        ("who", list[OrderId], "id", "string", True),
        ("who", Annotated[list[str], Kind("email")], "email", "string", True),
        ("speed", Literal["standard", "express"], "enum", "string", False),
        ("speed", Optional[Speed], "enum", "string", False),  # noqa: UP045 -- people write it
        ("speeds", tuple[Speed, ...], "enum", "string", True),
        ("speed", Literal[1, 2], None, "any", False),
        ("size", Size, None, "any", False),
        ("notify", bool, "bool", "boolean", False),
        ("code", bool, "bool", "boolean", False),
        ("day", dt.date, "date", "string", False),
        ("at", dt.datetime, None, "string", False),
        ("quantity", int, "int", "integer", False),
        ("amount", Decimal, "money", "number", False),
        ("amount", Annotated[Decimal, Gt(0)], "money", "number", False),
        ("unit_price", float, "money", "number", False),
        ("amounts", Sequence[Decimal], "money", "number", True),
        ("code", Decimal, "decimal", "number", False),
        ("weight", float, "decimal", "number", False),
        ("email", str, "email", "string", False),
        ("reply_mail", str, "email", "string", False),
        ("who", EmailStr, "email", "string", False),
        ("note", str, "text", "string", False),
        ("item", Item, None, "object", False),
        ("items", list[Item], None, "object", True),
        ("data", dict[str, int], None, "object", False),
        ("pair", tuple[str, int], None, "array", False),
        ("things", list, None, "array", False),
        ("either", str | int, None, "any", False),
        ("whatever", Any, None, "any", False),
    ],
)
def test_the_kind_and_base_of_an_annotation(name, annotation, kind, base, many):
    parameter = parameter_of(name, annotation, required=True)
    assert (parameter.kind, parameter.base, parameter.many) == (kind, base, many)


def test_an_enum_has_its_words_and_an_id_its_pattern():
    assert parameter_of("speed", Literal["a", "b"], required=True).values == ("a", "b")
    assert parameter_of("speed", Speed, required=True).values == ("standard", "express")
    assert parameter_of("order_id", OrderId, required=False).pattern == r"\d{3,10}"


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (Annotated[int, Kind("money")], r'x: Kind\("money"\) does not go with int; annotate Decimal'),
        (Annotated[str, Kind("bool")], "annotate bool"),
        (Annotated[str, Kind("enum")], r'needs its words; annotate Literal\["one", "other"\]'),
        (Annotated[str, Kind("id", pattern="(")], "no regular expression"),
        (Annotated[str, Kind("text", pattern="a")], "only an id has a pattern"),
    ],
)
def test_a_marker_that_does_not_fit_says_what_to_write(annotation, said):
    with pytest.raises(ValueError, match=said):
        parameter_of("x", annotation, required=True)
