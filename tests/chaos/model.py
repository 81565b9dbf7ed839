"""What a run may come to, by SPEC 4 to 7 and nothing of the engine: a plain walk over what happened to it.

The model is told the plan, what reached the target and how that ended, which answers were taken, and whether somebody
stopped the run or a worker died. It says what the run may then say of itself. Where the world may have gone either way
(an answer that was lost with its worker, a stop that came before or after), it goes both ways.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from amends.testing.witness import Delivery
from amends.tests.chaos.cases import KINDS, Case, PlannedCall
from amends.tests.chaos.paths import Impossible, Paths, every_way

__all__ = ["Asked", "Ending", "Seen", "Taken", "foresees"]

SENT = "The call was sent and no answer came back."
LOST = "It was being sent when the run stopped."
UNDO_TRIES, TRIES = 4, 3


@dataclass(frozen=True)
class Asked:
    """A question as a person saw it."""

    kind: str
    tool: str
    text: str


@dataclass(frozen=True)
class Taken:
    """An answer that was taken: the word, who said it, and whether it came with the result of the call."""

    word: str
    by: str
    with_result: bool


@dataclass(frozen=True)
class Seen:
    """What happened to a run, as seen from outside."""

    deliveries: tuple[Delivery, ...]
    asked: Mapping[str, Asked]
    taken: Mapping[str, Taken]
    halt: str
    deaths: int


@dataclass(frozen=True)
class Ending:
    """A run's end: its state and its one reply."""

    state: str
    text: str


@dataclass(frozen=True)
class Result:
    """What became of one sending, as far as the engine can know. ``late`` is what the worker may report afterwards."""

    kind: Literal["done", "failed", "refused", "never sent", "doubt"]
    error: str = ""
    known: bool = True
    lost: bool = False
    late: Literal["", "done", "failed"] = ""


@dataclass
class Landed:
    """A write that took effect. ``known`` is whether the engine knows what its undo needs."""

    call: PlannedCall
    known: bool
    over: bool = False


