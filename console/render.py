"""Pages from templates: escaped always, in the words of the browser's language."""

import secrets
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pydantic import JsonValue

from ..contract.question import Question
from ..contract.run import Step
from ..contract.visible import visible
from ..contract.wording import value_text
from .guard import console_of, cookie_name
from .people import Person
from .words import ConsoleLanguage, catalogue, chosen, translated

__all__ = ["LANGUAGE_COOKIE", "bound_to", "language_of", "render"]

LANGUAGE_COOKIE = "amends_language"
_MENU = (
    ("desk", "/"),
    ("inbox", "/inbox"),
    ("runs", "/runs"),
    ("plan", "/plan"),
    ("tools", "/tools"),
    ("record", "/record"),
    ("settings", "/settings"),
)
_pages = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, undefined=StrictUndefined
)


def language_of(request: Request) -> ConsoleLanguage:
    """Return the language of the browser that asks."""
    return chosen(request.cookies.get(LANGUAGE_COOKIE), request.headers.get("accept-language", ""))


def bound_to(request: Request, person: Person) -> str:
    """Return what this browser's form token is bound to: its sign-in."""
    return request.cookies.get(cookie_name(request), "") or person.name


def render(
    request: Request, template: str, person: Person | None, *, here: str = "", status: int = 200, **values: object
) -> HTMLResponse:
    """Render a page.

    Args:
        request: what it answers.
        template: the template's name, without ``.html``.
        person: who is signed in.
        here: the item of the menu it belongs to.
        status: the HTTP status.
        values: what the template shows.
    """
    language = language_of(request)
    w = catalogue(language)
    atomic = console_of(request).desk.agent.loaded.atomic

    def recovery(question: Question) -> str:
        if question.undo is None:
            return w["no_undo"]
        return w["undone_by"].format(undo=question.undo) if atomic else w["independent"]

    known: Mapping[str, object] = {
        "w": w,
        "language": language,
        "person": person,
        "here": here,
        "menu": _MENU,
        "root": request.scope.get("root_path", ""),
        "form_token": console_of(request).seal.form_token(bound_to(request, person)) if person else "",
        "title": w.get(here, w["desk"]),
        "notice": "",
        "back": f"{request.scope.get('root_path', '')}{request.url.path}",
        "fresh": secrets.token_urlsafe,
        "now": time.time_ns() // 1_000_000,
        "time": _time,
        "shown": _shown,
        "state": _state,
        "recovery": recovery,
        "translated": lambda text, question: translated(text, question, language),
    }
    return HTMLResponse(_pages.get_template(f"{template}.html").render({**known, **values}), status_code=status)


def _shown(value: JsonValue) -> str:
    return visible(value_text(value))


def _time(at: datetime | None) -> Markup:
    if at is None:
        return Markup("-")
    return Markup('<time datetime="{}">{}</time>').format(at.isoformat(), f"{at:%Y-%m-%d %H:%M:%S}Z")


def _state(step: Step) -> str:
    return f"{step.state} ({step.failure.type})" if step.failure is not None else step.state
