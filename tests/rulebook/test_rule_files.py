"""Rule files: the sheet and the flows read into typed rules, and both spellings mean the same."""

import random
from decimal import Decimal

import pytest
from amends.contract.mistakes import FileMistakes
from amends.rulebook.check import check
from amends.rulebook.colang import read_colang
from amends.rulebook.files import RuleFile, build_rulebook, load_rulebook
from amends.rulebook.record import Record
from amends.rulebook.rules import (
    After,
    AllOf,
    AnyOf,
    AtMost,
    Confirm,
    ConfirmAfter,
    FactHolds,
    FlagIs,
    Never,
    Not,
    NotAfter,
    NumberIs,
    Requires,
    Rulebook,
    TextIs,
    Unconfirmed,
)
from amends.rulebook.sheet import read_sheet

SHEET = """\
rules:
  - id: card-on-file
    action: charge_card
    requires: [card_on_file]
    say: There is no card on file for this customer.
  - id: large-charge
    action: charge_card
    when: {amount_over: 200}
    requires: supervisor_approved
    say: A charge over 200 needs a supervisor.
  - id: mid-charge
    action: charge_card
    when: {amount_over: 100}
    requires_confirmation: true
  - id: identity-first
    action: [charge_card, refund_card]
    after: [verify_identity]
  - id: receipt-after-charge
    action: send_receipt
    after: charge_card
    same: [order_id]
  - id: three-charges
    action: charge_card
    at_most: 3
  - id: day-total
    action: charge_card
    at_most: {total: amount, limit: 500, per: day}
  - id: no-delete
    action: delete_customer
    never: true
  - id: no-mail-after-inbox
    action: send_receipt
    not_after: [read_inbox]
  - id: abroad
    action: ship_order
    when: {country_not_in: [BR, PT]}
    requires_confirmation: true
  - id: sanctions
    action: ship_order
    when: {not_fact: sanctions_clear}
    never: true
"""


def without_places(rules):
    return [rule.model_dump(exclude={"origin"}) for rule in rules]


def test_the_sheet_reads_into_the_typed_rules(shop):
    sheet = read_sheet(SHEET, file="rules.yaml", tools=shop.tools)
    assert without_places(sheet.rules) == without_places(shop.rulebook.rules)
    assert [rule.origin.line for rule in sheet.rules][:4] == [2, 6, 11, 15]
    assert (sheet.facts, sheet.confirm_writes) == (None, None)


def one(shop, when):
    (rule,) = read_sheet(
        f"rules: [{{action: ship_order, never: true, when: {when}}}]", file="r.yaml", tools=shop.tools
    ).rules
    return rule.when


BOXES = NumberIs(argument="boxes", op="over", values=(Decimal(2),))


@pytest.mark.parametrize(
    ("when", "condition"),
    [
        ("{boxes_over: 2}", BOXES),
        ("{boxes_at_least: 2.50}", NumberIs(argument="boxes", op="at_least", values=(Decimal("2.50"),))),
        ("{boxes_is: 2}", NumberIs(argument="boxes", op="in", values=(Decimal(2),))),
        ("{boxes_is_not: 2}", NumberIs(argument="boxes", op="not_in", values=(Decimal(2),))),
        ("{boxes_in: [1, 2]}", NumberIs(argument="boxes", op="in", values=(Decimal(1), Decimal(2)))),
        ("{country_is: BR}", TextIs(argument="country", op="in", values=("BR",))),
        ("{country_is_not: 'no'}", TextIs(argument="country", op="not_in", values=("no",))),
        ("{country_is: no}", TextIs(argument="country", op="in", values=("no",))),
        ("{express_is: true}", FlagIs(argument="express", value=True)),
        ("{express_is_not: true}", FlagIs(argument="express", value=False)),
        ("{fact: slow}", FactHolds(fact="slow")),
        ("{not_fact: slow}", Not(part=FactHolds(fact="slow"))),
        ("{not: {boxes_over: 2}}", Not(part=BOXES)),
        ("{boxes_over: 2, fact: slow}", AllOf(parts=(BOXES, FactHolds(fact="slow")))),
        ("{any: [{boxes_over: 2}, {fact: slow}]}", AnyOf(parts=(BOXES, FactHolds(fact="slow")))),
        ("{all: [{boxes_over: 2}]}", AllOf(parts=(BOXES,))),
    ],
)
def test_every_condition_of_the_sheet(shop, when, condition):
    assert one(shop, when) == condition


