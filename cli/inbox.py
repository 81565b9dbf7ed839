"""``amends inbox``: every open question of an agent's runs, oldest first (SPEC 12.2)."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import click

from ..client.agent import AsyncAgent
from ..console.desk import Desk, Inbox, Open
from ..console.people import People
from ..contract.question import Question, QuestionKind
from ..contract.wording import call_text
from .exits import Exit
from .options import agent_options, as_json_option, state_option
from .terminal import columns, document, note, say, visible

__all__ = ["command"]

LONGEST = 80
"""Characters of a question that a line shows; all of it is in `amends show` and in --json."""


@click.command()
@click.option("--kind", type=click.Choice(get_args(QuestionKind)), help="Only questions of this kind.")
@click.option("--user", help="Only the questions of this user's runs.")
@click.option("--tool", help="Only questions about this tool.")
@agent_options
@state_option
@as_json_option
def command(
    *,
    kind: QuestionKind | None,
    user: str | None,
    tool: str | None,
    file: Path,
    name: str | None,
    state: Path | None,
    as_json: bool,
) -> Exit:
    """List what waits for a person: writes to confirm, doubtful calls, failed undos. Exits with 3 if anything does."""
    inbox = asyncio.run(_open(AsyncAgent.from_file(file, agent=name, state=state)))
    for run in inbox.silent:
        note(f"{run} waits, and no worker says what for.")
    found = [
        each
        for each in inbox.items
        if (kind or each.question.kind) == each.question.kind
        and (user or each.user) == each.user
        and (tool or each.question.tool) == each.question.tool
    ]
    if as_json:
        questions = [{"user": each.user, **each.question.model_dump(mode="json")} for each in found]
        document("amends.inbox/1", {"questions": questions, "silent": inbox.silent})
    elif found:
        now = datetime.now(UTC)
        for line in columns([("AGE", "KIND", "RUN", "USER", "ASKS", "EXPIRES"), *(_row(each, now) for each in found)]):
            say(line)
        note("amends show RUN says how to answer.")
    else:
        note("Nothing waits for a person.")
    return Exit.WAITS if found or inbox.silent else Exit.DONE


async def _open(agent: AsyncAgent) -> Inbox:
    person = People.alone("inbox").local
    assert person is not None
    async with agent:
        return await Desk(agent).inbox(person)


def _row(each: Open, now: datetime) -> tuple[str, ...]:
    question = each.question
    asks = call_text(question.tool, dict(question.arguments)) if question.kind == "confirm" else question.text
    asks = visible(asks)
    shown = asks if len(asks) <= LONGEST else f"{asks[: LONGEST - 1]}…"
    return _age(now - question.asked_at), question.kind, question.run, each.user, shown, _expires(question, now)


def _expires(question: Question, now: datetime) -> str:
    if question.expires_at is None:
        return "never"
    return "expired" if question.expired(now) else f"in {_age(question.expires_at - now)}"


def _age(time: timedelta) -> str:
    minutes = max(0, int(time.total_seconds() // 60))
    days, hours = minutes // 1440, minutes // 60 % 24
    if days:
        return f"{days}d{hours:02}h"
    return f"{hours}h{minutes % 60:02}m" if hours else f"{minutes}m"
