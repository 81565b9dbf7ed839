"""References, order words and the object rule: what a turn may leave out, and what it may not."""

import datetime as dt

import pytest
from amends.contract.reading import Reading
from amends.contract.tool import Parameter
from amends.selector.compiled import compile_selector
from amends.tests.selector.desk import ORDER, read, read_tool, said, selector_for, write_tool

EN, PT = selector_for("en"), selector_for("pt-BR")
TODAY = dt.date(2026, 3, 4)


def outcome(selector, turn, **more):
    answer = read(selector, turn, **more)
    return [said(call) for call in answer.calls] if isinstance(answer, Reading) else answer.code


def test_the_same_order_is_the_one_order_named_before():
    turn = "print the labels for order 4411, then cancel that order"
    assert outcome(EN, turn) == ["print_labels(order_ids=[4411])", "cancel_order(order_id=4411)"]
    two = "print the labels for orders 4411 and 4412, then cancel that order"
    assert outcome(EN, two) == "no_antecedent"
    later = "cancel that order, then get order 4411"
    assert outcome(EN, later) == "no_antecedent"


def test_a_reference_takes_the_nouns_of_the_value_it_stands_for():
    assert outcome(EN, "get purchase 4411 and cancel the same order") == [
        "get_order(order_id=4411)",
        "cancel_order(order_id=4411)",
    ]
    assert outcome(EN, "verify the identity of customer 100 and cancel the same order") == "no_antecedent"


def test_the_same_value_said_twice_is_one_value():
    turn = "get order 4411, get order 4411, cancel the same order"
    assert outcome(EN, turn)[-1] == "cancel_order(order_id=4411)"


def test_a_reference_must_fit_the_shape_of_the_slot_it_fills():
    wide = Parameter(name="order_id", kind="id", pattern=r"[A-Z]\d+")
    tools = [read_tool("get_order", "", wide), write_tool("cancel_order", "", ORDER)]
    selector = compile_selector(tools, language="en")
    assert outcome(selector, "get order A1 and cancel the same order") == "no_antecedent"


def test_today_is_read_only_when_the_caller_says_which_day_it_is():
    turn = "schedule the delivery of order 4411 for tomorrow"
    assert outcome(EN, turn) == "date_form"
    assert outcome(EN, turn, today=TODAY) == ["schedule_delivery(order_id=4411, date=2026-03-05)"]
    hoje = "agende a entrega do pedido 4411 para hoje"
    assert outcome(PT, hoje, today=TODAY) == ["schedule_delivery(order_id=4411, date=2026-03-04)"]


def test_a_turn_two_tools_could_mean_is_ambiguous_and_names_both():
    twins = [write_tool("refund_card", "", ORDER), write_tool("refund_wallet", "", ORDER)]
    unread = read(compile_selector(twins, language="en"), "refund order 4411")
    assert unread.code == "ambiguous"
    assert unread.readings == (("refund_card(order_id=4411)",), ("refund_wallet(order_id=4411)",))
    assert outcome(compile_selector(twins, language="en"), "refund the wallet for order 4411") == [
        "refund_wallet(order_id=4411)"
    ]


def test_two_slots_of_one_noun_are_ambiguous_unless_a_preposition_tells_them_apart():
    pair = [Parameter(name="order_id", kind="id"), Parameter(name="order_number", kind="id", required=False)]
    assert outcome(
        compile_selector([write_tool("cancel_order", "", *pair)], language="en"), "cancel order 1 order 2"
    ) == ("ambiguous")
    assert outcome(EN, "transfer 40.00 to account 11 from account 12") == [
        "transfer_money(from_account=12, to_account=11, amount=40.00)"
    ]


def test_amounts_stand_without_a_noun_only_where_nothing_else_could_be_meant():
    price = [
        Parameter(name="order_id", kind="id"),
        Parameter(name="quantity", kind="int", base="integer", required=False),
        Parameter(name="price", kind="money"),
    ]
    selector = compile_selector([write_tool("charge_item", "", *price)], language="en")
    assert outcome(selector, "charge order 4411 3") == "left_over"
    assert outcome(selector, "charge order 4411 $3") == ["charge_item(order_id=4411, price=3.00)"]
    assert outcome(selector, "charge order 4411 quantity 3 price 4") == [
        "charge_item(order_id=4411, quantity=3, price=4.00)"
    ]


def test_a_whole_number_right_after_the_object_is_no_amount():
    assert outcome(EN, "refund charge 12 for order 4411") == "left_over"
    assert outcome(EN, "refund the charge, 12, for order 4411") == "left_over"
    assert outcome(EN, "refund charge $12 for order 4411") == ["refund_card(order_id=4411, amount=12.00)"]
    assert outcome(EN, "refund charge 12.00 for order 4411") == ["refund_card(order_id=4411, amount=12.00)"]


def test_a_docstring_verb_counts_only_for_the_tools_own_object():
    tools = [
        read_tool("archive_order", "Delete a draft.", ORDER),
        read_tool("get_order", "Look up an order.", ORDER),
        read_tool("close_order", "Mark an order as paid.", ORDER),
    ]
    selector = compile_selector(tools, language="en")
    assert outcome(selector, "delete order 4411") == "unknown_word"
    assert outcome(selector, "look up order 4411") == ["get_order(order_id=4411)"]
    assert outcome(selector, "mark order 4411") == "unknown_word"


def test_an_id_whose_type_is_an_integer_goes_out_as_a_number():
    whole = Parameter(name="order_id", kind="id", base="integer")
    selector = compile_selector([read_tool("get_order", "", whole)], language="en")
    assert read(selector, "get order 4411").calls[0].values == {"order_id": 4411}
    for turn in ("get order 0044", "get order A44"):
        assert not isinstance(selector.read(turn), Reading)


def test_a_parameter_named_id_is_the_id_of_the_tools_object():
    selector = compile_selector([read_tool("get_order", "", Parameter(name="id", kind="id"))], language="en")
    assert outcome(selector, "get order 4411") == ["get_order(id=4411)"]


@pytest.mark.parametrize("count", [1, 3, 4, 5, 9])
def test_a_few_fillers_are_politeness_and_many_are_not(count):
    turn = "please " * count + "cancel order 4411"
    assert (outcome(EN, turn) == ["cancel_order(order_id=4411)"]) is (count <= 4)


def test_length_and_tokens_are_limited():
    assert outcome(EN, "cancel order 4411" + " " * 1983) == ["cancel_order(order_id=4411)"]
    assert outcome(EN, "cancel order 4411" + " " * 1984) == "too_long"
    assert outcome(EN, "charge " * 201) == "too_long"
    assert outcome(EN, "x" * 10_000_000) == "too_long"