def test_the_longest_real_name_of_an_argument_is_meant(shop):
    parameters = (shop.tools["ship_order"].parameters[1].model_copy(update={"name": name}) for name in ("x", "x_not"))
    tools = {"t": shop.tools["get_order"].model_copy(update={"name": "t", "parameters": tuple(parameters)})}
    sheet = read_sheet("rules: [{action: t, never: true, when: {x_not_in: [A]}}]", file="r.yaml", tools=tools)
    assert sheet.rules[0].when == TextIs(argument="x_not", op="in", values=("A",))


def test_one_rule_may_have_several_effects_in_the_order_written(shop):
    text = """\
facts: [vip]
confirm_writes: false
rules:
  - action: charge_card
    requires: vip
    at_most: {calls: 2, total: amount, limit: 9.5, per: run}
    requires_confirmation: false
  - {id: everywhere, action: '*', never: true}
"""
    sheet = read_sheet(text, file="dir/shop.yaml", tools=shop.tools)
    assert [type(rule) for rule in sheet.rules] == [Requires, AtMost, Unconfirmed, Never]
    assert {rule.id for rule in sheet.rules[:3]} == {"shop-1"}
    cap = sheet.rules[1]
    assert isinstance(cap, AtMost)
    assert (cap.calls, cap.total, cap.limit, cap.per) == (2, "amount", Decimal("9.5"), "run")
    assert (sheet.facts, sheet.confirm_writes) == (("vip",), False)


def test_a_total_over_every_tool_is_a_total_of_each(shop):
    tools = {name: shop.tools[name] for name in ("charge_card", "refund_card")}
    sheet = read_sheet("rules: [{action: '*', at_most: {total: amount, limit: 9}}]", file="r.yaml", tools=tools)
    assert sheet.rules[0].actions == ("charge_card", "refund_card")


OLD = '''\
# The shop's rules.
define flow card on file
  """There is no card on file
  for this customer."""
  execute charge_card
  if not $card_on_file   # the host knows
    stop

define flow large charge
  execute charge_card
  if $amount > 200 and not $supervisor_approved
    bot refuse to charge
    stop
  if $amount > 100:
    bot ask confirmation

define flow order and caps
  event StartInternalSystemAction(action_name="charge_card")
  if not $ran.verify_identity
    stop
  if $calls.charge_card >= 3
    stop
  if $total.charge_card.amount + $amount > 500
    stop

define flow never delete
  execute delete_customer
  stop

define flow no mail after the inbox
  execute send_receipt
  if $ran.read_inbox
    stop

define flow abroad
  execute ship_order
  if $country not in ["BR", "PT"]
    bot ask confirmation
  if not ($sanctions_clear or $boxes <= 1) or $express == True and $boxes in [7, 8]
    stop
'''

NEW = '''\
import core

@active
flow card on file
  """There is no card on file for this customer."""
  match StartChargeCardAction()
  if not $card_on_file
    abort

@active
flow large charge
  match StartChargeCardAction() as $call
  if $call.amount > 200 and not $supervisor_approved
    bot say "refuse to charge"
    abort
  if $call.amount > 100
    await ConfirmAction()

@active
flow order and caps
  match StartChargeCardAction() as $it
  if not $ran.verify_identity
    abort
  if $calls.charge_card > 2
    abort
  if $it.amount + $total.charge_card.amount > 500
    abort

flow never delete
  match StartDeleteCustomerAction()
  abort

flow no mail after the inbox
  match StartSendReceiptAction()
  if $ran.read_inbox
    abort

@active
flow abroad
  match StartShipOrderAction() as $call
  if $call.country not in ["BR", "PT"]
    await ConfirmAction()
  if not ($sanctions_clear or $call.boxes <= 1) or $call.express and $call.boxes in [7, 8]
    abort

flow main
  activate never delete
  activate no mail after the inbox
'''

