"""The operator's door: without a token that will do nothing is condemned, and the record says who tried (SPEC 8.1)."""

import base64
import re
from datetime import UTC, datetime, timedelta

import pytest
from amends.client.unwinding import UndoRequest
from amends.contract.errors import Conflict, NotAllowed, NotFound
from amends.contract.mistakes import FileMistakes
from amends.contract.names import session_workflow_id, unwind_id
from amends.contract.record import Entry
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import eventually, run_of

ORDER = "charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411)"
DAY = timedelta(days=1)
REASON = "the wrong customer"


def expired(desk: Desk) -> str:
    """Make a token whose time was over yesterday."""
    made = type(desk.operators)(desk.operators.path, clock=lambda: datetime.now(UTC) - 2 * DAY)
    return made.create("late", ("undo",), DAY)


def revoked(desk: Desk) -> str:
    token = desk.operators.create("gone", ("undo",), DAY)
    desk.operators.revoke("gone")
    return token


def out_of_scope(desk: Desk) -> str:
    return desk.operators.create("clerk", ("answer", "export", "settings"), DAY)


REFUSED = {
    "none exists": (lambda desk: "amo_ops_" + "A" * 43, "operator_token_not_configured", ""),
    "none given": (lambda desk: desk.token and None, "operator_token_required", ""),
    "empty": (lambda desk: desk.token and "", "operator_token_required", ""),
    "malformed": (lambda desk: desk.token[:-1], "operator_token_required", ""),
    "wrong secret": (lambda desk: desk.token[:-43] + "A" * 43, "operator_token_required", ""),
    "unknown name": (lambda desk: desk.token.replace("on-call", "off-call"), "operator_token_required", ""),
    "expired": (expired, "operator_token_expired", "token late"),
    "revoked": (revoked, "operator_token_revoked", "token gone"),
    "out of scope": (out_of_scope, "operator_token_scope", "token clerk"),
}


async def refusals(desk: Desk) -> list[Entry]:
    return [entry for entry in (await desk.record(desk.user)).entries if entry.kind == "refusal"]


async def nothing_happened(bench: ToolBench, desk: Desk, run: str, called: list[str]) -> None:
    assert bench.names == called
    plan = await desk.undo(run, dry_run=True)
    assert (plan.condemned, plan.tombstone) == (False, None)
    assert (await desk.session(desk.user)).condemned == ()
    assert [entry.kind for entry in (await desk.record(desk.user)).entries if entry.kind in ("condemn", "unwind")] == []


@pytest.mark.parametrize("case", REFUSED)
async def test_g036_g037_a_token_that_will_not_do_condemns_nothing_and_leaves_a_line(
    case: str, bench: ToolBench, desk: Desk
):
    make, code, noted = REFUSED[case]
    done = await desk.order(ORDER)
    token = make(desk)
    with pytest.raises(NotAllowed) as told:
        await desk.undo(done.run, reason=REASON, token=token, by="mallory")
    assert told.value.code == code
    await eventually(lambda: refusals(desk))
    (line,) = await refusals(desk)
    assert (line.by, line.run, line.outcome, line.text, line.note) == ("mallory", done.run, code, "undo", noted)
    assert (token or "no secret") not in "".join((await desk.record(desk.user)).text())
    await nothing_happened(bench, desk, done.run, ["charge_card", "update_crm"])


async def test_who_may_not_is_refused_before_anything_else_is_said_of_the_run(bench: ToolBench, desk: Desk):
    await desk.chat(ORDER, user=desk.user)
    asked = await desk.confirm(desk.user, "approve")
    for run, steps in ((asked.run, (1,)), (asked.run, (9,)), (f"{asked.run}9", ()), (f"{asked.run}{'9' * 300}", ())):
        with pytest.raises(NotAllowed) as told:
            await desk.undo(run, reason=REASON, token=desk.token[:-1], steps=steps)
        assert told.value.code == "operator_token_required"
    await eventually(lambda: _lines(desk, 4))
    assert {line.run[: len(asked.run)] for line in await refusals(desk)} == {asked.run}


async def _lines(desk: Desk, count: int) -> bool:
    return len(await refusals(desk)) == count


@pytest.mark.parametrize("broken", ["{", "open to others"])
async def test_a_file_of_operators_that_cannot_be_believed_lets_nobody_in(broken: str, bench: ToolBench, desk: Desk):
    done = await desk.order(ORDER)
    token, file = desk.token, desk.operators.path
    if broken == "{":
        file.write_text(broken)
    else:
        file.chmod(0o666)
    with pytest.raises(FileMistakes, match=str(file)):
        await desk.undo(done.run, reason=REASON, token=token)
    await nothing_happened(bench, desk, done.run, ["charge_card", "update_crm"])


async def test_a_name_that_is_too_long_to_keep_is_refused(bench: ToolBench, desk: Desk):
    done = await desk.order(ORDER)
    with pytest.raises(ValueError, match="by has 201 characters; it may have 200"):
        await desk.undo(done.run, reason=REASON, token=desk.token, by="x" * 201)
    await nothing_happened(bench, desk, done.run, ["charge_card", "update_crm"])


async def test_an_open_run_goes_on_after_a_refusal(bench: ToolBench, desk: Desk):
    await desk.chat(ORDER, user=desk.user)
    asked = await desk.confirm(desk.user, "approve")
    with pytest.raises(NotAllowed, match="An operator token is required"):
        await desk.undo(asked.run, reason=REASON, token=desk.token + "x")
    await nothing_happened(bench, desk, asked.run, ["charge_card"])
    done = await desk.confirm(desk.user, "approve")
    assert (done.state, bench.names) == ("done", ["charge_card", "update_crm"])
    await eventually(lambda: refusals(desk))


