"""What is wrong with the bindings of an undo before anything runs, and the fields of a result's schema."""

import pytest
from amends.contract.tool import Parameter, ToolContract, UndoBinding
from amends.rulebook.bindings import binding_problems
from amends.rulebook.result_fields import ResultField, result_field
from pydantic import JsonValue

RESULT: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "count": {"type": "integer"},
        "rate": {"type": "number"},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "left_out": {"type": "string"},
        "card": {"$ref": "#/$defs/Card"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/Card"}},
        "open": {"type": "object"},
        "by_name": {"type": "object", "additionalProperties": {"type": "integer"}},
        "both": {"type": ["string", "null"]},
        "parts": {"allOf": [{"$ref": "#/$defs/Card"}]},
    },
    "required": ["id", "count", "rate", "maybe", "card", "lines", "open", "by_name", "both", "parts"],
    "$defs": {"Card": {"type": "object", "properties": {"last4": {"type": "string"}}, "required": ["last4"]}},
}


@pytest.mark.parametrize(
    ("path", "types", "always"),
    [
        ("id", ("string",), True),
        ("left_out", ("string",), False),
        ("maybe", ("string", "null"), True),
        ("both", ("string", "null"), True),
        ("card.last4", ("string",), True),
        ("parts.last4", ("string",), True),
        ("lines.0.last4", ("string",), False),
        ("open.anything", (), False),
        ("by_name.x", ("integer",), False),
    ],
)
def test_a_field_of_a_result_has_types_and_may_be_missing(path, types, always):
    assert result_field(RESULT, path) == ResultField(types=types, always=always)


@pytest.mark.parametrize("path", ["nope", "id.x", "card.nope", "lines.last4", "lines.0.nope"])
def test_a_field_that_a_result_cannot_have(path):
    assert result_field(RESULT, path) is None


def test_schemas_that_go_round_or_point_nowhere_say_nothing():
    loop: dict[str, JsonValue] = {
        "$ref": "#/$defs/A",
        "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}},
    }
    assert result_field(loop, "x") == ResultField(always=False)
    assert result_field({"anyOf": [{"type": "null"}, RESULT]}, "id") == ResultField(types=("string",), always=False)


def problems(source, *, kind="id", base="string", required=True, many=False):
    write = ToolContract(
        name="put",
        writes=True,
        result_schema=RESULT,
        undo=UndoBinding(tool="take", arguments={"it": source}),
        parameters=(
            Parameter(name="text", kind="text"),
            Parameter(name="money", kind="money", base="number"),
            Parameter(name="whole", kind="int", base="integer"),
            Parameter(name="note", kind="text", required=False),
            Parameter(name="tags", kind="text", many=True),
            Parameter(name="box", kind=None, base="object"),
        ),
    )
    take = ToolContract(
        name="take", parameters=(Parameter(name="it", kind=kind, base=base, required=required, many=many),)
    )
    return [problem.kind for problem in binding_problems(write, take)]


@pytest.mark.parametrize(
    ("source", "of", "kinds"),
    [
        ("$args.text", {}, []),
        ("$args.nope", {}, ["unknown"]),
        ("$args.note", {}, ["missing"]),
        ("$args.note", {"required": False}, []),
        ("$args.whole", {}, ["type"]),
        ("$args.money", {"kind": "money", "base": "number"}, []),
        ("$args.whole", {"kind": "money", "base": "number"}, []),
        ("$args.money", {"kind": "int", "base": "integer"}, ["type"]),
        ("$args.tags", {}, ["type"]),
        ("$args.tags", {"many": True}, []),
        ("$args.box.inside", {}, []),
        ("$args.text", {"kind": None, "base": "any"}, []),
        ("$result.id", {}, []),
        ("$result.nope", {}, ["unknown"]),
        ("$result.count", {}, ["type"]),
        ("$result.rate", {"kind": "money", "base": "number"}, []),
        ("$result.maybe", {}, ["missing"]),
        ("$result.left_out", {}, ["missing"]),
        ("$result.left_out", {"required": False}, []),
        ("$result.card.last4", {}, []),
        ("$result.open.x", {}, ["missing"]),
        ("$result", {"kind": None, "base": "object"}, []),
        ("$results.id", {}, ["unknown"]),
        ("plain", {}, []),
        ("$$plain", {}, []),
        (7, {}, ["type"]),
        (7, {"kind": "int", "base": "integer"}, []),
        (True, {"kind": "bool", "base": "boolean"}, []),
        ([], {}, ["type"]),
        (None, {}, ["type"]),
    ],
    ids=str,
)
def test_a_binding_is_looked_at_before_it_is_needed(source, of, kinds):
    assert problems(source, **of) == kinds
