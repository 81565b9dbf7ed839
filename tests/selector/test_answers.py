"""Asking for the one value a turn lacks, reading the answer, and completing the turn with it."""

import datetime as dt

import pytest
from amends.contract.reading import Reading, Unread
from amends.tests.selector.desk import said, selector_for

EN, PT = selector_for("en"), selector_for("pt-BR")


@pytest.mark.parametrize(
    ("selector", "name", "answer", "value"),
    [
        (EN, "charge_card.order_id", "4411", "4411"),
        (EN, "charge_card.order_id", "order no. 4411, please", "4411"),
        (EN, "charge_card.order_id", "#4411", "4411"),
        (EN, "charge_card.amount", "$1,234.56", "1234.56"),
        (EN, "charge_card.amount", "please, 40.", "40.00"),
        (EN, "charge_card.amount", "40 dollars. Thanks!", "40.00"),
        (EN, "charge_card.amount", "the amount is 40", None),
        (EN, "schedule_delivery.date", "March 5, 2026", "2026-03-05"),
        (EN, "schedule_delivery.date", "tomorrow", "2026-03-05"),
        (EN, "set_quantity.quantity", "3", 3),
        (EN, "set_quantity.quantity", "to 3", 3),
        (EN, "ship_order.notify", "yes", True),
        (EN, "ship_order.notify", "no, thanks", False),
        (EN, "ship_order.notify", "without notifying the customer", False),
        (EN, "ship_order.speed", "overnight", "express"),
        (EN, "add_note.text", '"call first"', "call first"),
        (EN, "print_labels.order_ids", "4411, 4412 and 4413", ["4411", "4412", "4413"]),
        (EN, "send_receipt.email", "ana@example.com", "ana@example.com"),
        (EN, "transfer_money.from_account", "account 11", "11"),
        (PT, "charge_card.amount", "R$ 40", "40.00"),
        (PT, "charge_card.amount", "no valor de 40,00", "40.00"),
        (PT, "charge_card.order_id", "o pedido 4411, por favor", "4411"),
        (PT, "ship_order.notify", "sim", True),
        (PT, "ship_order.notify", "não", False),
        (PT, "schedule_delivery.date", "amanhã", "2026-03-05"),
    ],
)
def test_an_answer_is_read_with_its_values_grammar_only(selector, name, answer, value):
    tool, parameter = name.split(".")
    read = selector.read_value(tool, parameter, answer, today=dt.date(2026, 3, 4))
    assert (None if isinstance(read, Unread) else read) == value


@pytest.mark.parametrize(
    ("name", "answer", "code"),
    [
        ("charge_card.amount", "40,00", "number_form"),
        ("charge_card.amount", "not 40.00", "negation"),
        ("charge_card.amount", "40 or 50", "choice"),
        ("charge_card.amount", "forty", "number_words"),
        ("charge_card.amount", "€40", "currency"),
        ("charge_card.amount", "refund order 4411 40.00", "left_over"),
        ("charge_card.amount", "whatever", "unknown_word"),
        ("charge_card.amount", "", "empty"),
        ("charge_card.amount", "40\u200b", "odd_character"),
        ("charge_card.order_id", "order 12", "bad_value"),
        ("schedule_delivery.date", "tomorrow", "date_form"),
        ("ship_order.speed", "yes", "left_over"),
    ],
)
def test_any_other_answer_is_unread_for_its_reason(name, answer, code):
    tool, parameter = name.split(".")
    read = EN.read_value(tool, parameter, answer)
    assert isinstance(read, Unread)
    assert (read.code, read.language) == (code, "en")


def test_a_turn_that_lacks_one_value_says_which_and_how_far_it_was_read():
    unread = EN.read("charge order 4411, then update the crm for order 4411")
    assert isinstance(unread, Unread)
    assert (unread.code, unread.missing, unread.text) == (
        "missing_argument",
        ("charge_card.amount",),
        "charge order 4411",
    )
    assert unread.partial is not None
    assert said(unread.partial) == "charge_card(order_id=4411)"


def test_the_answer_completes_the_turn_and_says_that_it_was_an_answer():
    turn = "charge order 4411, then send the receipt for the same order"
    value = EN.read_value("charge_card", "amount", "$40")
    assert not isinstance(value, Unread)
    read = EN.complete(turn, "charge_card", "amount", value)
    assert isinstance(read, Reading), read
    assert [said(call) for call in read.calls] == [
        "charge_card(order_id=4411, amount=40.00)",
        "send_receipt(order_id=4411)",
    ]
    assert read.calls[0].arguments["amount"].by == "answer"
    assert read.calls[0].arguments["amount"].span is None


@pytest.mark.parametrize(
    ("turn", "parameter", "value", "code"),
    [
        ("charge order 4411, then charge order 4412", "amount", "40.00", "missing_argument"),
        ("charge the card", "amount", "40.00", "missing_argument"),
        ("charge order 4411 40.00", "amount", "41.00", "ambiguous"),
        ("charge order 4411 forty", "amount", "40.00", "number_words"),
        ("charge order 4411 zork", "amount", "40.00", "unknown_word"),
        ("do not charge order 4411", "amount", "40.00", "negation"),
        ("charge order 4411?", "amount", "40.00", "question"),
    ],
)
def test_an_answer_never_completes_a_turn_that_lacks_more_less_or_something_else(turn, parameter, value, code):
    read = EN.complete(turn, "charge_card", parameter, value)
    assert isinstance(read, Unread), read
    assert read.code == code


def test_completing_twice_the_same_write_is_a_repeated_write():
    read = EN.complete("charge order 4411 40.00, charge order 4411", "charge_card", "amount", "40.00")
    assert isinstance(read, Unread)
    assert read.code == "repeated_write"


def test_a_tool_a_parameter_or_a_value_that_does_not_exist_is_an_error():
    with pytest.raises(KeyError):
        EN.read_value("charge_card", "amnt", "40")
    with pytest.raises(KeyError):
        EN.complete("charge order 4411", "chrage_card", "amount", "40.00")
    for value in ("40", "0.00", 40, "-1.00", None):
        with pytest.raises(ValueError, match="take it from read_value"):
            EN.complete("charge order 4411", "charge_card", "amount", value)
