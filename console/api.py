"""The HTTP API ``/v1``: plan, threads, turns, runs, questions, answers, events, audit, settings (SPEC 12.3)."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import Field, JsonValue, StringConstraints
from starlette.responses import StreamingResponse

from ..client.runs import RunSummary
from ..client.submitting import submit
from ..contract.errors import NotAllowed, NotFound
from ..contract.model import Stated, Wire
from ..contract.names import owner_of_run
from ..contract.question import Question
from ..contract.reading import Language, Unread
from ..contract.run import RunState, RunView
from ..contract.session import LONGEST_TURN, SessionView, Turn
from ..contract.unwind import UnwindReport
from ..tools.preview import Preview
from .events import Happened, follow, happened
from .guard import Key, Signed, console_of, json_only
from .limits import Named, key_reused
from .problems import DOCUMENTED
from .progress import CallProgress, progress_of

__all__ = ["Wait", "api"]

LONGEST_WAIT = 60.0
Said = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TURN)]
Note = Annotated[str, StringConstraints(max_length=500)]


api = APIRouter(prefix="/v1", responses={**DOCUMENTED}, dependencies=[Depends(json_only)])


class PlanRequest(Stated):
    """A turn to be read, checked and not run."""

    turn: Said
    language: Language | None = None


class TurnRequest(Stated):
    """A turn for a thread."""

    turn: Said
    language: Language | None = None


class TurnTaken(Wire):
    """What became of a turn: its run, or why it was not read."""

    run: RunView | None = None
    text: str = ""
    unread: Unread | None = None


class Thread(Wire):
    """A thread: the session of one person; None where it has not begun. ``open`` is its open run."""

    user: str
    session: SessionView | None = None
    open: RunView | None = None


class Runs(Wire):
    """Runs, latest first."""

    items: tuple[RunSummary, ...]


class Waiting(Wire):
    """An open question, and whose run asks it."""

    user: str
    question: Question


class Questions(Wire):
    """Open questions, oldest first. ``silent`` are runs that wait for a person and that no worker answers for."""

    items: tuple[Waiting, ...]
    silent: tuple[str, ...] = ()


class AnswerRequest(Stated):
    """An answer to one question: one of the answers it offers, and the digest of the question as it was shown."""

    answer: Annotated[str, StringConstraints(max_length=40)]
    digest: Annotated[str, StringConstraints(max_length=80)]
    note: Note = ""
    result: dict[str, JsonValue] | None = None


class StopRequest(Stated):
    """Why a run is stopped."""

    note: Note = ""


class Events(Wire):
    """What happened in a run, in order."""

    items: tuple[Happened, ...]


class CallsInFlight(Wire):
    """The calls of a run that are in flight."""

    items: tuple[CallProgress, ...]


class Packet(Wire):
    """A run as a file. ``undo`` is the plan of undoing it from outside; None for the unwind of a run."""

    schema_name: Literal["amends.packet/1"] = Field(default="amends.packet/1", alias="schema")
    run: RunView
    events: tuple[Happened, ...]
    undo: UnwindReport | None = None


class Settings(Stated):
    """What a thread's turns are read in, from the next on; null is the agent's own language."""

    selector_language: Language | None


def _seconds(prefer: Annotated[str | None, Header(description="``wait=20``: seconds to wait.")] = None) -> float:
    name, _, value = (prefer or "").partition("=")
    try:
        return max(0.0, min(float(value), LONGEST_WAIT)) if name.strip() == "wait" else 0.0
    except ValueError:
        return 0.0


Wait = Annotated[float, Depends(_seconds)]


@api.post("/plan")
async def plan(request: Request, _person: Signed, asked: PlanRequest) -> Preview:
    """Say how a turn would be read, checked, asked and undone. Nothing runs."""
    return await asyncio.to_thread(console_of(request).desk.agent.plan, asked.turn, language=asked.language)


@api.get("/threads/{user}")
async def thread(request: Request, person: Signed, user: str) -> Thread:
    """Return a thread, with its open run."""
    desk = console_of(request).desk
    session = await desk.session(person, user)
    found = await desk.run(person, session.open_run) if session and session.open_run else None
    return Thread(user=user, session=session, open=found)


@api.post("/threads/{user}/turns", status_code=201)
async def turn(request: Request, person: Signed, key: Key, user: str, asked: TurnRequest, wait: Wait) -> TurnTaken:
    """Give a turn to a thread. The same Idempotency-Key again starts no second run."""
    console = console_of(request)
    if not person.sees(user):
        raise NotFound("no_such_session", "There is no such thread.")
    if not person.speaks_for(user):
        raise NotAllowed("not_your_question", "This is somebody else's thread.")
    name = console.replays.name(person.name, request.url.path, key, asked.model_dump_json())
    return await take_turn(request, user, asked.turn, asked.language, name, wait)


async def take_turn(
    request: Request, user: str, said: str, language: Language | None, name: Named, wait: float
) -> TurnTaken:
    """Give a turn to a thread; wait for its run to need a person or to be over.

    Raises:
        ProblemError: 422 ``idempotency_key_reused``: the request of this name gave another turn.
    """
    if len(user) > 100 or not user.isprintable():
        raise ValueError("a thread's name has 1 to 100 printable characters")
    desk = console_of(request).desk
    place = await desk.agent.place()
    facts = dict(desk.agent.loaded.facts)
    given = Turn(text=said, language=language, request_id=name.id, facts=facts, attributes=place.attributes)
    told = await submit(place, desk.agent.name, user, given)
    if not told.run:
        return TurnTaken(text=told.text, unread=told.unread)
    view = await desk.settled(told.run, wait) if wait else await desk.agent.run(told.run)
    if view.turn != said:
        raise key_reused()
    return TurnTaken(run=view)


@api.get("/runs")
async def runs(
    request: Request,
    person: Signed,
    user: Annotated[str | None, Query(max_length=100)] = None,
    state: RunState | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Runs:
    """List runs, latest first."""
    return Runs(items=tuple(await listed(request, person, user, state, limit)))


async def listed(request: Request, person: Signed, user: str | None, state: str | None, limit: int) -> list[RunSummary]:
    """Return the runs that a person may see."""
    if not person.sees(user or ""):
        if user and user != person.name:
            return []
        user = person.name
    return await console_of(request).desk.agent.runs(user=user or None, state=state or None, limit=limit)


@api.get("/runs/{run}")
async def one_run(request: Request, person: Signed, run: str) -> RunView:
    """Return what a run shows: steps, questions, answers, undos, reply."""
    return await console_of(request).desk.run(person, run)


@api.get("/runs/{run}/progress")
async def progress(request: Request, person: Signed, run: str) -> CallsInFlight:
    """Say how far the calls in flight are, as their tools said last."""
    desk = console_of(request).desk
    view = await desk.run(person, run)
    return CallsInFlight(items=tuple(await progress_of((await desk.agent.place()).client, view)))


@api.get("/runs/{run}/export", response_model=Packet)
async def export(request: Request, person: Signed, run: str) -> Response:
    """Give away all there is to know of a run as one JSON file: the run, its events, and the plan of undoing it."""
    desk = console_of(request).desk
    view = await desk.run(person, run)
    client = (await desk.agent.place()).client
    history = [event async for event in client.get_workflow_handle(run).fetch_history_events()]
    plan: UnwindReport | None = None
    if owner_of_run(run) is not None:
        plan = await desk.agent.undo(run, dry_run=True)
    packet = Packet(run=view, events=tuple(happened(run, history, await desk.run(person, run))), undo=plan)
    # The name in the header is ours: a run's id may hold what a file's name may not.
    headers = {"Content-Disposition": 'attachment; filename="run.json"'}
    return Response(packet.model_dump_json(indent=2, by_alias=True), media_type="application/json", headers=headers)


@api.post("/runs/{run}/stop", status_code=202)
async def stop(request: Request, person: Signed, key: Key, run: str, asked: StopRequest, wait: Wait) -> RunView:
    """Stop a run: nothing more is sent, and what it did is undone."""
    console = console_of(request)
    console.replays.name(person.name, request.url.path, key, asked.model_dump_json())
    view = await console.desk.stop(person, run, asked.note)
    return await console.desk.settled(run, wait) if wait else view


@api.get("/questions")
async def questions(request: Request, person: Signed) -> Questions:
    """List the open questions, oldest first."""
    found = await console_of(request).desk.inbox(person)
    items = tuple(Waiting(user=each.user, question=each.question) for each in found.items)
    return Questions(items=items, silent=tuple(found.silent))


@api.post("/runs/{run}/questions/{question}/answer")
async def answer(
    request: Request, person: Signed, key: Key, run: str, question: str, asked: AnswerRequest, wait: Wait
) -> RunView:
    """Answer one question in the caller's own name; the first answer stands."""
    console = console_of(request)
    name = console.replays.name(person.name, request.url.path, key, asked.model_dump_json())
    result: dict[str, object] | None = dict(asked.result) if asked.result else None
    view = await console.desk.answer(
        person, run, question, asked.answer, digest=asked.digest, name=name, note=asked.note, result=result
    )
    return await console.desk.settled(run, wait) if wait else view


