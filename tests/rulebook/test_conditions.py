"""Conditions of rules: exact numbers, whole texts, facts, and what is unknown applies."""

from decimal import Decimal

import pytest
from amends.rulebook.rules import AllOf, AnyOf, FactHolds, FlagIs, Never, Not, NumberIs, Requires, TextIs


def order(amount="40.00", order_id="4411"):
    return {"order_id": order_id, "amount": amount}


AMOUNTS = [
    ("over", "200.00", False), ("over", "200.01", True), ("over", "199.99", False), ("over", 201, True),
    ("under", "200", False), ("under", "199.99", True), ("at_least", "200.00", True), ("at_least", "199.99", False),
    ("at_most", "200.0", True), ("at_most", "200.01", False), ("in", "200.00", True), ("in", 200, True),
    ("in", "200.01", False), ("not_in", "200", False), ("not_in", "1", True),
    ("over", "1e3", True), ("over", "-1e9", False),
]  # fmt: skip


@pytest.mark.parametrize(("op", "given", "applies"), AMOUNTS)
def test_a_number_is_compared_exactly(shop, op, given, applies):
    rule = Never(id="r", actions=("charge_card",), when=NumberIs(argument="amount", op=op, values=(Decimal(200),)))
    decision = shop.check(shop.call("charge_card", **order(given)), rules=(rule,))
    assert (decision.verdict == "refuse") is applies


@pytest.mark.parametrize(
    "given",
    [
        None,
        "NaN",
        "Infinity",
        "sNaN",
        "abc",
        "",
        " 1",
        "1_0",
        "\u0661",
        "4" * 200,
        "1e999999",
        [],
        {},
        True,
        "0x1",
        "1,00",
    ],
    ids=repr,
)
@pytest.mark.parametrize("op", ["over", "under", "at_least", "at_most", "in", "not_in"])
def test_what_is_no_number_never_slips_under_a_rule(shop, given, op):
    condition = NumberIs(argument="amount", op=op, values=(Decimal(200),))
    for when in (condition, Not(part=condition), Not(part=Not(part=condition))):
        rule = Never(id="r", actions=("charge_card",), when=when)
        assert shop.check(shop.call("charge_card", **order(given)), rules=(rule,)).verdict == "refuse"


def test_a_float_is_refused_because_it_has_no_exact_form(shop):
    decision = shop.check(shop.call("charge_card", **order(40.1)), rules=())
    assert decision.verdict == "refuse"
    assert [hit.rule for hit in decision.hits] == ["writes", "arguments"]


@pytest.mark.parametrize(
    ("op", "given", "applies"),
    [
        ("in", "BR", True), ("in", "br", False), ("in", "São Tomé", True), ("in", "Sa\u0303o Tome\u0301", True),
        ("in", None, True), ("in", 7, True), ("in", ["BR"], True),
        ("not_in", "BR", False), ("not_in", "br", True), ("not_in", None, True), ("not_in", True, True),
    ],
)  # fmt: skip
def test_a_text_is_compared_whole(shop, op, given, applies):
    rule = Never(id="r", actions=("ship_order",), when=TextIs(argument="country", op=op, values=("BR", "São Tomé")))
    decision = shop.check(shop.call("ship_order", order_id="1", country=given), rules=(rule,))
    assert (decision.verdict == "refuse") is applies


@pytest.mark.parametrize(
    ("given", "wanted", "applies"),
    [(True, True, True), (True, False, False), (False, False, True), ("true", True, True), (1, True, True),
     (None, False, True)],
)  # fmt: skip
def test_a_flag_is_a_boolean(shop, given, wanted, applies):
    rule = Never(id="r", actions=("ship_order",), when=FlagIs(argument="express", value=wanted))
    decision = shop.check(shop.call("ship_order", order_id="1", express=given), rules=(rule,))
    assert (decision.verdict == "refuse") is applies


@pytest.mark.parametrize("value", ["true", 1, "yes", None, [True], False, Decimal(1)], ids=repr)
def test_only_true_itself_is_a_fact(shop, value):
    rule = Requires(id="r", actions=("get_order",), facts=("vip",))
    assert shop.check(shop.call("get_order", order_id="1"), rules=(rule,), facts={"vip": value}).verdict == "refuse"
    assert shop.check(shop.call("get_order", order_id="1"), rules=(rule,), facts={"vip": True}).verdict == "allow"


UNKNOWN = NumberIs(argument="amount", op="over", values=(Decimal(1),))
YES, NO = FactHolds(fact="yes"), FactHolds(fact="no")


@pytest.mark.parametrize(
    ("condition", "applies"),
    [
        (AllOf(parts=(YES, UNKNOWN)), True),
        (AllOf(parts=(NO, UNKNOWN)), False),
        (AnyOf(parts=(YES, UNKNOWN)), True),
        (AnyOf(parts=(NO, UNKNOWN)), True),
        (AnyOf(parts=(NO, NO)), False),
        (AllOf(parts=(YES, YES)), True),
        (Not(part=UNKNOWN), True),
        (Not(part=YES), False),
        (Not(part=AnyOf(parts=(YES, UNKNOWN))), False),
        (Not(part=AllOf(parts=(NO, UNKNOWN))), True),
    ],
)
def test_conditions_have_three_values(shop, condition, applies):
    rule = Never(id="r", actions=("charge_card",), when=condition)
    decision = shop.check(shop.call("charge_card", order_id="1"), rules=(rule,), facts={"yes": True})
    assert (decision.verdict == "refuse") is applies
