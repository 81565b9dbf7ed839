"""``amends answer``: did a doubtful call take effect, and what about an undo that failed (SPEC 5.5, 6.2)?"""

from pathlib import Path

import click

from ..contract.question import ANSWERS, AnswerWord
from .answering import answer_options, give_answer
from .exits import Exit
from .options import agent_options, as_json_option, read_pairs, state_option

__all__ = ["command"]

_NOTED = ("done by hand", "abandon")


@click.command()
@click.argument("run", metavar="RUN|USER")
@click.argument("answer", type=click.Choice([*ANSWERS["outcome"], *ANSWERS["undo"]]))
@click.option(
    "--result",
    "fields",
    multiple=True,
    metavar="FIELD=VALUE",
    help="With happened: a field the call would have returned.",
)
@answer_options
@agent_options
@state_option
@as_json_option
def command(
    *,
    run: str,
    answer: AnswerWord,
    fields: tuple[str, ...],
    digest: str,
    question: str | None,
    note: str,
    by: str | None,
    file: Path,
    name: str | None,
    state: Path | None,
    as_json: bool,
) -> Exit:
    """Answer a question about a doubtful call or a failed undo; print what the run came to.

    "done by hand" and abandon say what somebody did, or must do, so they need --note.
    """
    if answer in _NOTED and not note:
        raise click.UsageError(f"{answer!r} needs --note: what was done, or must be")
    if fields and answer != "happened":
        raise click.UsageError("--result goes with happened")
    return give_answer(
        file,
        run,
        answer,
        name=name,
        state=state,
        confirms=False,
        digest=digest,
        question=question,
        note=note,
        by=by,
        as_json=as_json,
        result=read_pairs(fields) if fields else None,
    )
