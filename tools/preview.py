"""A turn's plan as it can be known beforehand: calls, verdicts, questions, undos; nothing is run (SPEC 2.5).

It is the same reading and the same check that a run goes through, on a session that has done nothing yet. Each call is
taken to be approved and to succeed, and caps across sessions to have room. A run may still differ: the session may have
a record, facts may change, and a tool may fail.
"""

import unicodedata
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from ..contract.decision import Call, Decision, Hit, Verdict
from ..contract.model import Wire
from ..contract.reading import Language, Unread, UnreadCode
from ..contract.record import CallEvent
from ..contract.run import PlannedCall
from ..contract.session import Plan
from ..contract.tool import ToolContract
from ..contract.wording import IRREVERSIBLE, confirm_text
from ..rulebook.check import check
from ..rulebook.ledger import hoped_room
from ..rulebook.record import Record
from .loader import LoadedAgent
from .planning import plan_turn

__all__ = ["NotRead", "Preview", "PreviewCall", "UndoPreview", "preview"]

_RUN, _DAY = "plan", "1970-01-01"
"""A run of its own on a day of its own: against an empty record, which day it is decides nothing."""


class UndoPreview(Wire):
    """The call that would undo a step. An argument that only the call's result can give stays ``$result.<field>``."""

    tool: str
    arguments: Mapping[str, JsonValue] = {}


class PreviewCall(Wire):
    """One call as it would be checked, asked and undone.

    ``verdict`` is what the check says: allow, confirm or refuse, with the rules behind it in ``hits``. ``question`` and
    ``warnings`` are what a person would be asked, empty where nobody is. ``undo`` is the call that would undo it.
    """

    position: int
    tool: str
    arguments: Mapping[str, JsonValue]
    writes: bool
    verdict: Verdict
    hits: tuple[Hit, ...] = ()
    question: str = ""
    warnings: tuple[str, ...] = ()
    undo: UndoPreview | None = None


class NotRead(Wire):
    """Why a turn stays unread, and where: ``start`` and ``end`` count characters of its NFC form.

    ``sentence`` says it to the person, in the language of reading. The rest is as in `contract.reading.Unread`.
    """

    code: UnreadCode
    start: int
    end: int
    text: str
    near: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    readings: tuple[tuple[str, ...], ...] = ()
    sentence: str


class Preview(Wire):
    """What a turn would come to.

    Attributes:
        read: whether the turn was read.
        language: the language it was read in.
        lexicon: the SHA-256 of the words it was read with; empty when unread.
        agent: the agent.
        calls: the calls, in their order.
        refused_at: the position of the first call the check refuses, where the run would stop; None if there is none.
        undone: positions of the calls that a later failure would undo, in the order of undoing.
        not_undoable: positions of the writes that a later failure would leave as they are.
        unread: why the turn was not read.
    """

    read: bool
    language: Language
    lexicon: str = ""
    agent: str
    calls: tuple[PreviewCall, ...] = ()
    refused_at: int | None = None
    undone: tuple[int, ...] = ()
    not_undoable: tuple[int, ...] = ()
    unread: NotRead | None = None

    @property
    def writes(self) -> bool:
        """Whether any of the calls writes."""
        return any(call.writes for call in self.calls)


def preview(agent: LoadedAgent, turn: str, language: Language | None = None) -> Preview:
    """Return what a turn would come to, with the agent's own facts. Nothing is called, sent or stored.

    ``language`` None leaves the choice to the agent (SPEC 2.2).
    """
    plan = plan_turn(agent, turn, language)
    if plan.unread is not None:
        unread = _not_read(plan.unread, unicodedata.normalize("NFC", turn), plan.text)
        return Preview(read=False, language=plan.language, agent=agent.name, unread=unread)
    calls = tuple(_calls(agent, plan))
    sent = [call for call in calls if call.writes and call.verdict != "refuse"]
    return Preview(
        read=True,
        language=plan.language,
        lexicon=plan.lexicon,
        agent=agent.name,
        calls=calls,
        refused_at=next((call.position for call in calls if call.verdict == "refuse"), None),
        undone=tuple(call.position for call in reversed(sent) if agent.atomic and call.undo),
        not_undoable=tuple(call.position for call in sent if not (agent.atomic and call.undo)),
    )


def _calls(agent: LoadedAgent, plan: Plan) -> Iterator[PreviewCall]:
    record = Record(rulebook=agent.rulebook)
    would_be_undone = False
    for position, planned in enumerate(plan.calls, 1):
        contract = agent.contracts[planned.tool]
        decision = _decision(agent, planned, position, record)
        asks = decision.verdict == "confirm"
        nothing_undoes = contract.irreversible and would_be_undone
        undo = _undo(agent, contract, planned.arguments)
        yield PreviewCall(
            position=position,
            tool=planned.tool,
            arguments=planned.arguments,
            writes=contract.writes,
            verdict=decision.verdict,
            hits=decision.hits,
            question=confirm_text(planned.tool, nothing_undoes=nothing_undoes) if asks else "",
            warnings=(IRREVERSIBLE,) if asks and contract.irreversible else (),
            undo=undo,
        )
        if decision.verdict != "refuse":
            would_be_undone = would_be_undone or (agent.atomic and undo is not None)
            record.note(_ran(planned, position))


def _decision(agent: LoadedAgent, planned: PlannedCall, position: int, record: Record) -> Decision:
    call = Call(agent=agent.name, tool=planned.tool, arguments=planned.arguments, run=_RUN, step=position, day=_DAY)
    room = hoped_room(agent.rulebook, call)
    return check(agent.rulebook, call, tools=agent.contracts, facts=agent.facts, record=record, reserved=room)


def _ran(planned: PlannedCall, position: int) -> CallEvent:
    return CallEvent(step=position, run=_RUN, day=_DAY, tool=planned.tool, arguments=planned.arguments, outcome="ran")


def _undo(agent: LoadedAgent, contract: ToolContract, arguments: Mapping[str, JsonValue]) -> UndoPreview | None:
    """Return the undo with what is known of its arguments; None where a rollback has nothing to call."""
    if contract.undo is None or not contract.undoable or contract.undo.tool not in agent.tools:
        return None
    bound = contract.undo.arguments or {}
    return UndoPreview(
        tool=contract.undo.tool,
        arguments={name: _known(source, arguments) for name, source in bound.items()},
    )


def _known(source: JsonValue, arguments: Mapping[str, JsonValue]) -> JsonValue:
    if isinstance(source, str) and source.startswith("$args."):
        return arguments.get(source.removeprefix("$args."), source)
    return source


def _not_read(unread: Unread, turn: str, sentence: str) -> NotRead:
    """A reason without a place of its own is about the whole turn."""
    return NotRead(
        code=unread.code,
        start=unread.at.start if unread.at else 0,
        end=unread.at.end if unread.at else len(turn),
        text=unread.text or (turn[unread.at.start : unread.at.end] if unread.at else turn),
        near=unread.near,
        missing=unread.missing,
        readings=unread.readings,
        sentence=sentence,
    )
