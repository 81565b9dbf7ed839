"""The pages in headless Chromium, one browser for all: cards, races, languages, no JavaScript, accessibility."""

from urllib.parse import urlsplit
from uuid import uuid4

import httpx2 as httpx
import pytest
from amends.examples.shop.store import Store
from amends.tests.console.browsing import press, say, too_wide, violations
from amends.tests.console.conftest import Opens, Place
from amends.tests.console.picturing import Picture
from playwright.async_api import Page

ORDER = "charge order 4411 40.00, then send the receipt for order 4411, then provision the account for order 4411"
NOTHING_UNDOES = "Run send_receipt? Nothing undoes this step, and the steps after it cannot undo it."


async def test_the_failed_order_by_clicks(page: Page, shop: Store, picture: Picture) -> None:
    await say(page, f"u-{uuid4().hex[:6]}", ORDER)
    await picture(page, "card")
    await press(page, "Approve")
    card = page.locator(".card")
    assert "Nothing can undo this step once it runs." in await card.inner_text()
    assert NOTHING_UNDOES in await card.inner_text()
    await picture(page, "irreversible")
    await press(page, "Approve")
    await press(page, "Approve")
    assert await page.locator("#reply").inner_text() == (
        "This run stopped: provision_account failed (RuntimeError). Undone, latest first: charge_card "
        "(by refund_card). Not undoable, and left as they are: send_receipt."
    )
    await picture(page, "run")


async def test_a_step_that_is_skipped_does_not_run_and_the_others_do(page: Page) -> None:
    await say(page, f"u-{uuid4().hex[:6]}", "charge order 4411 7.00, then update the crm for order 4411")
    await press(page, "Skip this step")
    await press(page, "Approve")
    assert await page.locator("#reply").inner_text() == "Done: update_crm. Skipped: charge_card."


@pytest.mark.parametrize("pause", [0, 120, 400])
async def test_a_click_on_a_card_that_has_only_just_come_answers_nothing(page: Page, place: Place, pause: int) -> None:
    """A second click that was meant for the card before, as fast as a page can come."""
    user = f"u-{uuid4().hex[:6]}"
    await say(page, user, "charge order 4411 8.00, then update the crm for order 4411")
    button = page.get_by_role("button", name="Approve")
    await button.click()
    await page.get_by_role("heading", name="update_crm").wait_for()
    await button.evaluate("it => it.scrollIntoView()")
    box = await button.bounding_box()
    assert box is not None
    await page.wait_for_timeout(pause)
    await page.mouse.click(box["x"] + 9, box["y"] + 9)
    await button.click(trial=True)  # waits until the card takes the pointer: an answer that was sent has long arrived
    assert await page.get_by_role("heading", name="update_crm").is_visible()
    async with httpx.AsyncClient(base_url=place.local) as http:
        asked = (await http.get("/v1/questions")).json()["items"]
    assert [each["question"]["tool"] for each in asked if each["user"] == user] == ["update_crm"]
    await press(page, "Approve")


@pytest.mark.parametrize("shown", ["", "x", "99999999999999"])
async def test_an_answer_from_a_card_that_was_made_this_moment_is_not_taken(page: Page, shown: str) -> None:
    """Before a browser has the stylesheet, it may take a click that was meant for the page before."""
    await say(page, f"u-{uuid4().hex[:6]}", "charge order 4411 6.00")
    await page.evaluate("said => document.getElementsByName('shown').forEach(it => it.value = said)", shown)
    await page.get_by_role("button", name="Approve").click()
    assert "nothing was answered" in await page.get_by_role("alert").inner_text()
    await press(page, "Approve")
    assert await page.locator("#reply").inner_text() == "Done: charge_card."


async def test_a_conversation_shows_what_was_said_before(page: Page) -> None:
    user = f"u-{uuid4().hex[:6]}"
    for amount in ("3.00", "4.00"):
        await say(page, user, f"charge order 4411 {amount}")
        await press(page, "Skip this step")
    await page.goto(f"/threads/{user}")
    said = await page.locator("main").inner_text()
    assert "charge order 4411 3.00" in said
    assert "charge order 4411 4.00" in said
    assert await violations(page) == []