SAME_AS_SHEET = """\
rules:
  - {id: card on file, action: charge_card, requires: card_on_file, say: There is no card on file for this customer.}
  - {id: large charge, action: charge_card, when: {amount_over: 200}, requires: supervisor_approved}
  - {id: mid charge, action: charge_card, when: {amount_over: 100}, requires_confirmation: true}
  - {id: order, action: charge_card, after: verify_identity}
  - {id: calls, action: charge_card, at_most: 3}
  - {id: total, action: charge_card, at_most: {total: amount, limit: 500}}
  - {id: never delete, action: delete_customer, never: true}
  - {id: no mail, action: send_receipt, not_after: read_inbox}
  - {id: abroad, action: ship_order, when: {country_not_in: [BR, PT]}, requires_confirmation: true}
  - id: sanctions
    action: ship_order
    when:
      any:
        - {not: {any: [{fact: sanctions_clear}, {boxes_at_most: 1}]}}
        - {express_is: true, boxes_in: [7, 8]}
    never: true
"""


def test_the_two_spellings_of_colang_read_into_the_same_rules(shop):
    old = read_colang(OLD, file="old.co", tools=shop.tools)
    new = read_colang(NEW, file="new.co", tools=shop.tools)
    assert without_places(old) == without_places(new)
    assert [type(rule) for rule in old] == [
        Never, Never, Confirm, After, AtMost, AtMost, Never, NotAfter, Confirm, Never,
    ]  # fmt: skip
    assert [rule.origin.line for rule in old] == [6, 11, 14, 19, 21, 23, 28, 32, 37, 39]
    assert [rule.say for rule in old][:3] == ["There is no card on file for this customer.", "refuse to charge", ""]


def random_call(shop, chance):
    tool = chance.choice(["charge_card", "charge_card", "ship_order", "send_receipt", "delete_customer", "get_order"])
    pool = {
        "order_id": ["1", "2"],
        "amount": ["0.01", "100.00", "100.01", "200", "200.01", "499.99", "NaN", None, 150, "-5"],
        "country": ["BR", "PT", "US", None, 3],
        "boxes": [0, 1, 2, 7, "8", "many", None],
        "express": [True, False, "true", None],
        "customer_id": ["9"],
    }
    arguments = {
        p.name: chance.choice(pool[p.name])
        for p in shop.tools[tool].parameters
        if p.name in pool and chance.random() < 0.9
    }
    return shop.call(tool, step=chance.randint(1, 9), **arguments)


def random_record(shop, chance):
    events = []
    for step in range(1, chance.randint(1, 7)):
        tool = chance.choice(["charge_card", "charge_card", "verify_identity", "read_inbox"])
        outcome = chance.choice(["ran", "ran", "ran", "failed", "unknown", "in_flight", "declined"])
        amount = chance.choice(["0.01", "150", "250.00", "x"])
        events.append(shop.event(step, tool, outcome, undone=chance.random() < 0.2, amount=amount))
    return events


def test_sheet_and_flows_give_the_same_verdict_on_20_000_calls(shop):
    chance = random.Random(11)
    books = [
        Rulebook(rules=read_sheet(SAME_AS_SHEET, file="r.yaml", tools=shop.tools).rules),
        Rulebook(rules=read_colang(OLD, file="old.co", tools=shop.tools)),
        Rulebook(rules=read_colang(NEW, file="new.co", tools=shop.tools)),
    ]
    verdicts = {"allow": 0, "confirm": 0, "refuse": 0}
    for _ in range(1_000):
        events = random_record(shop, chance)
        records = [Record.of(events, rulebook=book) for book in books]
        facts = {
            name: chance.choice([True, True, False, "true", None])
            for name in ("card_on_file", "supervisor_approved", "sanctions_clear")
        }
        for _ in range(20):
            call = random_call(shop, chance)
            given = {
                check(book, call, tools=shop.tools, facts=facts, record=record).verdict
                for book, record in zip(books, records, strict=True)
            }
            assert len(given) == 1, (call, facts, events)
            verdicts[given.pop()] += 1
    assert min(verdicts.values()) > 1_000


