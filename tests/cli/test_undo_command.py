"""``amends undo``: a plan, the plan carried out, refusals, what is stuck, each from a process of its own (SPEC 8)."""

import json
import re
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from amends.cli.main import run as run_here
from amends.client.operators import Operators
from amends.tests.cli.conftest import Shop

ORDER = "charge order 4411 40.00, then update the crm for order 4411, then send the receipt for order 4411"
SHORT = "charge order 4412 40.00, then update the crm for order 4412"
DAY = timedelta(days=1)


@pytest.fixture
def served(shop: Shop, started) -> Shop:
    """The shop with a worker, whose server the commands share: each starts faster so."""
    started(shop, "worker", "agent.yaml", "--drain", "5s", until="Stop with")
    return shop


def ordered(shop: Shop, turn: str, user: str = "u-17") -> str:
    """Let a person say a turn and approve all of it; return the run."""
    asked = shop.amends("chat", "--as", user, typed=f"{turn}\n")
    while asked.returncode == 3:
        asked = shop.amends("confirm", user, "approve", "--json")
    assert asked.returncode == 0, asked.stderr
    return str(json.loads(asked.stdout)["run"])


def operators(shop: Shop) -> Operators:
    return Operators(shop.folder / ".amends" / "operators.json")


def operator(shop: Shop, name: str, *words: str) -> str:
    made = shop.amends("operator", "create", name, *words)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def charge_of(shop: Shop, order: str) -> str:
    with shop.store.open() as connection:
        row = connection.execute("SELECT charge_id FROM charges WHERE order_id = ?", (order,)).fetchone()
    return str(row["charge_id"])


def rename_charge(shop: Shop, old: str, new: str) -> None:
    """Make the shop forget a charge, so that its refund is refused, or remember it again."""
    with shop.store.open() as connection:
        connection.execute("UPDATE charges SET charge_id = ? WHERE charge_id = ?", (new, old))


def keys_of(shop: Shop, tool: str) -> list[str]:
    with shop.store.open() as connection:
        rows = connection.execute("SELECT key FROM calls WHERE tool = ?", (tool,)).fetchall()
    return [str(row["key"]) for row in rows]


def lists_in_the_end(shop: Shop, which: str, wanted: list[tuple[str, str, str]]) -> None:
    """Look until a list is as it should be: the store behind it lags by a moment."""
    found: list[tuple[str, str, str]] | None = None
    deadline = time.monotonic() + 30
    while found != wanted:
        assert time.monotonic() < deadline, found
        listed = json.loads(shop.amends("runs", which, "--json").stdout)["runs"]
        found = [(each["run"], each["user"], each["state"]) for each in listed]


def problem(done) -> dict[str, object]:
    assert done.stdout == ""
    said: dict[str, object] = json.loads(done.stderr)
    return said