async def test_g034_the_word_that_is_let_through_names_its_token_and_the_person_behind_it(bench: ToolBench, desk: Desk):
    done = await desk.order(ORDER)
    first, second = (desk.operators.create(name, ("undo",), DAY) for name in ("oncall-1", "oncall-2"))
    report = await desk.undo(done.run, reason=REASON, token=first, by="ana")
    assert report.verdict == "unwound"
    assert report.tombstone is not None
    assert (report.tombstone.by, report.tombstone.token, report.tombstone.reason) == ("ana", "oncall-1", REASON)

    desk.operators.revoke("oncall-1")
    with pytest.raises(NotAllowed, match="was revoked"):
        await desk.undo(done.run, reason="again", token=first, by="ana")
    again = await desk.undo(done.run, reason="again", token=second)
    assert again.tombstone is not None
    assert (again.tombstone.by, again.tombstone.token, again.tombstone.reason) == ("ana", "oncall-1", REASON)
    await eventually(lambda: refusals(desk))
    record = [entry for entry in (await desk.record(desk.user)).entries if entry.kind in ("condemn", "refusal")]
    assert [(entry.kind, entry.by, entry.note) for entry in record] == [
        ("condemn", "ana", "token oncall-1"),
        ("refusal", "ana", "token oncall-1"),
        ("condemn", "oncall-2", "token oncall-2"),
    ]
    assert bench.names == ["charge_card", "update_crm", "restore_crm", "refund_card"]


async def test_no_token_is_in_a_history_or_in_what_is_printed_of_a_request(bench: ToolBench, desk: Desk):
    done = await desk.order(ORDER)
    wrong = desk.token[:-43] + "A" * 43
    with pytest.raises(NotAllowed):
        await desk.undo(done.run, reason=REASON, token=wrong)
    assert (await desk.unwind(done.run)).verdict == "unwound"
    for workflow in (done.run, unwind_id(done.run), session_workflow_id(desk.name, desk.user)):
        history = (await run_of(desk, workflow).fetch_history()).to_json()
        payloads = b"".join(base64.b64decode(data) for data in re.findall(r'"data": "([^"]*)"', history))
        assert b"charge_card" in payloads
        for secret in (desk.token[-43:], "A" * 43):
            assert secret not in history
            assert secret.encode() not in payloads
    assert desk.token not in repr(UndoRequest(run=done.run, token=desk.token))


async def test_a_plan_needs_no_token_and_another_plan_than_the_one_shown_is_not_carried_out(
    bench: ToolBench, desk: Desk
):
    await desk.chat(ORDER, user=desk.user)
    asked = await desk.confirm(desk.user, "approve")
    shown = await desk.undo(asked.run, dry_run=True)
    await desk.confirm(desk.user, "approve")
    with pytest.raises(Conflict) as told:
        await desk.undo(asked.run, reason=REASON, token=desk.token, digest=shown.digest)
    assert told.value.code == "plan_digest_mismatch"
    await nothing_happened(bench, desk, asked.run, ["charge_card", "update_crm"])


async def test_the_digest_of_some_steps_is_not_that_of_all_and_stays_while_the_plan_is_the_same(
    bench: ToolBench, desk: Desk
):
    done = await desk.order(ORDER)
    all_of_it, some, other = [await desk.undo(done.run, dry_run=True, steps=steps) for steps in ((), (2,), (1,))]
    assert len({all_of_it.digest, some.digest, other.digest}) == 3
    assert (await desk.undo(done.run, dry_run=True, steps=(1, 2))).digest == all_of_it.digest
    for steps, shown in (((), some), ((1,), some), ((2,), all_of_it)):
        with pytest.raises(Conflict) as told:
            await desk.undo(done.run, reason=REASON, token=desk.token, digest=shown.digest, steps=steps)
        assert told.value.code == "plan_digest_mismatch"
    await nothing_happened(bench, desk, done.run, ["charge_card", "update_crm"])

    for _ in range(2):
        report = await desk.undo(done.run, reason=REASON, token=desk.token, digest=some.digest, steps=(2,))
        assert [entry.status for entry in report.entries if entry.position == 1] == ["not-attempted"]
    assert bench.names == ["charge_card", "update_crm", "restore_crm"]


async def test_a_run_of_another_agent_is_left_to_that_agent(bench: ToolBench, desk: Desk):
    done = await desk.order(ORDER)
    foreign = done.run.replace(f"run:{desk.name}:", "run:other:")
    for dry_run in (True, False):
        with pytest.raises(NotFound, match="is a run of the agent other, not of desk") as told:
            await desk.undo(foreign, dry_run=dry_run, reason=REASON, token=desk.token)
        assert told.value.code == "no_such_run"
    await nothing_happened(bench, desk, done.run, ["charge_card", "update_crm"])


@pytest.mark.parametrize("reason", ["", "   ", "x" * 301])
async def test_a_word_without_a_reason_condemns_nothing(reason: str, bench: ToolBench, desk: Desk):
    done = await desk.order(ORDER)
    with pytest.raises(ValueError, match="the reason has"):
        await desk.undo(done.run, reason=reason, token=desk.token)
    await nothing_happened(bench, desk, done.run, ["charge_card", "update_crm"])


async def test_whoever_waits_for_nothing_has_given_the_word_all_the_same(bench: ToolBench, desk: Desk):
    done = await desk.order(ORDER)
    report = await desk.undo(done.run, reason=REASON, token=desk.token, patience=0)
    assert report.condemned
    assert report.verdict in ("unwinding", "unwound")
    await eventually(lambda: len(bench.names) == 4)
    assert (await desk.undo(done.run, reason=REASON, token=desk.token)).verdict == "unwound"
    assert bench.names == ["charge_card", "update_crm", "restore_crm", "refund_card"]
