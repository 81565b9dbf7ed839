"""The shop's agent file: it loads from anywhere, and every argument of every undo is bound."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from amends import ToolContext
from amends.contract.tool import UndoBinding
from amends.tools.loader import LoadedAgent, load_agent


def no_selector(*_: object):
    raise AssertionError("no turn is read here")


@pytest.fixture
def desk() -> LoadedAgent:
    return load_agent(Path(str(files("amends.examples.shop") / "agent.yaml")), compile_selector=no_selector)


def test_the_desk_has_its_seven_tools(desk):
    assert desk.name == "desk"
    assert list(desk.tools) == [
        "get_order",
        "charge_card",
        "refund_card",
        "update_crm",
        "restore_crm",
        "provision_account",
        "send_receipt",
    ]
    assert desk.atomic


def test_each_write_says_how_it_is_undone(desk):
    contracts = desk.contracts
    assert [name for name, contract in contracts.items() if not contract.writes] == ["get_order"]
    assert contracts["charge_card"].undo == UndoBinding(
        tool="refund_card", arguments={"charge_id": "$result.charge_id", "amount": "$args.amount"}
    )
    assert contracts["update_crm"].undo == UndoBinding(
        tool="restore_crm", arguments={"order_id": "$args.order_id", "previous": "$result.previous"}
    )
    assert contracts["send_receipt"].irreversible
    assert contracts["provision_account"].undo_none


def test_a_call_has_the_arguments_a_person_approves(desk):
    assert desk.tools["charge_card"].canonical({"order_id": "4411", "amount": "40"}) == {
        "order_id": "4411",
        "amount": "40.00",
    }


def test_the_result_that_is_recorded_holds_what_the_undo_needs(desk, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOP_DB", str(tmp_path / "shop.db"))
    charge = desk.tools["charge_card"]
    context = ToolContext(idempotency_key="k", session="s", run="r", step=1, attempt=1, user="u")
    bound = charge.call(charge.canonical({"order_id": "4411", "amount": "40"}), context)
    result = charge.wire_result(charge.function(**bound))
    assert result == {"charge_id": result["charge_id"], "order_id": "4411", "amount": "40.00"}
    undo = {"charge_id": result["charge_id"], "amount": "40.00"}
    assert desk.tools["refund_card"].canonical(undo) == undo


def test_it_loads_from_another_working_directory_and_leaves_nothing_there(tmp_path):
    script = (
        "from importlib.resources import files\n"
        "from amends.tools.loader import load_agent\n"
        "path = str(files('amends.examples.shop') / 'agent.yaml')\n"
        "print(load_agent(path, compile_selector=lambda *_: None).name)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout == "desk\n"
    assert list(tmp_path.iterdir()) == []
