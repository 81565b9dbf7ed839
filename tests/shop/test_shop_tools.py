"""The shop: every write takes effect once for its key, every undo takes it back, and the world can be looked at."""

import subprocess
import sys
import threading
from decimal import Decimal

import pytest
from amends import Refused, ToolContext
from amends.examples.shop import tools
from amends.examples.shop.store import KeyReusedError, Store, main
from amends.examples.shop.tools import CALLS


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOP_DB", str(tmp_path / "state" / "shop.db"))
    return Store()


def with_key(key: str) -> ToolContext:
    return ToolContext(idempotency_key=key, session="desk:u-17:1", run="r", step=1, attempt=1, user="u-17")


def test_a_new_shop_has_its_orders_and_nothing_done(store):
    assert store.snapshot()["4411"] == {"charged": "0.00", "crm": "open", "account": None, "receipts": 0}
    assert list(store.snapshot()) == ["4411", "4412", "5120", "5121"]
    order = tools.get_order("5120", with_key("a"))
    assert (order.total, order.status) == (Decimal("9.90"), "open")


def test_each_write_shows_in_the_world(store):
    tools.charge_card("4411", Decimal("40.00"), with_key("a"))
    tools.update_crm("4411", with_key("b"))
    account = tools.provision_account("4411", with_key("c"))
    tools.send_receipt("4411", with_key("d"))
    assert store.snapshot()["4411"] == {
        "charged": "40.00",
        "crm": "paid",
        "account": account.account_id,
        "receipts": 1,
    }


def test_the_undos_bring_the_world_back(store):
    before = store.snapshot()
    charge = tools.charge_card("4411", Decimal("40.00"), with_key("a"))
    update = tools.update_crm("4411", with_key("b"))
    assert store.snapshot() != before
    tools.restore_crm("4411", update.previous, with_key("b-undo"))
    tools.refund_card(charge.charge_id, Decimal("40.00"), with_key("a-undo"))
    assert store.snapshot() == before


WRITES = {
    "charge_card": lambda key: tools.charge_card("4411", Decimal("40.00"), with_key(key)),
    "update_crm": lambda key: tools.update_crm("4411", with_key(key)),
    "provision_account": lambda key: tools.provision_account("4411", with_key(key)),
    "send_receipt": lambda key: tools.send_receipt("4411", with_key(key)),
    "restore_crm": lambda key: tools.restore_crm("4411", "paid", with_key(key)),
}


@pytest.mark.parametrize("name", WRITES)
def test_the_same_key_gives_the_first_result_and_does_nothing(store, name):
    first = WRITES[name]("k")
    world = store.snapshot()
    assert WRITES[name]("k") == first
    assert store.snapshot() == world


def test_a_refund_sent_twice_under_one_key_refunds_once(store):
    charge = tools.charge_card("4411", Decimal("40.00"), with_key("a"))
    first = tools.refund_card(charge.charge_id, Decimal("15.00"), with_key("r"))
    assert tools.refund_card(charge.charge_id, Decimal("15.00"), with_key("r")) == first
    assert store.snapshot()["4411"]["charged"] == "25.00"


def test_a_key_with_other_arguments_is_an_error_and_changes_nothing(store):
    tools.charge_card("4411", Decimal("40.00"), with_key("k"))
    world = store.snapshot()
    with pytest.raises(KeyReusedError, match="was used for charge_card"):
        tools.charge_card("4411", Decimal("41.00"), with_key("k"))
    with pytest.raises(KeyReusedError, match="comes with update_crm"):
        tools.update_crm("4411", with_key("k"))
    assert store.snapshot() == world


@pytest.mark.parametrize(
    "call",
    [
        lambda: tools.get_order("9999", with_key("a")),
        lambda: tools.charge_card("9999", Decimal(1), with_key("a")),
        lambda: tools.update_crm("9999", with_key("a")),
        lambda: tools.restore_crm("9999", "open", with_key("a")),
        lambda: tools.send_receipt("9999", with_key("a")),
        lambda: tools.provision_account("9999", with_key("a")),
        lambda: tools.refund_card("ch_none", Decimal(1), with_key("a")),
    ],
)
def test_what_does_not_exist_is_refused_and_nothing_happens(store, call):
    before = store.snapshot()
    with pytest.raises(Refused, match="there is no"):
        call()
    assert store.snapshot() == before


def test_no_more_is_refunded_than_was_charged():
    charge = tools.charge_card("4411", Decimal("40.00"), with_key("a"))
    tools.refund_card(charge.charge_id, Decimal("39.99"), with_key("b"))
    with pytest.raises(Refused, match=r"40\.00 was charged and 39\.99 refunded: not 0\.02"):
        tools.refund_card(charge.charge_id, Decimal("0.02"), with_key("c"))


def test_provisioning_can_be_switched_off_and_a_try_that_failed_may_be_made_again(store):
    store.switch("provisioning", up=False)
    with pytest.raises(RuntimeError, match="the provisioning service is down"):
        tools.provision_account("4411", with_key("a"))
    assert store.snapshot()["4411"]["account"] is None
    store.switch("provisioning", up=True)
    assert tools.provision_account("4411", with_key("a")).account_id == store.snapshot()["4411"]["account"]


def test_calls_are_kept_in_order_failed_ones_too_and_for_other_processes(store):
    tools.charge_card("4411", Decimal("40.00"), with_key("a"))
    store.switch("provisioning", up=False)
    with pytest.raises(RuntimeError):
        tools.provision_account("4411", with_key("b"))
    assert CALLS == ["charge_card", "provision_account"]
    assert [*enumerate(CALLS, 1)] == [(1, "charge_card"), (2, "provision_account")]
    assert (len(CALLS), CALLS[-1], CALLS[:1]) == (2, "provision_account", ["charge_card"])
    shown = subprocess.run(
        [sys.executable, "-m", "amends.examples.shop.store"], capture_output=True, text=True, check=True
    ).stdout
    assert "2. provision_account" in shown
    CALLS.clear()
    assert CALLS == []
    assert store.snapshot()["4411"]["charged"] == "40.00"


def test_threads_with_one_key_charge_once(store):
    barrier = threading.Barrier(4)
    charges: list[tools.Charge] = []

    def charge() -> None:
        barrier.wait()
        charges.append(tools.charge_card("4411", Decimal("40.00"), with_key("k")))

    threads = [threading.Thread(target=charge) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one.charge_id for one in charges}) == 1
    assert len(charges) == 4
    assert store.snapshot()["4411"]["charged"] == "40.00"


def test_the_command_line_shows_switches_and_resets(store, capsys):
    tools.charge_card("4411", Decimal("40.00"), with_key("a"))
    assert main(["provisioning", "down"]) == 0
    shown = capsys.readouterr().out
    assert "provisioning is down" in shown
    assert shown.splitlines()[1].split() == ["4411", "40.00", "open", "-", "0"]
    assert main(["reset"]) == 0
    assert "provisioning is up" in capsys.readouterr().out
    assert store.snapshot()["4411"]["charged"] == "0.00"
    assert main(["explode"]) == 2
    assert capsys.readouterr().err.startswith("usage:")
