"""The plan of a fork: a run that is over is gone on with from one of its steps, as a new run (SPEC 8.3). Pure."""

from temporalio.exceptions import ApplicationError

from ..contract.loaded import LoadedRun
from ..contract.names import run_id
from ..contract.session import Plan

__all__ = ["fork_plan"]

_KEPT = frozenset(("done", "declined"))


def fork_plan(loaded: LoadedRun, at_step: int) -> Plan:
    """Return the plan of a fork that keeps the first ``at_step`` steps of a run, and runs the calls after them anew.

    The steps that are kept stay those of the run that took them: it alone undoes them. The fork has its contracts and
    its rules.

    Raises:
        ApplicationError: the run has no such place, or a step that would be kept is not done.
    """
    given = loaded.given
    run = run_id(given.session, given.number)
    if not 0 <= at_step < len(given.calls):
        raise _refusal(f"{run} has {len(given.calls)} calls, so at_step is 0 to {len(given.calls) - 1}, not {at_step}")
    for step in loaded.steps[:at_step]:
        if step.state not in _KEPT:
            raise _refusal(f"step {step.position} of {run}, {step.tool}, is {step.state}, so nothing can go on from it")
    if len(loaded.steps) < at_step:
        raise _refusal(f"{run} came to {len(loaded.steps)} of its steps, so at_step is at most that, not {at_step}")
    return Plan(
        language=given.language,
        calls=given.calls[at_step:],
        tools=given.tools,
        rulebook=given.rulebook,
        atomic=given.atomic,
        proof=given.proof,
        expiry=given.expiry,
        asks=True,
        said=given.turn,
        forked_from=run,
    )


def _refusal(said: str) -> ApplicationError:
    return ApplicationError(said, type="cannot_fork", non_retryable=True)