@dataclass
class Told:
    """What the reply is made of."""

    ran: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    in_flight: list[tuple[str, str]] = field(default_factory=list)
    undone: list[tuple[str, str]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def foresees(case: Case, seen: Seen, ending: Ending) -> bool:
    """Say whether this is an end that the run may have come to.

    Raises:
        AssertionError: there are too many ways on which it may have gone.
    """
    return ending in every_way(lambda paths: _Run(case, seen, paths, ending).walk())


class _Run:
    def __init__(self, case: Case, seen: Seen, paths: Paths, ending: Ending) -> None:
        self._case = case
        self._ending = ending
        self._seen = seen
        self._choose = paths.choose
        self._deliveries = deque(seen.deliveries)
        self._losses = 0
        self._questions = 0
        self._halted = False
        self._landed: list[Landed] = []
        self._may_reopen: list[PlannedCall] = []
        self._told = Told()

    def walk(self) -> Ending:
        cause = self._forward()
        if cause is None:
            ending = self._went_through()
        elif not self._ending.text.startswith(self._stopped(cause)):
            # Only to spare the ways through a rollback that starts with something else than what is to be explained.
            raise Impossible
        elif not self._landed:
            ending = Ending("undone", self._stopped(cause))
        else:
            ending = self._rolled_back(cause, whole=self._roll_back())
        if self._deliveries:
            raise Impossible
        return ending

    # Forward (SPEC 4)

    def _forward(self) -> str | None:
        for call in self._case.calls:
            if self._halts():
                return self._outside()
            if KINDS[call.tool].writes:
                answer = self._ask("confirm", call.tool, None)
                if answer is None:
                    self._must_halt()
                    return self._outside()
                if answer.word == "cancel all":
                    return f"cancelled by {answer.by}"
                if answer.word == "skip":
                    self._told.skipped.append(call.tool)
                    continue
                if self._halts():
                    return self._outside()
            cause = self._call(call)
            if cause is not None:
                return cause
        return self._outside() if self._halts() else None

    def _call(self, call: PlannedCall) -> str | None:
        kind = KINDS[call.tool]
        result, in_doubt, sent = Result("failed"), list[Result](), 0
        while sent < (TRIES if kind.safe else 1):
            result, sent = self._send(call.tool, call.account, recalled=True), sent + 1
            if result.kind == "doubt":
                in_doubt.append(result)
            if self._halts() or result.kind != "doubt":
                break
        if kind.writes and in_doubt and result.kind != "done":
            # A try in doubt is settled by no later one that says no: each speaks for itself.
            late = "done" if any(each.late == "done" for each in in_doubt) else in_doubt[-1].late if sent == 1 else ""
            result = replace(in_doubt[-1], late=late)
        if self._halted:
            found = {"done": "took effect", "doubt": "had been sent", "never sent": "was not sent"}
            self._told.in_flight.append((call.tool, found.get(result.kind, "was aborted")))
        if result.kind == "doubt" and kind.writes:
            happened, by, known = self._settle(call.tool, call.account, result)
            if happened:
                self._lands(call, known=known)
                return None
            if result.late == "done":
                self._may_reopen.append(call)
            return (
                self._outside() if self._halted and self._told.in_flight else f"{call.tool} did not happen, said {by}"
            )
        if result.kind == "done":
            self._lands(call, known=result.known)
            return None
        return self._outside() if self._halted else f"{call.tool} failed ({result.error})"

    def _lands(self, call: PlannedCall, *, known: bool) -> None:
        self._told.ran.append(call.tool)
        if KINDS[call.tool].writes:
            self._landed.append(Landed(call, known))

    # Sending (SPEC 5.1 to 5.4)

    def _send(self, tool: str, account: str, *, recalled: bool = False) -> Result:
        ways: list[str] = []
        if self._deliveries and (self._deliveries[0].tool, self._deliveries[0].subject) == (tool, account):
            ways.append("delivered")
        if self._losses < self._seen.deaths:
            ways.append("lost on the way")
        if recalled and self._seen.halt:
            ways.append("recalled")
        if not ways:
            raise Impossible
        way = self._choose(*ways)
        if way == "recalled":
            self._must_halt()
            return Result("never sent", "Recalled")
        if way == "lost on the way":
            self._losses += 1
            return Result("doubt", "WorkerLost", lost=True)
        return self._delivered(self._deliveries.popleft())

    def _delivered(self, delivery: Delivery) -> Result:
        lost = Result("doubt", "WorkerLost", lost=True)
        silent = Result("doubt", "TimeoutError")
        if delivery.ended is None:
            return self._choose(lost, silent)
        said = self._said(delivery)
        ways = [said, lost] if self._seen.deaths else [said]
        slow = (delivery.ended_at or delivery.begun) - delivery.begun > 0.3
        if slow and said.kind != "doubt":
            # It may have been overtaken by its time limit, on a machine that has better things to do.
            ways.append(replace(silent, late="done" if said.kind == "done" else "failed"))
        return self._choose(*ways)

    def _said(self, delivery: Delivery) -> Result:
        match delivery.fault, delivery.ended:
            case "late", _:
                return Result("doubt", "TimeoutError", late="done")
            case "late raise", _:
                return Result("doubt", "TimeoutError", late="failed")
            case _, "given up":
                # By its time limit; or, if it reads, by a stop.
                return Result("doubt", "TimeoutError")
            case _, "raised RuntimeError":
                return Result("failed", "RuntimeError")
            case _, "raised Refused":
                return Result("refused", "Refused")
            case _, "raised NotSent":
                return Result("never sent", "NotSent")
            case _, str(ended) if ended.startswith("raised "):
                return Result("doubt", ended.removeprefix("raised "))
            case fault, _:
                return Result("done", known=fault != "junk")

    # Doubt (SPEC 5.5, 5.7)

    def _settle(self, tool: str, account: str, result: Result) -> tuple[bool, str, bool]:
        """Return whether it happened, who says so, and whether what an undo needs is known."""
        reported = (result.late == "done", "the worker", True)
        if result.late and self._maybe():
            return reported
        found = self._query(tool, account)
        if found is None:
            answer = self._ask("outcome", tool, f"Did {tool} take effect? {LOST if result.lost else SENT}")
            if answer is None:
                if result.late:
                    return reported
                raise Impossible
            if answer.word == "happened":
                return True, answer.by, answer.with_result
            no = (False, answer.by, False)
        elif found:
            return True, "find", True
        else:
            no = (False, "find", False)
        if self._choose("it can land", "it cannot") == "it cannot":
            return no
        if result.late and self._maybe():
            return reported
        again = self._query(tool, account)
        return no if again is None else (again, "find", again)

    def _query(self, tool: str, account: str) -> bool | None:
        if not KINDS[tool].asked:
            return None
        for _ in range(TRIES):
            told = self._deliveries[0].ended if self._deliveries else None
            result = self._send("find", account)
            if result.kind == "done":
                return {"returned {'happened': T": True, "returned {'happened': F": False}.get((told or "")[:23])
            if result.kind in ("failed", "refused"):
                return None
        return None

    # Undoing (SPEC 6)

    def _roll_back(self) -> bool:
        while ahead := self._ahead():
            landed = ahead[0]
            if KINDS[landed.call.tool].undo:
                by = self._undo(landed)
                if by is None:
                    self._told.left += [each.call.tool for each in ahead if not KINDS[each.call.tool].undo]
                    for each in ahead:
                        each.over = each.over or not KINDS[each.call.tool].undo
                    return False
                self._told.undone.append((landed.call.tool, by))
            else:
                self._told.left.append(landed.call.tool)
            landed.over = True
        return True

    def _ahead(self) -> list[Landed]:
        for call in [call for call in self._may_reopen if self._maybe()]:
            self._may_reopen.remove(call)
            self._landed.append(Landed(call, known=True))
        return [landed for landed in reversed(self._landed) if not landed.over]

    def _undo(self, landed: Landed) -> str | None:
        """Return by what or whom it was undone, or None when it was abandoned."""
        undo, tries = KINDS[landed.call.tool].undo, 0
        while True:
            error = "UnboundArgument"
            for _ in range(UNDO_TRIES if landed.known else 0):
                result, tries = self._send(undo, landed.call.account), tries + 1
                if result.kind == "done":
                    return f"by {undo}"
                if result.kind == "doubt" and not KINDS[undo].safe:
                    happened, _, _ = self._settle(undo, landed.call.account, result)
                    if happened:
                        return f"by {undo}"
                error = result.error
                if result.kind == "refused":
                    break
            count = sum(1 for each in self._ahead() if KINDS[each.call.tool].undo)
            answer = self._ask(
                "undo",
                landed.call.tool,
                f"Undoing {landed.call.tool} failed after {tries} tries ({error}). {count} step(s) still need undoing.",
            )
            if answer is None:
                raise Impossible
            if answer.word == "abandon":
                return None
            if answer.word == "done by hand":
                return f"by hand, {answer.by}"
            landed.known = landed.known or answer.with_result

    def _maybe(self) -> bool:
        return self._choose(False, True)

    # People

    def _ask(self, kind: str, tool: str, text: str | None) -> Taken | None:
        """Return the answer that was taken, or None where none was."""
        self._questions += 1
        name = f"q{self._questions}"
        shown = self._seen.asked.get(name)
        if shown and ((shown.kind, shown.tool) != (kind, tool) or (text is not None and shown.text != text)):
            raise Impossible
        return self._seen.taken.get(name)

    def _halts(self) -> bool:
        if self._seen.halt and not self._halted:
            self._halted = self._maybe()
        return self._halted

    def _must_halt(self) -> None:
        if not self._seen.halt:
            raise Impossible
        self._halted = True

    def _outside(self) -> str:
        return self._seen.halt

    # The reply (SPEC 4.6, 6.3)

    def _went_through(self) -> Ending:
        ran, skipped = ", ".join(self._told.ran), ", ".join(self._told.skipped)
        text = f"Done: {ran}." if ran else "Nothing was done."
        return Ending("done", f"{text} Skipped: {skipped}." if skipped else text)

    def _stopped(self, cause: str) -> str:
        flying = [f"In flight when it was stopped: {tool}, which {found}." for tool, found in self._told.in_flight]
        return " ".join([f"This run stopped: {cause}.", *flying])

    def _rolled_back(self, cause: str, *, whole: bool) -> Ending:
        said = [self._stopped(cause)]
        if self._told.undone:
            said.append("Undone, latest first: " + ", ".join(f"{tool} ({by})" for tool, by in self._told.undone) + ".")
        if self._told.left:
            said.append(f"Not undoable, and left as they are: {', '.join(self._told.left)}.")
        if not whole:
            remaining = ", ".join(landed.call.tool for landed in self._ahead())
            return Ending("abandoned", " ".join([*said, f"Still to be undone by hand: {remaining}."]))
        return Ending("left" if self._told.left else "undone", " ".join(said))
