"""Playing one random run to its end, and judging it: by the model, by the witness, and by its own words."""

import asyncio
import os
import random
import time
from dataclasses import dataclass, field
from typing import Any

from amends.contract.errors import Conflict
from amends.contract.names import ANSWER_SIGNAL, STOP_SIGNAL
from amends.contract.question import Answered, AnswerWord, Question
from amends.contract.reply import Reply
from amends.testing.desk import Desk
from amends.testing.witness import Witness
from amends.tests.chaos.cases import READS, Case
from amends.tests.chaos.model import Asked, Ending, Seen, Taken, foresees
from amends.tests.chaos.person import Person
from amends.tests.chaos.truths import untruths
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError

__all__ = ["Played", "Verdict", "judge", "play"]

LONGEST = float(os.environ.get("LONGEST", "300"))
"""Seconds after which a run that is not over counts as wedged."""
BY = "ana"
REASON = "the day is over"
CAUSES = {"stop": f"stopped by ops: {REASON}", "cancel": "it was cancelled from outside"}


@dataclass
class Played:
    """What a run did, as whoever talked to it saw it."""

    case: Case
    reply: Reply | None = None
    answers: tuple[Answered, ...] = ()
    asked: dict[str, Question] = field(default_factory=dict)
    given: dict[str, tuple[AnswerWord, bool]] = field(default_factory=dict)
    halted: bool = False
    begun: float = 0.0
    ended: float = 0.0
    retries: int = 0
    run: str = ""
    stuck_at: str = ""


