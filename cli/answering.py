"""What ``amends confirm`` and ``amends answer`` share: one answer to one question, and what the run came to."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import click

from ..client.blocking import Agent
from ..contract.question import AnswerWord
from .exits import Exit, exit_of_run
from .replies import say_reply
from .targets import run_meant

__all__ = ["answer_options", "give_answer"]

_Command = TypeVar("_Command", bound=Callable[..., object])


def answer_options(command: _Command) -> _Command:
    """Add ``--digest``, ``--question``, ``--note`` and ``--by``."""
    command = click.option("--by", "--as", "by", metavar="WHO", help="Who answers.  [default: the run's user]")(command)
    command = click.option("--note", default="", help="A remark for the record.")(command)
    command = click.option("--question", metavar="ID", help="Which question, where several are open.")(command)
    return click.option(
        "--digest", default="", help="The digest of the question as you saw it; refused if it has changed since."
    )(command)


def give_answer(
    file: Path,
    target: str,
    word: AnswerWord,
    *,
    name: str | None,
    state: Path | None,
    confirms: bool,
    digest: str,
    question: str | None,
    note: str,
    by: str | None,
    as_json: bool,
    result: Mapping[str, object] | None = None,
) -> Exit:
    """Answer, wait until the run needs a person again or is over, print that, and return the run's exit code.

    Raises:
        NotFound: there is no such run.
        Conflict, Ambiguous: as `client.agent.AsyncAgent.confirm`.
    """
    with Agent.from_file(file, agent=name, state=state) as desk:
        view = run_meant(desk, target)
        if confirms:
            reply = desk.confirm(view.user, word, run=view.run, question=question, digest=digest, by=by, note=note)
        else:
            reply = desk.answer(
                view.user, word, run=view.run, question=question, digest=digest, by=by, note=note, result=result
            )
        say_reply(reply, atomic=desk.loaded.atomic, as_json=as_json)
    return exit_of_run(reply.state, reply.waiting)
