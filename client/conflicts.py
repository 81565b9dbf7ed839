"""What a caller is told when a turn or an answer changes nothing, the way things stand (SPEC 4.4, 7.2, 7.3)."""

from ..contract.errors import CondemnedRunError, Conflict, ConflictCode
from ..contract.question import Answer, Asked, Question
from ..contract.run import RunView
from ..contract.session import Rewound, Submitted
from ..contract.unwind import Tombstone

__all__ = [
    "condemned",
    "condemned_fork",
    "pending_compensation",
    "question_expired",
    "raise_if_not_taken",
    "thread_is_waiting",
]


def thread_is_waiting(view: RunView) -> Conflict:
    """Return the error for a turn that comes while ``view`` is open: what it waits for."""
    hint = f"It asks: {view.waiting[0].text}" if view.waiting else f"It is {view.state}; try again when it has ended."
    return Conflict(
        "thread_is_waiting",
        f"The run {view.run} of {view.user} is still open.",
        hint,
        run_id=view.run,
        question_id=view.waiting[0].id if view.waiting else None,
    )


def condemned(tombstone: Tombstone) -> CondemnedRunError:
    """Return the error for whatever would set a condemned run going again."""
    message = f"{tombstone.by} had {tombstone.run} undone at {tombstone.at:%Y-%m-%d %H:%M} UTC: {tombstone.reason}"
    hint = "Nothing of it goes on. Say it again, and it is a new run."
    return CondemnedRunError("run_condemned", message, hint, run_id=tombstone.run)


def condemned_fork(run: str, told: Submitted) -> CondemnedRunError:
    """Return the error for a fork of a condemned run, or of one that goes on from a condemned one."""
    stands = "" if told.run == run else f", from which {run} goes on,"
    message = f"{told.run}{stands} is condemned ({told.text}), so nothing can go on from it."
    return CondemnedRunError("run_condemned", message, "Say the turn again, and it is a new run.", run_id=told.run)


def pending_compensation(user: str, rewound: Rewound) -> Conflict:
    """Return the error for a rewind while something still needs undoing: of which run, and what."""
    code: ConflictCode = "rewind_with_pending_compensation"
    if rewound.open_run:
        hint = "Answer what it asks, or wait until it is over."
        return Conflict(code, f"The run {rewound.open_run} of {user} is still open.", hint, run_id=rewound.open_run)
    said = "; ".join(f"{remains.run}: {', '.join(remains.tools)}" for remains in rewound.remains)
    return Conflict(code, f"Something still needs undoing. {said}.", run_id=rewound.remains[0].run)


def question_expired(asked: Asked | Question, view: RunView) -> Conflict:
    """Return the error for an answer that came after its question had expired: when that was, and what became of it."""
    anew = next((each for each in view.waiting if each.position == asked.position), None)
    at = f"{asked.expires_at:%Y-%m-%d %H:%M} UTC" if asked.expires_at else ""
    return Conflict(
        "question_expired",
        f"The question {asked.id} expired at {at}, so this answer changes nothing.",
        f"It is asked anew as {anew.id}: look at it again, and answer that."
        if anew
        else "Look at its run as it is now.",
        run_id=view.run,
        question_id=anew.id if anew else asked.id,
    )


def raise_if_not_taken(answer: Answer, asked: Question, view: RunView) -> None:
    """Raise what became of ``answer`` to the question ``asked``, if the run did not take it.

    Raises:
        Conflict: ``question_closed``, ``question_expired``, ``answer_not_offered``, ``digest_mismatch`` or
            ``unproven_answer``.
    """
    mine = next((told for told in view.answers if told.answer_id == answer.answer_id), None)
    if mine is None or mine.accepted:
        return
    winner = next((told for told in view.answers if told.accepted and told.question_id == asked.id), None)
    if winner is None and (mine.reason == "question_expired" or asked.expired(mine.at)):
        raise question_expired(asked, view)
    if winner is not None:
        message = f"{winner.by} answered {winner.answer} at {winner.at:%H:%M} UTC; that answer stands."
    else:
        message = f"The answer {answer.answer!r} changed nothing: {mine.reason.replace('_', ' ')}."
    if mine.reason == "unproven":
        hint = "Answer in the agent's console, or through its API: those sign answers."
        said = "This agent takes only answers that are signed by its console."
        raise Conflict("unproven_answer", said, hint, run_id=view.run, question_id=asked.id)
    told: dict[str, ConflictCode] = {"digest_mismatch": "digest_mismatch", "answer_not_offered": "answer_not_offered"}
    code = told.get(mine.reason, "question_closed")
    raise Conflict(code, message, run_id=view.run, question_id=asked.id)