@dataclass(frozen=True)
class Verdict:
    """What is wrong with a run; nothing, if every list is empty."""

    case: Case
    wedged: bool
    untrue: tuple[str, ...]
    twice: tuple[str, ...]
    unforeseen: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Whether nothing is wrong with it."""
        return not (self.wedged or self.untrue or self.twice or self.unforeseen)

    def __str__(self) -> str:
        wrong = [*(["wedged"] if self.wedged else []), *self.untrue, *self.twice, *self.unforeseen]
        return "\n    ".join([f"run {self.case.name}: {self.case.turn}", *wrong])


async def play(case: Case, desk: Desk, client: Client, witness: Witness) -> Played:
    """Play a run until it is over, or wedged."""
    for (tool, account), faults in case.faults.items():
        witness.script(account, tool, *faults)
    played = Played(case, begun=time.time())
    try:
        async with asyncio.timeout(LONGEST):
            await _Player(case, desk, client, witness, played).play()
    except TimeoutError:
        played.reply = None
        played.stuck_at = await _where(played, client)
    played.ended = time.time()
    return played


async def _where(played: Played, client: Client) -> str:
    """Say where a run that is not over stands, as its history tells it."""
    if not played.run:
        return "its turn was never taken"
    history = await client.get_workflow_handle(played.run).fetch_history()
    failed = [
        event.workflow_task_failed_event_attributes.failure
        for event in history.events
        if event.HasField("workflow_task_failed_event_attributes")
    ]
    why = f"{failed[-1].message} {failed[-1].stack_trace}" if failed else "no workflow task failed"
    return f"{len(history.events)} events, the last is {history.events[-1].event_type}; {why}"


class _Player:
    def __init__(self, case: Case, desk: Desk, client: Client, witness: Witness, played: Played) -> None:
        self._case = case
        self._desk = desk
        self._client = client
        self._person = Person(witness)
        self._played = played
        self._dice = random.Random(case.name)
        self._user = f"u-{case.name}"
        self._halting: asyncio.Task[None] | None = None
        self._confirmed = 0
        self._unstuck = 0

    async def play(self) -> None:
        reply = await self._patiently(lambda: self._desk.chat(self._case.turn, user=self._user, key=self._case.name))
        self._played.run = reply.run
        try:
            while not reply.over:
                self._halt_when_it_is_time(reply.run)
                for question in reply.waiting:
                    reply = await self._answered(question, reply)
                if not reply.over and not reply.waiting:
                    reply = await self._attend(reply.run)
        finally:
            if self._halting:
                self._halting.cancel()
        self._played.reply = reply
        self._played.answers = (await self._patiently(lambda: self._desk.run(reply.run))).answers

    async def _answered(self, question: Question, reply: Reply) -> Reply:
        self._played.asked[question.id] = question
        word, result = await self._said(question)
        handle = self._client.get_workflow_handle(question.run)
        if self._case.noise:
            await self._talk(handle, question)
        try:
            self._played.given.setdefault(question.id, (word, result is not None))
            reply = await self._patiently(
                lambda: self._desk.answer(
                    self._user, word, run=question.run, question=question.id, by=BY, digest=question.digest,
                    result=result,
                )
            )  # fmt: skip
        except Conflict:
            # It was closed meanwhile, by a stop or by the worker's own late report.
            reply = await self._attend(question.run)
        if self._case.noise and not reply.over:
            await self._repeat(handle, question, word)
        return reply

    async def _said(self, question: Question) -> tuple[AnswerWord, Any]:
        confirm: AnswerWord = "approve"
        undo: AnswerWord = "retry"
        if question.kind == "confirm":
            confirm = self._case.confirm[min(question.position, len(self._case.confirm)) - 1]
        elif question.kind == "undo":
            # Whoever is asked for the tenth time gives up; a run whose undo never works would have no end.
            self._unstuck += 1
            undo = self._case.undo[min(self._unstuck, len(self._case.undo)) - 1] if self._unstuck < 10 else "abandon"
        account = self._case.calls[question.position - 1].account
        return await self._person.says(question, account, confirm=confirm, undo=undo)

    async def _talk(self, handle: WorkflowHandle[Any, Any], question: Question) -> None:
        """Say something that must change nothing."""
        wrong: list[object] = [
            None,
            "approve",
            {"question_id": question.id, "answer": "yes, do", "by": "bo"},
            {"question_id": "q99", "answer": question.answers[0], "by": "bo"},
            {"question_id": question.id, "answer": question.answers[-1], "by": "bo", "digest": "0" * 64},
            {"question_id": question.id, "answer": "retry" if question.kind != "undo" else "approve", "by": "bo"},
        ]
        wrong += [
            {"question_id": past, "answer": word, "by": "bo"}
            for past in self._played.given
            for word in self._played.asked[past].answers
            if past != question.id
        ]
        for said in self._dice.sample(wrong, k=min(2, len(wrong))):
            await self._signal(handle, ANSWER_SIGNAL, said)

    async def _repeat(self, handle: WorkflowHandle[Any, Any], question: Question, word: AnswerWord) -> None:
        """Say it again, and have somebody else say something else: a double click, and one who comes late."""
        await self._signal(handle, ANSWER_SIGNAL, {"question_id": question.id, "answer": word, "by": BY})
        for other in question.answers:
            await self._signal(handle, ANSWER_SIGNAL, {"question_id": question.id, "answer": other, "by": "bo"})

    def _halt_when_it_is_time(self, run: str) -> None:
        halt = self._case.halt
        if halt and self._halting is None and len(self._played.asked) >= halt.after:
            self._halting = asyncio.create_task(self._halt(run, halt.how, halt.delay))

    async def _halt(self, run: str, how: str, delay: float) -> None:
        await asyncio.sleep(delay)
        handle = self._client.get_workflow_handle(run)
        self._played.halted = True
        if how == "cancel":
            await handle.cancel()
        else:
            await self._signal(handle, STOP_SIGNAL, {"by": "ops", "reason": REASON})

    async def _attend(self, run: str) -> Reply:
        reply: Reply = await self._patiently(lambda: self._desk.attend(run))
        return reply

    async def _signal(self, handle: WorkflowHandle[Any, Any], name: str, said: object) -> None:
        try:
            await handle.signal(name, said)
        except RPCError:
            return

    async def _patiently(self, ask: Any) -> Any:
        """Ask again where a dying worker made the server give up on a question: an update, or a query."""
        while True:
            try:
                return await ask()
            except (RPCError, TimeoutError) as error:
                self._played.retries += 1
                if isinstance(error, TimeoutError) and self._played.retries > 100:
                    raise
                await asyncio.sleep(0.2)


def judge(played: Played, witness: Witness, deaths: list[float]) -> Verdict:
    """Say what is wrong with a run that was played."""
    case, reply = played.case, played.reply
    if reply is None:
        return Verdict(case, wedged=True, untrue=(), twice=(), unforeseen=(played.stuck_at,))
    deliveries = tuple(witness.deliveries(reply.run))
    seen = Seen(
        deliveries=deliveries,
        asked={name: Asked(each.kind, each.tool, each.text) for name, each in played.asked.items()},
        taken={
            told.question_id: Taken(told.answer, told.by, played.given.get(told.question_id, ("", False))[1])
            for told in played.answers
            if told.accepted
        },
        halt=CAUSES[case.halt.how] if case.halt and played.halted else "",
        deaths=sum(1 for at in deaths if played.begun <= at <= played.ended + 1),
    )
    return Verdict(
        case,
        wedged=False,
        untrue=tuple(untruths(reply.text, witness, reply.run, reads=READS)),
        twice=tuple(witness.broken_promises(reply.run)),
        unforeseen=(*_unforeseen_answers(played), *_unforeseen_end(case, seen, reply)),
    )


def _unforeseen_answers(played: Played) -> list[str]:
    """What was taken must be what the person said; what anybody else said must have changed nothing."""
    return [
        f"the answer {told.answer!r} of {told.by} to {told.question_id} was taken"
        for told in played.answers
        if told.accepted and (told.by != BY or played.given.get(told.question_id, ("", False))[0] != told.answer)
    ]


def _unforeseen_end(case: Case, seen: Seen, reply: Reply) -> list[str]:
    try:
        if foresees(case, seen, Ending(reply.state, reply.text)):
            return []
    except AssertionError as error:
        return [str(error)]
    happened = [f"{d.tool} {d.subject} {d.fault!r}: {d.ended} {d.effect or ''}" for d in seen.deliveries]
    asked = [f"{name}: {each.text} {seen.taken.get(name)}" for name, each in seen.asked.items()]
    halted = f"stopped by {seen.halt!r}; {seen.deaths} workers died meanwhile"
    return [f"it ended {reply.state}: {reply.text}", *happened, *asked, halted]
