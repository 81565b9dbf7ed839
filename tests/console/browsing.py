"""What somebody does in a browser: says a turn, presses a button of the card; and what axe thinks of the page."""

import shutil
from pathlib import Path
from typing import Any

from playwright.async_api import Page

CHROMIUM = shutil.which("chromium")
PATIENCE = 60_000
"""Milliseconds that anything may take on a machine that does much else."""
_AXE = (Path(__file__).parent / "vendored" / "axe.min.js").read_text()


async def say(page: Page, user: str, turn: str, *, send: str = "Send") -> None:
    """Say a turn in somebody's thread; wait for its card, or its reply."""
    await page.goto(f"/threads/{user}")
    await page.locator("textarea[name=turn]").fill(turn)
    await page.get_by_role("button", name=send).click()
    await page.locator(".card, #reply").first.wait_for()


async def press(page: Page, name: str) -> None:
    """Press a button of the card, once it takes the pointer, and wait until that card is gone."""
    card = await page.locator(".card").get_attribute("id")
    await page.get_by_role("button", name=name, exact=True).click()
    await page.locator(f"#{card}").wait_for(state="detached")
    await page.locator(".card, #reply").first.wait_for()


async def too_wide(page: Page) -> int:
    """Return by how many pixels the page is wider than its window."""
    width: int = await page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
    return width


async def violations(page: Page) -> list[str]:
    """Return what axe has against the page, once what was moving on it is at rest."""
    await page.wait_for_load_state()
    await page.evaluate("() => Promise.all(document.getAnimations().map(each => each.finished.catch(() => 0)))")
    found: dict[str, Any] = await page.evaluate(f"async () => {{ {_AXE}; return await axe.run(); }}")
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in found["violations"]]
