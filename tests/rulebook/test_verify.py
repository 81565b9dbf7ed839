"""verify: for every code an example that shows it and one beside it that does not."""

import re
from pathlib import Path

import pytest
from amends.contract.tool import Origin, Parameter, ToolContract, UndoBinding
from amends.rulebook.effects import Confirm
from amends.rulebook.files import RuleFile, build_rulebook
from amends.rulebook.model import AgentModel, Collision, System
from amends.rulebook.rules import AtMost, Never, Requires, Rulebook
from amends.rulebook.verify import CODES, verify

DOCS = Path(__file__).parents[2] / "docs"
ID, AMOUNT = Parameter(name="order_id", kind="id"), Parameter(name="amount", kind="money", base="number")
NOTHING = {"type": "null"}


def contract(name, undo=None, *, writes=True, parameters=(ID,), **more):
    if isinstance(undo, str):
        undo = UndoBinding(tool=undo)
    return ToolContract(
        name=name, writes=writes, undo=undo, parameters=parameters, origin=Origin(file="shop.py", line=7),
        **{"result_schema": NOTHING, "retry_safe": True, **more},
    )  # fmt: skip


READ = contract("get_order", writes=False)
INBOX = contract("read_inbox", writes=False, reads_outside=True)
CHARGE = contract("charge_card", "refund_card", parameters=(ID, AMOUNT))
REFUND = contract("refund_card", parameters=(ID, AMOUNT), irreversible=True)
CRM = contract("update_crm", "restore_crm")
RESTORE = contract("restore_crm", undo_none=True)
RECEIPT = contract("send_receipt", irreversible=True)
PROVISION = contract("provision_account", undo_none=True)
DRAFT = contract("save_draft")
MAIL = contract("send_mail", writes=False, sends_out=True)

HELD_REFUND = "  - {action: refund_card, after: charge_card}\n"
HELD = f"{HELD_REFUND}  - {{action: restore_crm, after: update_crm}}\n"
UNCONFIRMED = "  - {action: %s, requires_confirmation: false}\n"


def system(*tools, rules="", agents=None, top="", words=True, **more):
    """A system of one agent with all these tools, and a sheet whose rules begin on line 2."""
    catalogue = {tool.name: tool for tool in tools}
    rulebook = more.pop("rulebook", None)
    if rulebook is None:
        sheet = RuleFile("rules.yaml", f"rules:\n{rules or '  []'}\n{top}")
        rulebook = build_rulebook([sheet], tools=catalogue)
        if not words:
            rulebook = Rulebook(rules=tuple(rule for rule in rulebook.rules if rule.id != "outside"))
    agents = agents or [AgentModel(name="desk", tools=tuple(catalogue), origin=AGENT_FILE)]
    return System(agents=tuple(agents), tools=catalogue, rulebook=rulebook, **more)


AGENT_FILE = Origin(file="agent.yaml", line=3)


def desk(*tools, **more):
    return AgentModel(name="desk", tools=tuple(tool.name for tool in tools), origin=AGENT_FILE, **more)


def back(*tools, **more):
    return AgentModel(name="back", tools=tuple(tool.name for tool in tools), entry=False, origin=AGENT_FILE, **more)


LABEL = [Parameter(name="add", kind="text"), Parameter(name="remove", kind="text")]


def label(**bound):
    return contract("label", UndoBinding(tool="label", arguments=bound), parameters=tuple(LABEL))


