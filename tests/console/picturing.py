"""The pictures in ``docs/images``, taken by the tests as they come past.

``pip install pillow`` and ``pytest tests/console --console-pictures`` write them anew. Ordinary runs take none.
"""

from collections.abc import Awaitable, Callable
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

from playwright.async_api import Page

__all__ = ["WIDTH", "Picture", "take", "take_none"]

WIDTH, HEIGHT, COLOURS = 1100, 400, 48
IMAGES = Path(__file__).parents[2] / "docs" / "images"
Picture: TypeAlias = Callable[[Page, str], Awaitable[None]]


async def take(page: Page, name: str) -> None:
    """Write the whole page as ``docs/images/console-<name>.png``, in few colours, so that it is small."""
    image = import_module("PIL.Image")
    await page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    await page.wait_for_load_state()
    await page.evaluate("() => Promise.all(document.getAnimations().map(each => each.finished.catch(() => 0)))")
    shot = image.open(BytesIO(await page.screenshot(full_page=True))).convert("RGB")
    IMAGES.mkdir(exist_ok=True)
    shot.quantize(COLOURS).save(IMAGES / f"console-{name}.png", optimize=True)


async def take_none(page: Page, name: str) -> None:
    """What a run of the tests does that is not asked for pictures."""
