"""Names that cross a process: workflows, signals, updates, queries, activities, ids, search attributes.

They are stored in histories and typed by people at the ``temporal`` command, so a released name is never changed.
"""

__all__ = [
    "AGENT_ATTRIBUTE",
    "ANSWER_SIGNAL",
    "ANSWER_UPDATE",
    "ATTENTION_QUERY",
    "CAPS_WORKFLOW",
    "CONDEMN_SIGNAL",
    "CONDEMN_UPDATE",
    "FOLD_RECORD_ACTIVITY",
    "FOLLOW_RUN_ACTIVITY",
    "LANGUAGE_UPDATE",
    "LATE_SIGNAL",
    "LOAD_RUN_ACTIVITY",
    "NOTICE_WORKFLOW",
    "NOTIFY_ACTIVITY",
    "PAGE_WORKFLOW",
    "READ_TURN_ACTIVITY",
    "RECORD_QUERY",
    "REFUSAL_SIGNAL",
    "RESERVE_ACTIVITY",
    "RESERVE_UPDATE",
    "REWIND_UPDATE",
    "RUN_WORKFLOW",
    "SEARCH_ATTRIBUTES",
    "SESSION_WORKFLOW",
    "SETTLE_ACTIVITY",
    "SETTLE_UPDATE",
    "STANDING_QUERY",
    "STATE_ATTRIBUTE",
    "STOP_SIGNAL",
    "SUBMIT_UPDATE",
    "UNWIND_WORKFLOW",
    "USER_ATTRIBUTE",
    "VIEW_QUERY",
    "WITHDRAW_SIGNAL",
    "caps_workflow_id",
    "default_task_queue",
    "notice_id",
    "owner_of_run",
    "page_id",
    "query_activity_id",
    "reserve_activity_id",
    "run_id",
    "session_workflow_id",
    "settle_activity_id",
    "step_activity_id",
    "undo_activity_id",
    "unwind_id",
]

SESSION_WORKFLOW = "AmendsSession"
RUN_WORKFLOW = "AmendsRun"
CAPS_WORKFLOW = "AmendsCaps"
UNWIND_WORKFLOW = "AmendsUnwind"
"""Undoes a run that is over, on an operator's word (SPEC 8.2)."""
PAGE_WORKFLOW = "AmendsRecordPage"
"""Holds one full page of a session's record, for as long as it is open."""

SUBMIT_UPDATE = "submit"
"""To a session: a turn. Answered with `contract.session.Submitted`."""
LANGUAGE_UPDATE = "set_language"
"""To a session: the language its turns are read in when a request names none (SPEC 2.2)."""
REWIND_UPDATE = "rewind"
"""To a session: forget the messages of failed runs, unless something of them still needs undoing (SPEC 7.2)."""
RECORD_QUERY = "record"
"""To a session: its record, as `contract.record.Tail` (SPEC 7.4)."""
ANSWER_SIGNAL = "answer"
"""To a run: an answer to a question, durable once sent (SPEC 4.4)."""
ANSWER_UPDATE = "answer_now"
"""To a run: the same answer, with a validator that says at once why it cannot be taken (SPEC 4.4)."""
STOP_SIGNAL = "stop"
"""To a run: stop now. Nothing is sent after it; what was done is undone (SPEC 8.4). To a session: the same for its open
run and the turns that wait."""
CONDEMN_UPDATE = "condemn"
"""To a session: a run of it is to be undone, as `contract.unwind.CondemnRequest`. Answered with `Condemned`."""
CONDEMN_SIGNAL = "condemn"
"""To an open run: stop and undo everything, on an operator's word; `contract.unwind.CondemnRequest` (SPEC 8.3). To an
unwind: a later word, for what it says of doubts."""
REFUSAL_SIGNAL = "refusal"
"""To a session: somebody wanted what only an operator may do, and was refused; for the record."""
STANDING_QUERY = "standing"
"""To a session: what it knows of a run by its id, as `contract.unwind.Standing`."""
WITHDRAW_SIGNAL = "withdraw"
"""To a session: a turn whose caller gave up before it was accepted, by the id of its update."""
LATE_SIGNAL = "late_outcome"
"""To a run, from a worker: a call that was given up ended after all (SPEC 5.5)."""
RESERVE_UPDATE = "reserve"
"""To a ledger: `contract.caps.Reservation`. Answered with, by rule, whether the room was taken."""
SETTLE_UPDATE = "settle"
"""To a ledger: `contract.caps.Settlement`."""
ATTENTION_QUERY = "attention"
"""To a run: its view without the questions that are closed, for a client that only waits to be needed."""
VIEW_QUERY = "view"
"""To a session or a run: what it is doing."""

