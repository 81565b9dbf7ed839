"""The record's fold: what becomes known of a step, what travels, and what stays small."""

import random
from decimal import Decimal

import pytest
from amends.contract.record import CallEvent
from amends.rulebook.record import Record, RecordState
from amends.rulebook.rules import After, AtMost, Rulebook
from amends.rulebook.steps import StepRanges

RULEBOOK = Rulebook(
    rules=(
        AtMost(id="total", actions=("charge_card",), total="amount", limit=Decimal(500), per="day"),
        After(id="same", actions=("send_receipt",), tools=("charge_card",), same=("order_id",)),
    )
)
HERE = {"run": "r1", "day": "2026-03-05"}


def told(record: Record):
    return (
        record.has_run("charge_card"),
        record.was_sent("charge_card"),
        record.calls("charge_card", "session", **HERE),
        record.calls("charge_card", "run", **HERE),
        record.calls("charge_card", "day", **HERE),
        record.total("charge_card", "amount", "day", **HERE),
        record.has_run_with("charge_card", ("order_id",), {"order_id": "1"}),
    )


def noted(shop, *outcomes, amount="5.5"):
    record = Record(rulebook=RULEBOOK)
    for outcome in outcomes:
        undone = outcome == "undone"
        record.note(
            shop.event(1, "charge_card", "ran" if undone else outcome, undone=undone, order_id="1", amount=amount)
        )
    return told(record)


LIVE = (True, True, 1, 1, 1, Decimal("5.5"), True)
COUNTED = (False, True, 1, 1, 1, Decimal("5.5"), False)
SENT_ONLY = (False, True, 0, 0, 0, Decimal(0), False)
NOTHING = (False, False, 0, 0, 0, Decimal(0), False)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        (("in_flight",), COUNTED),
        (("in_flight", "ran"), LIVE),
        (("in_flight", "ran", "ran"), LIVE),
        (("in_flight", "failed"), SENT_ONLY),
        (("in_flight", "unknown"), COUNTED),
        (("in_flight", "unknown", "ran"), LIVE),
        (("in_flight", "unknown", "failed"), SENT_ONLY),
        (("in_flight", "ran", "undone"), COUNTED),
        (("in_flight", "ran", "undone", "undone"), COUNTED),
        (("in_flight", "failed", "ran"), LIVE),
        (("declined",), NOTHING),
        (("refused",), NOTHING),
    ],
)
def test_what_becomes_known_of_a_step_replaces_what_was_known(shop, outcomes, expected):
    assert noted(shop, *outcomes) == expected


def test_a_call_without_a_number_makes_the_total_unknown_until_it_fails(shop):
    assert noted(shop, "in_flight", amount="abc")[5] is None
    assert noted(shop, "in_flight", "failed", amount="abc")[5] == Decimal(0)


def test_an_undo_call_counts_for_not_after_alone(shop):
    record = shop.record(shop.event(1, "refund_card", undoes=1, order_id="1", amount="5"))
    assert record.was_sent("refund_card")
    assert not record.has_run("refund_card")
    assert record.calls("refund_card", "session", **HERE) == 0


def test_a_record_that_travelled_is_the_same_record(shop):
    chance = random.Random(7)
    events = [
        shop.event(
            chance.randint(1, 40), chance.choice(["charge_card", "get_order"]),
            chance.choice(["ran", "in_flight", "unknown", "failed", "declined"]),
            undone=chance.random() < 0.3, run=f"r{chance.randint(1, 3)}", day=f"2026-03-0{chance.randint(4, 5)}",
            order_id=str(chance.randint(1, 3)), amount=str(chance.randint(1, 99)),
        )
        for _ in range(400)
    ]  # fmt: skip
    # A step keeps its tool, its arguments, its run and its day, whatever becomes known of it.
    first: dict[int, CallEvent] = {}
    events = [first.setdefault(e.step, e).model_copy(update={"outcome": e.outcome, "undone": e.undone}) for e in events]
    whole = Record.of(events, rulebook=RULEBOOK)
    hops = Record(rulebook=RULEBOOK)
    for event in events:
        hops.note(event)
        hops = Record(RecordState.model_validate_json(hops.state().model_dump_json()), rulebook=RULEBOOK)
    assert hops.state() == whole.state()
    latest = {event.step: event for event in events}
    counted = [e for e in latest.values() if e.outcome in ("ran", "in_flight", "unknown") and e.tool == "charge_card"]
    assert whole.calls("charge_card", "session", **HERE) == len(counted)
    assert whole.total("charge_card", "amount", "day", **HERE) == sum(
        Decimal(e.arguments["amount"]) for e in counted if e.day == HERE["day"]
    )
    assert whole.has_run("charge_card") == any(e.outcome == "ran" and not e.undone for e in counted)


