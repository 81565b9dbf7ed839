"""The check: the shop's cases, and what fails closed."""

import subprocess
import sys
from decimal import Decimal

import pytest
from amends.contract.canonical import sha256
from amends.rulebook.check import UnknownSemantics, check
from amends.rulebook.record import Record
from amends.rulebook.rules import (
    After,
    AtMost,
    Confirm,
    ConfirmAfter,
    Never,
    NotAfter,
    NumberIs,
    Requires,
    Rulebook,
    Unconfirmed,
)
from amends.rulebook.verdict import call_digest

CARD = {"card_on_file": True}
IDENTITY = (1, "verify_identity", "ran", {"customer_id": "100"})


def charge(step, amount, outcome="ran", order="4411", **more):
    return (step, "charge_card", outcome, {"order_id": order, "amount": amount, **more})


def order(amount="40.00", order_id="4411"):
    return {"order_id": order_id, "amount": amount}


SHOP_CASES = [
    ("a read is allowed", "get_order", {"order_id": "4411"}, {}, [], "allow", []),
    ("a write is confirmed", "charge_card", order(), CARD, [IDENTITY], "confirm", ["writes"]),
    ("a fact is missing", "charge_card", order(), {}, [IDENTITY], "refuse", ["card-on-file"]),
    (
        "a fact is the text true", "charge_card", order(), {"card_on_file": "true"}, [IDENTITY],
        "refuse", ["card-on-file"],
    ),
    ("exactly 200", "charge_card", order("200.00"), CARD, [IDENTITY], "confirm", ["mid-charge"]),
    ("200.01", "charge_card", order("200.01"), CARD, [IDENTITY], "refuse", ["large-charge"]),
    (
        "250 with a supervisor", "charge_card", order("250.00"), {**CARD, "supervisor_approved": True}, [IDENTITY],
        "confirm", ["mid-charge"],
    ),
    ("the amount is no number", "charge_card", order("NaN"), CARD, [IDENTITY], "refuse", ["large-charge"]),
    ("the amount is missing", "charge_card", {"order_id": "4411"}, CARD, [IDENTITY], "refuse", ["large-charge"]),
    ("identity not verified", "charge_card", order(), CARD, [], "refuse", ["identity-first"]),
    (
        "the identity check failed", "charge_card", order(), CARD, [(1, "verify_identity", "failed", {})],
        "refuse", ["identity-first"],
    ),
    (
        "a receipt for another order", "send_receipt", {"order_id": "4412"}, CARD, [IDENTITY, charge(2, "40.00")],
        "refuse", ["receipt-after-charge"],
    ),
    (
        "a receipt after its charge", "send_receipt", {"order_id": "4411"}, CARD, [IDENTITY, charge(2, "40.00")],
        "confirm", ["writes"],
    ),
    (
        "a receipt after the charge was undone", "send_receipt", {"order_id": "4411"}, CARD,
        [IDENTITY, charge(2, "40.00", undone=True)], "refuse", ["receipt-after-charge"],
    ),
    (
        "a fourth charge, one undone and one unknown", "charge_card", order("1.00"), CARD,
        [IDENTITY, charge(2, "1.00"), charge(3, "1.00", undone=True), charge(4, "1.00", "unknown")],
        "refuse", ["three-charges"],
    ),
    (
        "a third charge, one declined", "charge_card", order("1.00"), CARD,
        [IDENTITY, charge(2, "1.00"), charge(3, "1.00"), charge(4, "1.00", "declined")], "confirm", ["writes"],
    ),
    (
        "the day's total is exactly 500", "charge_card", order("39.90"), CARD, [IDENTITY, charge(2, "460.10")],
        "confirm", ["writes"],
    ),
    (
        "the day's total is 500.01", "charge_card", order("39.91"), CARD, [IDENTITY, charge(2, "460.10")],
        "refuse", ["day-total"],
    ),
    (
        "a new day", "charge_card", order("39.91"), CARD, [IDENTITY, charge(2, "460.10", day="2026-03-04")],
        "confirm", ["writes"],
    ),
    ("never", "delete_customer", {"customer_id": "1"}, CARD, [IDENTITY], "refuse", ["no-delete"]),
    (
        "not after", "send_receipt", {"order_id": "4411"}, CARD,
        [IDENTITY, charge(2, "40.00"), (3, "read_inbox", "ran", {})], "refuse", ["no-mail-after-inbox"],
    ),
    ("a tool the agent lacks", "wire_money", {"amount": "1.00"}, CARD, [IDENTITY], "refuse", ["listed"]),
    ("an unknown argument", "get_order", {"order_id": "1", "sql": "x"}, {}, [], "refuse", ["arguments"]),
]  # fmt: skip