def test_the_plan_is_shown_and_then_carried_out(served: Shop) -> None:
    run = ordered(served, ORDER)
    planned = served.amends("undo", run)
    assert planned.returncode == 0, planned.stderr
    first, *lines = planned.stdout.splitlines()
    found = re.fullmatch(rf"Undo plan for {run}  plan ([0-9a-f]{{64}})", first)
    assert found, first
    charge = charge_of(served, "4411")
    plan = [
        "  order  status            step            undo call",
        "  1      skipped-no-hook   3 send_receipt  nothing can undo it: stays as it is",
        "  2      would-compensate  2 update_crm    restore_crm(order_id 4411, previous open)",
        f"  3      would-compensate  1 charge_card   refund_card(charge_id {charge}, amount 40.00)",
        "If every undo succeeds, what can be undone is undone, and something stays.",
        "Once it is begun the run can never go on.",
    ]
    assert lines == plan
    command = f"amends undo {run} --apply --plan-digest {found[1]} --reason TEXT"
    assert planned.stderr == f"Nothing was done.\nTo do it:  {command}\n"
    for same in ((run, "--dry-run"), ("u-17",), (f"unwind:{run}",)):
        assert served.amends("undo", *same).stdout == planned.stdout
    assert served.store.calls() == ["charge_card", "update_crm", "send_receipt"]

    served.environment["AMENDS_OPERATOR_TOKEN"] = operator(served, "oncall-1")
    words = [word if word != "TEXT" else "customer cancelled by phone" for word in command.split()[1:]]
    done = served.amends(*words, "--by", "ana")
    assert done.returncode == 5, done.stderr
    assert done.stdout.splitlines()[:-1] == [
        f"Unwind of {run}",
        "  order  status           step            undo call",
        "  1      skipped-no-hook  3 send_receipt  nothing can undo it: stays as it is",
        "  2      compensated      2 update_crm    restore_crm(order_id 4411, previous open)",
        f"  3      compensated      1 charge_card   refund_card(charge_id {charge}, amount 40.00)",
        "Unwound with leftovers: what can be undone is undone, and something stays.",
    ]
    assert re.fullmatch(
        r"Condemned by ana \(token oncall-1\) at \S+ \S+Z: customer cancelled by phone", done.stdout.splitlines()[-1]
    )
    assert served.store.calls()[3:] == ["restore_crm", "refund_card"]

    shown = served.amends("show", run).stdout
    assert shown.endswith(f"\n\n{done.stdout}")
    assert "\nDone: charge_card, update_crm, send_receipt.\n" in shown, "the run ended well, and was undone later"
    assert json.loads(served.amends("show", run, "--json").stdout)["unwinding"]["verdict"] == "unwound-with-leftovers"

    again = served.amends("undo", run)
    assert again.returncode == 0
    assert again.stderr == "Nothing was done.\n", "nothing is left to do"
    assert [line.split()[1] for line in again.stdout.splitlines()[2:5]] == [
        "skipped-no-hook",
        "already-compensated",
        "already-compensated",
    ]
    assert "Unwound with leftovers: " in again.stdout
    assert served.amends("undo", run, "--apply", "--reason", "again").returncode == 5
    assert served.store.calls()[3:] == ["restore_crm", "refund_card"]


def test_a_token_that_will_not_do_is_refused_and_nothing_happens(served: Shop) -> None:
    run = ordered(served, SHORT)
    apply = ("undo", run, "--apply", "--reason", "wrong customer", "--json")

    def refused(token: str, code: str) -> None:
        served.environment["AMENDS_OPERATOR_TOKEN"] = token
        done = served.amends(*apply)
        said = problem(done)
        assert (done.returncode, said["status"], said["code"]) == (8, 403, code)

    refused("amo_ops_" + "A" * 43, "operator_token_not_configured")
    good = operator(served, "oncall-1")
    late = Operators(operators(served).path, clock=lambda: datetime.now(UTC) - 2 * DAY).create("late", ("undo",), DAY)
    refused("", "operator_token_required")
    refused(good[:-1], "operator_token_required")
    refused(late, "operator_token_expired")
    refused(operator(served, "clerk", "--scope", "answer", "--scope", "export"), "operator_token_scope")
    operators(served).revoke("oncall-1")
    refused(good, "operator_token_revoked")

    served.environment["AMENDS_OPERATOR_TOKEN"] = ""
    told = served.amends(*apply[:-1])
    assert told.returncode == 8
    assert told.stderr == (
        "error: An operator token is required. Give it in AMENDS_OPERATOR_TOKEN, with --token-file or as token=.\n"
    )
    assert served.store.calls() == ["charge_card", "update_crm"]
    record = [json.loads(line) for line in served.amends("audit", "export", "u-17").stdout.splitlines()[1:]]
    assert [line["outcome"] for line in record if line["kind"] == "refusal"] == [
        "operator_token_not_configured",
        "operator_token_required",
        "operator_token_required",
        "operator_token_expired",
        "operator_token_scope",
        "operator_token_revoked",
        "operator_token_required",
    ]
    assert {line["kind"] for line in record} == {"turn", "question", "answer", "call", "end", "refusal"}
    plan = json.loads(served.amends("undo", run, "--json").stdout)
    assert (plan["schema"], plan["dry_run"], plan["condemned"]) == ("amends.undo/1", True, False)


