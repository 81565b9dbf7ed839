"""Undos: their bindings, and that nothing but the undo of that step is allowed."""

import pytest
from amends.contract.tool import Parameter, ToolContract, UndoBinding
from amends.rulebook.rules import Never, Rulebook
from amends.rulebook.undo import UnboundArgument, bind_undo, check_undo, resolve_undo
from pydantic import JsonValue

REFUSES_ALL = Rulebook(rules=(Never(id="no", actions=("*",)),))
MONEY = {"order_id": "4411", "amount": "40.00"}


def write(arguments, **more):
    undo = UndoBinding(tool="take_back", arguments=arguments)
    return ToolContract(name="put", writes=True, undo=undo, **more)


def undo_of(shop, *, call=None, event=None, contract="charge_card", tools=None, rulebook=REFUSES_ALL):
    return check_undo(
        rulebook,
        shop.call("refund_card", **{"undoes": 2, **MONEY, **(call or {})}),
        undoes=shop.event(2, "charge_card", **{**MONEY, **(event or {})}),
        contract=shop.tools[contract],
        tools=shop.tools if tools is None else tools,
    )


def test_an_undo_is_bound_not_ruled_and_not_confirmed(shop):
    decision = undo_of(shop)
    assert (decision.verdict, decision.hits) == ("allow", ())
    assert decision.rulebook == REFUSES_ALL.hash


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"event": {"undone": True}}, "step 2 was undone already"),
        ({"event": {"outcome": "declined"}}, "step 2 did not run: declined"),
        ({"event": {"outcome": "unknown"}}, "step 2 did not run: unknown"),
        ({"event": {"run": "r0"}}, "step 2 belongs to run r0, not to r1"),
        ({"event": {"undoes": 1}}, "step 2 is an undo itself"),
        ({"call": {"undoes": 3}}, "the undo names step 3, and was checked against step 2"),
        ({"call": {"undoes": None}}, "the undo names step None, and was checked against step 2"),
        ({"call": {"amount": "41.00"}}, "amount of refund_card did not come from step 2"),
        ({"call": {"amount": "40"}}, "amount of refund_card did not come from step 2"),
        ({"call": {"amount": 40.0}}, "refund_card of step 2 has no exact arguments"),
        ({"call": {"reason": "x"}}, "refund_card has no argument reason"),
        ({"contract": "ship_order"}, "step 2 was a call of charge_card, not of ship_order"),
        ({"tools": {}}, "desk has no tool refund_card"),
    ],
)
def test_anything_else_is_refused(shop, changed, why):
    decision = undo_of(shop, **changed)
    assert decision.verdict == "refuse"
    assert why in decision.hits[0].why


def test_a_left_out_argument_is_refused(shop):
    decision = check_undo(
        REFUSES_ALL,
        shop.call("refund_card", undoes=2, order_id="4411"),
        undoes=shop.event(2, "charge_card", **MONEY),
        contract=shop.tools["charge_card"],
        tools=shop.tools,
    )
    assert decision.hits[0].why == "amount of refund_card did not come from step 2"


def test_another_tool_does_not_undo_it(shop):
    decision = check_undo(
        REFUSES_ALL,
        shop.call("delete_customer", undoes=2, customer_id="1"),
        undoes=shop.event(2, "charge_card", **MONEY),
        contract=shop.tools["charge_card"],
        tools=shop.tools,
    )
    assert "delete_customer does not undo charge_card" in [hit.why for hit in decision.hits]


