"""The main job, as anybody runs it first: its output whole, its world, its exit code."""

import sqlite3
import time
from pathlib import Path

from amends.cli import demo
from amends.cli.main import run

PRINTED = """\
A shop with an open order, and a provisioning service that is down.

u-17: charge order 4411 40.00, then update the crm for order 4411, then provision the account for order 4411

  Step 1  charge_card
          order_id  4411
          amount    40.00
          If a later step fails, it is undone by refund_card.
          Run charge_card?
          approve: done

  Step 2  update_crm
          order_id  4411
          If a later step fails, it is undone by restore_crm.
          Run update_crm?
          approve: done

  Step 3  provision_account
          order_id  4411
          If a later step fails, it stays: it has no undo.
          Run provision_account?
          approve: failed (RuntimeError)

This run stopped: provision_account failed (RuntimeError). Undone, latest first: update_crm (by restore_crm), charge_card (by refund_card).
The tools ran in this order:
1. charge_card
2. update_crm
3. provision_account
4. restore_crm
5. refund_card
Order 4411 in the shop's database:
          charged  crm   account  receipts
  before  0.00     open  -        0
  after   0.00     open  -        0

u-18: charge order 4411 40.00, then send the receipt for order 4411, then provision the account for order 4411

  Step 1  charge_card
          order_id  4411
          amount    40.00
          If a later step fails, it is undone by refund_card.
          Run charge_card?
          approve: done

  Step 2  send_receipt
          order_id  4411
          Nothing can undo this step once it runs.
          Run send_receipt? Nothing undoes this step, and the steps after it cannot undo it.
          approve: done

  Step 3  provision_account
          order_id  4411
          If a later step fails, it stays: it has no undo.
          Run provision_account?
          approve: failed (RuntimeError)

This run stopped: provision_account failed (RuntimeError). Undone, latest first: charge_card (by refund_card). Not undoable, and left as they are: send_receipt.
The tools ran in this order:
1. charge_card
2. send_receipt
3. provision_account
4. refund_card
Order 4411 in the shop's database:
          charged  crm   account  receipts
  before  0.00     open  -        0
  after   0.00     open  -        1

To look at these runs in the console and in Temporal's UI:
"""  # noqa: E501 -- the replies, to the letter


def test_the_demo_runs_both_orders_to_the_letter_and_leaves_the_world_as_it_was(shop) -> None:
    shop.environment = {"TEMPORAL_ADDRESS": "127.0.0.1:1", "AMENDS_TASK_QUEUE": "another"}
    began = time.monotonic()
    done = shop.amends("demo", "--state-folder", "kept")
    assert time.monotonic() - began < 20
    assert (done.returncode, done.stderr) == (0, "")
    hint = f"  SHOP_DB=kept/shop.db amends dev --agent {demo.agent_file()} --state-folder kept\n"
    assert done.stdout == PRINTED + hint
    with sqlite3.connect(shop.folder / "kept" / "shop.db") as database:
        assert database.execute("SELECT sum(amount) - sum(refunded) FROM charges").fetchone() == (0.0,)
        assert database.execute("SELECT count(*) FROM receipts").fetchone() == (1,)
    database.close()


def test_a_demo_that_keeps_its_state_wants_a_new_folder(tmp_path: Path, capsys) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    assert run(["demo", "--state-folder", str(tmp_path)]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_demo_that_comes_to_something_else_fails_and_says_what(monkeypatch, capsys) -> None:
    order = demo._ORDERS[0]
    wrong = demo._Order(user=order.user, turn="get order 4411", reply=order.reply, tools=order.tools, receipts=1)
    monkeypatch.setattr(demo, "_ORDERS", (wrong,))
    monkeypatch.setenv("SHOP_DB", "")  # so that the demo's own setting is taken back after the test
    assert run(["demo"]) == 1
    told = capsys.readouterr().err
    assert "the reply is 'Done: get_order.', not 'This run stopped:" in told
    assert "the tools ran as get_order, not as charge_card, update_crm" in told
    assert "the shop's database was" in told
