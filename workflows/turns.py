"""Which turns a session takes at all (SPEC 2, 7.3). Pure."""

import json
from collections import deque

from temporalio.exceptions import ApplicationError

from ..contract.session import LONGEST_FACTS, LONGEST_TURN, MOST_QUEUED, Turn
from .keeping import Kept

__all__ = ["Withdrawn", "refuse_unsound"]

WITHDRAWN_KEPT = 200
"""How many turns that were given up are remembered. Temporal hands them out with the next workflow task, if at all."""
_LONGEST_ID = 200


class Withdrawn:
    """The turns whose callers gave up before they were accepted.

    Temporal keeps an update that no worker took, and hands it to the next worker, however much later that comes.
    """

    def __init__(self) -> None:
        self._updates: deque[str] = deque(maxlen=WITHDRAWN_KEPT)

    def note(self, update: object) -> None:
        """Note the id of an update that is not to be taken any more, whatever it is."""
        if isinstance(update, str) and len(update) <= _LONGEST_ID:
            self._updates.append(update)

    def refuse(self, update: str) -> None:
        """Refuse an update that was given up.

        Raises:
            ApplicationError: ``withdrawn``.
        """
        if update in self._updates:
            _refuse("withdrawn", "whoever gave this turn gave it up before it was taken")


def refuse_unsound(turn: Turn, kept: Kept) -> None:
    """Refuse a turn that is too much for a session; before it is accepted, so that it leaves no trace.

    Raises:
        ApplicationError: ``turn_too_long``, ``facts_too_long`` or ``queue_full``.
    """
    if len(turn.text) > LONGEST_TURN:
        _refuse(
            "turn_too_long", f"the turn has {len(turn.text)} characters; {LONGEST_TURN} is the most a turn may have"
        )
    if turn.facts and (length := len(json.dumps(dict(turn.facts)))) > LONGEST_FACTS:
        _refuse("facts_too_long", f"the facts have {length} characters of JSON; {LONGEST_FACTS} is the most")
    if turn.queue and len(kept.queued) >= MOST_QUEUED and not _is_known(turn.request_id, kept):
        _refuse("queue_full", f"{MOST_QUEUED} turns wait already; try again when one has begun")


def _is_known(request: str, kept: Kept) -> bool:
    return kept.is_queued(request) or kept.answer(request) is not None


def _refuse(code: str, message: str) -> None:
    raise ApplicationError(message, type=code, non_retryable=True)
