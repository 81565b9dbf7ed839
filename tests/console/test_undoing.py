"""Undoing a run from outside: over HTTP and by clicks, with an operator token, and 403 for anybody without one."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from amends.examples.shop.store import Store
from amends.tests.console.browsing import press, say, violations
from amends.tests.console.conftest import Caller, Place
from amends.tests.console.picturing import Picture
from playwright.async_api import Page

TWO = "charge order 4411 25.00, then update the crm for order 4411"


@pytest.fixture
def token(place: Place) -> Iterator[str]:
    operators = place.console.desk.agent.operators
    name = f"oncall-{uuid4().hex[:6]}"
    yield operators.create(name, ("undo",), timedelta(days=1))
    operators.revoke(name)


async def done(caller: Caller, by: str = "ana", turn: str = TWO) -> dict[str, Any]:
    """Have a run done; return it."""
    wait = {"Prefer": "wait=20"}
    run = (await caller.post(f"/v1/threads/{by}/turns", {"turn": turn}, by=by, key=uuid4().hex, **wait)).json()["run"]
    while run["waiting"]:
        (question,) = run["waiting"]
        path = f"/v1/runs/{run['run']}/questions/{question['id']}/answer"
        body = {"answer": "approve", "digest": question["digest"]}
        run = (await caller.post(path, body, by=by, key=uuid4().hex, **wait)).json()
    assert run["state"] == "done"
    return run  # type: ignore[no-any-return]


async def test_the_plan_is_free_and_the_undo_needs_a_token(caller: Caller, token: str) -> None:
    run = (await done(caller))["run"]
    path = f"/v1/runs/{run}/undo"
    plan = (await caller.get(path)).json()
    assert [(each["tool"], each["status"]) for each in plan["entries"]] == [
        ("update_crm", "would-compensate"),
        ("charge_card", "would-compensate"),
    ]
    body = {"reason": "cancelled by phone", "plan_digest": plan["digest"]}
    for by, more in ((None, {}), ("ana", {}), ("olga", {}), ("ana", {"Operator-Token": "amo_x_y"}), ("amo_x", {})):
        refused = await caller.post(path, body, by=by, key=uuid4().hex, **more)
        assert (refused.status_code, refused.json()["code"]) == (403, "operator_token_required"), by
    stale = {**body, "plan_digest": "0" * 64}
    wrong = await caller.post(path, stale, by="olga", key=uuid4().hex, **{"Operator-Token": token})
    assert (wrong.status_code, wrong.json()["code"]) == (409, "plan_digest_mismatch")
    said = await caller.post(path, body, by="olga", key="u1", **{"Operator-Token": token, "Prefer": "wait=30"})
    assert said.status_code == 200, said.text
    report = said.json()
    assert (report["verdict"], report["tombstone"]["by"]) == ("unwound", "olga")
    assert [each["status"] for each in report["entries"]] == ["compensated", "compensated"]
    again = (await caller.get(path)).json()
    assert again["condemned"]
    audit = (await caller.get("/v1/threads/ana/audit")).text
    assert '"refusal"' in audit
    assert token not in audit


async def test_the_token_alone_will_do(caller: Caller, token: str) -> None:
    run = (await done(caller, turn="charge order 4411 26.00"))["run"]
    plan = (await caller.get(f"/v1/runs/{run}/undo")).json()
    body = {"reason": "a machine's rule", "plan_digest": plan["digest"]}
    said = await caller.post(f"/v1/runs/{run}/undo", body, by=token, key=uuid4().hex, Prefer="wait=30")
    assert said.json()["tombstone"]["by"] == said.json()["tombstone"]["token"]


async def test_nobody_without_a_token_learns_which_runs_there_are(caller: Caller, token: str) -> None:
    run = (await done(caller, turn="charge order 4411 27.00"))["run"]
    body = {"reason": "x", "plan_digest": "x"}
    for by in (None, "u-18"):
        for name in (run, "run:console:nobody:abc:1", "x"):
            said = await caller.post(f"/v1/runs/{name}/undo", body, by=by, key=uuid4().hex)
            assert (said.status_code, said.json()["code"]) == (403, "operator_token_required")
    assert (await caller.get(f"/v1/runs/{run}/undo", by="u-18")).status_code == 404
    said = await caller.post("/v1/runs/run:console:nobody:abc:1/undo", body, by=token, key=uuid4().hex)
    assert said.status_code == 404


async def test_the_undo_by_clicks(page: Page, shop: Store, token: str, picture: Picture) -> None:
    await say(page, f"u-{uuid4().hex[:6]}", f"{TWO}, then send the receipt for order 4411")
    for _ in range(3):
        await press(page, "Approve")
    await page.get_by_role("link", name="Undo plan").click()
    plan = page.locator("main")
    assert "would-compensate" in await plan.inner_text()
    assert "nothing can undo it: it stays" in await plan.inner_text()
    assert await violations(page) == []
    await picture(page, "undo-plan")
    for given, told in (("amo_x", "An operator token is required"), (token, "Everything")):
        await page.locator("[name=reason]").fill("the customer cancelled by phone")
        await page.locator("[name=token]").fill(given)
        await page.get_by_role("button", name="Undo this run").click()
        if given != token:
            assert told in await page.get_by_role("alert").inner_text()
    await page.get_by_text("This run can't go on: its undo has started.").wait_for()
    said = await plan.inner_text()
    assert "What can be undone is undone, and something stays." in said
    assert "the customer cancelled by phone" in said
    assert await violations(page) == []
    await page.get_by_role("link", name="Back to the run").click()
    await page.get_by_text("This run can't go on: its undo has started.").wait_for()
    assert await page.get_by_role("link", name="Undo plan").count() == 0
    assert token not in await page.content()


async def test_a_run_that_waits_is_undone_from_outside_and_leaves_the_inbox(
    page: Page, caller: Caller, token: str
) -> None:
    user = f"u-{uuid4().hex[:6]}"
    await say(page, user, TWO)
    await press(page, "Approve")
    await page.get_by_role("link", name="Run", exact=True).click()
    await page.get_by_role("link", name="Undo plan").click()
    await page.locator("[name=reason]").fill("a mistake")
    await page.locator("[name=token]").fill(token)
    await page.get_by_role("button", name="Undo this run").click()
    await page.get_by_text("Everything that took effect is undone.").wait_for()
    await page.goto("/inbox")
    assert user not in await page.locator("main").inner_text()