def events_of(shop, lines):
    made = []
    for step, tool, outcome, said in lines:
        arguments = dict(said)
        place = {key: arguments.pop(key) for key in ("undone", "day", "run") if key in arguments}
        made.append(shop.event(step, tool, outcome, **place, **arguments))
    return made


@pytest.mark.parametrize("case", SHOP_CASES, ids=[case[0] for case in SHOP_CASES])
def test_shop(shop, case):
    _, tool, arguments, facts, before, verdict, rules = case
    decision = shop.check(shop.call(tool, **arguments), *events_of(shop, before), facts=facts)
    assert decision.verdict == verdict
    assert set(rules) <= {hit.rule for hit in decision.hits}


OUTCOMES = [
    ("ran", False, True, True, True),
    ("unknown", False, False, True, True),
    ("in_flight", False, False, True, True),
    ("failed", False, False, True, False),
    ("ran", True, False, True, True),
    ("declined", False, False, False, False),
    ("refused", False, False, False, False),
]


@pytest.mark.parametrize("case", OUTCOMES, ids=str)
def test_what_each_outcome_counts_for(shop, case):
    outcome, undone, satisfies, breaks, counts = case
    event = shop.event(1, "charge_card", outcome, undone=undone, order_id="1", amount="5")
    call = shop.call("charge_card", order_id="2", amount="5")
    after = After(id="r", actions=("charge_card",), tools=("charge_card",))
    same = After(id="r", actions=("charge_card",), tools=("charge_card",), same=("amount",))
    not_after = NotAfter(id="r", actions=("charge_card",), tools=("charge_card",))
    cap = AtMost(id="r", actions=("charge_card",), calls=1)
    total = AtMost(id="r", actions=("charge_card",), total="amount", limit=Decimal(9))

    def refused(rule):
        return shop.check(call, event, rules=(rule,)).verdict == "refuse"

    assert refused(after) is not satisfies
    assert refused(same) is not satisfies
    assert refused(not_after) is breaks
    assert refused(cap) is counts
    assert refused(total) is counts


def test_every_rule_is_evaluated_and_hits_keep_file_order(shop):
    decision = shop.check(shop.call("charge_card", **order("300.00")), facts={})
    assert [hit.rule for hit in decision.hits] == [
        "card-on-file", "large-charge", "mid-charge", "identity-first", "writes",
    ]  # fmt: skip
    assert decision.verdict == "refuse"
    assert decision.hits[0].why == "There is no card on file for this customer."


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (Requires(id="r", actions=("*",), facts=("a", "b")), "charge_card requires a, b"),
        (Never(id="r", actions=("*",)), "charge_card is never allowed"),
        (Confirm(id="r", actions=("*",)), "a person confirms charge_card"),
        (After(id="r", actions=("*",), tools=("get_order",)), "charge_card comes after get_order"),
        (
            After(id="r", actions=("*",), tools=("get_order",), same=("order_id",)),
            "charge_card comes after get_order with the same order_id",
        ),
        (NotAfter(id="r", actions=("*",), tools=("read_inbox",)), "charge_card does not come after read_inbox"),
        (ConfirmAfter(id="r", actions=("*",), tools=("read_inbox",)), "a person confirms charge_card after read_inbox"),
        (AtMost(id="r", actions=("*",), calls=1, per="run"), "at most 1 of charge_card per run, 1 so far"),
        (
            AtMost(id="r", actions=("charge_card",), total="amount", limit=Decimal(60)),
            "amount of charge_card would reach 80.5, and 60 is the most per session",
        ),
        (
            AtMost(id="r", actions=("charge_card",), total="order_id", limit=Decimal(60)),
            "order_id of charge_card has no amount that can be added up",
        ),
    ],
)
def test_a_rule_says_why(shop, rule, why):
    before = (shop.event(1, "charge_card", **order("40.00")), shop.event(2, "read_inbox"))
    decision = shop.check(shop.call("charge_card", **order("40.50", "x1")), *before, rules=(rule,))
    assert decision.hits[0].why == why
    assert decision.hits[0].origin == rule.origin


