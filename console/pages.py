"""The console's pages. Each is whole without JavaScript: links, and forms that post and lead back (SPEC 12.3)."""

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Annotated, Any, get_args
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.routing import APIRoute
from temporalio.service import RPCError

from ..client.audit import SessionRecord
from ..client.standing import standing_of
from ..contract.errors import AmendsError, Conflict, NotFound, Unreachable
from ..contract.reading import Language
from ..contract.record import Entry
from ..contract.run import RunState, RunView
from ..rulebook.lints import lint
from ..rulebook.model import AgentModel
from .api import listed, take_turn
from .guard import Console, console_of, cookie_name, require_same_origin, signed_in
from .people import Person
from .problems import ProblemError, problem_of
from .progress import CallProgress, progress_of
from .render import LANGUAGE_COOKIE, bound_to, language_of, render
from .words import catalogue

__all__ = ["Form", "Page", "Who", "lead_to", "pages", "show_run"]

WAIT = 10.0
"""Seconds a page waits for a run after a turn or an answer; it then shows the run as it is and goes on by itself."""
ARMED = 0.6
"""Seconds from when a card is made until it can be answered: a little less than in the stylesheet."""
LOOK = 2.0
"""Seconds at most that a page of a run that is over waits for its session."""
_LANGUAGES: dict[str, Language] = {"en": "en", "pt-BR": "pt-BR"}


class Page(APIRoute):
    """A page that tells of an error as a page."""

    def get_route_handler(self) -> Any:  # noqa: ANN401 - Starlette's own type
        """Return what handles a request, and tells of its error."""
        handle = super().get_route_handler()

        async def told(request: Request) -> Response:
            try:
                answer: Response = await handle(request)
            except (AmendsError, ProblemError, RPCError, ValueError) as error:
                problem = problem_of(error)
                if problem.status == 401:
                    return RedirectResponse(f"{request.scope.get('root_path', '')}/sign-in", 303)
                person = None
                with suppress(ProblemError):
                    person = signed_in(request)
                said = f"{problem.detail} {problem.hint or ''}"
                return render(request, "refused", person, status=problem.status, said=said)
            return answer

        return told


pages = APIRouter(route_class=Page, include_in_schema=False)


async def _person(request: Request) -> Person:
    person = signed_in(request)
    if person is None:
        raise ProblemError(401, "unauthenticated", "Sign in first.")
    return person


async def _form(request: Request) -> dict[str, str]:
    """Read a form and make sure that one of our pages sent it."""
    require_same_origin(request)
    said = parse_qs((await request.body()).decode(), keep_blank_values=True)
    form = {name: values[-1] for name, values in said.items()}
    console = console_of(request)
    person = signed_in(request)
    if person is None:
        raise ProblemError(401, "unauthenticated", "Sign in first.")
    console.posts.take(person.name)
    if not console.seal.is_form_token(form.get("form_token", ""), bound_to(request, person)):
        raise ProblemError(403, "csrf", "This form is not one of this console's, or is too old. Load the page again.")
    return form


Who = Annotated[Person, Depends(_person)]
Form = Annotated[dict[str, str], Depends(_form)]


def lead_to(request: Request, path: str) -> RedirectResponse:
    """Lead a browser to a page of this console."""
    return RedirectResponse(f"{request.scope.get('root_path', '')}{path}", 303)


@pages.get("/")
async def home(request: Request, person: Who, user: str = "") -> Response:
    """Lead to the thread that is meant, or to the person's own."""
    return lead_to(request, f"/threads/{quote(user or person.name, safe='')}")


@pages.get("/threads/{user}")
async def thread(request: Request, person: Who, user: str) -> Response:
    """Show a conversation, its open card and the box for the next turn."""
    return await _thread(request, person, user)


async def _thread(
    request: Request, person: Person, user: str, *, unread: str = "", typed: str = "", ran: str = ""
) -> Response:
    desk = console_of(request).desk
    session = await desk.session(person, user)
    view = None
    if session is not None and (session.open_run or ran):
        view = await desk.run(person, session.open_run or ran)
    flying = await _flying(console_of(request), view)
    version = _version(view, flying)
    if request.query_params.get("live") == version:
        return Response(status_code=204)
    past = [each for each in session.runs if view is None or each.run != view.run] if session else []
    w = catalogue(language_of(request))
    return render(
        request,
        "desk",
        person,
        here="desk",
        title=f"{w['desk']}{_of(view)}",
        user=user,
        view=view,
        version=version,
        flying=flying,
        past=past[-20:],
        unread=unread,
        typed=typed,
        reads=(session.language if session else None) or w["agents_language"],
    )


async def _undone(console: Console, view: RunView) -> dict[str, bool]:
    """Say whether a run was undone from outside, and whether it could be."""
    if view.unwinding is not None and view.unwinding.run != view.run:  # it is itself an unwind
        return {"condemned": False, "undoable": False}
    condemned = view.condemned is not None
    if view.over and not condemned:
        with suppress(Unreachable, TimeoutError):  # a page of what is over does without a worker
            async with asyncio.timeout(LOOK):
                condemned = (await standing_of(await console.desk.agent.place(), view.run)).tombstone is not None
    return {"condemned": condemned, "undoable": not condemned and any(step.landed for step in view.steps)}


