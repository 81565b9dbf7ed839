"""The shop's rules: what they refuse, and that verify has nothing to say of them."""

from pathlib import Path

import pytest
from amends.examples.shop import tools as shop_tools
from amends.rulebook.effects import After, AtMost, Never
from amends.rulebook.verify import verify
from amends.tools.loader import LoadedFile, load_agent, load_file
from amends.tools.preview import preview
from amends.tools.verifiable import verifiable

SHOP = Path(shop_tools.__file__).with_name("agent.yaml")
ORDER = "charge order 4411 {}, then send the receipt for order 4411, then provision the account for order 4411"


@pytest.fixture(scope="module")
def shop() -> LoadedFile:
    return load_file(SHOP)


def verdicts(turn: str, **facts: object) -> list[str]:
    return [call.verdict for call in preview(load_agent(SHOP, context=facts), turn).calls]


def test_it_has_a_fact_an_order_a_cap_and_a_limit(shop):
    rules = shop.rulebook.rules
    assert [(type(rule), rule.id) for rule in rules if rule.actions == ("charge_card",)] == [
        (Never, "card on file"),
        (AtMost, "charges in one thread"),
        (AtMost, "charges in one thread"),
    ]
    assert [rule.actions for rule in rules if isinstance(rule, After)] == [
        ("send_receipt",),
        ("refund_card",),
        ("restore_crm",),
    ]


def test_verify_finds_nothing_in_the_shop(shop):
    found = verify(verifiable(shop))
    assert found.passed
    assert (found.findings, found.lints) == ((), ())


def test_without_its_rules_verify_would_find_undos_that_are_called_alone(shop):
    bare = verifiable(shop).model_copy(update={"rulebook": shop.rulebook.model_copy(update={"rules": ()})})
    assert [(one.code, one.tool) for one in verify(bare).findings] == [
        ("QG110", "refund_card"),
        ("QG110", "restore_crm"),
    ]


@pytest.mark.parametrize("facts", [{}, {"card_on_file": True}])
def test_both_documented_orders_pass_with_and_without_the_fact(facts):
    assert verdicts(ORDER.format("40.00"), **facts) == ["confirm", "confirm", "confirm"]


@pytest.mark.parametrize(
    ("amount", "facts", "verdict"),
    [
        ("50.00", {}, "confirm"),
        ("50.01", {}, "refuse"),
        ("50.01", {"card_on_file": True}, "confirm"),
        ("50.01", {"card_on_file": "true"}, "refuse"),
        ("5000.00", {"card_on_file": True}, "confirm"),
        ("5000.01", {"card_on_file": True}, "refuse"),
    ],
)
def test_what_an_amount_needs(amount, facts, verdict):
    assert verdicts(f"charge order 4411 {amount}", **facts) == [verdict]


def test_a_receipt_waits_for_its_charge():
    assert verdicts("send the receipt for order 4411") == ["refuse"]