CASES = {
    "QG013": (
        system(CHARGE, REFUND, RECEIPT, rules=HELD_REFUND + UNCONFIRMED % "send_receipt"),
        [
            system(CHARGE, REFUND, RECEIPT, rules=HELD_REFUND),
            system(
                CHARGE, REFUND, RECEIPT,
                rules="  - {action: charge_card, not_after: send_receipt}\n" + UNCONFIRMED % "send_receipt",
            ),
            system(CHARGE, REFUND, RECEIPT, rules=HELD_REFUND + UNCONFIRMED % "send_receipt", atomic=False),
        ],
    ),
    "QG101": (
        system(PROVISION, top="confirm_writes: false"),
        [
            system(PROVISION),
            system(PROVISION, rules="  - {action: '*', requires_confirmation: true}\n", top="confirm_writes: false"),
            system(PROVISION, rules=UNCONFIRMED % "provision_account"),
        ],
    ),
    "QG102": (
        system(
            PROVISION, DRAFT.model_copy(update={"undo_none": True}),
            rules="  - {action: provision_account, after: save_draft}\n"
            "  - {action: save_draft, after: provision_account}\n",
        ),
        [
            system(PROVISION, DRAFT, rules="  - {action: provision_account, after: save_draft}\n"),
            system(PROVISION, rules="  - {action: provision_account, never: true}\n"),
            system(PROVISION, rules="  - {action: provision_account, requires: vip, when: {fact: big}}\n"),
        ],
    ),
    "QG103": (
        system(
            RECEIPT, CHARGE, REFUND, agents=[desk(RECEIPT)], rules="  - {action: send_receipt, after: charge_card}\n"
        ),
        [
            system(
                RECEIPT, CHARGE, REFUND, rules="  - {action: send_receipt, after: charge_card}\n",
                agents=[desk(RECEIPT, hands_off_to=("back",)), back(CHARGE, REFUND)],
            ),
        ],
    ),
    "QG104": (
        system(
            CHARGE, REFUND,
            rules="  - {action: charge_card, at_most: {total: amount, limit: 500}}\n"
            "  - {action: charge_card, when: {amount_under: 600}, never: true}\n",
        ),
        [
            system(
                CHARGE, REFUND,
                rules="  - {action: charge_card, at_most: {total: amount, limit: 600}}\n"
                "  - {action: charge_card, when: {amount_under: 600}, never: true}\n",
            ),
        ],
    ),
    "QG105": (
        system(DRAFT, PROVISION),
        [
            system(DRAFT.model_copy(update={"undo_none": True}), PROVISION),
            system(DRAFT, READ, rules="  - {action: save_draft, at_most: 1}\n"),
            system(DRAFT, PROVISION, rules="  - {action: '*', not_after: [save_draft, provision_account]}\n"),
        ],
    ),
    "QG106": (
        system(CRM, RESTORE, agents=[desk(CRM), back(RESTORE)]),
        [system(CRM, RESTORE, agents=[desk(CRM, RESTORE)])],
    ),
    "QG107": (
        system(CRM, RESTORE.model_copy(update={"parameters": (ID, Parameter(name="version", base="integer"))})),
        [
            system(CRM, RESTORE),
            system(CRM, RESTORE.model_copy(update={"parameters": (ID, Parameter(name="note", required=False))})),
        ],
    ),
    "QG108": (
        system(CRM, contract("restore_crm", "update_crm")),
        [system(CRM, RESTORE), system(label(add="$args.remove", remove="$args.add"))],
    ),
    "QG109": (
        system(
            CHARGE.model_copy(update={"retry_safe": False}), REFUND, CRM, RESTORE,
            contract("book", "unbook"), contract("unbook", undo_none=True),
        ),
        [
            system(CHARGE, REFUND, CRM, RESTORE, contract("book", "unbook"), contract("unbook", undo_none=True)),
            system(CHARGE.model_copy(update={"retry_safe": False}), REFUND, CRM, RESTORE),
        ],
    ),
    "QG110": (
        system(CHARGE, REFUND),
        [
            system(CHARGE, REFUND, rules=HELD_REFUND),
            system(CHARGE, REFUND, rules="  - {action: refund_card, never: true}\n"),
            system(CHARGE, REFUND, agents=[desk(CHARGE)]),
        ],
    ),
    "QG111": (
        system(
            READ, PROVISION,
            agents=[desk(READ, privilege=1, hands_off_to=("back",)), back(PROVISION, privilege=3)],
        ),
        [
            system(
                READ, PROVISION, rules="  - {action: provision_account, requires: vip}\n",
                agents=[desk(READ, privilege=1, hands_off_to=("back",)), back(PROVISION, privilege=3)],
            ),
            system(
                READ, PROVISION,
                agents=[desk(READ, privilege=3, hands_off_to=("back",)), back(PROVISION, privilege=3)],
            ),
            system(READ, INBOX, agents=[desk(READ, privilege=1, hands_off_to=("back",)), back(INBOX, privilege=3)]),
        ],
    ),
    "QG112": (
        system(INBOX, PROVISION, rules=UNCONFIRMED % "provision_account"),
        [
            system(INBOX, PROVISION),
            system(INBOX, MAIL),
            system(
                INBOX, PROVISION,
                rules=UNCONFIRMED % "provision_account" + "  - {action: provision_account, not_after: read_inbox}\n",
            ),
        ],
    ),
    "QG113": (
        system(READ, agents=[AgentModel(name="desk", tools=("get_ordr",))]),
        [system(READ, agents=[AgentModel(name="desk", tools=("get_order",))])],
    ),
    "QG114": (
        system(
            CHARGE, REFUND,
            rules="  - {action: charge_card, when: {amount_over: 50}, never: true}\n"
            "  - {action: charge_card, when: {amount_over: 100}, requires_confirmation: true}\n",
        ),
        [
            system(
                CHARGE, REFUND,
                rules="  - {action: charge_card, when: {amount_over: 100}, never: true}\n"
                "  - {action: charge_card, when: {amount_over: 50}, requires_confirmation: true}\n",
            ),
        ],
    ),
    "QG115": (
        system(
            CHARGE, REFUND,
            collisions=(Collision(tool="charge_card", language="en", problem="ambiguous", others=("charge_wallet",)),),
        ),
        [system(CHARGE, REFUND)],
    ),
}  # fmt: skip


