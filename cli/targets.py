"""Which run is meant: by its id, or by the user whose run it is."""

from ..client.blocking import Agent
from ..contract.errors import NotFound
from ..contract.run import RunView

__all__ = ["is_run", "run_meant"]

_PREFIXES = ("run:", "unwind:")
"""An unwind shows itself as a run does, and its questions are answered in the same way."""


def is_run(target: str) -> bool:
    """Whether a word names a run, and not a user."""
    return target.startswith(_PREFIXES)


def run_meant(desk: Agent, target: str) -> RunView:
    """Return the run of an id, or a user's open run, or else their latest.

    Raises:
        NotFound: there is no such run, or the user has no session or no run yet.
    """
    if is_run(target):
        return desk.run(target)
    session = desk.session(target)
    past = [line.run for line in session.runs if line.run]
    if not session.open_run and not past:
        raise NotFound("no_such_run", f"{target} has no run with {desk.name} yet.")
    return desk.run(session.open_run or past[-1])