async def test_a_form_of_a_card_that_changed_answers_nothing(page: Page, opens: Opens) -> None:
    user = f"u-{uuid4().hex[:6]}"
    await say(page, user, "charge order 4411 9.00, then update the crm for order 4411")
    other = await opens(java_script_enabled=False)
    await other.goto(f"/threads/{user}")
    await press(page, "Approve")
    await other.get_by_role("button", name="Skip this step").click()
    notice = other.get_by_role("alert")
    assert "answered approve" in await notice.inner_text()
    assert await other.get_by_role("heading", name="update_crm").is_visible()


async def test_the_card_comes_by_itself_when_somebody_else_answers(page: Page, opens: Opens) -> None:
    user = f"u-{uuid4().hex[:6]}"
    await say(page, user, "charge order 4411 11.00, then update the crm for order 4411")
    other = await opens()
    await other.goto(f"/threads/{user}")
    await press(page, "Approve")
    await other.get_by_role("heading", name="update_crm").wait_for()


async def test_without_javascript_everything_can_be_answered(opens: Opens) -> None:
    page = await opens(java_script_enabled=False)
    await page.goto(f"/threads/u-{uuid4().hex[:6]}")
    await page.locator("textarea[name=turn]").fill("charge order 4411 12.00")
    await page.get_by_role("button", name="Send").click()
    await page.get_by_role("button", name="Approve").click()
    assert await page.locator("#reply").inner_text() == "Done: charge_card."


@pytest.mark.parametrize("path", ["/inbox", "/runs", "/tools", "/record", "/settings"])
async def test_axe_finds_nothing(page: Page, path: str, picture: Picture) -> None:
    wrong: list[str] = []
    page.on("console", lambda told: wrong.append(told.text) if told.type == "error" else None)
    await page.goto(path)
    assert await violations(page) == []
    assert wrong == []
    await picture(page, path.strip("/"))


async def test_a_plan_says_how_a_turn_would_be_read_and_asked(page: Page, picture: Picture) -> None:
    await page.goto("/plan")
    await page.locator("[name=turn]").fill("charge order 4411 40.00, then send the receipt for order 4411")
    await page.get_by_role("button", name="Plan").click()
    said = await page.locator("main").inner_text()
    assert "Run send_receipt? Nothing undoes this step, and the steps after it cannot undo it." in said
    assert "Nothing was run." in said
    await picture(page, "plan")
    assert await violations(page) == []
    await page.locator("[name=turn]").fill("do something about order 4411")
    await page.get_by_role("button", name="Plan").click()
    assert "This turn was not read." in await page.get_by_role("alert").inner_text()
    assert await violations(page) == []


async def test_axe_finds_nothing_on_a_card_and_a_run(page: Page) -> None:
    user = f"u-{uuid4().hex[:6]}"
    await say(page, user, "charge order 4411 13.00")
    await page.get_by_role("button", name="Approve").click(trial=True)  # waits until the card takes the pointer
    assert await violations(page) == []
    await press(page, "Skip this step")
    assert await violations(page) == []


async def test_axe_finds_nothing_in_dark_colours_and_nothing_is_wider_than_the_narrowest_phone(opens: Opens) -> None:
    page = await opens(color_scheme="dark", viewport={"width": 320, "height": 640})
    await say(page, f"u-{uuid4().hex[:6]}", "charge order 4411 14.00, then send the receipt for order 4411")
    assert await too_wide(page) == 0
    await press(page, "Approve")
    assert await violations(page) == []
    assert await too_wide(page) == 0
    await press(page, "Skip this step")
    run = urlsplit(page.url).path
    for path in (run, f"{run}/undo", "/inbox", "/runs", "/plan", "/tools", "/record", "/settings"):
        await page.goto(path)
        assert await violations(page) == [], path
        assert await too_wide(page) == 0, path


async def test_the_next_card_is_where_the_keyboard_goes_and_enter_answers_nothing(page: Page) -> None:
    """Focus that was on the old card is on the new card's heading; a held Enter approves nothing."""
    await say(page, f"u-{uuid4().hex[:6]}", "charge order 4411 16.00, then update the crm for order 4411")
    button = page.get_by_role("button", name="Approve")
    await button.click(trial=True)
    await button.focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name="update_crm").wait_for()
    for _ in range(5):
        await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Approve").click(trial=True)
    assert await page.get_by_role("heading", name="update_crm").is_visible()
    await press(page, "Skip this step")
    assert await page.locator("#reply").inner_text() == "Done: charge_card. Skipped: update_crm."