def test_a_negative_amount_makes_no_room(shop):
    total = AtMost(id="r", actions=("charge_card",), total="amount", limit=Decimal(10))
    earlier = shop.event(1, "charge_card", **order("-100"))
    assert shop.check(shop.call("charge_card", **order("-1")), rules=(total,)).verdict == "refuse"
    assert shop.check(shop.call("charge_card", **order("11")), earlier, rules=(total,)).verdict == "refuse"


def test_a_total_never_rounds(shop):
    total = AtMost(id="r", actions=("charge_card",), total="amount", limit=Decimal(10) ** 40)
    earlier = shop.event(1, "charge_card", **order("1" + "0" * 40))
    assert shop.check(shop.call("charge_card", **order("0.01")), earlier, rules=(total,)).verdict == "refuse"
    assert shop.check(shop.call("charge_card", **order("0.00")), earlier, rules=(total,)).verdict == "confirm"


@pytest.mark.parametrize(("per", "same_day", "other_day", "other_run"), [
    ("run", True, True, False), ("session", True, True, True), ("day", True, False, True),
])  # fmt: skip
def test_a_cap_counts_over_its_period(shop, per, same_day, other_day, other_run):
    cap = AtMost(id="r", actions=("charge_card",), calls=1, per=per)

    def refused(**place):
        before = shop.event(1, "charge_card", **place, **order())
        return shop.check(shop.call("charge_card", **order()), before, rules=(cap,)).verdict == "refuse"

    assert (refused(), refused(day="2026-03-04"), refused(run="r0")) == (same_day, other_day, other_run)


@pytest.mark.parametrize("per", ["user_day", "all_day"])
def test_a_cap_across_sessions_needs_its_ledger(shop, per):
    cap = AtMost(id="r", actions=("charge_card",), calls=1, per=per)
    call = shop.call("charge_card", **order())
    assert shop.check(call, rules=(cap,)).verdict == "refuse"
    assert shop.check(call, rules=(cap,), reserved={"r": False}).verdict == "refuse"
    assert shop.check(call, rules=(cap,), reserved={"r": True}).verdict == "confirm"


def test_an_approval_counts_for_exactly_the_call_it_was_given_for(shop):
    asked = shop.check(shop.call("charge_card", **order()), rules=())
    assert asked.verdict == "confirm"

    def again(step=99, approved=asked.digest, rules=(), tool="charge_card", **arguments):
        return shop.check(shop.call(tool, step=step, approved=approved, **arguments), rules=rules).verdict

    assert again(**order()) == "allow"
    assert again(**order("40")) == "confirm"
    assert again(**order("40.01")) == "confirm"
    assert again(step=100, **order()) == "confirm"
    assert again(approved="", **order()) == "confirm"
    assert again(tool="refund_card", **order()) == "confirm"
    assert again(rules=(Confirm(id="c", actions=("charge_card",)),), **order()) == "confirm"
    assert again(rules=(Never(id="n", actions=("charge_card",)),), **order()) == "refuse"


def test_a_stated_class_of_write_needs_no_confirmation(shop):
    small = Unconfirmed(
        id="small", actions=("charge_card",), when=NumberIs(argument="amount", op="under", values=(Decimal(20),))
    )
    always = Confirm(id="always", actions=("charge_card",))
    assert shop.check(shop.call("charge_card", **order("19.99")), rules=(small,)).verdict == "allow"
    assert shop.check(shop.call("charge_card", **order("20.00")), rules=(small,)).verdict == "confirm"
    assert shop.check(shop.call("charge_card", **order("abc")), rules=(small,)).verdict == "confirm"
    assert shop.check(shop.call("ship_order", order_id="1"), rules=(small,)).verdict == "confirm"
    assert shop.check(shop.call("charge_card", **order("19.99")), rules=(small, always)).verdict == "confirm"


