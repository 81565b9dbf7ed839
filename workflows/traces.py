"""Leaving an event behind where a workflow takes something in and commands nothing.

A worker that does not have a workflow in memory replays it in the portions in which it was told of things before.
Where two workflow tasks in a row ended without a command, the SDK takes the second for one that only kept the workflow
task alive, and gives what it told together with what came after; and an update, which is not yet in the history, goes
in front of it all. Once the update is in the history, the next worker is given the two apart and in their order. A
workflow that did one thing because of the update, and does another thing now, can never be replayed again; or a person
who was told that a write is skipped sees it run.

So whatever changes what an update will meet, and need not lead to a command by itself, leaves a trace.
"""

from temporalio import workflow

__all__ = ["leave_a_trace"]


def leave_a_trace(what: str) -> None:
    """Record one event. ``what`` was noted is shown with the workflow, as its memo ``noted``."""
    workflow.upsert_memo({"noted": what})