def _version(view: RunView | None, flying: Sequence[CallProgress] = ()) -> str:
    """Name what a page shows of a run, so that a page that shows it already is not given it again."""
    said = [view.model_dump_json(), *(each.model_dump_json() for each in flying)] if view else []
    return sha256("".join(said).encode()).hexdigest()[:16] if view else ""


async def _flying(console: Console, view: RunView | None) -> list[CallProgress]:
    return await progress_of((await console.desk.agent.place()).client, view) if view else []


def _of(view: RunView | None) -> str:
    return f" · {view.state}" if view else ""


@pages.post("/threads/{user}/turns")
async def turn(request: Request, person: Who, form: Form, user: str) -> Response:
    """Take a turn from the box."""
    if not person.speaks_for(user):
        raise NotFound("no_such_session", "There is no such thread.")
    said = form.get("turn", "").strip()
    name = console_of(request).replays.name(person.name, request.url.path, form.get("name", ""), said)
    taken = await take_turn(request, user, said, None, name, WAIT)
    if taken.run is None:
        return await _thread(request, person, user, unread=taken.text, typed=said)
    return lead_to(request, f"/runs/{quote(taken.run.run, safe='')}" if taken.run.over else f"/threads/{quote(user)}")


@pages.get("/inbox")
async def inbox(request: Request, person: Who) -> HTMLResponse:
    """Show who waits for what, since when."""
    found = await console_of(request).desk.inbox(person)
    title = f"({len(found.items)}) {catalogue(language_of(request))['inbox']}"
    return render(request, "inbox", person, here="inbox", items=found.items, silent=found.silent, title=title)


@pages.get("/runs")
async def runs(request: Request, person: Who, state: str = "", user: str = "") -> HTMLResponse:
    """List runs; the filters are the address."""
    states = get_args(RunState)
    chosen = state if state in states else ""
    items = await listed(request, person, user[:100], chosen, 100)
    return render(request, "runs", person, here="runs", items=items, states=states, chosen=chosen, user=user)


@pages.get("/runs/{run}")
async def one_run(request: Request, person: Who, run: str) -> Response:
    """Show a run: what it asks, what went forward, what came back."""
    return await show_run(request, person, run)


async def show_run(request: Request, person: Person, run: str, *, notice: str = "", status: int = 200) -> Response:
    """Show a run, with what went wrong just now, if anything did."""
    console = console_of(request)
    view = await console.desk.run(person, run)
    flying = await _flying(console, view)
    version = _version(view, flying)
    if not notice and request.query_params.get("live") == version:
        return Response(status_code=204)
    temporal = ""
    if console.ui_url:
        temporal = f"{console.ui_url}/namespaces/{console.namespace}/workflows/{quote(run, safe='')}"
    root = request.scope.get("root_path", "")
    title = f"{catalogue(language_of(request))['run']}{_of(view)}"
    back = f"{root}/runs/{quote(run, safe='')}"
    return render(
        request, "run", person, here="runs", view=view, temporal=temporal, notice=notice, status=status, title=title,
        back=back, version=version, flying=flying, **(await _undone(console, view)),
    )  # fmt: skip


@pages.post("/runs/{run}/questions/{question}/answer")
async def answer(request: Request, person: Who, form: Form, run: str, question: str) -> Response:
    """Take an answer to the question that was on the page; any other question stays unanswered."""
    console = console_of(request)
    if _came_too_soon(form.get("shown", "")):
        return await show_run(request, person, run, notice=catalogue(language_of(request))["too_soon"], status=409)
    said = {name: form.get(name, "") for name in ("answer", "digest", "note")}
    result: dict[str, object] | None = None
    supplied = form.get("result", "").strip()
    if supplied and said["answer"] == "happened":
        try:
            result = _object(supplied)
        except ValueError as error:
            wrong = catalogue(language_of(request))["result_wrong"].format(why=error)
            return await show_run(request, person, run, notice=wrong, status=422)
    name = console.replays.name(person.name, request.url.path, form.get("name", ""), json.dumps([said, supplied]))
    try:
        await console.desk.answer(
            person, run, question, said["answer"], digest=said["digest"], name=name, note=said["note"], result=result
        )
    except Conflict as conflict:
        expired = conflict.code == "question_expired"
        notice = catalogue(language_of(request))["expired"] if expired else conflict.message
        return await show_run(request, person, run, notice=notice, status=410 if expired else 409)
    except ValueError as error:
        return await show_run(request, person, run, notice=str(error), status=422)
    view = await console.desk.settled(run, WAIT)
    to_thread = form.get("back", "").endswith(f"/threads/{quote(view.user)}") and not view.over
    return lead_to(request, f"/threads/{quote(view.user)}" if to_thread else f"/runs/{quote(run, safe='')}")


