"""The ledger of caps across sessions: room is taken in one step, once for each call, and given back if it never ran."""

from decimal import Decimal

import pytest
from amends.contract.caps import Reservation, Want
from amends.rulebook.ledger import Ledger, LedgerState, crosses_sessions, wants_of
from amends.rulebook.rules import AtMost, Confirm, NumberIs, Rulebook

DAY = "2026-03-05"
BOOK = Rulebook(
    rules=(
        AtMost(id="user", actions=("charge_card",), total="amount", limit=Decimal(500), per="user_day"),
        AtMost(id="calls", actions=("charge_card",), calls=2, per="user_day"),
        AtMost(
            id="all",
            actions=("charge_card",),
            when=NumberIs(argument="amount", op="over", values=(Decimal(100),)),
            calls=9,
            total="amount",
            limit=Decimal(900),
            per="all_day",
        ),
        AtMost(id="session", actions=("charge_card",), calls=1),
        Confirm(id="other", actions=("charge_card",)),
    )
)


def want(amount, *, rule="user", limit="500", counted="charge_card total amount"):
    return Want(rule=rule, counted=counted, amount=Decimal(amount), limit=Decimal(limit))


def asked(ledger, ticket, amount, *, day=DAY, **more):
    return ledger.reserve(Reservation(ticket=ticket, day=day, wants=(want(amount, **more),)))["user"]


def test_a_call_wants_room_for_each_rule_that_crosses_sessions(shop):
    wants = wants_of(BOOK, shop.call("charge_card", order_id="1", amount="150.50"), facts={})
    assert [(w.rule, w.counted, w.amount, w.limit) for w in wants.of_user] == [
        ("user", "charge_card total amount", Decimal("150.50"), Decimal(500)),
        ("calls", "charge_card calls", Decimal(1), Decimal(2)),
    ]
    assert [(w.rule, w.counted) for w in wants.of_all] == [
        ("all", "charge_card calls"),
        ("all", "charge_card total amount"),
    ]


def test_a_rule_that_does_not_apply_only_counts_and_an_unknown_one_limits(shop):
    wants = wants_of(BOOK, shop.call("charge_card", amount="100"), facts={})
    assert [want.limit for want in wants.of_all] == [None, None]
    assert all(want.limit is not None for want in wants.of_user)
    unknown = wants_of(BOOK, shop.call("charge_card", amount="x"), facts={})
    assert [w.counted for w in unknown.of_all] == ["charge_card calls"]
    assert [w.rule for w in unknown.of_user] == ["calls"]
    assert wants_of(BOOK, shop.call("get_order"), facts={}) == ((), ())


def test_what_only_counts_always_fits_and_takes_room_from_what_is_limited():
    ledger = Ledger()
    for ticket in ("a", "b"):
        assert ledger.reserve(
            Reservation(ticket=ticket, day=DAY, wants=(want("400").model_copy(update={"limit": None}),))
        )
    assert not asked(ledger, "c", "0.01")


@pytest.mark.parametrize("per", ["run", "session", "day"])
def test_only_a_cap_per_user_and_day_or_per_day_over_all_crosses_sessions(per):
    assert crosses_sessions(BOOK)
    assert not crosses_sessions(Rulebook(rules=(AtMost(id="a", actions=("x",), calls=1, per=per),)))


def test_room_is_taken_up_to_the_limit_exactly():
    ledger = Ledger()
    assert asked(ledger, "a", "460.10")
    assert not asked(ledger, "b", "39.91")
    assert asked(ledger, "c", "39.90")
    assert not asked(ledger, "d", "0.01")
    assert asked(ledger, "e", "500", day="2026-03-06")


def test_asking_twice_takes_room_once():
    ledger = Ledger()
    assert asked(ledger, "a", "300")
    assert asked(ledger, "a", "300")
    assert asked(ledger, "b", "200")


def test_a_call_without_effect_gives_its_room_back_and_only_once():
    ledger = Ledger()
    assert asked(ledger, "a", "300")
    ledger.release("a")
    ledger.release("a")
    ledger.release("never")
    assert asked(ledger, "b", "500")
    assert not asked(ledger, "c", "1")


def test_a_settled_call_keeps_its_room():
    ledger = Ledger()
    assert asked(ledger, "a", "300")
    ledger.settle("a")
    ledger.release("a")
    assert not asked(ledger, "b", "201")
    assert ledger.state().open == {}


def test_all_of_it_is_taken_or_nothing():
    ledger = Ledger()
    calls = want("1", rule="calls", limit="0", counted="charge_card calls")
    assert ledger.reserve(Reservation(ticket="a", day=DAY, wants=(want("300"), calls))) == {
        "user": True,
        "calls": False,
    }
    assert asked(ledger, "b", "500")


def test_two_rules_about_one_sum_share_it():
    ledger = Ledger()
    both = (want("300"), want("300", rule="strict", limit="400"))
    assert ledger.reserve(Reservation(ticket="a", day=DAY, wants=both)) == {"user": True, "strict": True}
    assert ledger.reserve(Reservation(ticket="b", day=DAY, wants=both)) == {"user": False, "strict": False}
    assert asked(ledger, "c", "200")


@pytest.mark.parametrize("until", range(1, 4))
def test_a_ledger_that_travelled_is_the_same_ledger(until):
    ledger = Ledger()
    for ticket in ("a", "b", "c")[:until]:
        assert asked(ledger, ticket, "100")
        ledger = Ledger(LedgerState.model_validate_json(ledger.state().model_dump_json()))
    ledger.release("a")
    assert asked(ledger, "z", str(600 - 100 * until))
    assert not asked(ledger, "y", "0.01")


def test_old_days_are_forgotten_and_have_no_room():
    ledger = Ledger()
    for number in range(1, 6):
        assert asked(ledger, f"t{number}", "1", day=f"2026-03-0{number}")
    assert sorted(ledger.state().taken) == ["2026-03-03", "2026-03-04", "2026-03-05"]
    assert not asked(ledger, "late", "1", day="2026-03-02")
    ledger.release("t1")


def test_the_check_reads_the_answer(shop):
    call = shop.call("charge_card", order_id="1", amount="300")
    ledger, rules = Ledger(), BOOK.rules[:2]
    verdicts = []
    for ticket in ("a", "b"):
        wants = wants_of(Rulebook(rules=rules), call, facts={}).of_user
        answer = ledger.reserve(Reservation(ticket=ticket, day=call.day, wants=wants))
        verdicts.append(shop.check(call, rules=rules, reserved=answer).verdict)
    assert verdicts == ["confirm", "refuse"]
