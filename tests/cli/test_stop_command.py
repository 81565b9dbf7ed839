"""``amends stop``: a run, a session or everything, stopped from another process (SPEC 8.4)."""

import json

import pytest

TURN = "charge order 4411 40.00, then send the receipt for order 4411"


def opened(shop) -> str:
    """Charge an order and wait at the receipt; return the run."""
    asked = shop.amends("chat", "--as", "u-17", typed=f"{TURN}\n")
    assert asked.returncode == 3, asked.stderr
    waits = shop.amends("confirm", "u-17", "approve", "--json")
    assert waits.returncode == 3, waits.stderr
    return str(json.loads(waits.stdout)["run"])


@pytest.mark.usefixtures("standing")
@pytest.mark.parametrize("target", ["run", "u-17", "--all", "--everything"])
def test_it_stops_undoes_and_says_so(target: str, shop) -> None:
    run = opened(shop)
    done = shop.amends("stop", run if target == "run" else target, "--by", "ops", "--reason", "wrong order")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{run} of u-17: send_receipt was not sent. It is undone.",
        "  This run stopped: stopped by ops: wrong order. Undone, latest first: charge_card (by refund_card).",
    ]
    assert shop.store.calls() == ["charge_card", "refund_card"]
    again = shop.amends("stop", "u-17", "--json")
    assert (again.returncode, json.loads(again.stdout)["runs"]) == (0, [])


@pytest.mark.parametrize("words", [(), ("u-17", "--all"), ("--all", "--everything")])
def test_it_wants_to_know_what_to_stop(words: tuple[str, ...], shop) -> None:
    done = shop.amends("stop", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "say what to stop: one RUN or USER, or --all, or --everything" in done.stderr


def test_a_run_that_is_not_open_is_not_stopped(shop) -> None:
    done = shop.amends("stop", "run:desk:u-17:abc:1")
    assert (done.returncode, done.stdout) == (9, "")
    assert "There is no open run run:desk:u-17:abc:1." in done.stderr
