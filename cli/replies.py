"""What a reply looks like on the terminal: the run's text where it is over, else what it asks and how to answer."""

import shlex
from collections.abc import Iterator

from rich.text import Text

from ..contract.question import Question
from ..contract.reply import Reply
from ..contract.run import Step
from .cards import card
from .options import same_place
from .terminal import document, say

__all__ = ["answer_hint", "say_reply", "undo_lines"]


def say_reply(reply: Reply, *, atomic: bool, as_json: bool) -> None:
    """Print a reply as the data of a command."""
    if as_json:
        document("amends.reply/1", reply.model_dump(mode="json"))
        return
    for line in _lines(reply, atomic=atomic):
        say(line)


def answer_hint(question: Question) -> Iterator[str]:
    """Say the commands that answer a question, each ready to be pasted."""
    command = "confirm" if question.kind == "confirm" else "answer"
    for answer in question.answers:
        noted = " --note TEXT" if answer in ("done by hand", "abandon") else ""
        yield f"amends {command} {question.run} {shlex.quote(answer)} --digest {question.digest}{noted}{same_place()}"


def undo_lines(steps: tuple[Step, ...]) -> Iterator[str]:
    """Say what became of each undo, in the order of undoing."""
    undone = [(step, step.undo) for step in steps if step.undo is not None]
    for step, undo in sorted(undone, key=lambda pair: -pair[0].landed):
        why = f" ({undo.failure.type})" if undo.failure is not None and step.state == "undo failed" else ""
        by = f"by hand, {undo.by}" if undo.by else f"by {undo.tool}"
        yield f"{step.tool} {by}: {step.state}{why}"


def _lines(reply: Reply, *, atomic: bool) -> Iterator[Text | str]:
    for question in reply.waiting:
        yield f"{question.run} waits:"
        yield from card(question, atomic=atomic)
        yield from answer_hint(question)
    if not reply.waiting:
        yield reply.text or f"{reply.run} is {reply.state}."
