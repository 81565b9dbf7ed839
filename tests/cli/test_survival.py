"""A waiting run outlives the process it was started in, and takes its answer from anywhere (SPEC 4.4, 5.6)."""

import json
import signal
import time

import pytest

TURN = "charge order 4411 40.00, then send the receipt for order 4411, then get order 4411"

APPROVE_ONCE = f"""
import os, signal, sys
from amends import Agent
desk = Agent.from_file("agent.yaml")
reply = desk.chat({TURN!r}, user="u-17")
reply = desk.confirm("u-17", "approve")
print(reply.run, reply.waiting[0].tool, flush=True)
{{end}}
"""


@pytest.mark.parametrize("end", ["desk.close()", "os.kill(os.getpid(), signal.SIGKILL)"], ids=["ended", "killed"])
def test_another_process_confirms_and_finishes_a_run_that_waits(end: str, shop) -> None:
    first = shop.python(APPROVE_ONCE.replace("{end}", end))
    assert first.returncode == (0 if end == "desk.close()" else -signal.SIGKILL), first.stderr
    run, tool = first.stdout.split()
    assert tool == "send_receipt"
    second = shop.amends("confirm", "u-17", "approve", "--by", "ana", "--json")
    assert second.returncode == 0, second.stderr
    said = json.loads(second.stdout)
    assert (said["run"], said["state"], said["text"]) == (run, "done", "Done: charge_card, send_receipt, get_order.")
    assert [step["confirmed_by"] for step in said["steps"]] == ["u-17", "ana", ""]
    assert shop.store.calls() == ["charge_card", "send_receipt", "get_order"]


def test_a_served_run_is_answered_by_the_temporal_command_and_reads_well_there(shop, started) -> None:
    worker = started(shop, "worker", "agent.yaml", "--drain", "10s", until="Stop with")
    asked = shop.amends("chat", "--as", "u-18", typed=f"{TURN}\n")
    assert (asked.returncode, asked.stdout) == (3, "")
    shown = shop.amends("show", "u-18", "--json", "--temporal")
    waiting = json.loads(shown.stdout)
    run, address = waiting["temporal"]["workflow_id"], waiting["temporal"]["address"]
    for question in ("q1", "q2"):
        # An answer to a question that is not asked yet changes nothing.
        while [each["id"] for each in json.loads(shop.amends("show", "u-18", "--json").stdout)["waiting"]] != [
            question
        ]:
            time.sleep(0.05)
        answer = json.dumps({"question_id": question, "answer": "approve", "by": "ana"})
        shop.temporal(address, "workflow", "signal", "-w", run, "--name", "answer", "--input", answer)
    result = shop.temporal(address, "workflow", "result", "-w", run, "--output", "json")
    assert json.loads(result)["result"]["text"] == "Done: charge_card, send_receipt, get_order."

    listed = json.loads(shop.temporal(address, "workflow", "list", "--output", "json"))
    assert run in {each["execution"]["workflowId"] for each in listed}
    history = json.loads(shop.temporal(address, "workflow", "show", "-w", run, "--output", "json"))
    activities = [each for each in history["events"] if "activityTaskScheduledEventAttributes" in each]
    names = [each["activityTaskScheduledEventAttributes"]["activityType"]["name"] for each in activities]
    assert names == ["charge_card", "send_receipt", "get_order"]
    assert all(each["userMetadata"]["summary"] for each in activities)

    worker.send_signal(signal.SIGTERM)
    assert worker.wait(20) == 0


def test_the_session_hears_of_the_end_before_its_worker_ends_so_the_next_command_need_not_wait(shop) -> None:
    """What a worker takes with it when it ends is given up by Temporal after ten seconds."""
    for user in ("u-19", "u-20"):
        shop.amends("chat", "--as", user, typed="charge order 4411 40.00\n")
        assert shop.amends("confirm", user, "approve").returncode == 0
        begun = time.monotonic()
        assert shop.amends("show", user).returncode == 0
        assert time.monotonic() - begun < 6