def test_a_long_session_stays_small(shop):
    record = Record(rulebook=RULEBOOK)
    for step in range(1, 10_001):
        record.note(shop.event(step, "charge_card", run=f"r{step // 5}", day="2026-03-05", order_id="1", amount="0.01"))
    assert len(record.state().model_dump_json()) < 2_000
    assert record.total("charge_card", "amount", "session", **HERE) == Decimal(100)


def test_values_past_the_bound_have_not_run(shop):
    record = Record(rulebook=RULEBOOK)
    for step in range(1, 1_003):
        record.note(shop.event(step, "charge_card", order_id=str(step), amount="1"))
    assert not record.has_run_with("charge_card", ("order_id",), {"order_id": "2"})
    assert record.has_run_with("charge_card", ("order_id",), {"order_id": "3"})
    assert record.has_run_with("charge_card", ("order_id",), {"order_id": 1002})


def test_old_days_are_unknown_and_old_runs_are_dropped(shop):
    record = Record(rulebook=RULEBOOK)
    for day in range(1, 6):
        record.note(shop.event(day, "charge_card", run=f"r{day}", day=f"2026-03-0{day}", order_id="1", amount="1"))
    assert record.calls("charge_card", "day", run="r1", day="2026-03-02") is None
    assert record.total("charge_card", "amount", "day", run="r1", day="2026-03-02") is None
    assert record.calls("charge_card", "day", run="r1", day="2026-03-03") == 1
    assert record.calls("charge_card", "day", run="r1", day="2026-03-06") == 0
    late = shop.event(9, "charge_card", day="2026-03-01", order_id="1", amount="1")
    record.note(late)
    assert record.calls("charge_card", "session", **HERE) == 6
    assert record.calls("charge_card", "day", run="r1", day="2026-03-01") is None


def test_a_question_the_record_never_kept_refuses_until_it_is_folded_anew(shop):
    events = [shop.event(1, "charge_card", order_id="1", amount="5")]
    before = Record.of(events)
    record = Record(before.state(), rulebook=RULEBOOK)
    assert record.lacks == ("charge_card total amount", "charge_card same order_id")
    assert record.total("charge_card", "amount", "day", **HERE) is None
    assert record.has_run_with("charge_card", ("order_id",), {"order_id": "1"}) is None
    anew = Record.of(events, rulebook=RULEBOOK)
    assert anew.lacks == ()
    assert anew.total("charge_card", "amount", "day", **HERE) == 5


def test_a_new_question_about_a_tool_never_called_is_kept_from_now_on(shop):
    before = shop.record(shop.event(1, "get_order", order_id="1"), rulebook=Rulebook())
    record = Record(before.state(), rulebook=RULEBOOK)
    assert record.lacks == ()
    assert record.total("charge_card", "amount", "day", **HERE) == 0


@pytest.mark.parametrize("given", [None, {"order_id": None}, {"order_id": [1.5]}], ids=repr)
def test_values_that_cannot_be_compared_are_not_the_same(shop, given):
    record = shop.record(shop.event(1, "charge_card", **(given or {}), amount="1"), rulebook=RULEBOOK)
    assert record.has_run_with("charge_card", ("order_id",), given or {}) is False


def test_ranges_hold_what_a_set_holds():
    chance = random.Random(3)
    ranges, numbers = StepRanges(), set()
    for _ in range(2_000):
        step = chance.randint(0, 60)
        if chance.random() < 0.5:
            ranges.add(step)
            numbers.add(step)
        else:
            ranges.discard(step)
            numbers.discard(step)
        assert {n for n in range(62) if n in ranges} == numbers
    again = StepRanges(str(ranges))
    assert str(again) == str(ranges)
    assert str(StepRanges("1-4,6,8-9")) == "1-4,6,8-9"