def test_a_declared_facts_list_holds_for_the_flows_too(shop):
    flows = RuleFile("policy.co", "define flow x\n  execute charge_card\n  if not $card_on_flie\n    stop\n")
    assert build_rulebook([flows], tools=shop.tools).facts is None
    with pytest.raises(FileMistakes, match=r"policy.co:3: card_on_flie is no argument .*; did you mean card_on_file\?"):
        build_rulebook([flows, RuleFile("a.yaml", "facts: [card_on_file]\nrules: []\n")], tools=shop.tools)


def test_files_are_joined_in_order_after_the_words_of_the_tools(shop):
    tools = dict(shop.tools)
    tools["send_receipt"] = tools["send_receipt"].model_copy(
        update={"after": ("charge_card",), "not_after": ("delete_customer",), "at_most": 2}
    )
    files = [RuleFile("b.co", "define flow b\n  execute get_order\n  stop\n"), RuleFile("a.yaml", SHEET)]
    rulebook = build_rulebook(files, tools=tools, facts=["card_on_file", "supervisor_approved", "sanctions_clear"])
    words = rulebook.rules[:4]
    assert [rule.id for rule in words] == [
        "send_receipt.after", "send_receipt.not_after", "send_receipt.at_most", "outside",
    ]  # fmt: skip
    assert isinstance(words[3], ConfirmAfter)
    assert words[3].tools == ("read_inbox",)
    assert rulebook.rules[4].id == "b"
    assert rulebook.facts == ("card_on_file", "supervisor_approved", "sanctions_clear")


def test_a_tool_that_sends_out_is_confirmed_after_outside_text_whatever_is_waived(shop):
    rulebook = build_rulebook([RuleFile("a.yaml", "confirm_writes: false\nrules: []\n")], tools=shop.tools)
    call = shop.call("send_receipt", order_id="1")

    def verdict(*events):
        record = Record.of(events, rulebook=rulebook)
        return check(rulebook, call, tools=shop.tools, facts={}, record=record).verdict

    assert verdict() == "allow"
    assert verdict(shop.event(1, "read_inbox", "failed")) == "confirm"


def test_rule_files_are_read_from_disk(shop, tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text(SHEET, encoding="utf-8")
    assert len(load_rulebook([path], tools=shop.tools).rules) == 12
    (tmp_path / "bad.co").write_bytes(b"\xff\xfe")
    with pytest.raises(FileMistakes, match=r"bad.co: cannot be read: it is not UTF-8 text"):
        load_rulebook([tmp_path / "bad.co"], tools=shop.tools)
    with pytest.raises(FileMistakes, match=r"nope.yaml: cannot be read: No such file"):
        load_rulebook([tmp_path / "nope.yaml"], tools=shop.tools)
    with pytest.raises(FileMistakes, match=r"rules.txt: a rule file is a .yaml sheet or a .co file"):
        build_rulebook([RuleFile("rules.txt", "")], tools=shop.tools)


def test_all_mistakes_are_told_at_once(shop):
    sheet = RuleFile("a.yaml", "rules:\n  - {action: x, never: true}\n  - {action: charge_card}\n")
    flows = RuleFile("b.co", "define flow b\n  execute nope\n  stop\n")
    with pytest.raises(FileMistakes) as raised:
        build_rulebook([flows, sheet], tools=shop.tools)
    assert [str(mistake.origin) for mistake in raised.value.mistakes] == ["a.yaml:2", "a.yaml:3", "b.co:2"]


def test_words_that_name_no_tool_are_refused(shop):
    odd = shop.tools["get_order"].model_copy(update={"after": ("verify_identiy",)})
    with pytest.raises(FileMistakes, match=r"after of get_order names verify_identiy.*did you mean verify_identity"):
        build_rulebook([], tools={**shop.tools, "get_order": odd})