def codes(given):
    return {finding.code for finding in verify(given).findings}


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_an_example_and_a_neighbour(code):
    shown, neighbours = CASES[code]
    assert code in codes(shown)
    for neighbour in neighbours:
        assert code not in codes(neighbour)


@pytest.mark.parametrize("code", CODES)
def test_every_finding_says_where_what_and_the_way_out(code):
    found = [finding for finding in verify(CASES[code][0]).findings if finding.code == code]
    for finding in found:
        assert finding.message
        assert finding.fix
        assert "\n" not in finding.fix
        assert finding.severity in ("error", "warning")
        assert finding.origin.file or not finding.tool or finding.code == "QG113"
        assert (finding.certainty is None) is (not finding.route)


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_documented(code):
    text = (DOCS / "verify.md").read_text(encoding="utf-8")
    sections = re.split(r"^### ", text, flags=re.MULTILINE)
    assert sum(section.startswith(f"{code}: ") for section in sections) == 1


def test_a_route_names_its_calls_its_facts_and_its_rules():
    rules = (
        "  - {action: send_receipt, requires_confirmation: false}\n"
        "  - {action: charge_card, after: get_order, requires: vip}\n"
        "  - {action: refund_card, after: charge_card}\n"
    )
    (finding,) = [
        one for one in verify(system(READ, CHARGE, REFUND, RECEIPT, rules=rules)).findings if one.code == "QG013"
    ]
    assert [step.tool for step in finding.route] == ["get_order", "send_receipt", "charge_card"]
    assert [step.agent for step in finding.route] == ["desk"] * 3
    assert finding.route[2].arguments == {"order_id": "1", "amount": "1"}
    assert (finding.facts, finding.certainty) == (("vip",), "certain")
    assert [str(origin) for origin in finding.rules] == ["rules.yaml:2", "rules.yaml:3"]
    assert str(finding.origin) == "shop.py:7"


def test_a_route_that_a_conditional_order_forbids_is_only_possible():
    rules = (
        UNCONFIRMED % "send_receipt" + "  - {action: charge_card, not_after: send_receipt, when: {amount_over: 0}}\n"
    )
    tools = (CHARGE, REFUND, RECEIPT)
    narrowed = rules + "  - {action: charge_card, when: {amount_at_most: 0}, never: true}\n" + HELD_REFUND
    (finding,) = [one for one in verify(system(*tools, rules=narrowed)).findings if one.code == "QG013"]
    assert finding.certainty == "possible"


def test_a_tool_that_no_facts_let_through_names_the_least_rules():
    rules = (
        "  - {id: vip, action: provision_account, requires: vip}\n"
        "  - {id: other, action: provision_account, requires: other}\n"
        "  - {id: no-vip, action: provision_account, when: {fact: vip}, never: true}\n"
    )
    (finding,) = [one for one in verify(system(PROVISION, rules=rules)).findings if one.code == "QG102"]
    assert "vip of provision_account, no-vip of provision_account" in finding.message
    assert [origin.line for origin in finding.rules] == [2, 4]


def test_arguments_that_contradict_each_other_are_found():
    rules = (
        "  - {id: low, action: charge_card, when: {amount_under: 10}, never: true}\n"
        "  - {id: high, action: charge_card, when: {not: {amount_under: 10}}, requires: vip}\n"
        "  - {id: vip, action: charge_card, when: {fact: vip, amount_over: 5}, never: true}\n"
    )
    assert "QG102" in codes(system(CHARGE, REFUND, rules=rules))
    assert "QG102" not in codes(system(CHARGE, REFUND, rules=rules.replace("amount_over: 5", "amount_over: 10")))


CAP = "  - {id: %s, action: charge_card, at_most: %s}\n"


