"""The turns of tests/cases, each read with the desk's tools and vocabularies."""

import pytest
from amends.contract.reading import Reading, Unread
from amends.selector.tokens import fold
from amends.tests.selector.desk import PLAIN, all_turns, said, selector_for

DESK = {"en": selector_for("en"), "pt-BR": selector_for("pt-BR")}


TURNS = [pytest.param(language, turn, id=turn["id"]) for language, turn in all_turns()]


@pytest.mark.parametrize(("language", "turn"), TURNS)
def test_a_turn_reads_to_its_calls_or_stays_unread_for_its_reason(language, turn):
    read = DESK[language].read(turn["say"])
    assert read.language == language
    if "calls" in turn:
        assert isinstance(read, Reading), read
        assert [said(call) for call in read.calls] == turn["calls"]
        assert read.lexicon == DESK[language].lexicon
    else:
        assert isinstance(read, Unread), [said(call) for call in read.calls]
        assert turn["unread"] in (read.code, "any")


def test_there_are_enough_turns_and_half_of_them_are_traps():
    given = list(all_turns())
    for language in ("en", "pt-BR"):
        mine = [turn for chosen, turn in given if chosen == language]
        assert len(mine) >= 100
        assert sum("unread" in turn for turn in mine) >= len(mine) // 2
    assert len({turn["id"] for _, turn in given}) == len(given)


ORDER_AND_ACCOUNT = [
    "charge_card(order_id=4411, amount=40.00)",
    "update_crm(order_id=4411)",
    "provision_account(order_id=4411)",
]
WITH_RECEIPT = [ORDER_AND_ACCOUNT[0], "send_receipt(order_id=4411)", ORDER_AND_ACCOUNT[2]]


STEPS = {
    "en": [
        "charge order 4411 40.00",
        "then update the crm for order 4411",
        "then provision the account for order 4411",
    ],
    "pt-BR": [
        "cobre 40,00 do pedido 4411",
        "depois atualize o crm do pedido 4411",
        "depois provisione a conta do pedido 4411",
    ],
}
RECEIPT = {"en": "then send the receipt for order 4411", "pt-BR": "depois envie o recibo do pedido 4411"}


@pytest.mark.parametrize("language", ["en", "pt-BR"])
@pytest.mark.parametrize("receipt", [False, True])
def test_the_documented_turns_read_with_plain_types_and_no_vocabulary(language, receipt):
    charge, crm, account = STEPS[language]
    read = PLAIN[language].read(", ".join([charge, RECEIPT[language] if receipt else crm, account]))
    assert isinstance(read, Reading), read
    assert [said(call) for call in read.calls] == (WITH_RECEIPT if receipt else ORDER_AND_ACCOUNT)


def test_portuguese_reads_the_same_without_its_accents():
    compared = 0
    for language, turn in all_turns():
        if language == "pt-BR" and "calls" in turn and not any(mark in turn["say"] for mark in '"“«'):
            read = DESK["pt-BR"].read(fold(turn["say"]))
            assert isinstance(read, Reading), (turn["say"], read)
            assert [said(call) for call in read.calls] == turn["calls"]
            compared += 1
    assert compared > 40