def test_an_undo_that_fails_is_repaired_and_the_same_command_goes_on(served: Shop) -> None:
    run = ordered(served, SHORT)
    token = served.folder / "token"
    token.write_text(operator(served, "oncall-1") + "\n")
    apply = ("undo", run, "--apply", "--reason", "wrong customer", "--token-file", str(token))
    charge = charge_of(served, "4412")
    rename_charge(served, charge, "forgotten")
    stuck = served.amends(*apply)
    assert stuck.returncode == 6, stuck.stderr
    lines = stuck.stdout.splitlines()
    undo = f"refund_card(charge_id {charge}, amount 40.00)"
    assert lines[2:5] == [
        "  1      compensated  2 update_crm   restore_crm(order_id 4412, previous open)",
        f"  2      failed       1 charge_card  {undo}; 1 try; Refused: there is no charge {charge}",
        "Stuck: a person has to say how it goes on.",
    ]
    assert "It asks: Undoing charge_card failed after 1 tries (Refused). 1 step(s) still need undoing." in lines
    retry = next(line.strip() for line in lines if " retry " in line)
    assert retry.startswith(f"amends answer unwind:{run} retry --digest ")

    planned = served.amends("undo", run).stdout.splitlines()
    assert planned[-len(lines[6:]) :] == lines[6:], "whoever looks at the plan sees the question too"
    assert f"It is under way, as unwind:{run}." in planned

    lists_in_the_end(served, "--unwinds", [(f"unwind:{run}", "u-17", "stuck")])
    lists_in_the_end(served, "--state=condemned", [(run, "u-17", "condemned")])

    # Somebody answers while nothing is repaired: it fails again, and asks again.
    answered = served.amends(*retry.split()[1:])
    assert answered.returncode == 6, answered.stderr
    shown = json.loads(served.amends("show", f"unwind:{run}", "--json").stdout)
    assert [question["kind"] for question in shown["waiting"]] == ["undo"]

    rename_charge(served, "forgotten", charge)
    done = served.amends(*apply, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["schema"], report["verdict"], report["waiting"]) == ("amends.undo/1", "unwound", [])
    assert [(entry["tool"], entry["status"]) for entry in report["entries"]] == [
        ("update_crm", "compensated"),
        ("charge_card", "compensated"),
    ]
    lists_in_the_end(served, "--unwinds", [])
    keys = keys_of(served, "refund_card")
    assert len(keys) == 3
    assert set(keys) == {report["entries"][1]["key"]}, "every try had the same key"
    assert served.store.calls().count("restore_crm") == 1


