"""Secret and personal values, planted everywhere a person or a program can put one, are in no log, address or title."""

import re
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from amends.examples.shop.store import Store
from amends.tests.console.browsing import press, say
from amends.tests.console.conftest import Caller, Opens, Place

PLANTED = ("77.31", "4412", "maria@example.com", "tel. 5550199", "because of her divorce", '{"iban"', "key-of-maria")


async def test_what_is_planted_is_in_no_log_no_address_and_no_title(
    opens: Opens, caller: Caller, place: Place, shop: Store, capfd
) -> None:
    operators = place.console.desk.agent.operators
    name = f"leak-{uuid4().hex[:6]}"
    token = operators.create(name, ("undo",), timedelta(days=1))
    seen: list[str] = []
    page = await opens(base_url=place.url)
    page.on("request", lambda sent: seen.append(sent.url))
    page.on("console", lambda told: seen.append(told.text))

    async def titled() -> None:
        seen.append(await page.title())

    # A sign-in, a wrong one first.
    for each in ("amp_maria@example.com", place.tokens["lea"]):
        await page.goto("/sign-in")
        await page.locator("[name=token]").fill(each)
        await page.get_by_role("button", name="Sign in").click()
        await titled()
    # A turn that is not read, a plan, a turn that is stopped, and one that is undone from outside.
    await page.goto("/threads/lea")
    await page.locator("textarea[name=turn]").fill("write to maria@example.com, tel. 5550199")
    await page.get_by_role("button", name="Send").click()
    await page.get_by_role("alert").wait_for()
    await titled()
    await page.goto("/plan")
    await page.locator("[name=turn]").fill("charge order 4412 77.31")
    await page.get_by_role("button", name="Plan").click()
    await titled()
    await say(page, "lea", "charge order 4412 77.31")
    assert "77.31" in await page.locator(".card").inner_text()
    await titled()
    await page.get_by_role("link", name="Run", exact=True).click()
    await page.locator("[name=note]").last.fill("because of her divorce")
    await page.get_by_role("button", name="Stop this run").click()
    await page.locator("#reply").wait_for()
    await titled()
    await say(page, "lea", "charge order 4412 7.31")
    await press(page, "Approve")
    await page.get_by_role("link", name="Undo plan").click()
    await page.locator("[name=reason]").fill("because of her divorce")
    await page.locator("[name=token]").fill(token)
    await page.get_by_role("button", name="Undo this run").click()
    await page.get_by_text("its undo has started").wait_for()
    await titled()
    # What programs send, right and wrong.
    for path, body in (
        ("/v1/plan", {"turn": "charge order 4412 77.31", "maria@example.com": 1}),
        ("/v1/threads/lea/turns", {"turn": "maria@example.com"}),
        ("/v1/runs/maria@example.com/questions/q1/answer", {"answer": "x", "digest": "x", "result": {"iban": 1}}),
        ("/v1/runs/run:console:lea:x:1/undo", {"reason": "because of her divorce", "plan_digest": "4412"}),
    ):
        await caller.post(path, body, by="lea", key="key-of-maria")
        await caller.post(f"{path}?who=maria@example.com", body, by="maria@example.com", key="key-of-maria")
    operators.revoke(name)

    cookies = [str(each["value"]) for each in await page.context.cookies()]
    form_token = await page.locator("[name=form_token]").first.get_attribute("value")
    secrets = [*PLANTED, token, *place.tokens.values(), *cookies, str(form_token)]
    logged = [line for line in place.log if not line.startswith("HTTP Request: ")]  # the test's own client says those
    printed = capfd.readouterr()
    lines = [*seen, *logged, *printed.out.splitlines(), *printed.err.splitlines()]
    assert logged
    assert [line for line in lines for secret in secrets if secret in line] == []


def test_the_console_logs_routes_and_names_and_never_what_was_asked_for() -> None:
    """Whoever adds a line looks here, and thinks about what is in it."""
    logged = {
        line.strip()
        for file in (Path(__file__).parents[2] / "console").glob("*.py")
        for line in file.read_text().splitlines()
        if re.search(r"_log\.\w+\(", line)
    }
    assert logged == {
        '_log.info("%s %s %s %d ms", request.method, route, response.status_code, (time.monotonic() - begun) * 1000)',
        '_log.info("notice %s to %s", kind, name)',
    }