@pytest.mark.parametrize(
    ("one", "other", "is_said"),
    [
        ("3", "5", True),
        ("{calls: 3, per: session}", "{calls: 3, per: day}", True),
        ("{calls: 3, per: day}", "{calls: 3, per: session}", True),
        ("{calls: 3, per: run}", "{calls: 3, per: day}", False),
        ("{total: amount, limit: 10}", "{total: amount, limit: 20}", True),
        ("{calls: 3, total: amount, limit: 10}", "{total: amount, limit: 20}", True),
        ("{calls: 3}", "{total: amount, limit: 20}", False),
        ("3", "3", True),
        ("{calls: 2, per: run}", "3", False),
    ],
)
def test_a_cap_beside_a_stricter_one_says_nothing(one, other, is_said):
    found = codes(system(CHARGE, REFUND, rules=CAP % ("a", one) + CAP % ("b", other)))
    assert ("QG104" in found) is is_said


def test_caps_that_cannot_work_are_found():
    assert "QG104" in codes(system(CHARGE, REFUND, rules=CAP % ("a", "0")))
    odd = Rulebook(rules=(AtMost(id="a", actions=("charge_card",), total="order_id", limit=5),))
    assert "QG104" in codes(system(CHARGE, REFUND, rulebook=odd))


RULES_WITHOUT_EFFECT = [
    ("never: true", "requires: vip", True),
    ("never: true, when: {fact: vip}", "requires: vip", False),
    ("requires: [vip, other]", "requires: vip", True),
    ("requires: vip, when: {amount_over: 5}", "requires: vip, when: {amount_over: 10}", True),
    ("requires: vip, when: {amount_over: 5}", "requires: vip, when: {amount_under: 9}", False),
    ("requires_confirmation: true", "requires_confirmation: true, when: {fact: vip}", True),
    ("after: [get_order, update_crm]", "after: get_order", True),
    ("after: get_order, same: [order_id]", "after: get_order", True),
    ("not_after: [get_order, update_crm]", "not_after: update_crm, when: {fact: vip}", True),
    ("not_after: get_order", "after: update_crm", False),
]


@pytest.mark.parametrize(("one", "other", "is_said"), RULES_WITHOUT_EFFECT)
def test_a_rule_that_another_covers_has_no_effect(one, other, is_said):
    tools = (READ, CHARGE, REFUND, CRM, RESTORE)
    for first, second in ((one, other), (other, one)):
        rules = f"  - {{id: a, action: charge_card, {first}}}\n  - {{id: b, action: charge_card, {second}}}\n"
        found = [f for f in verify(system(*tools, rules=rules)).findings if f.code == "QG114"]
        covered = "b" if first == one else "a"
        assert [f.origin.line for f in found] == ([3 if covered == "b" else 2] if is_said else [])


@pytest.mark.parametrize("when", ["{}", "{any: [{fact: a}, {not_fact: a}]}"])
def test_of_two_equal_rules_the_later_is_named(when):
    rules = f"  - {{action: charge_card, requires: vip, when: {when}}}\n  - {{action: charge_card, requires: vip}}\n"
    rules = rules.replace(", when: {}", "")
    found = [f for f in verify(system(CHARGE, REFUND, rules=rules)).findings if f.code == "QG114"]
    assert [f.origin.line for f in found] == [3]


def test_unknown_names_are_found_wherever_they_stand():
    rulebook = Rulebook(
        rules=(
            Requires(id="fact", actions=("get_order",), facts=("vop",)),
            Requires(id="host", actions=("get_order",), facts=("vip",)),
            Never(id="tool", actions=("get_ordr",)),
            AtMost(id="argument", actions=("charge_card",), total="amuont", limit=5),
        ),
        facts=("vip",),
    )
    agents = [AgentModel(name="desk", tools=("get_order", "charge_card"), hands_off_to=("bak",)), back(READ)]
    charge = CHARGE.model_copy(update={"undo": UndoBinding(tool="refnd_card")})
    found = verify(system(READ, charge, rulebook=rulebook, agents=agents, host_facts=())).findings
    assert {f.message for f in found if f.code == "QG113"} == {
        "the rule argument names the argument amuont, which charge_card does not have",
        "charge_card is undone by refnd_card, and there is no such tool",
        "desk hands over to bak, and there is no such agent",
        "the rule fact names the fact vop, which the facts list lacks",
        "the rule host names the fact vip, which nobody gives",
        "the rule tool names get_ordr, and there is no such tool",
    }
    assert "write back" in next(f.fix for f in found if "bak" in f.message)


def test_the_undo_of_a_repeated_confirm_is_no_finding():
    rulebook = Rulebook(rules=(Confirm(id="c", actions=("charge_card",)),))
    assert "QG114" not in codes(system(CHARGE, REFUND, rulebook=rulebook))


def test_a_clean_system_has_no_finding():
    verdict = verify(system(READ, CHARGE, REFUND, CRM, RESTORE, RECEIPT, rules=HELD))
    assert verdict.findings == ()
    assert (verdict.passed, verdict.exit_code) == (True, 0)
