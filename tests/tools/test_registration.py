"""What loading an agent file says and refuses beyond its own mistakes: lints, and facts that no rule knows."""

import logging
import re
from pathlib import Path

import pytest
from amends.contract.errors import UnknownFact
from amends.examples.shop import tools as shop_tools
from amends.rulebook.check import may_ask
from amends.rulebook.verify import verify
from amends.tools.loader import LoadedFile, load_agent, load_file
from amends.tools.preview import preview
from amends.tools.verifiable import verifiable

SHOP = Path(shop_tools.__file__).with_name("agent.yaml")
TOOLS = """\
from amends import tool


@tool(writes=True, undo="remove_label")
def add_label(name: str) -> None:
    \"\"\"Add a label.\"\"\"


@tool(writes=True, undo=None, retry_safe=True)
def remove_label(name: str) -> None:
    \"\"\"Remove a label.\"\"\"


@tool(writes=True)
def charge_card(order_id: str):
    \"\"\"Charge an order.\"\"\"


@tool
def get_order(order_id: str) -> str:
    \"\"\"Look up an order.\"\"\"
"""
FILE = """\
agents:
  front: {tools: [add_label, charge_card, get_order], hands_off_to: [back], privilege: 1}
  back: {tools: [add_label, remove_label], privilege: 2}
tools:
  - python: ./label_tools.py
rulebook: ./rules.yaml
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "label_tools.py").write_text(TOOLS)
    (tmp_path / "agent.yaml").write_text(FILE)
    (tmp_path / "rules.yaml").write_text("rules: []\n")
    return tmp_path


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [re.sub(r"^.*/", "", record.getMessage()) for record in caplog.records if record.name == "amends.lints"]


def test_every_lint_is_logged_once_to_the_letter(folder, caplog):
    with caplog.at_level(logging.INFO, logger="amends.lints"):
        load_agent(folder / "agent.yaml", agent="front")
    assert said(caplog) == [
        (
            "label_tools.py:4: add_label: write_not_retry_safe: "
            "a write with no idempotency, so an ambiguous failure goes to a person"
        ),
        (
            "label_tools.py:14: charge_card: write_without_compensation: "
            "a write neither compensated nor marked irreversible"
        ),
        (
            "label_tools.py:14: charge_card: write_not_retry_safe: "
            "a write with no idempotency, so an ambiguous failure goes to a person"
        ),
        "label_tools.py:14: charge_card: write_without_result_schema: a write that does not say what it returns",
        (
            "label_tools.py:4: add_label: compensation_out_of_reach: agent 'front' can call it but not 'remove_label', "
            "which undoes it, so a run of that agent cannot undo it"
        ),
    ]


def test_a_script_that_does_not_log_reads_nothing(folder, capfd, caplog):
    load_agent(folder / "agent.yaml", agent="front")
    assert capfd.readouterr() == ("", "")
    assert said(caplog) == []


def test_a_file_with_nothing_to_say_of_it_says_nothing(caplog):
    with caplog.at_level(logging.INFO, logger="amends.lints"):
        load_agent(SHOP)
    assert said(caplog) == []


# Facts


def test_a_fact_that_the_list_lacks_is_refused_with_the_nearest(folder):
    (folder / "rules.yaml").write_text("facts: [card_on_file, vip]\nrules: []\n")
    with pytest.raises(UnknownFact, match=r"'card_on_fle'.*did you mean card_on_file") as raised:
        load_agent(folder / "agent.yaml", agent="front", context={"vip": True, "card_on_fle": True})
    assert (raised.value.fact, raised.value.near) == ("card_on_fle", ("card_on_file",))
    with pytest.raises(UnknownFact, match="it lists card_on_file, vip"):
        load_agent(folder / "agent.yaml", agent="front", context={"weather": "fine"})
    assert load_agent(folder / "agent.yaml", agent="front", context={"vip": False}).facts == {"vip": False}


def test_without_a_list_any_fact_may_be_given(folder):
    assert load_agent(folder / "agent.yaml", agent="front", context={"weather": True}).facts == {"weather": True}


def test_an_empty_list_knows_none(folder):
    (folder / "rules.yaml").write_text("facts: []\nrules: []\n")
    with pytest.raises(UnknownFact, match="it lists none"):
        load_agent(folder / "agent.yaml", agent="front", context={"vip": True})


# Who may be asked


@pytest.mark.parametrize(
    ("rule", "asks"),
    [
        ("{id: a, action: get_order, never: true}", False),
        ("{id: a, action: get_order, requires_confirmation: true}", True),
        ("{id: a, action: '*', requires_confirmation: true}", True),
    ],
)
def test_a_caller_is_told_that_a_read_may_be_asked_about(folder, rule, asks):
    (folder / "rules.yaml").write_text(f"rules: [{rule}]\n")
    front = load_agent(folder / "agent.yaml", agent="front")
    assert may_ask(front.rulebook, front.contracts["get_order"]) is asks
    assert may_ask(front.rulebook, front.contracts["charge_card"])


# The whole file, as verify sees it


@pytest.fixture
def file(folder) -> LoadedFile:
    return load_file(folder / "agent.yaml")


def test_the_system_has_the_agents_as_the_file_says_them(file):
    system = verifiable(file, host_facts=["vip"])
    front, back = system.agents
    assert (front.name, front.tools, front.hands_off_to, front.privilege, front.entry) == (
        "front",
        ("add_label", "charge_card", "get_order"),
        ("back",),
        1,
        True,
    )
    assert (back.privilege, back.origin.line) == (2, 3)
    assert set(system.tools) == {"add_label", "remove_label", "charge_card", "get_order"}
    assert (system.atomic, system.host_facts, system.rulebook) == (True, ("vip",), file.rulebook)
    assert verifiable(file).host_facts is None


def test_tools_that_no_turn_tells_apart_or_can_say_are_collisions(folder):
    more = """

@tool(writes=True, undo=None)
def charge(order_id: str) -> None:
    \"\"\"Charge an order.\"\"\"


@tool
def get_report(options: dict[str, int]) -> str:
    \"\"\"Get a report.\"\"\"
"""
    (folder / "label_tools.py").write_text(TOOLS + more)
    (folder / "agent.yaml").write_text(FILE.replace("get_order]", "get_order, charge, get_report]"))
    system = verifiable(load_file(folder / "agent.yaml"))
    found = {(one.tool, one.language): one for one in system.collisions}
    assert (found["charge", "en"].problem, found["charge", "en"].others) == ("ambiguous", ("charge_card",))
    assert found["get_report", "en"].problem == "unsayable"
    assert "options" in found["get_report", "en"].detail
    assert ("get_order", "en") not in found
    told = [finding.message for finding in verify(system).findings if finding.code == "QG115"]
    assert "a turn that says charge also says charge_card (en)" in told


def test_a_plan_takes_a_cap_across_sessions_to_have_room(folder):
    (folder / "rules.yaml").write_text("rules: [{id: a, action: charge_card, at_most: {calls: 1, per: all_day}}]\n")
    front = load_agent(folder / "agent.yaml", agent="front")
    assert [call.verdict for call in preview(front, "charge the card for order 4411").calls] == ["confirm"]
