"""``amends show``: one run whole: what was asked and answered, what was called and undone, what it came to."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import click
from rich.text import Text

from ..client.blocking import Agent
from ..client.place import Place
from ..contract.errors import NotFound
from ..contract.names import unwind_id
from ..contract.run import RunView, Step
from ..contract.unwind import UnwindReport
from ..contract.wording import call_text, value_text
from .cards import argument_lines, card, step_state
from .exits import Exit
from .options import agent_options, as_json_option, state_option
from .replies import answer_hint
from .targets import run_meant
from .terminal import document, say, styled, visible
from .unwind_lines import report_lines

__all__ = ["command"]


@click.command()
@click.argument("run", metavar="RUN|USER")
@agent_options
@state_option
@click.option("--temporal", is_flag=True, help="Say where the run is in Temporal: workflow id, and its page in the UI.")
@click.option("--result", "position", type=int, metavar="STEP", help="Only the result of that step, whole, as JSON.")
@as_json_option
def command(
    *,
    run: str,
    file: Path,
    name: str | None,
    state: Path | None,
    temporal: bool,
    position: int | None,
    as_json: bool,
) -> Exit:
    """Show a run, named by its id, or the open or latest run of a user."""
    with Agent.from_file(file, agent=name, state=state) as desk:
        view = run_meant(desk, run)
        if position is not None:
            say(json.dumps(desk.result(view.run, position), ensure_ascii=False))
            return Exit.DONE
        where = _in_temporal(view, desk.place()) if temporal else {}
        unwind = _unwind_of(desk, view)
        if as_json:
            said = {**view.model_dump(mode="json"), "unwinding": unwind.model_dump(mode="json") if unwind else None}
            document("amends.run/1", {**said, **({"temporal": where} if temporal else {})})
            return Exit.DONE
        for line in _lines(view, atomic=desk.loaded.atomic):
            say(line)
        if unwind is not None:
            say()
            for line in report_lines(unwind):
                say(line)
        for title, value in where.items():
            say(f"{title}: {value or 'unknown'}")
    return Exit.DONE


def _unwind_of(desk: Agent, view: RunView) -> UnwindReport | None:
    """Return what became of a run that was undone from outside, or None: its own report, or that of a later unwind."""
    if view.unwinding is not None or not view.over:
        return view.unwinding
    try:
        unwound = desk.run(unwind_id(view.run))
    except NotFound:
        return None
    return unwound.unwinding.model_copy(update={"waiting": unwound.waiting}) if unwound.unwinding else None


def _in_temporal(view: RunView, place: Place) -> dict[str, str | None]:
    page = f"{place.ui_url}/namespaces/{place.client.namespace}/workflows/{quote(view.run, safe='')}"
    return {
        "workflow_id": view.run,
        "namespace": place.client.namespace,
        "address": place.address,
        "ui_url": page if place.ui_url else None,
    }


def _lines(view: RunView, *, atomic: bool) -> Iterator[Text | str]:
    yield styled((view.run, "bold"), f"  {view.state}")
    ended = f" to {_time(view.ended_at)}" if view.ended_at else ""
    yield f"{view.user}, {_time(view.started_at)}{ended}"
    yield visible(view.turn)
    for step in view.steps:
        yield ""
        yield styled(f"{step.position}  ", (step.tool, "bold"), f"  {step_state(step)}")
        yield from (f"     {line}" for line in _step(step))
    if view.answers:
        yield ""
    for told in view.answers:
        taken = "" if told.accepted else f", which changed nothing: {told.reason.replace('_', ' ')}"
        remark = f" ({visible(told.note)})" if told.note else ""
        who = f"{told.question_id}: {visible(told.by)} answered {visible(told.answer)}"
        yield f"{who} at {_time(told.at)}{remark}{taken}"
    for question in view.waiting:
        yield ""
        yield from card(question, atomic=atomic)
        yield from answer_hint(question)
    if view.text:
        yield ""
        yield view.text


def _step(step: Step) -> Iterator[str]:
    yield from argument_lines(step.arguments)
    if step.confirmed_by:
        yield f"answered by {visible(step.confirmed_by)}"
    for hit in step.decision.hits if step.decision else ():
        if hit.origin.file:
            yield f"{hit.effect} by {hit.rule}: {hit.why} ({hit.origin})"
    if step.key:
        yield f"sent {_time(step.sent_at)}, {step.attempts} {'try' if step.attempts == 1 else 'tries'}, key {step.key}"
    if step.failure is not None and step.failure.message:
        yield f"{step.failure.type}: {visible(step.failure.message)}"
    if step.state == "done" and step.result is not None:
        yield f"returned {visible(value_text(step.result))}"
    if step.undo is not None:
        by = f"by hand, {visible(step.undo.by)}" if step.undo.by else "by"
        tries = f"{step.undo.tries} {'try' if step.undo.tries == 1 else 'tries'}"
        yield f"undo {by} {visible(call_text(step.undo.tool, dict(step.undo.arguments)))}, {tries}, key {step.undo.key}"


def _time(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}Z" if at else "-"
