"""``amends chat``: an agent in the terminal, its questions as cards (SPEC 4.2, 12.2).

At a terminal it is a conversation. With stdin from a pipe, or with ``--no-input``, nobody can be asked: each line is a
turn, and the first that does not end done ends the command with its exit code.
"""

import getpass
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ..client.blocking import Agent
from ..contract.errors import Conflict, NotFound
from ..contract.question import AnswerWord, Question
from ..contract.reading import Language
from ..contract.reply import Reply
from .answers import answer_typed
from .cards import card, step_end
from .exits import Exit, exit_of_run
from .options import agent_options, context_option, language_option, same_place, state_option
from .replies import answer_hint, undo_lines
from .terminal import forget_typed_ahead, note, prompting, say, styled

__all__ = ["command"]

_NOTED: tuple[AnswerWord, ...] = ("done by hand", "abandon")
"""Answers that say what somebody did, or will have to: they need a remark for the record."""


@click.command()
@agent_options
@click.option("--as", "user", metavar="USER", help="Who speaks; the session is theirs.  [default: your login name]")
@language_option
@context_option
@state_option
@click.option("--no-input", is_flag=True, help="Ask nothing, as with stdin from a pipe: each line is a turn.")
def command(
    *,
    file: Path,
    name: str | None,
    user: str | None,
    language: Language | None,
    context: dict[str, object],
    state: Path | None,
    no_input: bool,
) -> Exit:
    """Talk to an agent. What it asks is shown with exact arguments and answered in full words; Enter asks again.

    Ctrl-D ends the conversation, Ctrl-C leaves an open run, which goes on.

    With stdin from a pipe each line is a turn and nobody is asked: a run that needs a person ends the command with 3.
    """
    user = user or getpass.getuser()
    with Agent.from_file(file, agent=name, context=context, state=state) as desk:
        talk = _Talk(desk, user, language)
        try:
            return talk.converse() if prompting() and not no_input else talk.each_line()
        except KeyboardInterrupt:
            note()
            note(f"Detached. The run goes on: amends show {talk.run}{same_place()}" if talk.run else "Detached.")
            return Exit.DETACHED


class _Talk:
    """One person's conversation. ``run`` is the run that is open, as far as is known here."""

    def __init__(self, desk: Agent, user: str, language: Language | None) -> None:
        self.run = ""
        self._desk = desk
        self._user = user
        self._language = language

    def converse(self) -> Exit:
        """Take turns from a person until they end it."""
        note(f"You are {self._user}, with {self._desk.name}. Ctrl-D ends, Ctrl-C leaves an open run.")
        reply = self._open_reply()
        try:
            while True:
                if reply is not None:
                    self._see_through(reply)
                reply = self._turn_or_open_run(_typed("> "))
        except EOFError:
            note()
            if self.run:
                note(f"{self.run} still waits.")
                return Exit.WAITS
            return Exit.DONE

    def each_line(self) -> Exit:
        """Take each line of stdin as a turn; stop at the first that does not end done."""
        for typed in sys.stdin:
            reply = self._turn(typed.strip())
            if reply is None:
                continue
            for question in reply.waiting:
                for line in card(question, atomic=self._desk.loaded.atomic):
                    note(line)
                note("A person must answer, and nobody can be asked here. Answer with one of:")
                for hint in answer_hint(question):
                    note(f"  {hint}")
            if not reply.waiting:
                say(reply.text)
            code = Exit.UNREAD if reply.unread else exit_of_run(reply.state, reply.waiting)
            if code is not Exit.DONE:
                return code
        return Exit.DONE

    def _open_reply(self) -> Reply | None:
        """The run that the person left open, if there is one."""
        try:
            run = self._desk.session(self._user).open_run
        except NotFound:
            return None
        if not run:
            return None
        self.run = run
        return self._desk.attend(run)

    def _turn(self, text: str) -> Reply | None:
        if not text:
            return None
        try:
            reply = self._desk.chat(text, user=self._user, language=self._language)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        self.run = "" if reply.over else reply.run
        return reply

    def _turn_or_open_run(self, text: str) -> Reply | None:
        """Give a turn; where a run was opened elsewhere meanwhile, come to that instead of losing the conversation."""
        try:
            return self._turn(text)
        except Conflict as error:
            note(str(error))
            return self._open_reply()

    def _see_through(self, reply: Reply) -> None:
        """Ask what the run asks until it is over; print its reply."""
        while reply.waiting:
            self.run = reply.run
            question = reply.waiting[0]
            note()
            for line in card(question, atomic=self._desk.loaded.atomic):
                note(line)
            forget_typed_ahead()
            answer = self._asked(question)
            reply = self._answered(question, answer)
            note(styled("        ", step_end(reply.steps[question.position - 1])))
        self.run = ""
        for line in undo_lines(reply.steps):
            note(f"undo    {line}")
        if reply.steps:
            note()
        say(reply.text)

    def _asked(self, question: Question) -> AnswerWord:
        """Ask until one of the answers is typed whole; Enter, and anything else, asks again."""
        offered = " / ".join(question.answers)
        while True:
            typed = _typed(f"  {offered} > ")
            answer = answer_typed(typed, question)
            if answer is not None:
                return answer
            if typed:
                note(f"  {typed!r} is none of the answers. Type one of them in full.")
            note(f"  {question.text}")

    def _answered(self, question: Question, answer: AnswerWord) -> Reply:
        remark = ""
        while answer in _NOTED and not remark:
            remark = _typed("  what was done, or must be, for the record > ")
        result = dict(self._results_needed(question)) if answer == "happened" else None
        try:
            return self._desk.answer(
                self._user,
                answer,
                run=question.run,
                question=question.id,
                digest=question.digest,
                by=self._user,
                note=remark,
                result=result or None,
            )
        except Conflict as error:
            note(f"  {error}")
            return self._desk.attend(question.run)

    def _results_needed(self, question: Question) -> Iterator[tuple[str, str]]:
        """Ask for the fields of the lost result that the undo of the step is bound to."""
        contract = self._desk.loaded.contracts.get(question.tool)
        bound = contract.undo.arguments if contract and contract.undo else None
        for source in dict.fromkeys((bound or {}).values()) if bound else ():
            if isinstance(source, str) and source.startswith("$result."):
                field = source.removeprefix("$result.")
                typed = _typed(f"  {field} of what {question.tool} would have returned; Enter if unknown > ")
                if typed:
                    yield field, typed


def _typed(prompt: str) -> str:
    """Read a line from the person.

    Raises:
        EOFError: they ended it.
    """
    sys.stderr.write(prompt)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.strip()