def _object(supplied: str) -> dict[str, object]:
    """Read a JSON object.

    Raises:
        ValueError: it is none; the message says why, and where.
    """
    try:
        result = json.loads(supplied)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg}, character {error.pos + 1}") from None
    if not isinstance(result, dict):
        raise ValueError(f"a {type(result).__name__}")  # noqa: TRY004 - said to a person, not to a program
    return result


def _came_too_soon(shown: str) -> bool:
    """Whether a click came so soon after its card was made that it was meant for what was on screen before.

    The stylesheet keeps the pointer off a new card, but a browser may take clicks before it has the stylesheet.
    """
    since = time.time() - int(shown) / 1000 if shown.isdecimal() else -1.0
    return since < ARMED


@pages.post("/runs/{run}/stop")
async def stop(request: Request, person: Who, form: Form, run: str) -> Response:
    """Stop a run."""
    desk = console_of(request).desk
    await desk.stop(person, run, form.get("note", ""))
    await desk.settled(run, WAIT)
    return lead_to(request, f"/runs/{quote(run, safe='')}")


@pages.get("/plan")
async def plan(request: Request, person: Who) -> HTMLResponse:
    """Show the box for a turn to be planned."""
    return render(request, "plan", person, here="plan", typed="", asked="", plan=None)


@pages.post("/plan")
async def planned(request: Request, person: Who, form: Form) -> HTMLResponse:
    """Show how a turn would be read, checked, asked and undone. It is posted, so that no address holds it."""
    typed, asked = form.get("turn", "")[:2000], form.get("language", "")
    agent = console_of(request).desk.agent
    found = await asyncio.to_thread(agent.plan, typed, language=_LANGUAGES.get(asked))
    return render(request, "plan", person, here="plan", typed=typed, asked=asked, plan=found)


@pages.get("/tools")
async def tools(request: Request, person: Who) -> HTMLResponse:
    """List the agent's tools, what undoes each, and what its lints say."""
    loaded = console_of(request).desk.agent.loaded
    agents = (AgentModel(name=loaded.name, tools=tuple(loaded.tools)),)
    found = lint(agents, loaded.contracts, rulebook=loaded.rulebook)
    return render(request, "tools", person, here="tools", tools=loaded.contracts.values(), lints=found)


@pages.get("/record")
async def record(request: Request, person: Who, user: str = "") -> HTMLResponse:
    """Show the record of a thread, and whether its chain is whole."""
    user = user or person.name
    found: SessionRecord | None = None
    entries: tuple[Entry, ...] = ()
    broken = ""
    if not person.audits(user):
        raise NotFound("no_such_session", "There is no such thread.")
    with suppress(NotFound):
        found = await console_of(request).desk.agent.record(user)
        entries = found.entries[-200:]
        broken = str(found.verify() or "")
    return render(request, "record", person, here="record", user=user, record=found, entries=entries, broken=broken)


@pages.get("/settings")
async def settings(request: Request, person: Who, user: str = "", saved: str = "") -> HTMLResponse:
    """Show what the selector reads and what the console speaks: two settings, never one."""
    user = user or person.name
    session = await console_of(request).desk.session(person, user)
    notice = catalogue(language_of(request))["saved"] if saved else ""
    reads = session.language if session else None
    return render(request, "settings", person, here="settings", user=user, reads=reads, notice=notice)


@pages.post("/settings")
async def change_settings(request: Request, person: Who, form: Form) -> Response:
    """Save both."""
    user = form.get("user") or person.name
    desk = console_of(request).desk
    wanted = _LANGUAGES.get(form.get("selector_language", ""))
    session = await desk.session(person, user)
    if wanted != (session.language if session else None):
        await desk.set_language(person, user, wanted)
    answer = lead_to(request, f"/settings?saved=1&user={quote(user, safe='')}")
    spoken = form.get("console_language", "")
    if spoken in _LANGUAGES:
        secure = request.url.scheme == "https"
        answer.set_cookie(LANGUAGE_COOKIE, spoken, max_age=31_536_000, httponly=True, samesite="lax", secure=secure)
    return answer


@pages.get("/sign-in")
async def sign_in(request: Request) -> HTMLResponse:
    """Ask for a token."""
    return render(request, "sign_in", None, title=catalogue(language_of(request))["sign_in"])


@pages.post("/sign-in")
async def take_token(request: Request) -> Response:
    """Sign somebody in."""
    require_same_origin(request)
    console = console_of(request)
    console.sign_ins.take(request.client.host if request.client else "")
    said = parse_qs((await request.body()).decode())
    person = console.people.with_token(said.get("token", [""])[-1].strip())
    if person is None:
        w = catalogue(language_of(request))
        return render(request, "sign_in", None, title=w["sign_in"], notice=w["bad_token"], status=401)
    answer = lead_to(request, "/")
    secure = request.url.scheme == "https"
    answer.set_cookie(
        cookie_name(request), console.seal.cookie(person.name), httponly=True, samesite="lax", secure=secure
    )
    return answer


@pages.post("/sign-out")
async def sign_out(request: Request, _form: Form) -> Response:
    """Sign out."""
    answer = lead_to(request, "/sign-in")
    answer.delete_cookie(cookie_name(request))
    return answer
