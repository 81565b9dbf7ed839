"""What people do in the console when a run needs more than a yes: an operator, two at once, somebody in Portuguese."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from uuid import uuid4

import pytest
from amends.examples.shop.store import Store
from amends.tests.console.browsing import press, say, violations
from amends.tests.console.conftest import Opens, Place
from amends.tests.console.picturing import Picture
from amends.workflows import rollback
from playwright.async_api import Page

ORDER = "charge order 4411 40.00, then update the crm for order 4411, then provision the account for order 4411"
PEDIDO = "cobre 40,00 do pedido 4411, depois atualize o crm do pedido 4411, depois provisione a conta do pedido 4411"


@contextmanager
def crm_gone(shop: Store) -> Iterator[None]:
    """The CRM takes nothing while the block lasts."""

    def rename(before: str, after: str) -> None:
        with closing(sqlite3.connect(shop.path)) as connection:
            connection.execute(f"ALTER TABLE {before} RENAME TO {after}")
            connection.commit()

    rename("crm", "crm_away")
    try:
        yield
    finally:
        rename("crm_away", "crm")


@pytest.fixture(autouse=True)
def quick_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollback, "WAITS", (timedelta(milliseconds=10),) * 3)


async def sign_in(page: Page, place: Place, name: str) -> None:
    await page.goto("/sign-in")
    await page.locator("[name=token]").fill(place.tokens[name])
    await page.get_by_role("button", name="Sign in").click()
    await page.locator(".who").wait_for()


async def get_stuck(page: Page, user: str) -> None:
    """Give the order, approve its first two steps, and have the undo of the second fail."""
    await say(page, user, ORDER)
    await press(page, "Approve")
    await press(page, "Approve")


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("Retry", "update_crm (by restore_crm), charge_card (by refund_card)."),
        ("Done by hand", "update_crm (by hand, "),
        ("Abandon", "Still to be undone by hand: update_crm, charge_card."),
    ],
)
async def test_a_stuck_run_is_answered(page: Page, shop: Store, picture: Picture, answer: str, reply: str) -> None:
    await get_stuck(page, user := f"u-{uuid4().hex[:6]}")
    with crm_gone(shop):
        await press(page, "Approve")
        card = page.locator(".card")
        asked = "Undoing update_crm failed after 4 tries (OperationalError). 2 step(s) still need undoing."
        assert asked in await card.inner_text()
        assert await card.get_by_role("heading", name="restore_crm undoes update_crm").is_visible()
        await page.goto("/inbox")
        await picture(page, "inbox")
        await page.get_by_role("link", name=f"{user}, update_crm").click()
        await picture(page, "stuck")
    assert await violations(page) == []
    await page.get_by_role("radio", name=answer).check()
    await page.locator(".card [name=note]").fill("the CRM team knows")
    await press(page, "Answer")
    said = await page.locator("#reply").inner_text()
    assert said.startswith("This run stopped: provision_account failed (RuntimeError).")
    assert reply in said


async def test_done_by_hand_needs_a_remark(page: Page, shop: Store) -> None:
    await get_stuck(page, f"u-{uuid4().hex[:6]}")
    with crm_gone(shop):
        await press(page, "Approve")
    await page.get_by_role("radio", name="Done by hand").check()
    await page.get_by_role("button", name="Answer").click()
    assert "needs a remark" in await page.get_by_role("alert").inner_text()
    await page.get_by_role("radio", name="Retry").check()
    await press(page, "Answer")


async def test_two_people_answer_at_once_and_the_second_is_told_who_was_first(opens: Opens, place: Place) -> None:
    still = {"base_url": place.url, "java_script_enabled": False}  # what a page says comes from the click alone
    ana, bia = await opens(**still), await opens(**still)
    await sign_in(ana, place, "ana")
    await sign_in(bia, place, "bia")
    await say(ana, "ana", "charge order 4411 21.00")
    await bia.goto("/inbox")
    await bia.get_by_role("link", name="ana, charge_card").click()
    buttons = [ana.get_by_role("button", name="Skip this step"), bia.get_by_role("button", name="Approve")]
    for button in buttons:
        await button.click(trial=True)  # waits until it takes the pointer
    await asyncio.gather(*(button.click() for button in buttons))
    for page in (ana, bia):
        await page.locator("#reply, .notice").first.wait_for()
    notices = [await page.locator(".notice").all_inner_texts() for page in (ana, bia)]
    (told,) = [said for several in notices for said in several]
    assert told.startswith(("ana answered skip at", "bia answered approve at"))
    assert told.endswith("that answer stands.")
    first, word = (ana, "Nothing was done.") if told.startswith("ana") else (bia, "Done: charge_card.")
    assert notices[first is bia] == []
    assert word in await first.locator("#reply").inner_text()


async def test_who_may_not_answer_sees_the_question_without_its_buttons(opens: Opens, place: Place) -> None:
    ana, auditor = await opens(base_url=place.url), await opens(base_url=place.url)
    await sign_in(ana, place, "ana")
    await sign_in(auditor, place, "ida")
    await say(ana, "ana", "charge order 4411 22.00")
    await auditor.goto("/inbox")
    await auditor.get_by_role("link", name="ana, charge_card").click()
    card = auditor.locator(".card")
    assert "Somebody else must answer this." in await card.inner_text()
    assert await card.get_by_role("button").count() == 0
    await press(ana, "Skip this step")


async def test_the_failed_order_in_portuguese_once_the_settings_say_so(
    page: Page, shop: Store, picture: Picture
) -> None:
    user = f"u-{uuid4().hex[:6]}"
    await page.goto(f"/settings?user={user}")
    assert "Language the selector reads" in await page.locator("main").inner_text()
    await page.locator("[name=selector_language]").select_option("pt-BR")
    await page.locator("[name=console_language]").select_option("pt-BR")
    await page.get_by_role("button", name="Save").click()
    await page.get_by_text("Idioma que o seletor lê").wait_for()
    await picture(page, "settings-pt-BR")
    assert await violations(page) == []
    await say(page, user, PEDIDO, send="Enviar")
    card = await page.locator(".card").inner_text()
    assert "Executar charge_card?" in card
    assert "Run charge_card?" in card
    await picture(page, "card-pt-BR")
    assert await violations(page) == []
    for _ in range(3):
        await press(page, "Aprovar")
    assert await page.locator("#reply").inner_text() == (
        "Esta execução parou: provision_account failed (RuntimeError). Desfeito, do mais recente: "
        "update_crm (por restore_crm), charge_card (por refund_card)."
    )
    assert await page.locator("#state").inner_text() == "desfeita"
    assert await violations(page) == []


async def test_cancel_all_says_what_it_undoes_and_undoes_it(page: Page) -> None:
    await say(page, f"u-{uuid4().hex[:6]}", "charge order 4411 23.00, then update the crm for order 4411")
    card = page.locator(".card")
    assert "stops the run; nothing of it was done" in await card.inner_text()
    await press(page, "Approve")
    assert "stops the run and undoes, latest first: charge_card (by refund_card)" in await card.inner_text()
    await press(page, "Cancel all")
    said = await page.locator("#reply").inner_text()
    assert said.endswith("Undone, latest first: charge_card (by refund_card).")


async def test_axe_finds_nothing_where_nobody_is_signed_in_and_where_something_is_refused(
    opens: Opens, place: Place, picture: Picture
) -> None:
    page = await opens(base_url=place.url)
    await page.goto("/inbox")
    assert page.url.endswith("/sign-in")
    await picture(page, "sign-in")
    assert await violations(page) == []
    await page.locator("[name=token]").fill("amp_wrong")
    await page.get_by_role("button", name="Sign in").click()
    assert await page.get_by_role("alert").inner_text() == "Nobody has that token."
    await sign_in(page, place, "u-17")
    await page.goto("/threads/ana")
    assert "There is no such thread." in await page.get_by_role("alert").inner_text()
    assert await violations(page) == []
