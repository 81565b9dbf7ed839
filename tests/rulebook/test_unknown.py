"""What the check cannot know refuses, and says what is missing instead of the rule's own words."""

from decimal import Decimal

import pytest
from amends.rulebook.check import check
from amends.rulebook.ledger import hoped_room
from amends.rulebook.record import Record
from amends.rulebook.rules import After, AtMost, Rulebook

SAY = "These are the rule's own words."
NOT_KEPT = (
    "of the calls of charge_card so far: this rule is newer, and not all of their runs can be read any more. "
    "Take the rule back, or terminate the session's workflow: the next turn begins a new session"
)
TOTAL = AtMost(id="r", actions=("charge_card",), total="amount", limit=Decimal(60), per="day", say=SAY)
CALLS = AtMost(id="r", actions=("charge_card",), calls=5, per="day", say=SAY)
SHARED = AtMost(id="r", actions=("charge_card",), calls=5, per="all_day", say=SAY)
SAME = After(id="r", actions=("send_receipt",), tools=("charge_card",), same=("order_id",), say=SAY)


def said(shop, rule, call, record, reserved=None):
    decision = check(Rulebook(rules=(rule,)), call, tools=shop.tools, facts={}, record=record, reserved=reserved or {})
    assert decision.verdict == "refuse"
    return decision.hits[0].why


def charge(shop, step, *, amount="1.00", **place):
    return shop.event(step, "charge_card", order_id="1", amount=amount, **place)


def test_a_rule_that_is_newer_than_the_calls_it_adds_up(shop):
    older = Record.of([charge(shop, 1)], rulebook=Rulebook())
    newer = Record(older.state(), rulebook=Rulebook(rules=(TOTAL,)))
    call = shop.call("charge_card", order_id="1", amount="1.00")
    assert said(shop, TOTAL, call, newer) == f"nobody kept the amount {NOT_KEPT}"


def test_a_rule_that_is_newer_than_the_calls_it_compares(shop):
    older = Record.of([charge(shop, 1)], rulebook=Rulebook())
    newer = Record(older.state(), rulebook=Rulebook(rules=(SAME,)))
    assert said(shop, SAME, shop.call("send_receipt", order_id="1"), newer) == f"nobody kept the order_id {NOT_KEPT}"


@pytest.mark.parametrize(
    ("rule", "day", "amount", "why"),
    [
        (TOTAL, "2026-03-05", "x", "amount of charge_card has no amount that can be added up"),
        (
            TOTAL, "2026-03-01", "1.00",
            "the total amount of charge_card per day is unknown: an earlier call had no amount, or the day is past",
        ),
        (CALLS, "2026-03-01", "1.00", "the record no longer counts the calls of 2026-03-01"),
        (
            SHARED, "2026-03-05", "1.00",
            "nobody could say whether the cap of charge_card per day over all users has room left",
        ),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(shop, rule, day, amount, why):
    days = [charge(shop, step, day=f"2026-03-0{step}") for step in (2, 3, 4)]
    record = shop.record(*days, rulebook=Rulebook(rules=(rule,)))
    call = shop.call("charge_card", day=day, order_id="1", amount=amount)
    assert said(shop, rule, call, record) == why


def test_an_earlier_call_without_an_amount_makes_the_total_unknown(shop):
    record = shop.record(charge(shop, 1, amount="x"), rulebook=Rulebook(rules=(TOTAL,)))
    call = shop.call("charge_card", order_id="1", amount="1.00")
    assert "an earlier call had no amount" in said(shop, TOTAL, call, record)


def test_a_rule_that_knows_speaks_its_own_words(shop):
    call = shop.call("charge_card", order_id="1", amount="61")
    assert said(shop, TOTAL, call, Record(rulebook=Rulebook(rules=(TOTAL,)))) == SAY
    assert said(shop, SHARED, call, Record(), {"r": False}) == SAY
    assert said(shop, SAME, shop.call("send_receipt", order_id="1"), Record(rulebook=Rulebook(rules=(SAME,)))) == SAY


def test_where_nobody_is_asked_a_ledger_is_taken_to_have_room(shop):
    book = Rulebook(rules=(TOTAL, SHARED))
    call = shop.call("charge_card", order_id="1", amount="1.00")
    assert hoped_room(book, call) == {"r": True}
    assert hoped_room(book, shop.call("get_order")) == {}
