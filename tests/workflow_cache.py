"""Workers that keep no workflow in memory: each workflow task then replays its run from the first event.

``pytest --no-workflow-cache`` runs any test that way. What a run cannot do twice, or does not do the same twice, is
found so. Workers that a test starts with the command ``amends`` keep their cache.
"""

import os

from temporalio.worker import Worker

__all__ = ["HARMLESS", "is_switched_off", "switch_off"]

HARMLESS = "ignore:Cannot find activity to cancel:UserWarning"
"""A workflow that leaves the memory gives up its local activity, and the SDK warns if that has just ended."""

_VARIABLE = "WORKFLOW_CACHE"
"""How the worker processes of the tests are told."""


def is_switched_off() -> bool:
    """Say whether this process, or the one that started it, was told to keep no workflow."""
    return os.environ.get(_VARIABLE) == "0"


def switch_off() -> None:
    """Let every worker of this process, and of those it starts, keep no workflow unless it is told how many."""
    os.environ[_VARIABLE] = "0"
    defaults = Worker.__init__.__kwdefaults__
    assert defaults is not None
    defaults["max_cached_workflows"] = 0