READ_TURN_ACTIVITY = "amends.read_turn"
FOLD_RECORD_ACTIVITY = "amends.fold_record"
RESERVE_ACTIVITY = "amends.reserve"
SETTLE_ACTIVITY = "amends.settle"
FOLLOW_RUN_ACTIVITY = "amends.follow_run"
LOAD_RUN_ACTIVITY = "amends.load_run"
"""Tool names have no dot, so no tool can take one of these names."""

STATE_ATTRIBUTE = "AmendsState"
AGENT_ATTRIBUTE = "AmendsAgent"
USER_ATTRIBUTE = "AmendsUser"
SEARCH_ATTRIBUTES = (STATE_ATTRIBUTE, AGENT_ATTRIBUTE, USER_ATTRIBUTE)
"""All of type Keyword. They are not encrypted, so no argument and no sentence ever stands in one."""


NOTICE_WORKFLOW = "AmendsNotice"
"""Tells one webhook of one question."""
NOTIFY_ACTIVITY = "amends.notify"


def notice_id(endpoint: str, run: str, question: str) -> str:
    """The workflow id of a notice, which is what its receiver knows it by."""
    return f"notice:{endpoint}:{run}:{question}"


def default_task_queue(agent: str) -> str:
    """The task queue of an agent's workers when none is configured."""
    return f"amends-{agent}"


def session_workflow_id(agent: str, user: str) -> str:
    """The workflow id of the session of a user with an agent (SPEC 7.1)."""
    return f"session:{agent}:{user}"


def caps_workflow_id(agent: str, user: str = "") -> str:
    """The workflow id of the ledger for caps over all users of an agent, or over the sessions of one user."""
    return f"caps:{agent}:{user}" if user else f"caps:{agent}"


def run_id(session: str, number: int) -> str:
    """The id of a run, which is its workflow id: unique for ever, whatever happened to earlier sessions."""
    return f"run:{session}:{number}"


def unwind_id(run: str) -> str:
    """The workflow id of the unwind of a run that is over."""
    return f"unwind:{run}"


def owner_of_run(run: str) -> tuple[str, str] | None:
    """Return the agent and the user of a run, by its id; None when it is no id of a run."""
    kind, _, rest = run.partition(":")
    session, _, number = rest.rpartition(":")
    owner, _, epoch = session.rpartition(":")
    agent, _, user = owner.partition(":")
    return (agent, user) if kind == "run" and number.isdigit() and agent and user and epoch else None


def page_id(session: str, number: int, last_hash: str) -> str:
    """The workflow id of a sealed page of a session's record: its place, and the hash of its last line."""
    return f"record:{session}:{number}:{last_hash[:12]}"


def step_activity_id(position: int, attempt: int = 1) -> str:
    """The activity id of a step's call, as the Temporal UI shows it. Positions and attempts count from 1."""
    return f"step-{position}" if attempt == 1 else f"step-{position}.try-{attempt}"


def query_activity_id(position: int, number: int) -> str:
    """The activity id of an outcome query about a step. Both count from 1."""
    return f"step-{position}.query-{number}"


def undo_activity_id(position: int, attempt: int = 1) -> str:
    """The activity id of a step's undo. Positions and attempts count from 1."""
    return f"step-{position}.undo" if attempt == 1 else f"step-{position}.undo-{attempt}"


def reserve_activity_id(position: int) -> str:
    """The activity id of asking for the room of a step in caps that cross sessions. Positions count from 1."""
    return f"step-{position}.room"


def settle_activity_id(position: int) -> str:
    """The activity id of telling what became of that room."""
    return f"step-{position}.settled"