@pytest.mark.usefixtures("standing")
def test_whoever_undoes_is_killed_and_the_next_goes_on(shop: Shop) -> None:
    run = ordered(shop, SHORT)
    shop.environment["AMENDS_OPERATOR_TOKEN"] = operator(shop, "oncall-1")
    killed = shop.starts("undo", run, "--apply", "--reason", "wrong customer")
    deadline = time.monotonic() + 30
    while "restore_crm" not in shop.store.calls():
        assert time.monotonic() < deadline, killed.communicate()
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    done = shop.amends("undo", run, "--apply", "--reason", "wrong customer", "--wait", "50", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "unwound"
    assert shop.store.snapshot()["4412"] == {"charged": "0.00", "crm": "open", "account": None, "receipts": 0}
    for tool in ("restore_crm", "refund_card"):
        assert len(set(keys_of(shop, tool))) == 1, "sent again, if it was, under the same key"


def test_an_open_run_is_undone_and_a_plan_that_has_changed_is_not_carried_out(served: Shop) -> None:
    asked = served.amends("chat", "--as", "u-18", typed=f"{ORDER}\n")
    assert asked.returncode == 3
    waits = json.loads(served.amends("confirm", "u-18", "approve", "--json").stdout)
    run = waits["run"]
    token = operator(served, "oncall-1")
    shown = json.loads(served.amends("undo", run, "--json").stdout)
    assert [entry["status"] for entry in shown["entries"]] == ["would-compensate"]
    assert served.amends("confirm", "u-18", "approve").returncode == 3

    apply = ("undo", run, "--apply", "--reason", "no", "--token-file", "-")
    changed = served.amends(*apply, "--plan-digest", shown["digest"], "--json", typed=token)
    assert (changed.returncode, problem(changed)["code"]) == (7, "plan_digest_mismatch")
    chosen = served.amends(*apply, "--steps", "1", "--json", typed=token)
    assert (chosen.returncode, problem(chosen)["code"]) == (7, "run_open")
    assert served.store.calls() == ["charge_card", "update_crm"]

    done = served.amends(*apply, "--json", typed=token)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "unwound"
    assert served.store.calls() == ["charge_card", "update_crm", "restore_crm", "refund_card"]
    late = served.amends("confirm", run, "approve", "--json")
    assert late.returncode == 7, "a condemned run takes no answer"


def test_some_steps_alone_are_undone_and_the_rest_is_named(served: Shop) -> None:
    run = ordered(served, SHORT)
    served.environment["AMENDS_OPERATOR_TOKEN"] = operator(served, "oncall-1")
    planned = served.amends("undo", run, "--steps", "2")
    assert planned.stdout.splitlines()[3].endswith("not chosen: stays as it is")
    assert " --steps 2 --reason TEXT\n" in planned.stderr
    done = served.amends("undo", run, "--steps", "2", "--apply", "--reason", "only the crm", "--json")
    assert done.returncode == 5, done.stderr
    report = json.loads(done.stdout)
    assert [(entry["position"], entry["status"], entry["reason"]) for entry in report["entries"]] == [
        (2, "compensated", ""),
        (1, "not-attempted", "not-chosen"),
    ]
    assert served.store.calls() == ["charge_card", "update_crm", "restore_crm"]
    rest = served.amends("undo", run, "--apply", "--reason", "all of it", "--json")
    assert rest.returncode == 0, rest.stderr
    assert served.store.calls() == ["charge_card", "update_crm", "restore_crm", "refund_card"]


def test_what_does_not_exist_is_not_found_and_who_does_not_wait_is_told_so(served: Shop) -> None:
    run = ordered(served, SHORT)
    served.environment["AMENDS_OPERATOR_TOKEN"] = operator(served, "oncall-1")
    for words, code in (
        (["run:desk:u-17:abc:1"], "no_such_run"),
        (["nobody"], "no_such_session"),
        ([run, "--steps", "3"], "no_such_step"),
        ([f"{run}0", "--apply", "--reason", "x"], "no_such_run"),
    ):
        done = served.amends("undo", *words, "--json")
        assert (done.returncode, problem(done)["code"]) == (9, code), words
    named = served.amends("undo", run, "--apply", "--reason", "x", "--by", "x" * 201)
    assert (named.returncode, named.stdout) == (2, "")
    assert "by has 201 characters; it may have 200" in named.stderr
    assert served.store.calls() == ["charge_card", "update_crm"]

    left = served.amends("undo", run, "--apply", "--reason", "x", "--wait", "0")
    assert left.returncode in (124, 0), left.stderr
    assert ("Under way" in left.stdout) == (left.returncode == 124)
    assert served.amends("undo", run, "--apply", "--reason", "x").returncode == 0
    assert served.store.calls() == ["charge_card", "update_crm", "restore_crm", "refund_card"]


def test_to_undo_a_run_it_has_to_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_here(["undo", "u-17", "--apply", "--reason", "x"]) == 2
    assert "--apply needs the id of a run: `amends undo u-17` shows it, with its plan" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--apply"], "--apply needs a --reason of 1 to 300 characters"),
        (["--apply", "--reason", " "], "--apply needs a --reason of 1 to 300 characters"),
        (["--apply", "--reason", "x" * 301], "--apply needs a --reason of 1 to 300 characters"),
        (["--apply", "--dry-run", "--reason", "x"], "--apply does it and --dry-run does not: give one of the two"),
        (["--reason", "x"], "--reason goes with --apply; without it nothing is done"),
        (["--plan-digest", "x"], "--plan-digest goes with --apply; without it nothing is done"),
        (["--token-file", "x"], "--token-file goes with --apply; without it nothing is done"),
        (["--apply", "--reason", "x", "--token-file", "nowhere"], "--token-file nowhere cannot be read: "),
        (["--steps", "1,x"], "'1,x' are no steps such as 1,3"),
        (["--steps", "0"], "'0' are no steps such as 1,3"),
        (["--steps", ""], "'' are no steps such as 1,3"),
        ([], "Missing argument 'RUN|USER'"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error_before_anything_is_started(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    run = ["run:desk:u-17:abc:1"] if words else []
    assert run_here(["undo", *run, *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert list(tmp_path.iterdir()) == []
