"""Undoing a run from outside: its plan for whoever may see the run, and the undo for an operator token (SPEC 8)."""

from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import Field, StringConstraints

from ..client.unwinding import LONGEST_REASON
from ..contract.errors import NotAllowed, NotFound
from ..contract.model import Stated
from ..contract.unwind import UnwindReport
from .api import Wait
from .guard import Key, Signed, console_of, json_only, require_same_origin, signed_in
from .people import Person
from .problems import DOCUMENTED

__all__ = ["undo", "undoing"]

Steps = Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(max_length=200)]

undoing = APIRouter(prefix="/v1", responses={**DOCUMENTED}, dependencies=[Depends(json_only)])


class UndoRequest(Stated):
    """What is to be undone of a run, and why. ``plan_digest`` is that of the plan that was shown."""

    reason: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_REASON, pattern=r"\S")]
    plan_digest: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    steps: Steps = ()
    continue_past_uncertain: bool = False


@undoing.get("/runs/{run}/undo")
async def undo_plan(
    request: Request,
    person: Signed,
    run: str,
    steps: Annotated[list[int] | None, Query(max_length=200, description="Undo these alone; by default all.")] = None,
) -> UnwindReport:
    """Say what undoing a run would do: what is called, in which order, and what stays. Nothing is sent or noted."""
    desk = console_of(request).desk
    await desk.run(person, run)
    return await desk.agent.undo(run, dry_run=True, steps=steps or ())


@undoing.post("/runs/{run}/undo", responses={202: {"model": UnwindReport, "description": "It is under way."}})
async def undo_now(
    request: Request,
    response: Response,
    key: Key,
    run: str,
    asked: UndoRequest,
    wait: Wait,
    operator_token: Annotated[
        str | None, Header(description="The operator token, where somebody is signed in.")
    ] = None,
) -> UnwindReport:
    """Undo a run, on the word of whoever has an operator token: in `Operator-Token`, or as the bearer.

    Anybody else gets 403, signed in or not. The run is condemned first; the same again goes on where it stood.
    """
    require_same_origin(request)
    console = console_of(request)
    bearer = request.headers.get("authorization", "").partition(" ")[2].strip()
    token = operator_token or (bearer if bearer.startswith("amo_") else None)
    person = None if token and token == bearer else signed_in(request)
    console.replays.name(person.name if person else "", request.url.path, key, asked.model_dump_json())
    report = await undo(request, run, asked, person=person, token=token, wait=wait)
    response.status_code = 202 if report.verdict == "unwinding" else 200
    return report


async def undo(
    request: Request, run: str, asked: UndoRequest, *, person: Person | None, token: str | None, wait: float
) -> UnwindReport:
    """Undo a run if the token allows it. A refusal is in the record, if it is known whom to name in it.

    Raises:
        ProblemError: 429: too many tries.
        NotAllowed: the token will not do, whether there is such a run or not.
        Conflict, NotFound: as `AsyncAgent.undo`.
    """
    console = console_of(request)
    agent = console.desk.agent
    known = agent.operators.owner(token)
    address = request.client.host if request.client else ""
    (console.posts if person or known else console.sign_ins).take(person.name if person else address)
    refusal: NotAllowed | None = None
    try:
        agent.operators.check(token, "undo")
    except NotAllowed as refused:
        if known is None and not await _sees(request, person, run):
            raise  # there is nobody who could be named for it, or nothing that they may know of
        refusal = refused
    try:
        return await agent.undo(
            run,
            reason=asked.reason,
            token=token,
            by=person.name if person else "",
            steps=asked.steps,
            continue_past_uncertain=asked.continue_past_uncertain,
            digest=asked.plan_digest,
            patience=wait,
        )
    except NotFound:
        if refusal is not None:
            raise refusal from None
        raise


async def _sees(request: Request, person: Person | None, run: str) -> bool:
    if person is None:
        return False
    with suppress(NotFound):
        await console_of(request).desk.run(person, run)
        return True
    return False
