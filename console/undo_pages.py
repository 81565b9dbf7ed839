"""The page that shows what undoing a run would do, and does it for whoever gives an operator token (SPEC 8)."""

from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import ValidationError

from ..contract.errors import Conflict, NotAllowed
from ..contract.names import owner_of_run
from .guard import console_of
from .pages import WAIT, Form, Page, Who, lead_to
from .people import Person
from .render import language_of, render
from .undoing import UndoRequest, undo
from .words import catalogue

__all__ = ["undo_pages"]

_WOULD = frozenset(("would-compensate", "uncertain", "failed", "not-attempted", "busy"))

undo_pages = APIRouter(route_class=Page, include_in_schema=False)


@undo_pages.get("/runs/{run}/undo")
async def undo_plan(request: Request, person: Who, run: str) -> HTMLResponse:
    """Show what undoing a run would do, or came to."""
    return await _plan(request, person, run)


@undo_pages.post("/runs/{run}/undo")
async def undo_now(request: Request, person: Who, form: Form, run: str) -> Response:
    """Undo a run. The token is used for this request and kept nowhere."""
    reason = form.get("reason", "").strip()
    try:
        asked = UndoRequest(
            reason=reason,
            plan_digest=form.get("digest", ""),
            continue_past_uncertain=form.get("past_uncertain") == "yes",
        )
    except ValidationError:
        return await _plan(request, person, run, notice=catalogue(language_of(request))["reason_needed"], status=422)
    try:
        await undo(request, run, asked, person=person, token=form.get("token", "").strip(), wait=WAIT)
    except NotAllowed as refused:
        return await _plan(request, person, run, notice=refused.message, status=403, typed=reason)
    except Conflict as conflict:
        return await _plan(request, person, run, notice=conflict.message, status=409, typed=reason)
    return lead_to(request, f"/runs/{quote(run, safe='')}/undo")


async def _plan(
    request: Request, person: Person, run: str, *, notice: str = "", status: int = 200, typed: str = ""
) -> HTMLResponse:
    desk = console_of(request).desk
    await desk.run(person, run)
    plan = await desk.agent.undo(run, dry_run=True)
    owner = owner_of_run(run)
    w = catalogue(language_of(request))
    return render(
        request,
        "undo",
        person,
        here="runs",
        title=w["undo_plan"],
        plan=plan,
        user=owner[1] if owner else "",
        would=any(entry.status in _WOULD for entry in plan.entries),
        notice=notice,
        status=status,
        typed=typed,
    )