@api.get(
    "/runs/{run}/events",
    response_model=Events,
    responses={200: {"content": {"text/event-stream": {}}}, 204: {"description": "Nothing can follow any more."}},
)
async def events(
    request: Request,
    person: Signed,
    run: str,
    after: Annotated[int, Query(ge=0)] = 0,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Tell what happens in a run: as a stream (``Accept: text/event-stream``), or what there is by now."""
    desk = console_of(request).desk
    view = await desk.run(person, run)
    client = (await desk.agent.place()).client
    after = int(last_event_id) if last_event_id and last_event_id.isdecimal() else after
    if "text/event-stream" not in request.headers.get("accept", ""):
        history = [event async for event in client.get_workflow_handle(run).fetch_history_events()]
        found = happened(run, history, await desk.run(person, run))
        said = Events(items=tuple(each for each in found if each.seq > after))
        return Response(said.model_dump_json(), media_type="application/json")
    if view.over:
        history = [event async for event in client.get_workflow_handle(run).fetch_history_events()]
        if after >= len(happened(run, history, view)):
            return Response(status_code=204)

    async def stream() -> AsyncIterator[str]:
        yield "retry: 2000\n\n"
        async for each in follow(
            client, run, lambda over: desk.agent.run(run) if over else desk.look(run), after=after
        ):
            if each is None:
                yield ": still here\n\n"
            else:
                yield f"id: {each.seq}\nevent: {each.type}\ndata: {each.model_dump_json()}\n\n"
        yield "event: end\ndata: {}\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


@api.get(
    "/threads/{user}/audit",
    response_class=Response,
    responses={200: {"content": {"application/jsonl": {}}, "description": "The record, JSON lines, chained."}},
)
async def audit(request: Request, person: Signed, user: str) -> Response:
    """Export the record of a thread: a header with the head, then a line for each thing that happened."""
    if not person.audits(user):
        raise NotFound("no_such_session", "There is no such thread.")
    record = await console_of(request).desk.agent.record(user)
    return Response("".join(f"{line}\n" for line in record.text()), media_type="application/jsonl")


@api.get("/threads/{user}/settings")
async def settings(request: Request, person: Signed, user: str) -> Settings:
    """Say what a thread's turns are read in."""
    session = await console_of(request).desk.session(person, user)
    return Settings(selector_language=session.language if session else None)


@api.put("/threads/{user}/settings")
async def change_settings(request: Request, person: Signed, user: str, asked: Settings) -> Settings:
    """Set what a thread's turns are read in, from the next on."""
    await console_of(request).desk.set_language(person, user, asked.selector_language)
    return asked
