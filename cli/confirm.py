"""``amends confirm``: answer the open confirmation of a run (SPEC 4.2)."""

from pathlib import Path

import click

from ..contract.question import ANSWERS, AnswerWord
from .answering import answer_options, give_answer
from .exits import Exit
from .options import agent_options, as_json_option, state_option

__all__ = ["command"]


@click.command()
@click.argument("run", metavar="RUN|USER")
@click.argument("answer", type=click.Choice(ANSWERS["confirm"]))
@answer_options
@agent_options
@state_option
@as_json_option
def command(
    *,
    run: str,
    answer: AnswerWord,
    digest: str,
    question: str | None,
    note: str,
    by: str | None,
    file: Path,
    name: str | None,
    state: Path | None,
    as_json: bool,
) -> Exit:
    """Answer the open confirmation of a run, named by its id or by its user; print what the run came to.

    approve: the call runs with exactly the arguments shown. skip: it does not run, and the run goes on. "cancel all":
    the run stops, and what it did is undone. Exits with 3 where the run waits for the next confirmation.
    """
    return give_answer(
        file,
        run,
        answer,
        name=name,
        state=state,
        confirms=True,
        digest=digest,
        question=question,
        note=note,
        by=by,
        as_json=as_json,
    )