def test_an_irreversible_write_has_no_undo(shop):
    contract = shop.tools["charge_card"].model_copy(update={"irreversible": True})
    decision = check_undo(
        Rulebook(),
        shop.call("refund_card", undoes=2, **MONEY),
        undoes=shop.event(2, "charge_card", **MONEY),
        contract=contract,
        tools=shop.tools,
    )
    assert decision.hits[0].why == "nothing can undo charge_card: it is irreversible"


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("$args.order_id", "4411"),
        ("$args.box.size", 3),
        ("$result.id", "ch_1"),
        ("$result.lines.0.sku", "A"),
        ("$result.paid", "40.1"),
        ("$result.null", None),
        ("$result", {"id": "ch_1", "paid": "40.1", "lines": [{"sku": "A"}], "null": None}),
        ("plain", "plain"),
        (7, 7),
        (None, None),
        ("$$5", "$5"),
    ],
)
def test_a_source_is_an_argument_a_field_or_a_plain_value(source, value):
    arguments: dict[str, JsonValue] = {"order_id": "4411", "box": {"size": 3}}
    result: JsonValue = {"id": "ch_1", "paid": 40.1, "lines": [{"sku": "A"}], "null": None}
    assert bind_undo(write({"it": source}), arguments, result) == {"it": value}


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("$args.nope", "it <- $args.nope: the step was called without nope"),
        ("$args.order_id.x", "it <- $args.order_id.x: there is no x in it"),
        ("$result.nope", "it <- $result.nope: there is no nope in it"),
        ("$result.lines.5", "it <- $result.lines.5: there is no 5 in it"),
        ("$result.id.x", "it <- $result.id.x: there is no x in it"),
        ("$results.id", "it <- $results.id: a source begins with $args. or $result."),
        ("$result.rate", "it <- $result.rate: nan is not a number that can be sent"),
    ],
)
def test_a_source_that_is_not_there_is_named(source, why):
    with pytest.raises(UnboundArgument) as raised:
        bind_undo(write({"it": source}), {"order_id": "4411"}, {"id": "ch_1", "lines": [], "rate": float("nan")})
    assert str(raised.value).startswith(why)
    assert (raised.value.parameter, raised.value.source) == ("it", source)


def test_a_missing_source_leaves_an_optional_parameter_out():
    contract = write({"order_id": "$args.order_id", "note": "$args.note"})
    undo_tool = ToolContract(
        name="take_back", parameters=(Parameter(name="order_id"), Parameter(name="note", required=False))
    )
    assert bind_undo(contract, {"order_id": "1"}, None, undo_tool=undo_tool) == {"order_id": "1"}
    assert bind_undo(contract, {"order_id": "1", "note": "x"}, None, undo_tool=undo_tool)["note"] == "x"
    with pytest.raises(UnboundArgument, match=r"note <- \$args.note"):
        bind_undo(contract, {"order_id": "1"}, None)


def test_a_required_parameter_that_nothing_binds_is_named():
    undo_tool = ToolContract(name="take_back", parameters=(Parameter(name="version"),))
    with pytest.raises(UnboundArgument, match="version <- nothing"):
        bind_undo(write({}), {}, None, undo_tool=undo_tool)


def test_an_undo_that_was_never_resolved_is_not_guessed():
    with pytest.raises(UnboundArgument, match="was not resolved at registration"):
        bind_undo(write(None), {}, None)
    with pytest.raises(ValueError, match="has no undo to bind"):
        bind_undo(ToolContract(name="get"), {}, None)


SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "version": {"$ref": "#/$defs/Version"}},
    "required": ["id"],
    "$defs": {"Version": {"type": "integer"}},
}


@pytest.mark.parametrize(
    ("schema", "bound"),
    [
        (SCHEMA, {"order_id": "$args.order_id", "version": "$result.version", "id": "$result.id"}),
        ({"type": "null"}, {"order_id": "$args.order_id"}),
        (None, {"order_id": "$args.order_id", "version": "$result.version", "lost": "$result.lost"}),
    ],
    ids=["result fields", "no result", "result unknown"],
)
def test_the_short_form_binds_by_name(schema, bound):
    contract = write(None, parameters=(Parameter(name="order_id"), Parameter(name="amount")), result_schema=schema)
    undo_tool = ToolContract(
        name="take_back",
        parameters=(
            Parameter(name="order_id"),
            Parameter(name="version"),
            Parameter(name="id", required=False),
            Parameter(name="lost"),
            Parameter(name="note", required=False),
        ),
    )
    assert resolve_undo(contract, undo_tool) == UndoBinding(tool="take_back", arguments=bound)


def test_said_arguments_stay_as_they_are():
    said = write({"add": "$args.remove", "remove": "$args.add"})
    assert resolve_undo(said, ToolContract(name="take_back")) is said.undo
    with pytest.raises(ValueError, match="put is not undone by other"):
        resolve_undo(said, ToolContract(name="other"))