def test_a_rulebook_may_leave_writes_unconfirmed(shop):
    rulebook = Rulebook(confirm_writes=False)
    call = shop.call("charge_card", **order())
    assert check(rulebook, call, tools=shop.tools, facts={}, record=Record()).verdict == "allow"


def test_a_rule_on_every_tool_concerns_tools_without_a_rule_of_their_own(shop):
    rules = (Never(id="all", actions=("*",)), Confirm(id="one", actions=("get_order",)))
    assert [h.rule for h in shop.check(shop.call("get_order", order_id="1"), rules=rules).hits] == ["all", "one"]
    assert [h.rule for h in shop.check(shop.call("read_inbox"), rules=rules).hits] == ["all"]


def test_an_undo_is_not_allowed_as_an_ordinary_call(shop):
    decision = shop.check(shop.call("refund_card", undoes=1, **order()), rules=())
    assert decision.verdict == "refuse"


def test_a_meaning_this_release_lacks_is_not_guessed(shop):
    with pytest.raises(UnknownSemantics, match="check semantics 2, not 1"):
        check(Rulebook(semantics=2), shop.call("get_order"), tools=shop.tools, facts={}, record=Record())


def test_the_same_inputs_give_the_same_bytes(shop):
    call = shop.call("charge_card", **order("300.00"))
    travelled = Rulebook.model_validate_json(shop.rulebook.model_dump_json())
    assert travelled == shop.rulebook
    assert travelled.hash == shop.rulebook.hash
    first = shop.check(call, facts={})
    again = check(travelled, call, tools=shop.tools, facts={}, record=Record(rulebook=travelled))
    assert again.model_dump_json() == first.model_dump_json()


def test_the_hash_is_of_the_meaning_not_of_the_place(shop):
    rule = shop.rulebook.rules[0]
    moved = rule.model_copy(update={"origin": rule.origin.model_copy(update={"line": 7})})
    reworded = rule.model_copy(update={"say": "No card."})
    assert Rulebook(rules=(moved,)).hash == Rulebook(rules=(rule,)).hash
    assert Rulebook(rules=(reworded,)).hash != Rulebook(rules=(rule,)).hash
    assert Rulebook(rules=(rule,), confirm_writes=False).hash != Rulebook(rules=(rule,)).hash


def test_a_changed_copy_has_its_own_hash_and_rules(shop):
    changed = shop.rulebook.model_copy(update={"rules": ()})
    assert shop.rulebook.hash != changed.hash == Rulebook().hash
    assert shop.rulebook.ready("charge_card").rulings
    assert shop.rulebook.model_copy(update={"rules": ()}).ready("charge_card").rulings == ()


@pytest.mark.parametrize(
    "cap",
    [{}, {"total": "amount"}, {"limit": 5}, {"calls": -1}, {"total": "amount", "limit": 5, "actions": ("*",)}],
    ids=repr,
)
def test_a_cap_that_says_nothing_exact_is_no_rule(cap):
    with pytest.raises(ValueError, match=r"cap|total|greater than"):
        AtMost(**{"id": "r", "actions": ("charge_card",), **cap})


def test_the_digest_is_the_canonical_one(shop):
    call = shop.call("charge_card", undoes=3, **order())
    said = {"tool": call.tool, "arguments": call.arguments, "step": 99, "undoes": 3, "rulebook": shop.rulebook.hash}
    assert call_digest(shop.rulebook, call) == sha256(said)
    odd = shop.call('a"b', x="é")
    said = {"tool": 'a"b', "arguments": {"x": "é"}, "step": 99, "undoes": None, "rulebook": shop.rulebook.hash}
    assert call_digest(shop.rulebook, odd) == sha256(said)


def test_the_check_brings_in_no_reader_of_files():
    program = "import sys, amends.rulebook.check, amends.rulebook.undo; print({'lark', 'yaml'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
