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
from ..contract.run import RunView, Step
from ..contract.visible import visible
from ..contract.wording import value_text
from .guard import console_of, cookie_name
from .people import Person
from .progress import far
from .words import ConsoleLanguage, catalogue, chosen, other_word, run_state, step_state, translated, undo_status

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
_AFTERWARDS = frozenset(("undoing", "undone", "undone by hand", "undo failed", "left"))
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
    loaded = console_of(request).desk.agent.loaded

    def recovery(question: Question) -> str:
        if question.undo is None:
            return w["no_undo"]
        return w["undone_by"].format(undo=question.undo) if loaded.atomic else w["independent"]

    def cancelling(view: RunView) -> str:
        """What `cancel all` would do now, of what is in the record."""
        landed = [loaded.contracts[step.tool] for step in _latest_first(view) if step.tool in loaded.contracts]
        if not landed:
            return w["cancel_nothing"]
        if not loaded.atomic:
            return w["cancel_keeps"]
        said = [f"{each.name} ({w['by']} {each.undo.tool})" for each in landed if each.undo and each.undoable]
        stays = [each.name for each in landed if not each.undoable]
        told = [w["cancel all_means"].format(undone=", ".join(said))] if said else []
        return "; ".join([*told, *([w["cancel_stays"].format(stays=", ".join(stays))] if stays else [])])

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
        "state": lambda step: _state(step, language),
        "far": far,
        "undo_state": lambda step: step_state(step.state, language),
        "cancelling": cancelling,
        "run_state": lambda state: run_state(state, language),
        "undo_status": lambda status: undo_status(status, language),
        "other_word": lambda word: other_word(word, language),
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


def _state(step: Step, language: ConsoleLanguage) -> str:
    # What became of it afterwards stands in the lane beside it.
    said = step_state("done" if step.landed and step.state in _AFTERWARDS else step.state, language)
    return f"{said} ({step.failure.type})" if step.failure is not None else said


def _latest_first(view: RunView) -> list[Step]:
    """The writes of a run that took effect and are not undone."""
    landed = (step for step in view.steps if step.writes and step.landed and step.state == "done")
    return sorted(landed, key=lambda step: step.landed, reverse=True)
